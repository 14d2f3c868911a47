"""Live objects as a person would write them: without what servers, controllers and kubectl wrote into them.

Nothing is left out that a person may have decided: that would be lost with the object.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from render.federations.manifests import without_server_fields
from render.interpretation.removal import Goes, Path, remove_field_if
from render.interpreter.pruning import manifest_without_pruned_fields
from render.kinds import BUILT_IN
from render.kinds.kind import Default
from render.model import Manifest, group_of

_EMPTY_TEMPLATES: tuple[Path, ...] = (
    ("spec", "template", "metadata", "creationTimestamp"),
    ("spec", "jobTemplate", "metadata", "creationTimestamp"),
    ("spec", "jobTemplate", "spec", "template", "metadata", "creationTimestamp"),
    ("spec", "volumeClaimTemplates", "*", "metadata", "creationTimestamp"),
)


def template_of_live_object(manifest: Manifest, *, is_scaled: bool = False) -> dict[str, Any]:
    """Return a live object as a template; ``is_scaled``: an autoscaler sets its replicas, so that they are left out."""
    kept = object_without_filled_in_fields(manifest)
    if is_scaled:
        remove_field_if(kept, ("spec", "replicas"))
    for part in ("labels", "annotations"):
        for name in tuple(kept["metadata"].get(part) or ()):
            if _is_note_of_delivery_tool(name):
                remove_field_if(kept, ("metadata", part, name))
    return kept


def object_without_filled_in_fields(manifest: Manifest) -> dict[str, Any]:
    """Return a copy of a live object without what servers, controllers and the cluster filled in."""
    kept = object_without_default_fields(without_server_fields(manifest_without_pruned_fields(manifest)))
    for path in _EMPTY_TEMPLATES:
        remove_field_if(kept, path)
    kind = BUILT_IN.get((group_of(str(manifest["apiVersion"])), str(manifest["kind"])))
    if kind is not None:
        for path in (*kind.filled_in, *(each.path for each in kind.retained if each.is_injected)):
            remove_field_if(kept, path)
        if kind.clean is not None:
            kind.clean(kept)
    for part in ("labels", "annotations"):
        if not kept["metadata"].get(part, True):
            del kept["metadata"][part]
    return {key: _value_without_nulls(value) for key, value in kept.items() if value is not None}


def object_without_default_fields(manifest: Manifest) -> dict[str, Any]:
    """Return a copy of an object without the fields that have their defaults; what they alone stood in goes as well."""
    kept = deepcopy(dict(manifest))
    kind = BUILT_IN.get((group_of(str(manifest["apiVersion"])), str(manifest["kind"])))
    for path, default in kind.defaults.items() if kind else ():
        remove_field_if(kept, path, _test_of_default(default))
    return kept


def _test_of_default(default: Default) -> Goes:
    def is_default(value: Any, holder: Mapping[str, Any]) -> bool:
        wanted = default(holder) if callable(default) else default
        return bool(type(value) is type(wanted) and value == wanted)

    return is_default


def _is_note_of_delivery_tool(name: str) -> bool:
    """Say whether a label or annotation is the note of a tool that delivered the object before."""
    prefix = name.partition("/")[0]
    return prefix == "karmada.io" or prefix.endswith(".karmada.io") or name == "kubefed.io/managed"


def _value_without_nulls(value: Any) -> Any:
    """Return plain data without nulls, which say nothing in an object that a server stored."""
    if isinstance(value, dict):
        return {key: _value_without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_value_without_nulls(each) for each in value]
    return value
