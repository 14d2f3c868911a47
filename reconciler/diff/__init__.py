"""The effect of a change of the source, before it happens."""
