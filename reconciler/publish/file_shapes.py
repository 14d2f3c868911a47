"""The shapes of files on the status branch, checked before anything reads them: where they stand and what they hold.

Passes write these files, but whoever may push to the branch can, too. A file of another shape is named, and nothing is
guessed from it: what a member holds and how it is are decided by what the branch says.
"""

from collections.abc import Mapping
from typing import Any, cast

from reconciler.ledger.branch_file import MOST_BYTES, damaged
from reconciler.ledger.table import kind_at
from reconciler.source.observed_schemas import MemberSchemas
from render.documents import DocumentErrors, parse_documents
from render.model import Manifest

_LISTS = ("conditions", "manifestStatuses", "aggregatedStatus", "apiEnablements")
_MAPPINGS = ("resourceSummary", "nodeSummary")
_LENGTHS = {
    "bindings": 4,
    "clusters": 2,
    "facts": 2,
    "inventory": 2,
    "quotas": 3,
    "rebalancers": 2,
    "schemas": 2,
    "works": 5,
}
"""The number of steps in the path of a file, by the folder at the root."""
_WRONG_SHAPES = (DocumentErrors, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_STRANGE = "passes write no file of this name"


def parsed_file(path: str, content: bytes) -> Manifest:
    """Return the one object of a file; GitError where passes write no such file."""
    try:
        value: Any = parse_documents(content)[0].value if len(content) <= MOST_BYTES else None
    except (DocumentErrors, IndexError):
        value = None
    if fault := fault_of(path, content, value):
        raise damaged(path, fault)
    return cast("Manifest", value)


def checked_path(path: str, *, is_file: bool) -> str:
    """Return the path of a file; GitError where passes write none there."""
    if not is_file or not _is_written_path(path):
        raise damaged(path, _STRANGE)
    return path


def fault_of(path: str, content: bytes, manifest: Any) -> str:
    """Return the fault of a file's one object, as the end of a sentence about the file; empty for none.

    >>> fault_of("works/eu/shop/Service/x.yaml", b"", {"metadata": {"name": "x"}, "status": {"conditions": "none"}})
    'status.conditions is no list of objects'
    """
    if len(content) > MOST_BYTES:
        return f"it has {len(content)} bytes, but at most {MOST_BYTES} are read"
    if not _is_written_path(path):
        return _STRANGE
    if not isinstance(manifest, dict):
        return "it holds no object"
    return _content_fault(path, manifest)


def _content_fault(path: str, manifest: Mapping[str, Any]) -> str:
    if kind_at(path) is not None:
        return ""
    if path.startswith("schemas/"):
        return _schemas_fault(manifest)
    status = manifest.get("status") or {}
    return _head_fault(manifest) or _status_fault(status)


def _schemas_fault(manifest: Mapping[str, Any]) -> str:
    try:
        MemberSchemas.parse(manifest)
    except ValueError as error:
        return str(error)
    return ""


def _is_written_path(path: str) -> bool:
    """Say whether passes write files at a path."""
    folder, *below = path.split("/")
    is_in_place = len(below) + 1 == _LENGTHS[folder] if folder in _LENGTHS else not below
    return is_in_place and path.isprintable() and path.endswith((".yaml", ".json", ".md"))


def _head_fault(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
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
