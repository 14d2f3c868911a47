"""Counts and lists in messages."""

from collections.abc import Sequence

_MOST_LISTED = 3


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number of things; ``many`` where an s is not enough.

    >>> counted(1, "cluster"), counted(2, "cluster"), counted(0, "policy", "policies")
    ('1 cluster', '2 clusters', '0 policies')
    """
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def listed(names: Sequence[str], most: int = _MOST_LISTED) -> str:
    """Return the first names of a list and how many follow.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(names) - most
    first = ", ".join(names[:most])
    return f"{first} and {more} more" if more > 0 else first
