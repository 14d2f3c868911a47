"""Observations and results, written back as commits on the status branch."""
