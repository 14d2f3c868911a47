"""Plans, as pure functions: all that will be done to a cluster and why, from what it must hold and what it holds."""
