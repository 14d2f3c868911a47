"""Fields that only an API server may set are taken from a template before it is rendered."""

from collections.abc import Callable, Mapping

from render.interpretation.fields import manifest_without_value
from render.interpretation.operations import InterpreterError
from render.kinds import KUBERNETES
from render.model import Manifest

METADATA = (
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
    "ownerReferences",
    "finalizers",
)
_PRUNE_BY_KIND: Mapping[str, Callable[[Manifest], Manifest]] = {
    kind.kind: kind.prune for kind in KUBERNETES if kind.prune
}


def manifest_without_pruned_fields(manifest: Manifest) -> Manifest:
    """Return the manifest as Karmada stores it in a Work; unchanged parts are shared with the input.

    Some kinds lose more than every object does - by kind alone, whatever their group, as in Karmada. One whose fields
    are of wrong types loses nothing more: to refuse it is for those who check it by its schema.
    """
    kept = manifest_without_value(manifest, "status") if "status" in manifest else manifest
    metadata = kept.get("metadata")
    # Nearly no template in Git has any of these, and this is asked of every class of every template.
    if isinstance(metadata, Mapping) and not metadata.keys().isdisjoint(METADATA):
        for field in METADATA:
            kept = manifest_without_value(kept, "metadata", field)
    prune = _PRUNE_BY_KIND.get(kept.get("kind", ""))
    try:
        return prune(kept) if prune else kept
    except InterpreterError:
        return kept
