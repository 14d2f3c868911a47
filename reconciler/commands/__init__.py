"""One file a command: its options, its handler and the text it prints; ``reconciler.cli`` registers them lazily."""
