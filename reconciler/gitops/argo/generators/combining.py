"""Sets of parameters of several generators joined: each with each, or by the values of keys."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .values import printed_value

Parameters = dict[str, Any]
MOST_SETS = 2_000
"""Sets of parameters that one generator may make, and Applications of one ApplicationSet."""


class UncombinableError(Exception):
    """Sets of parameters cannot be joined; the message says why."""


def checked_number_of_sets(sets: Sequence[Parameters]) -> Sequence[Parameters]:
    """Return sets of parameters that are not too many."""
    if len(sets) > MOST_SETS:
        raise UncombinableError(f"it makes more than {MOST_SETS} sets of parameters")
    return sets


def overlaid_parameters(first: Mapping[str, Any], second: Mapping[str, Any]) -> Parameters:
    """Return parameters in which those of ``second`` count more, as far as they are not empty.

    >>> overlaid_parameters({"a": {"b": 1, "c": 2}, "d": "x"}, {"a": {"b": 3}, "d": ""})
    {'a': {'b': 3, 'c': 2}, 'd': 'x'}
    """
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[key] = overlaid_parameters(before, value)
        elif value or key not in merged:
            merged[key] = value
    return merged


def combined_parameters(first: Parameters, second: Parameters, *, is_go: bool) -> Parameters:
    """Return two sets of a matrix as one: the first counts, and flat ones may not differ in a key."""
    if is_go:
        return overlaid_parameters(second, first)
    for key in sorted(first.keys() & second.keys()):
        if first[key] != second[key]:
            raise UncombinableError(f"both generators have {key!r}, with different values")
    return {**first, **second}


def merged_sets(every: Sequence[Sequence[Parameters]], keys: Sequence[str], *, is_go: bool) -> Iterator[Parameters]:
    """Yield the sets of the first generator, with those of the others that have the same values of keys."""
    by_key = [_sets_by_key(sets, keys) for sets in every]
    for values, first in by_key[0].items():
        merged = first
        for others in by_key[1:]:
            if values in others:
                merged = overlaid_parameters(merged, others[values]) if is_go else {**merged, **others[values]}
        yield merged


def _sets_by_key(sets: Sequence[Parameters], keys: Sequence[str]) -> dict[str, Parameters]:
    found: dict[str, Parameters] = {}
    for each in sets:
        values = json.dumps([each.get(key) for key in keys], sort_keys=True, default=str)
        if values in found:
            raise UncombinableError(f"two sets of one generator have the same {', '.join(keys)}")
        found[values] = each
    return found


def flat_parameters(value: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as one level of texts, named by their path.

    >>> flat_parameters({"a": {"b": 1.0, "c": ["x"]}, "d": True})
    {'a.b': '1', 'a.c.0': 'x', 'd': 'true'}
    """
    found: dict[str, str] = {}
    stack: list[tuple[str, Any]] = [(str(key), each) for key, each in reversed(list(value.items()))]
    while stack:
        name, each = stack.pop()
        items = list(enumerate(each)) if isinstance(each, list) else _items_of_container(each)
        if items:
            stack += ((f"{name}.{key}", inner) for key, inner in reversed(items))
        else:
            found[name] = "<nil>" if each is None else printed_value(each)
    return found


def _items_of_container(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else []
