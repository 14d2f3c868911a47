"""JSON merge patches as evanphx/json-patch applies them: null deletes a key, and lists replace each other."""

from copy import deepcopy
from typing import Any

from .json_patch import PatchFailed


def merge_patched(document: Any, patch: Any) -> Any:
    """Return a copy of a document with a merge patch; PatchFailed for null, and for a patch of a single value.

    A document that is no object becomes the patch; a list in place of the patch becomes the document.
    """
    if patch is None or document is None:
        raise PatchFailed("a merge patch needs something on both sides")
    if isinstance(patch, list):
        return _without_nulls(patch)
    if not isinstance(patch, dict):
        raise PatchFailed("a merge patch is an object")
    return _merged(document, patch) if isinstance(document, dict) else _without_nulls(patch)


def _merged(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    merged = deepcopy(document)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(merged.get(key), dict):
            merged[key] = _merged(merged[key], value) if isinstance(value, dict) else deepcopy(value)
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
