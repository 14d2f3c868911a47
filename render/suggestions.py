"""The nearest known word to an unknown one, for hints."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Return the known word most similar to this one, ignoring case; empty when none is near.

    ``cutoff`` is the least similarity, up to 1.

    >>> nearest("clusterAfinity", ["clusterAffinities", "clusterAffinity"]), nearest("x", ["clusterAffinity"])
    ('clusterAffinity', '')
    """
    by_lower = {each.lower(): each for each in sorted(known, reverse=True)}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else ""
