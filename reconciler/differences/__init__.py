"""What a change of the source would do, before it happens."""
