"""Pure: source, facts and previous commit in, the next rendered tree out."""
