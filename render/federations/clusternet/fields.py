"""Overrides of JSON or YAML that stands in a text field, such as a file in a ConfigMap."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from render.documents import DocumentErrors, emit, parse_documents
from render.federations.patches import JsonPatch, PatchFailed

_LARGEST_PLAIN = 1e21


def object_with_changed_field(current: Any, config: Mapping[str, Any], change: Callable[[Any], Any]) -> Any:
    """Return an object whose field is read, changed and written again; an empty text stays as it is.

    JSON that the change leaves as it was stays byte for byte; YAML is always written anew. A merge patch reads the
    numbers of JSON with 64 bits of floating point, and leaves an object or fails.
    """
    path = config.get("fieldPath") or ""
    text = _text_of_field_at(current, path)
    if not text:
        return current
    written = _text_with_changed_part(text, config, change)
    try:
        return JsonPatch.V5.apply(current, [{"op": "replace", "path": path, "value": written}])
    except PatchFailed as error:
        if error.is_missing:
            return current
        raise


def _text_with_changed_part(text: str, config: Mapping[str, Any], change: Callable[[Any], Any]) -> str:
    format_ = config.get("fieldFormat")
    if format_ == "JSON":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PatchFailed("the field is no JSON") from error
        changed = change(value)
        if config["type"] == "FieldMergePatch":
            return _json_as_go_writes_it(value_with_numbers_as_floats(_object_decoded_from(changed)))
        return text if changed is value else _json_as_go_writes_it(changed)
    if format_ == "YAML":
        try:
            documents = parse_documents(text.encode())
        except DocumentErrors as error:
            raise PatchFailed("the field is no YAML") from error
        changed = change(documents[0].value if documents else None)
        return emit(changed).decode()
    raise PatchFailed(f"the fieldFormat {format_!r} is not known")


def _text_of_field_at(current: Any, path: str) -> str:
    if not isinstance(current, dict):
        raise PatchFailed("only an object has fields")
    parts = path.split("/")[1:]
    if not parts:
        raise PatchFailed(f"the fieldPath {path!r} does not begin with a slash")
    found: Any = current
    for part in parts:
        found = _child_of_holder(found, part)
    if not isinstance(found, str):
        raise PatchFailed(f"the field {path} is not text")
    return found


def _child_of_holder(holder: Any, part: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(part)
    if isinstance(holder, list):
        try:
            place = int(part)
        except ValueError as error:
            raise PatchFailed(f"{part!r} is no index") from error
        return holder[place] if 0 <= place < len(holder) else None
    raise PatchFailed(f"{part!r} lies in nothing that is there")


def _object_decoded_from(changed: Any) -> Any:
    if not isinstance(changed, dict):
        raise PatchFailed("the merge patch leaves no object in the field")
    return changed


def _json_as_go_writes_it(value: Any) -> str:
    """Return JSON as Go indents it: keys sorted, and ``<``, ``>`` and ``&`` escaped."""
    text = json.dumps(value, indent=4, sort_keys=True, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def value_with_numbers_as_floats(value: Any) -> Any:
    """Return a value with its numbers as 64 bits of floating point hold them, whole ones without a decimal point."""
    if isinstance(value, dict):
        return {key: value_with_numbers_as_floats(each) for key, each in value.items()}
    if isinstance(value, list):
        return [value_with_numbers_as_floats(each) for each in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < _LARGEST_PLAIN else number
