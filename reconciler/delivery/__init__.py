"""Plans carried out: clusters observed, applied to and pruned, each by itself."""
