"""One pass: source, facts and previous commit in, the next rendered commit out."""
