"""Selectors of templates, found by the templates that they select, without trying each with each.

1. A selector stands in a bucket: by the name it asks for, by one label it asks for, or with all of its kind. A template
   meets those buckets alone that its name and its labels lead to.
2. In a bucket of many, selectors are bits. Every label of the template adds, for all of them at once, to the number of
   keys that a selector asks for and that are as it asks, and to the set of those that forbid it. Those selectors are
   left that have as many keys as they ask for, and forbid none.

So the time is that of the template's own labels times the words that the bits of a bucket take. What is kept is a mask
for each bucket, and never a value for each pair.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import starmap
from operator import or_
from typing import Generic, NamedTuple, TypeVar

from render.bits import Mask, digit_masks, indexes_of_mask, mask_of, places_in_fewer_masks
from render.model import Template
from render.selectors import LabelSelector, ResourceSelector, has_valid_values, implicit_priority_for_template

T = TypeVar("T")

_BY_NAME, _BY_KIND = "\0name", "\0kind"
"""Keys of buckets that no label has."""
_FEW = 8
"""Selectors in a bucket that are tried one by one sooner than as bits."""
_NAMESPACE = "\0namespace"
"""The namespace that a selector asks for, as if it were one more label."""

_Key = tuple[str, str, str, str, str]


class SelectorEntry(NamedTuple, Generic[T]):
    """A selector of something that belongs to a namespace ("" for one that selects in all of them)."""

    namespace: str
    selector: ResourceSelector
    owner: T


class Bucket(Generic[T]):
    """The entries that a name, a label or a kind leads to, in the order they were given."""

    __slots__ = ("_bits", "entries")

    def __init__(self) -> None:
        self.entries: list[SelectorEntry[T]] = []
        self._bits: _Bits | None = None

    def entries_selecting(self, template: Template) -> Mask:
        """Return the entries that select a template."""
        if len(self.entries) <= _FEW:
            mask = 0
            for place, entry in enumerate(self.entries):
                if implicit_priority_for_template(entry.selector, template):
                    mask |= 1 << place
            return mask
        if self._bits is None:
            self._bits = _Bits([entry.selector for entry in self.entries])
        return self._bits.entries_selecting(template)


class Met(NamedTuple, Generic[T]):
    """A bucket, and those of its entries that select a template."""

    bucket: Bucket[T]
    mask: Mask

    def first_entry(self, among: Mask = -1) -> SelectorEntry[T] | None:
        """Return the first of the entries, of those among some."""
        mask = self.mask & among
        return self.bucket.entries[(mask & -mask).bit_length() - 1] if mask else None

    def all_entries(self) -> Iterator[SelectorEntry[T]]:
        """Yield the entries in order."""
        return (self.bucket.entries[place] for place in indexes_of_mask(self.mask))


class SelectorIndex(Generic[T]):
    """Entries by bucket; a template meets those of its own namespace, and those of all namespaces."""

    __slots__ = ("_buckets", "_kinds")

    def __init__(self, entries: Iterable[tuple[str, ResourceSelector, T]]) -> None:
        self._buckets: defaultdict[_Key, Bucket[T]] = defaultdict(Bucket)
        for entry in starmap(SelectorEntry, entries):
            self._buckets[_bucket_key_of(entry)].entries.append(entry)
        self._kinds = {key[:3] for key in self._buckets}

    def selecting_entries_by_bucket(self, template: Template) -> list[Met[T]]:
        """Return the entries that select a template, by bucket, without buckets of which none does."""
        found = ((bucket, bucket.entries_selecting(template)) for bucket in self._buckets_of_template(template))
        return [Met(bucket, mask) for bucket, mask in found if mask]

    def _buckets_of_template(self, template: Template) -> Iterator[Bucket[T]]:
        ref, api_version, buckets = template.ref, template.api_version, self._buckets
        for namespace in {ref.namespace, ""}:
            kind = (namespace, api_version, ref.kind)
            if kind not in self._kinds:
                continue
            keys = [(*kind, _BY_NAME, ref.name), (*kind, _BY_KIND, "")]
            keys += [(*kind, key, str(value)) for key, value in template.labels.items()]
            yield from (buckets[key] for key in keys if key in buckets)


def _bucket_key_of(entry: SelectorEntry[T]) -> _Key:
    """Return the bucket of a selector: by the name it asks for, by one label it asks for, or for all of its kind."""
    selector = entry.selector
    kind = (entry.namespace, selector.api_version, selector.kind)
    if selector.name:
        return (*kind, _BY_NAME, selector.name)
    if selector.label_selector and selector.label_selector.match_labels:
        return (*kind, *selector.label_selector.match_labels[0])
    return (*kind, _BY_KIND, "")


class _Bits:
    """The selectors of a bucket as bits; all of them are of one kind, and ask for the same name if for any.

    ``_wanted`` is the number of keys that each asks for, ``_never`` are those that nothing can satisfy.
    """

    __slots__ = ("_all", "_asked", "_forbidden", "_never", "_wanted")

    def __init__(self, selectors: Sequence[ResourceSelector]) -> None:
        asked: defaultdict[str, defaultdict[str | None, list[int]]] = defaultdict(lambda: defaultdict(list))
        forbidden: defaultdict[str, defaultdict[str | None, list[int]]] = defaultdict(lambda: defaultdict(list))
        numbers, never = [], []
        for place, selector in enumerate(selectors):
            wanted, excluded = _wanted_and_excluded_labels(selector)
            if wanted is None or any(values is not None and not values for values in wanted.values()):
                never.append(place)
                wanted = {}
            numbers.append(len(wanted))
            for rules, table in ((wanted, asked), (excluded, forbidden)):
                for key, values in rules.items():
                    for value in (None,) if values is None else values:
                        table[key][value].append(place)
        self._all = (1 << len(selectors)) - 1
        self._never = mask_of(never)
        self._asked, self._forbidden = _Table(asked), _Table(forbidden)
        self._wanted = digit_masks(numbers)

    def entries_selecting(self, template: Template) -> Mask:
        """Return the selectors that select a template of their kind and name."""
        labels = list(_labels_of_template(template))
        out = reduce(or_, (self._forbidden.places_under(key, value) for key, value in labels), self._never)
        as_asked = (self._asked.places_under(key, value) for key, value in labels)
        return self._all & ~(out | places_in_fewer_masks(as_asked, self._wanted))


class _Table:
    """Masks by key and value; those under the value None are of the key itself, whatever its value."""

    __slots__ = ("_places",)

    def __init__(self, places: Mapping[str, Mapping[str | None, list[int]]]) -> None:
        # A mask of every value would take the memory of all selectors for each: those of a few are made when asked for.
        self._places: dict[str, dict[str | None, list[int] | Mask]] = {
            key: {value: mask_of(found) if len(found) > _FEW else found for value, found in by_value.items()}
            for key, by_value in places.items()
        }

    def places_under(self, key: str, value: str) -> Mask:
        """Return the places under a key and a value."""
        by_value = self._places.get(key)
        if by_value is None:
            return 0
        mask = 0
        for found in (by_value.get(value, 0), by_value.get(None, 0)):
            mask |= found if isinstance(found, int) else mask_of(found)
        return mask


def _labels_of_template(template: Template) -> Iterator[tuple[str, str]]:
    yield _NAMESPACE, template.ref.namespace
    yield from template.labels.items()


_Rules = dict[str, set[str] | None]
"""The values that are asked for, or forbidden, by key; None: any."""


def _wanted_and_excluded_labels(selector: ResourceSelector) -> tuple[_Rules | None, _Rules]:
    """Return what a selector asks for (None: what nothing can satisfy), and what it forbids."""
    wanted: _Rules = {_NAMESPACE: {selector.namespace}} if selector.namespace else {}
    excluded: _Rules = {}
    if selector.name or selector.label_selector is None:
        return wanted, excluded
    return (wanted, excluded) if _add_rules(selector.label_selector, wanted, excluded) else (None, {})


def _add_rules(selector: LabelSelector, wanted: _Rules, excluded: _Rules) -> bool:
    """Add the rules of a selector of labels, or say that one of them cannot be read."""
    for key, value in selector.match_labels:
        _restrict_values_of_key(wanted, key, {value})
    for requirement in selector.match_expressions:
        if not has_valid_values(requirement):
            return False
        match requirement.operator:
            case "In":
                _restrict_values_of_key(wanted, requirement.key, set(requirement.values))
            case "Exists":
                _restrict_values_of_key(wanted, requirement.key, None)
            case "NotIn":
                known = excluded.get(requirement.key, set())
                excluded[requirement.key] = None if known is None else known | set(requirement.values)
            case _:
                excluded[requirement.key] = None
    return True


def _restrict_values_of_key(rules: _Rules, key: str, values: set[str] | None) -> None:
    """Ask for one of some values (None: any) of a key, beside what is asked for already."""
    known = rules.get(key)
    rules[key] = values if known is None else known if values is None else known & values
