"""Objects in the order of a field, as ``kubectl get --sort-by`` has it, over all members together.

Objects that lack the field come first. Numbers and quantities are compared by their amounts, other text by its
characters: since kubectl 1.37 ``web-10`` stands before ``web-9``. Contents of Secrets are hidden before, so that no
order tells of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from render.jsonpath import JsonPathError, fault_of_jsonpath, jsonpath_values
from render.quantity import parse_quantity

from .objects import relaxed_path, shown_object
from .tables import KindRows

Thing = TypeVar("Thing")
_MISSING, _AMOUNT, _TEXT = 0, 1, 2
SortKey = tuple[int, Any]


def parse_order(text: str) -> str:
    """Return the path of a field as people write it, with or without braces; a usage error says what is wrong."""
    path = relaxed_path(text)
    if path == "." or (fault := fault_of_jsonpath(f"{{{path}}}")):
        raise click.UsageError(f"--sort-by: {fault if path != '.' else 'name a field, such as .metadata.name'}")
    return path


def ordered_objects(objects: Sequence[tuple[str, Mapping[str, Any]]], path: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return objects with their kinds in the order of a field."""
    return _ordered(objects, path, lambda each: each[1])


def ordered_rows(several: Iterable[KindRows], path: str) -> tuple[KindRows, ...]:
    """Return tables whose rows have their objects, each in the order of a field."""

    def ordered(table: KindRows) -> KindRows:
        rows = _ordered(table.rows, path, lambda each: shown_object(each[0], each[1].item, has_managers=True))
        return replace(table, rows=tuple(rows))

    return tuple(map(ordered, several))


def _ordered(things: Sequence[Thing], path: str, object_of: Callable[[Thing], Mapping[str, Any]]) -> list[Thing]:
    values = [_first_value(path, object_of(each)) for each in things]
    if things and all(value is None for value in values):
        raise click.UsageError(f"--sort-by: no object has {path}")
    amounts = [_amount(value) for value in values]
    are_amounts = all(amount is not None or value is None for amount, value in zip(amounts, values, strict=True))
    keys = amounts if are_amounts else [None if value is None else str(value) for value in values]
    order = sorted(range(len(things)), key=lambda number: _key(keys[number]))
    return [things[number] for number in order]


def _key(value: Any) -> SortKey:
    if value is None:
        return (_MISSING, 0)
    return (_TEXT, value) if isinstance(value, str) else (_AMOUNT, value)


def _first_value(path: str, item: Mapping[str, Any]) -> Any:
    try:
        found = jsonpath_values(path, item)
    except JsonPathError:
        return None
    return found[0] if found else None


def _amount(value: Any) -> Any:
    """Return the amount of a number or a quantity; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return value
    try:
        return parse_quantity(value)
    except ValueError:
        return None
