"""The delivery of plans: clusters applied to and pruned, each by itself, and the reports of it."""
