"""Read and set fields of plain data; an error names the field of a wrong type, and setting copies only its path."""

from collections.abc import Mapping, Sequence
from typing import Any

from render.model import Manifest

from .operations import InterpreterError

INT32 = 2**31


def value_at(manifest: Any, *path: str) -> Any:
    """Return the value at a path of keys, None when a step is missing; a step into anything but an object is wrong."""
    value = manifest
    for index, key in enumerate(path):
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise error_of_wrong_type(value, "an object", path[:index])
        value = value.get(key)
    return value


def mapping_at(manifest: Any, *path: str) -> Mapping[str, Any]:
    """Return the object at a path; empty when missing."""
    value = value_at(manifest, *path)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise error_of_wrong_type(value, "an object", path)
    return value


def list_at(manifest: Any, *path: str) -> Sequence[Any]:
    """Return the list at a path; empty when missing."""
    value = value_at(manifest, *path)
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise error_of_wrong_type(value, "a list", path)
    return value


def objects_at(manifest: Any, *path: str) -> Sequence[Mapping[str, Any]]:
    """Return the list of objects at a path; empty when missing."""
    values = list_at(manifest, *path)
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            raise error_of_wrong_type(value, "an object", (*path[:-1], f"{path[-1]}[{index}]"))
    return values


def text_at(manifest: Any, *path: str) -> str:
    """Return the string at a path; empty when missing."""
    value = value_at(manifest, *path)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise error_of_wrong_type(value, "a string", path)
    return value


def integer_at(manifest: Any, *path: str) -> int | None:
    """Return the 32-bit integer at a path, None when missing; 3.0 is one, "3" and true are not."""
    value = value_at(manifest, *path)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise error_of_wrong_type(value, "an integer", path)
    if not -INT32 <= value < INT32:
        raise InterpreterError(f"{'.'.join(path)} does not fit into 32 bits")
    return int(value)


def count_at(manifest: Any, *path: str) -> int:
    """Return the integer (of any size) at a path; 0 when missing."""
    value = value_at(manifest, *path)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise error_of_wrong_type(value, "an integer", path)
    return int(value)


def manifest_with_value(manifest: Manifest, value: Any, *path: str) -> dict[str, Any]:
    """Return the manifest with a value at a path of keys; missing objects on the way are added."""
    key, *rest = path
    if not rest:
        return {**manifest, key: value}
    inner = manifest.get(key)
    if inner is not None and not isinstance(inner, Mapping):
        raise error_of_wrong_type(inner, "an object", (key,))
    return {**manifest, key: manifest_with_value(inner or {}, value, *rest)}


def manifest_with_other_integer(manifest: Manifest, value: int, *path: str) -> Manifest:
    """Return the manifest with another integer where it has one; a manifest without the field stays as it is."""
    current = value_at(manifest, *path)
    if current is None:
        return manifest
    if isinstance(current, bool) or not isinstance(current, int):
        raise error_of_wrong_type(current, "an integer", path)
    return manifest_with_value(manifest, value, *path)


def manifest_without_value(manifest: Manifest, *path: str) -> Manifest:
    """Return the manifest without the value at a path of keys; the same manifest when there is none."""
    key, *rest = path
    inner = manifest.get(key)
    if key not in manifest:
        return manifest
    if not rest:
        return {name: value for name, value in manifest.items() if name != key}
    shorter = manifest_without_value(inner, *rest) if isinstance(inner, Mapping) else inner
    return manifest if shorter is inner else {**manifest, key: shorter}


def error_of_wrong_type(value: Any, wanted: str, path: Sequence[str]) -> InterpreterError:
    """Return the error for a field of the wrong type, naming the field and both types but never the value."""
    return InterpreterError(f"{'.'.join(path) or 'the object'} is {yaml_type_name(value)}, not {wanted}")


def yaml_type_name(value: Any) -> str:
    """Return the type of a value as YAML's users call it."""
    names = ((bool, "a boolean"), (str, "a string"), (int, "an integer"), (float, "a number"), (Mapping, "an object"))
    if value is None:
        return "null"
    return next((name for kind, name in names if isinstance(value, kind)), "a list")
