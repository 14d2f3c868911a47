"""Pure: what will be done to a cluster, decided from what it must hold and what it holds."""
