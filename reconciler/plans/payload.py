"""Manifests as they are sent: without what servers write themselves, with our label, in a form that can be compared."""

import base64
from collections.abc import Mapping
from typing import Any

from reconciler.members.discovery import Resource
from render.kinds import BUILT_IN
from render.kinds.kind import COMMON_MAPS
from render.model import Manifest

from .applyset import PART_OF
from .stages import is_builtin

SERVER_METADATA = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
"""The metadata that servers write."""
_NESTED = (dict, list)
_OPAQUE = "opaque"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def manifest_as_sent(manifest: Manifest, resource: Resource, set_id: str) -> dict[str, Any]:
    """Return what is applied for a manifest: plain data sharing what did not change with it.

    A null claims the ownership of nothing, so nulls go, but in maps of texts and amounts, where a server keeps their
    keys. A custom resource's own content may mean them. Content of Secrets is encoded here: a server never gives
    ``stringData`` back, and owning it does not own the ``data`` it makes, so that removed keys would stay.
    """
    body = {key: value for key, value in manifest.items() if key not in {"metadata", "status"}}
    if is_builtin(resource.group):
        kind = BUILT_IN.get((resource.group, resource.kind))
        maps = kind.maps if kind else COMMON_MAPS
        body = {key: value_without_nulls(value, maps, key) for key, value in body.items() if value is not None}
    if resource.kind == "Secret" and not resource.group:
        body = _secret_with_encoded_data(body)
    elif resource.kind == "ConfigMap" and body.get("binaryData"):
        body["binaryData"] = {key: canonical_base64(value) for key, value in body["binaryData"].items()}
    return {
        "apiVersion": body.pop("apiVersion"),
        "kind": body.pop("kind"),
        "metadata": _metadata_as_sent(manifest["metadata"], resource, set_id),
        **body,
    }


def _metadata_as_sent(metadata: Mapping[str, Any], resource: Resource, set_id: str) -> dict[str, Any]:
    kept = {key: value_without_nulls(value) for key, value in metadata.items() if key not in SERVER_METADATA and value}
    if not resource.is_namespaced:
        kept.pop("namespace", None)
    kept["labels"] = {**(kept.get("labels") or {}), PART_OF: set_id}
    if LAST_APPLIED in (kept.get("annotations") or {}):
        kept["annotations"] = {key: value for key, value in kept["annotations"].items() if key != LAST_APPLIED}
    return kept


def value_without_nulls(value: Any, maps: Mapping[str, str] | None = None, name: str = "") -> Any:
    """Return plain data without fields that are null, the value itself when there are none.

    ``name`` is the field that has the value. In ``maps``, whose keys are anybody's to choose, a server keeps the key,
    and has a value for null, which is the map's.
    """
    if isinstance(value, dict):
        if None in value.values():
            stands_for = (maps or {}).get(name)
            stated = {key: stands_for if item is None else item for key, item in value.items()}
            value = {key: item for key, item in stated.items() if item is not None}
        changed = {
            key: stripped
            for key, item in value.items()
            if isinstance(item, _NESTED)
            and key != _OPAQUE
            and (stripped := value_without_nulls(item, maps, key)) is not item
        }
        return {**value, **changed} if changed else value
    if isinstance(value, list):
        listed = [value_without_nulls(item, maps) if isinstance(item, _NESTED) else item for item in value]
        return value if all(new is old for new, old in zip(listed, value, strict=True)) else listed
    return value


def _secret_with_encoded_data(body: dict[str, Any]) -> dict[str, Any]:
    """Return a Secret's content as ``data`` alone; what cannot be encoded is left for the server to refuse."""
    text = body.get("stringData") or {}
    data = {key: canonical_base64(value) for key, value in (body.get("data") or {}).items()}
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in text.items() if isinstance(value, str)}
    unencoded = {key: value for key, value in text.items() if not isinstance(value, str)}
    content = {key: value for key, value in body.items() if key not in {"data", "stringData"}}
    if data or encoded:
        content["data"] = {**data, **encoded}
    if unencoded:
        content["stringData"] = unencoded
    return content


def canonical_base64(text: Any) -> Any:
    r"""Return base64 the way a server gives it back; anything else as it is.

    >>> canonical_base64("YWJj\nZGVm\n")
    'YWJjZGVm'
    """
    if not isinstance(text, str):
        return text
    try:
        return base64.b64encode(base64.b64decode("".join(text.split()), validate=True)).decode()
    except ValueError:
        return text
