"""Member clusters: how they are reached, asked and listed."""
