"""Names that people type: kinds and objects, clusters and policies, understood or refused, and their completion.

``kinds`` finds the one object that is meant, ``subjects`` clusters and policies, and ``quick_scan`` collects the names
that a shell offers.
"""
