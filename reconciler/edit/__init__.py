"""Cluster files of the source, edited where they stand."""
