"""The files that lead to an error which nobody thought of, found by loading parts of a source.

Every file and every record has a boundary of its own where it is read. What compares records with each other has none:
an error there says nothing of the file behind it. So parts of the source are loaded until one file is left, or a few
that lead to the error together.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from render.boundary import result_or_substitute

_Item = TypeVar("_Item")
_MOST_TRIALS = 60


def items_causing_unexpected_error(
    items: Sequence[_Item], load: Callable[[Sequence[_Item]], object]
) -> tuple[_Item, ...]:
    """Return those of some items that lead to an unexpected error, as all of them do; none if even none of them does.

    >>> items_causing_unexpected_error("abcdefg", lambda letters: 1 // ("c" not in letters))
    ('c',)
    >>> items_causing_unexpected_error("abcdefg", lambda letters: 1 // (not {"c", "f"} <= set(letters)))
    ('c', 'f')
    """
    if _raises_unexpected_error((), load):
        return ()
    left, parts, trials = tuple(items), 2, 0
    while len(left) > 1 and trials < _MOST_TRIALS:
        size = -(-len(left) // parts)
        pieces = [left[start : start + size] for start in range(0, len(left), size)]
        others = [tuple(each for piece in pieces if piece is not one for each in piece) for one in pieces]
        found = None
        for each in (*pieces, *(others if len(pieces) > 2 else ())):
            trials += 1
            if _raises_unexpected_error(each, load):
                found = each
                break
        if found is not None:
            parts = 2 if len(found) <= size else max(parts - 1, 2)
            left = found
        elif parts >= len(left):
            break
        else:
            parts = min(2 * parts, len(left))
    return left


def _raises_unexpected_error(items: Sequence[_Item], load: Callable[[Sequence[_Item]], object]) -> bool:
    def loads_or_refuses() -> bool:
        load(items)
        return False

    return result_or_substitute(loads_or_refuses, lambda _error: True)
