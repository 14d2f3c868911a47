"""Clusters by their taints, as bits: those all of whose taints are tolerated, found without a look at each.

A cluster asks for every taint of an effect in question to be tolerated. That is counted for all clusters at once, as
``matching.selector_index`` counts the labels that selectors ask for.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .bits import Mask, digit_masks, mask_of, places_in_fewer_masks
from .cluster import Taint
from .placement import Toleration

_FEW = 8


class TaintIndex:
    """The taints of clusters, in the order of these."""

    __slots__ = ("_by_effects", "_taints")

    def __init__(self, taints: Iterable[Sequence[Taint]]) -> None:
        self._taints = list(taints)
        self._by_effects: dict[frozenset[str], _TaintBits] = {}

    def clusters_tolerated_by(self, tolerations: Iterable[Toleration], effects: frozenset[str]) -> Mask:
        """Return the clusters all of whose taints with these effects are tolerated."""
        keyed: list[Toleration] = []
        left = set(effects)
        for each in tolerations:
            if each.key or each.operator != "Exists":
                keyed.append(each)
            else:
                left -= {each.effect} if each.effect else effects
        asked = frozenset(left)
        if asked not in self._by_effects:
            self._by_effects[asked] = _TaintBits(self._taints, asked)
        return self._by_effects[asked].clusters_tolerated_by(keyed)


class _AskedTaint(NamedTuple):
    """A key and an effect, and which of a cluster's taints with both it is."""

    key: str
    effect: str
    number: int


class _TaintBits:
    """The clusters as bits, with the taints of some effects that each of them has; ``_wanted`` is their number."""

    __slots__ = ("_all", "_any", "_by_value", "_effects", "_keys_by_value", "_numbers", "_wanted")

    def __init__(self, taints: Sequence[Sequence[Taint]], effects: frozenset[str]) -> None:
        places: defaultdict[_AskedTaint, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        keys: defaultdict[str, dict[str, None]] = defaultdict(dict)
        counts: list[int] = []
        for place, own in enumerate(taints):
            if not own:
                counts.append(0)
                continue
            seen: Counter[tuple[str, str]] = Counter()
            for taint in own:
                if taint.effect in effects:
                    asked = _AskedTaint(taint.key, taint.effect, seen[taint.key, taint.effect])
                    seen[taint.key, taint.effect] += 1
                    places[asked][taint.value].append(place)
                    keys[taint.value][taint.key] = None
            counts.append(sum(seen.values()))
        self._effects, self._all, self._keys_by_value = effects, (1 << len(counts)) - 1, keys
        self._any = {asked: mask_of(each for found in by.values() for each in found) for asked, by in places.items()}
        # A mask of every value would take the memory of all clusters for each: those of a few are made when asked for.
        self._by_value: Mapping[_AskedTaint, Mapping[str, list[int] | Mask]] = {
            asked: {value: mask_of(found) if len(found) > _FEW else found for value, found in by.items()}
            for asked, by in places.items()
        }
        self._numbers = Counter((key, effect) for key, effect, _ in places)
        self._wanted = digit_masks(counts)

    def clusters_tolerated_by(self, tolerations: Iterable[Toleration]) -> Mask:
        """Return the clusters of which every taint is tolerated."""
        satisfied: defaultdict[_AskedTaint, Mask] = defaultdict(int)
        for toleration in tolerations:
            for asked in self._taints_asked_about(toleration):
                satisfied[asked] |= self._clusters_with_taint(asked, toleration)
        return self._all & ~places_in_fewer_masks(satisfied.values(), self._wanted)

    def _taints_asked_about(self, toleration: Toleration) -> Iterable[_AskedTaint]:
        """Yield the taints that a toleration may be about; one without a key is about those of its value."""
        effects = self._effects if not toleration.effect else self._effects & {toleration.effect}
        for key in [toleration.key] if toleration.key else self._keys_by_value.get(toleration.value, ()):
            for effect in effects:
                yield from (_AskedTaint(key, effect, number) for number in range(self._numbers[key, effect]))

    def _clusters_with_taint(self, asked: _AskedTaint, toleration: Toleration) -> Mask:
        if toleration.operator == "Exists":
            return self._any[asked]
        if toleration.operator not in {"", "Equal"}:
            return 0
        found = self._by_value[asked].get(toleration.value, 0)
        return found if isinstance(found, int) else mask_of(found)
