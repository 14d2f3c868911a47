"""Random YAML against a real kubectl, both ways: ``python -m tests.fuzz [--seed N] [--cases N]``."""
