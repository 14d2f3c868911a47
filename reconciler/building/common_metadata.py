"""Labels and annotations that Flux sets on every object of a Kustomization or of a HelmRelease."""

from collections.abc import Iterator, Mapping
from typing import Any

from render.model import mapping_or_empty


def object_with_common_metadata(value: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with labels and annotations that all objects are to have; they count more than its own."""
    own = value.get("metadata")
    changed = dict(own) if isinstance(own, dict) else {}
    for key, before in zip(("labels", "annotations"), labels_and_annotations(value), strict=True):
        if isinstance(metadata.get(key), dict) and metadata[key]:
            changed[key] = {**before, **metadata[key]}
    return {**value, "metadata": changed}


def labels_and_annotations(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the labels of an object, and then its annotations; what is no mapping counts as none."""
    found = value.get("metadata")
    for key in ("labels", "annotations"):
        part = found.get(key) if isinstance(found, dict) else None
        yield mapping_or_empty(part)
