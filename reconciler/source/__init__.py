"""The source of a commit, from files to checked values."""
