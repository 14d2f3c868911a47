"""Patches of JSON: lists of operations, merge patches, and the operations that turn one object into another.

They are applied as evanphx/json-patch does, the library of KubeFed and Clusternet, which is not strict RFC 6902. A
``replace`` of a last key that is absent adds it, indexes below zero count from the end, a path without a leading slash
loses its first part, and a ``replace`` of the empty path replaces the whole document.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, ClassVar

from msgspec import Struct

from render.expressions import lazy_expression

from .units import Operation

_INDEX = lazy_expression(r"[+-]?[0-9]+", re.ASCII)
_ABSENT: Any = object()


class PatchFailed(ValueError):
    """A patch does not apply; ``is_missing`` where the library says that a place is not there."""

    def __init__(self, message: str, *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


class JsonPatch(Struct, frozen=True):
    """The library in one of its versions: 4.12 fails where 5.7 tests an absent key for no value."""

    version: int
    V4: ClassVar["JsonPatch"]
    V5: ClassVar["JsonPatch"]

    def apply(self, document: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
        """Return a copy of a document with operations ``{op, path, value, from}`` applied in their order."""
        root = [deepcopy(document)]
        for operation in operations:
            self._apply_operation(root, operation)
        return root[0]

    def _apply_operation(self, root: list[Any], operation: Mapping[str, Any]) -> None:
        path, op = operation.get("path"), operation.get("op")
        if op not in {"add", "remove", "replace", "move", "copy", "test"}:
            raise PatchFailed(f"unexpected kind of operation: {op}")
        if not isinstance(path, str):
            raise PatchFailed(f"{op}: the path is missing")
        match op:
            case "add":
                _add_value_at_place(_place_at_pointer(root, path), _value_of_operation(operation))
            case "remove":
                _remove_value_at_place(_place_at_pointer(root, path))
            case "replace":
                self._replace_value_at(root, path, operation)
            case "test":
                self._test_value_at(root, path, operation)
            case _:
                self._move_or_copy_value(root, path, operation, is_kept=op == "copy")

    def _replace_value_at(self, root: list[Any], path: str, operation: Mapping[str, Any]) -> None:
        value = _value_of_operation(operation)
        if path == "":
            if not isinstance(value, dict | list):
                raise PatchFailed("replace: the value of a whole document is an object or a list")
            root[0] = value
            return
        place = _place_at_pointer(root, path)
        if isinstance(place.holder, list):
            place.holder[_index_in_list(place, len(place.holder))] = value
        else:
            place.holder[place.key] = value

    def _test_value_at(self, root: list[Any], path: str, operation: Mapping[str, Any]) -> None:
        if path == "":
            raise PatchFailed("test: there is no path")
        found = _value_at_place(_place_at_pointer(root, path))
        wanted = operation.get("value", _ABSENT)
        if found is None:
            if wanted is _ABSENT and self.version < 5:
                raise PatchFailed("test: no value is given for a key that is absent")
            if wanted is not None and wanted is not _ABSENT:
                raise PatchFailed(f"test: {path} has another value")
        elif wanted is _ABSENT or not _is_same_json(found, wanted):
            raise PatchFailed(f"test: {path} has another value")

    def _move_or_copy_value(self, root: list[Any], path: str, operation: Mapping[str, Any], *, is_kept: bool) -> None:
        source = operation.get("from")
        if not isinstance(source, str):
            raise PatchFailed("move and copy need from")
        place = _place_at_pointer(root, source)
        value = deepcopy(_value_at_place(place))
        if not is_kept:
            _remove_value_at_place(place)
        _add_value_at_place(_place_at_pointer(root, path), value)


JsonPatch.V4 = JsonPatch(4)


JsonPatch.V5 = JsonPatch(5)


class _Place(Struct, frozen=True):
    """An object or a list, and the last part of the path within it."""

    holder: Any
    key: str
    path: str


def _place_at_pointer(root: list[Any], path: str) -> _Place:
    parts = path.split("/")
    if len(parts) < 2:
        raise PatchFailed(f"{path} lies in nothing that is there", is_missing=True)
    holder = root[0]
    for part in [*map(_unescaped_pointer_token, parts[1:-1])]:
        holder = _child_at_part(holder, part)
        if not isinstance(holder, dict | list):
            raise PatchFailed(f"{path} lies in nothing that is there", is_missing=True)
    if not isinstance(holder, dict | list):
        raise PatchFailed("the document is no object", is_missing=True)
    return _Place(holder, _unescaped_pointer_token(parts[-1]), path)


def _child_at_part(holder: Any, part: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(part)
    try:
        return holder[_index_in_list(_Place(holder, part, part), len(holder))]
    except PatchFailed:
        return None


def _unescaped_pointer_token(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _value_of_operation(operation: Mapping[str, Any]) -> Any:
    return deepcopy(operation.get("value"))


def _index_in_list(place: _Place, length: int) -> int:
    """Return a position in a list; one below zero counts from the end."""
    if not _INDEX.fullmatch(place.key):
        raise PatchFailed(f"{place.path}: {place.key!r} is no index")
    position = int(place.key)
    if not -length <= position < length:
        raise PatchFailed(f"{place.path}: the list has no entry {position}", is_missing=True)
    return position % length


def _value_at_place(place: _Place) -> Any:
    if isinstance(place.holder, dict):
        return place.holder.get(place.key)
    return place.holder[_index_in_list(place, len(place.holder))]


def _add_value_at_place(place: _Place, value: Any) -> None:
    if isinstance(place.holder, dict):
        place.holder[place.key] = value
    elif place.key == "-":
        place.holder.append(value)
    else:
        try:
            position = _index_in_list(place, len(place.holder) + 1)
        except PatchFailed as error:
            raise PatchFailed(str(error)) from error
        place.holder.insert(position, value)


def _remove_value_at_place(place: _Place) -> None:
    if isinstance(place.holder, list):
        try:
            del place.holder[_index_in_list(place, len(place.holder))]
        except PatchFailed as error:
            raise PatchFailed(str(error)) from error
    elif place.key in place.holder:
        del place.holder[place.key]
    else:
        raise PatchFailed(f"remove: {place.path} is not there", is_missing=True)


def _is_same_json(one: Any, other: Any) -> bool:
    """Say whether two values are the same JSON; true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same_json(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same_json, one, other))
    return type(one) is type(other) and one == other


