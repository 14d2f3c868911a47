"""The shapes of files on the status branch, checked before anything reads them.

Passes write these files, but whoever may push to the branch can, too. A file of another shape is named, and nothing is
guessed from it: what a member holds and how it is are decided by what the branch says.
"""

from collections.abc import Mapping
from typing import Any

from reconciler.source.observed_schemas import MemberSchemas

MOST_BYTES = 8 << 20
_LARGEST_CODE = 256
_LISTS = ("conditions", "manifestStatuses", "aggregatedStatus", "apiEnablements")
REFUSAL_PATH = "refusal.yaml"
_MAPPINGS = ("resourceSummary", "nodeSummary")


def fault_of(path: str, content: bytes, manifest: Any) -> str:
    """Return the fault of a file's one object, as the end of a sentence about the file; empty for none.

    >>> fault_of("works/eu/x.yaml", b"", {"metadata": {"name": "x"}, "status": {"conditions": "none"}})
    'status.conditions is no list of objects'
    """
    if len(content) > MOST_BYTES:
        return f"it has {len(content)} bytes, but at most {MOST_BYTES} are read"
    if not isinstance(manifest, dict):
        return "it holds no object"
    if path == REFUSAL_PATH:
        return _refusal_fault(manifest)
    if path.startswith("schemas/"):
        return _schemas_fault(manifest)
    if path.startswith("inventory/") or "metadata" not in manifest:
        return ""
    return _head_fault(manifest) or _status_fault(manifest.get("status") or {})


def _refusal_fault(manifest: Mapping[str, Any]) -> str:
    for name in ("source", "since", "message", "hint"):
        if not isinstance(manifest.get(name), str):
            return f"{name} is no text"
    details, code = manifest.get("details"), manifest.get("code")
    if not isinstance(details, list) or not all(isinstance(each, str) for each in details):
        return "details is no list of texts"
    return "" if type(code) is int and 0 < code < _LARGEST_CODE else "code is no exit code"


def _schemas_fault(manifest: Mapping[str, Any]) -> str:
    try:
        MemberSchemas.parse(manifest)
    except ValueError as error:
        return str(error)
    return ""


def _head_fault(manifest: Mapping[str, Any]) -> str:
    metadata = manifest["metadata"]
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return "metadata.name is no text"
    if not _are_texts(metadata.get("annotations") or {}):
        return "metadata.annotations is no mapping of texts"
    return "" if _are_objects(manifest.get("findings")) else "findings is no list of objects"


def _status_fault(status: Any) -> str:
    if not isinstance(status, dict):
        return "status is no object"
    for name in _LISTS:
        if not _are_objects(status.get(name)):
            return f"status.{name} is no list of objects"
    for name in _MAPPINGS:
        if not isinstance(status.get(name) or {}, dict):
            return f"status.{name} is no object"
    if not all(_are_texts(each) and each.get("type") for each in status.get("conditions") or ()):
        return "status.conditions has one without a type, or with a value that is no text"
    entries = status.get("manifestStatuses") or ()
    if not all(_is_identity(each.get("identifier") or {}) for each in entries):
        return "status.manifestStatuses has one without kind and name"
    return ""


def _are_objects(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(each, dict) for each in value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _is_identity(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    names = [value.get(key, "") for key in ("group", "kind", "namespace", "name")]
    return not value or (all(isinstance(each, str) for each in names) and bool(names[1]) and bool(names[3]))
