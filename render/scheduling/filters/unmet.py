"""The parts of a placement that no cluster meets, and the nearest words there are instead."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from render.words import listed, nearest, nearest_listed

SHOWN = 5
"""The most names that a message lists."""
_COMPARED = 200
"""The most values that are compared with one another for a hint: policies by the thousand may each ask for one."""


class Unmet(Struct, frozen=True, kw_only=True):
    """A field of a placement that no cluster meets, or too few."""

    field: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" + (f"; {self.hint}" if self.hint else "")


def nearest_hint(values: Sequence[str], known: Collection[str], what: str) -> str:
    """Return a hint: the known values that come nearest, else the first of all that are known."""
    if not known:
        return f"no cluster has any {what}"
    if len(known) > _COMPARED:
        return f"{what} here: {listed(sorted(known), SHOWN)}"
    return did_you_mean(values, known) or nearest_listed(next(iter(values), ""), known, what, SHOWN)


def did_you_mean(words: Sequence[str], known: Collection[str]) -> str:
    """Return a hint about the known words that come nearest to the first of some; "" for none."""
    near = dict.fromkeys(filter(None, (nearest(word, known) for word in words[:SHOWN])))
    return f"did you mean {' and '.join(map(repr, near))}?" if near else ""
