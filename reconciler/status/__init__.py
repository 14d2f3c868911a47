"""The fleet as its branches describe it."""
