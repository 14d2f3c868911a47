"""One file per command; ``reconciler.cli`` registers them lazily."""
