"""The overriders of an override policy: one module per type of edit, and the search for containers."""
