"""Lines of a difference that say the same of many objects, told once for all of them."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from render.model import ObjectRef

FEW = 10
"""The most objects that are told one by one though the same is said of them."""

Item = TypeVar("Item")


def grouped(items: Iterable[Item], said: Callable[[Item], Hashable], *, is_full: bool) -> Iterator[list[Item]]:
    """Yield items alone or, where the same is said of many, together, where the first of them stands.

    ``is_full``: each alone.

    >>> [len(each) for each in grouped("abababaaaaaaaaa", str, is_full=False)]
    [12, 1, 1, 1]
    """
    everything = list(items)
    groups: dict[Hashable, list[Item]] = {}
    for item in everything:
        groups.setdefault(said(item), []).append(item)
    for item in everything:
        group = groups.get(said(item), [])
        if is_full or 0 < len(group) <= FEW:
            yield [item]
        elif group:
            yield groups.pop(said(item))


def objects_counted(refs: Sequence[ObjectRef]) -> str:
    """Return how many objects there are of each kind.

    >>> objects_counted([ObjectRef("", "Secret", "shop", "a"), ObjectRef("", "Secret", "shop", "b")])
    '2 Secret'
    """
    count_by_kind = Counter(ref.group_kind for ref in refs)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(count_by_kind.items()))
