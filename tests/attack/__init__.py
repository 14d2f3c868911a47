"""Attacks on Argosy: each test does what somebody hostile would, and says what has to come of it.

``make attack`` runs them all and counts them. The table in .github/SECURITY.md says which threat each one is about.
"""
