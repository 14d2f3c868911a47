"""The nearest known word to an unknown one, for hints."""

from collections.abc import Iterable
from difflib import get_close_matches

_SHORT = 6


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Return the known word most similar to this one, ignoring case; empty when none is near.

    ``cutoff`` is the least similarity, up to 1.

    Short words whose letters are swapped share too little to be near otherwise.

    >>> nearest("clusterAfinity", ["clusterAffinities", "clusterAffinity"]), nearest("x", ["clusterAffinity"])
    ('clusterAffinity', '')
    >>> nearest("wbe", ["api", "web"])
    'web'
    """
    by_lower = {each.lower(): each for each in sorted(known, reverse=True)}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    if close:
        return by_lower[close[0]]
    letters = sorted(word.lower())
    swapped = (each for each in sorted(by_lower) if sorted(each) == letters and each[:1] == word[:1].lower())
    found = next(swapped, None) if 2 < len(word) <= _SHORT else None
    return by_lower[found] if found else ""
