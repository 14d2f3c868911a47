"""The documents that ``-o json`` prints: a module for each, with its fields, their sentences, and how it is made.

The schema that ``argosy schema`` prints, and what ``argosy help output`` and the reference say, come from there.
"""
