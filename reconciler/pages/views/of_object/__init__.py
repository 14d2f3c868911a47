"""The pages about one object: how it is, why it is where it is, what changed it, and where each field comes from."""
