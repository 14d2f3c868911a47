"""Checks of the source, the repository and rendered commits, and the reports they make."""
