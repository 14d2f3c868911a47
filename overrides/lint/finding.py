"""What lint has to say about a field of a policy, and how it counts and lists things."""

from collections.abc import Sequence
from dataclasses import dataclass

from overrides.errors import Origin

_MOST_LISTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A warning about a field of a policy."""

    origin: Origin
    field: str
    message: str
    hint: str = ""


def counted(count: int, noun: str) -> str:
    """Return a number of things.

    >>> counted(1, "cluster"), counted(2, "cluster")
    ('1 cluster', '2 clusters')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return the first names of a list and how many follow.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(names) - _MOST_LISTED
    first = ", ".join(names[:_MOST_LISTED])
    return f"{first} and {more} more" if more > 0 else first
