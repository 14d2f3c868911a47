"""The field of an object as a cluster holds it, for tests of policies; a Secret's values are never shown."""

from collections.abc import Collection
from typing import Any

from jsonpointer import JsonPointerException, resolve_pointer
from msgspec import Struct

from overrides.jsontext import json_text
from overrides.secrecy import HIDDEN
from reconciler.pipeline.pass_values import Rendered
from render.documents import parse_documents
from render.gitobjects import content_of_blob
from render.model import Manifest, ObjectRef
from render.works import Works

MISSING = object()
"""No such field."""

WITHHELD = object()
"""A value that may not be shown, or of something that is not there."""

_OPEN_IN_SECRETS = ("/metadata/labels", "/type", "/immutable")


def objects_rendered_for_clusters(ref: ObjectRef, clusters: Collection[str], rendered: Rendered) -> dict[str, Manifest]:
    """Return an object as some clusters hold it, by cluster; those that do not hold it are left out."""
    namespaces = {template.ref: works for template, works in rendered.namespaces}
    works = rendered.built.works.get(ref) or namespaces.get(ref)
    manifests = {}
    for cluster in clusters if works else ():
        bit = rendered.built.index.index_by_name.get(cluster)
        content = None if bit is None or works is None else _content_for_cluster(works, bit)
        if content is not None:
            manifests[cluster] = parse_documents(content)[0].value
    return manifests


def _content_for_cluster(works: Works, bit: int) -> bytes | None:
    for variant in works.variants:
        if variant.clusters >> bit & 1:
            return content_of_blob(works.blobs[variant.id])
    return None


def field_at_json_pointer(manifest: Manifest | None, path: str) -> Any:
    """Return a field by its JSON pointer, ``MISSING`` where there is none."""
    if manifest is None:
        return MISSING
    try:
        return resolve_pointer(manifest, path)
    except JsonPointerException:
        return MISSING


def value_for_message(value: Any, path: str, ref: ObjectRef) -> str:
    """Return a field's value for a message."""
    if value is MISSING:
        return "nothing"
    if ref.kind == "Secret" and not path.startswith(_OPEN_IN_SECRETS):
        return HIDDEN
    text = json_text(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Mismatch(Struct, frozen=True, kw_only=True):
    """An expectation that did not come true: the field of the test, what it says, and what is so (plain data).

    A value that may not be shown, or does not exist, is ``WITHHELD``.
    """

    field: str
    message: str
    got: Any = None
