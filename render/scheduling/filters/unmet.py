"""The parts of a placement that no cluster meets, and the nearest words there are instead."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from render.words import first_few, hint_of_most_similar_words, most_similar_word

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


def hint_of_nearest_values(values: Sequence[str], known: Collection[str], what: str) -> str:
    """Return a hint: the known values that come nearest, else the first of all that are known."""
    if not known:
        return f"no cluster has any {what}"
    if len(known) > _COMPARED:
        return f"{what} here: {first_few(sorted(known), SHOWN)}"
    return hint_of_nearest_words(values, known) or hint_of_most_similar_words(
        next(iter(values), ""), known, what, SHOWN
    )


def hint_of_nearest_words(words: Sequence[str], known: Collection[str]) -> str:
    """Return a hint about the known words that come nearest to the first of some; "" for none."""
    near = dict.fromkeys(filter(None, (most_similar_word(word, known) for word in words[:SHOWN])))
    return f"did you mean {' and '.join(map(repr, near))}?" if near else ""