def strict_path_and_presence(document: Any, path: str) -> tuple[str, bool]:
    """Return the path of a place as strict RFC 6902 writes it, and whether there is something at it.

    PatchFailed where the object or list that it lies in is not there.
    """
    place = _place_at_pointer([document], path)
    parts, holder = [], document
    for part in [*map(_unescaped_pointer_token, path.split("/")[1:-1])]:
        parts.append(_strict_part_of_pointer(holder, part))
        holder = _child_at_part(holder, part)
    if isinstance(place.holder, dict):
        return _pointer_of([*parts, place.key]), place.key in place.holder
    if place.key == "-":
        return _pointer_of([*parts, "-"]), False
    is_there = _child_at_part(place.holder, place.key) is not None
    length = len(place.holder) if is_there else len(place.holder) + 1
    return _pointer_of([*parts, str(_index_in_list(place, length))]), is_there


def _strict_part_of_pointer(holder: Any, part: str) -> str:
    return part if isinstance(holder, dict) else str(_index_in_list(_Place(holder, part, part), len(holder)))


def _pointer_of(parts: Iterable[str]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def value_after_merge_patch(document: Any, patch: Any) -> Any:
    """Return a copy of a document with a merge patch; PatchFailed for null, and for a patch of a single value.

    A document that is no object becomes the patch; a list in place of the patch becomes the document.
    """
    if patch is None or document is None:
        raise PatchFailed("a merge patch needs something on both sides")
    if isinstance(patch, list):
        return _without_nulls(patch)
    if not isinstance(patch, dict):
        raise PatchFailed("a merge patch is an object")
    return _merge_patch(document, patch) if isinstance(document, dict) else _without_nulls(patch)


def _merge_patch(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    merged = deepcopy(document)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(merged.get(key), dict):
            merged[key] = _merge_patch(merged[key], value) if isinstance(value, dict) else deepcopy(value)
        else:
            merged[key] = _without_nulls(value)
    return merged


def _without_nulls(value: Any) -> Any:
    """Return a copy of a value whose objects have no keys of null; the nulls of lists stay."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return deepcopy(value)


def operations_between(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """Yield operations ``{operator, path, value}``; lists of one length are compared entry by entry."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _operations_between_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from operations_between(one, other, f"{path}/{place}")
    elif before != after or type(before) is not type(after):
        yield {"operator": "replace", "path": path, "value": after}


def manifest_after_operations(manifest: Any, operations: tuple[Operation, ...]) -> Any:
    """Return an object with such operations applied; PatchFailed where one does not apply."""
    return JsonPatch.V5.apply(manifest, [{**each, "op": each["operator"]} for each in operations])


def _operations_between_objects(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Operation]:
    for key in sorted({**before, **after}):
        place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in after:
            yield {"operator": "remove", "path": place}
        elif key not in before:
            yield {"operator": "add", "path": place, "value": after[key]}
        elif not key and before[key] != after[key]:
            # An overrider finds an empty key at the end of a path, and nothing below one.
            yield {"operator": "replace", "path": place, "value": after[key]}
        else:
            yield from operations_between(before[key], after[key], place)
