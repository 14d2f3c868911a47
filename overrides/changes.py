"""The fields in which two manifests differ, ordered so that applying the changes in turn makes one from the other.

Mappings are compared as ``jsonpatch.make_patch`` compares them. Its result for lists depends on its version, and these
changes are committed, so lists are compared here: equal items at both ends are skipped, items in the same place and of
the same name are compared field by field, and all others are added and removed item by item.

The values of a Secret are never shown, nor other secret values (``secrecy``).
"""

import json
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from render.documents import Hole
from render.expressions import lazy_expression
from render.model import Manifest

from .draft import Key
from .jsontext import json_text
from .pointer import escaped_pointer
from .secrecy import HIDDEN, is_secret_entry, is_secret_key, redacted_value

_SHOWN_IN_SECRETS = lazy_expression(r"/metadata/labels(/.*)?|/type|/immutable")
_LONGEST_VALUE = 80
_NOTHING = object()

Keys = tuple[Key, ...]
Plain = Mapping[str, Any]


class ChangedField(Struct, frozen=True, kw_only=True):
    """A field (a JSON pointer) that was added, replaced or removed; numbers not known yet read ``(replicas)``."""

    path: str
    operator: str
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        match self.operator:
            case "add":
                return f"{self.path}: added {_shortened_value(self.after)}"
            case "remove":
                return f"{self.path}: removed, was {_shortened_value(self.before)}"
        return f"{self.path}: {_shortened_value(self.before)} -> {_shortened_value(self.after)}"


def changes_of(before: Manifest, after: Manifest) -> tuple[ChangedField, ...]:
    """Return the fields in which a manifest changed, by path; those of a list in an order that can be applied in turn.

    Parts that both share are not compared.
    """
    found: list[ChangedField] = []
    _collect_changes((), before, after, found)
    return tuple(map(_change_without_secrets, found)) if before.get("kind") == "Secret" else tuple(found)


def _collect_changes(keys: Keys, before: Any, after: Any, found: list[ChangedField]) -> None:
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        _collect_changes_of_entries(keys, before, after, found)
    elif isinstance(before, list) and isinstance(after, list):
        _collect_changes_of_items(keys, before, after, found)
    elif not _is_same_yaml_data(before, after):
        found.append(_changed_field(keys, before, after))


def _collect_changes_of_entries(keys: Keys, before: Plain, after: Plain, found: list[ChangedField]) -> None:
    if before.keys() == after.keys():
        changed = [key for key, item in before.items() if after[key] is not item]
    else:
        changed = [key for key, item in before.items() if after.get(key, _NOTHING) is not item]
        changed += [key for key in after if key not in before]
    for key in sorted(changed):
        old, new = before.get(key, _NOTHING), after.get(key, _NOTHING)
        if is_secret_key(key) or (key == "value" and (is_secret_entry(before) or is_secret_entry(after))):
            if not _is_same_yaml_data(old, new):
                found.append(_change_without_secrets(_changed_field((*keys, key), old, new)))
        elif old is _NOTHING or new is _NOTHING:
            found.append(_changed_field((*keys, key), old, new))
        else:
            _collect_changes((*keys, key), old, new, found)


def _collect_changes_of_items(keys: Keys, before: list[Any], after: list[Any], found: list[ChangedField]) -> None:
    """Note removed items by their old place, from the end; then added and changed ones by their new place."""
    for _, old, new in sorted(_places_of_items_in_both(before, after)):
        removed = before[old] if old >= 0 else _NOTHING
        added = after[new] if new >= 0 else _NOTHING
        here = (*keys, old if new < 0 else new)
        if removed is _NOTHING or added is _NOTHING or _is_item_shown_as_replaced(removed, added):
            found.append(_changed_field(here, removed, added))
        else:
            _collect_changes(here, removed, added, found)


def _is_item_shown_as_replaced(removed: Any, added: Any) -> bool:
    """Say whether an item took another's place: shown whole, unless the value of one tells the secret of the other."""
    return _name_of_item(removed) != _name_of_item(added) and not (is_secret_entry(removed) or is_secret_entry(added))


def _places_of_items_in_both(old: list[Any], new: list[Any]) -> Iterable[tuple[int, int, int]]:
    """Return the turn of each item and its places in two lists: -1 in the second if removed, in the first if added.

    >>> sorted(_places_of_items_in_both(["x", "a", "b"], ["x", "b", "c"]))
    [(-2, 1, -1), (1, -1, 2)]
    """
    if _are_items_changed_in_place(old, new):
        return [(2, place, place) for place in range(len(old))]
    start, end = _counts_of_equal_ends(old, new)
    middles = [
        [json.dumps(_plain_value(item), sort_keys=True) for item in each[start : len(each) - end]]
        for each in (old, new)
    ]
    blocks = SequenceMatcher(None, middles[0], middles[1], autojunk=False).get_opcodes()
    return [
        (-1 - place if other < 0 else 1 if place < 0 else 2, place, other)
        for tag, first, last, other_first, other_last in blocks
        if tag != "equal"
        for place, other in zip_longest(
            range(start + first, start + last), range(start + other_first, start + other_last), fillvalue=-1
        )
    ]


def _counts_of_equal_ends(before: list[Any], after: list[Any]) -> tuple[int, int]:
    """Return the number of equal items at the beginning of two lists, and at the end of the rest."""
    shorter, start, end = min(len(before), len(after)), 0, 0
    while start < shorter and _is_same_yaml_data(before[start], after[start]):
        start += 1
    while end < shorter - start and _is_same_yaml_data(before[-1 - end], after[-1 - end]):
        end += 1
    return start, end


def _are_items_changed_in_place(old: list[Any], new: list[Any]) -> bool:
    """Say whether items change in their places: each keeps its name, or there is but one."""
    if len(old) != len(new):
        return False
    names = list(map(_name_of_item, old))
    return len(old) == 1 or (None not in names and names == list(map(_name_of_item, new)))


def _name_of_item(item: Any) -> Any:
    return item.get("name") if isinstance(item, dict) else None


def _is_same_yaml_data(before: Any, after: Any) -> bool:
    """Say whether two values are the same data; to YAML 1, 1.0 and true are three."""
    if before is after:
        return True
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(
            _is_same_yaml_data(item, after[key]) for key, item in before.items()
        )
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_is_same_yaml_data, before, after))
    return type(before) is type(after) and bool(before == after)


def _changed_field(keys: Keys, before: Any, after: Any) -> ChangedField:
    path = escaped_pointer(keys)
    if before is _NOTHING:
        return ChangedField(path=path, operator="add", after=_shown_value(after))
    if after is _NOTHING:
        return ChangedField(path=path, operator="remove", before=_shown_value(before))
    return ChangedField(path=path, operator="replace", before=_shown_value(before), after=_shown_value(after))


def _change_without_secrets(change: ChangedField) -> ChangedField:
    if _SHOWN_IN_SECRETS.fullmatch(change.path):
        return change
    before = None if change.operator == "add" else HIDDEN
    after = None if change.operator == "remove" else HIDDEN
    return ChangedField(path=change.path, operator=change.operator, before=before, after=after)


def _shown_value(value: Any) -> Any:
    """Return a copy in which secret values are hidden, and a hole is its name in parentheses."""
    if isinstance(value, dict | list):
        return _plain_value(redacted_value(value))
    return _plain_value(value)


def _plain_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_value(item) for item in value]
    return f"({value.name})" if isinstance(value, Hole) else value


def _shortened_value(value: Any) -> str:
    text = value if value == HIDDEN else json_text(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
