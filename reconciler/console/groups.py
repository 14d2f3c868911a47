"""Items of which the same is said, told together where there are many of them, and one by one where there are few."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from render.model import ObjectRef

FEW = 10
"""The most objects that are shown one by one though the same is said of them."""

Item = TypeVar("Item")


def group_items(items: Iterable[Item], said: Callable[[Item], Hashable], *, is_full: bool) -> Iterator[list[Item]]:
    """Yield items alone or, where the same is said of many, together, where the first of them stands.

    ``is_full``: each alone.

    >>> [len(each) for each in group_items("abababaaaaaaaaa", str, is_full=False)]
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


def counts_of_objects_by_kind(refs: Sequence[ObjectRef]) -> str:
    """Return how many objects there are of each kind.

    >>> counts_of_objects_by_kind([ObjectRef("", "Secret", "shop", "a"), ObjectRef("", "Secret", "shop", "b")])
    '2 Secret'
    """
    count_by_kind = Counter(ref.group_kind for ref in refs)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(count_by_kind.items()))
