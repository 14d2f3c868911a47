"""The order of candidates: tier of overflow, clusters that hold the binding, then the most available, then the name."""

from collections.abc import Iterable, Sequence

from render.bits import Mask, members

LOCALITY_SCORE = 100


def ordered(feasible: Mask, *, tiers: Iterable[Mask], held: Mask, available: Sequence[int]) -> list[int]:
    """Return feasible clusters best first.

    ``available`` counts what a cluster holds of this binding as room, as it does for Karmada. A cluster that holds the
    binding scores ``LOCALITY_SCORE``, any other 0.
    """
    result: list[int] = []
    for tier in tiers:
        for part in (feasible & tier & held, feasible & tier & ~held):
            # A stable sort of ascending names keeps them ascending where equally much is available.
            result += sorted(members(part), key=available.__getitem__, reverse=True)
    return result
