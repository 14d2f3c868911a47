"""Fields taken out of an object that is the caller's own, with what they leave empty."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Path = tuple[str, ...]
"""The steps to a field; a star is for each item of a list."""
Goes = Callable[[Any, Mapping[str, Any]], bool]
"""Say of a value, and of the object that it stands in, whether it goes."""


def _is_always_taken_out(_value: Any, _holder: Mapping[str, Any]) -> bool:
    return True


def remove_field_if(manifest: dict[str, Any], path: Path, goes: Goes = _is_always_taken_out) -> None:
    """Take a field out of an object that is the caller's, and the objects that it leaves empty; ``*`` is each item."""
    for trail in _trails_to_fields(manifest, path, []):
        holder, name = trail[-1]
        if not goes(holder[name], holder):
            continue
        for above, key in reversed(trail):
            del above[key]
            if above:
                break


Trail = list[tuple[dict[str, Any], str]]
"""The objects on the way to a field, each with the name of the next."""


def _trails_to_fields(value: Any, path: Path, trail: Trail) -> Iterator[Trail]:
    """Yield the way to each field of a path; it begins anew at the items of a list, for these stay where they are."""
    name, rest = path[0], path[1:]
    if name == "*":
        for item in value if isinstance(value, list) else ():
            yield from _trails_to_fields(item, rest, [])
    elif isinstance(value, dict) and name in value:
        here = [*trail, (value, name)]
        if rest:
            yield from _trails_to_fields(value[name], rest, here)
        else:
            yield here
