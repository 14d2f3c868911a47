"""The nearest of the words one could have meant, for hints."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Return the known word most like this one, upper and lower case alike; empty when none is near.

    ``cutoff`` says how much alike they must be, up to 1.

    >>> nearest("clusterAfinity", ["clusterAffinities", "clusterAffinity"]), nearest("x", ["clusterAffinity"])
    ('clusterAffinity', '')
    """
    by_lower = {each.lower(): each for each in sorted(known, reverse=True)}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else ""
