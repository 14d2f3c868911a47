"""The files of our own branches, one module a file: its path, its fields, its version, and how it is read and written.

Whoever may push to a branch may write what Argosy does not. So a file is read as a whole or is refused by name, with
the place in it that is at fault, and nothing is guessed from it.
"""
