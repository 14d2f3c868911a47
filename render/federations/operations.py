"""The operations of strict JSON patches that turn one object into another."""

from collections.abc import Iterator
from typing import Any

from .json_patch import JsonPatch
from .units import Operation


def differences(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """Yield operations ``{operator, path, value}``; lists of one length are compared entry by entry."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}/{place}")
    elif before != after or type(before) is not type(after):
        yield {"operator": "replace", "path": path, "value": after}


def changed(manifest: Any, operations: tuple[Operation, ...]) -> Any:
    """Return an object with such operations applied; PatchFailed where one does not apply."""
    return JsonPatch.V5.apply(manifest, [{**each, "op": each["operator"]} for each in operations])


def _of_objects(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Operation]:
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
            yield from differences(before[key], after[key], place)
