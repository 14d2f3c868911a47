"""Plans carried out: clusters applied to and pruned, each by itself."""
