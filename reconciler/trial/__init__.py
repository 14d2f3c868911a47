"""PolicyTests: given clusters and templates, expect where objects go."""
