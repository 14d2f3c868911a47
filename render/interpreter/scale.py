"""The scale subresource of a custom kind, as the interpreter of last resort: its replicas, and where they are written.

A CustomResourceDefinition says by ``specReplicasPath`` which number of an object autoscalers set, and by
``statusReplicasPath`` and ``labelSelectorPath`` where the object reports its replicas. That is all it tells: it says
nothing of the resources that one replica needs, of health or of dependencies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from render.expressions import lazy_expression
from render.interpretation.fields import INT32, manifest_with_value, value_at
from render.interpretation.operations import Interpretation, InterpreterError, Items, Replicas
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest, mapping_or_empty

Path = tuple[str, ...]
Scales = Mapping[tuple[str, str], "ScaleSubresource"]
"""The scale subresources of kinds, by apiVersion and kind."""

_PATH = lazy_expression(r"(?:\.[\w$-]+)+", re.ASCII)
_LONGEST_PATH = 256
_AMBIGUOUS = (
    "the definitions that members have of its kind say in different fields how many replicas it has; add the one to go"
    " by to the source"
)
_DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


class ScaleSubresource(Struct, frozen=True, kw_only=True):
    """The paths of a scale subresource, as keys.

    ``default`` is the number of replicas of an object that does not say any (None: nothing tells). ``label_selector``
    is empty where the kind reports none, and ``status_replicas`` where members do not agree. ``is_ambiguous``: they do
    not agree on where replicas stand.
    """

    spec_replicas: Path
    status_replicas: Path
    label_selector: Path = ()
    default: int | None = None
    is_ambiguous: bool = False

    def replicas(self, manifest: Manifest) -> int | None:
        """Return the replicas that an object asks for; None where it says none that a server would take."""
        *parents, field = self.spec_replicas
        try:
            parent = value_at(manifest, *parents)
        except InterpreterError:
            return None
        if not isinstance(parent, Mapping):
            return None  # a server writes no default into an object that is not there
        value = self.default if parent.get(field) is None else parent[field]
        return value if type(value) is int and 0 <= value < INT32 else None

    def revised_manifest(self, manifest: Manifest, replicas: int) -> Manifest:
        """Return the object with this number of replicas; what is so by default is not written."""
        current = self.replicas(manifest)
        return manifest if current in {None, replicas} else manifest_with_value(manifest, replicas, *self.spec_replicas)

    def aggregated_status(self, template: Manifest, items: Items) -> Any:
        """Return the status of a template: the sum of its members' replicas, and the selector if all have the same."""
        status: Any = template.get("status")
        statuses = [{"status": reported} for _, reported in statuses_by_cluster(items)]
        counts = [value for value in _values_at_path(statuses, self.status_replicas) if type(value) is int]
        if counts:
            status = manifest_with_value(mapping_or_empty(status), sum(counts), *self.status_replicas[1:])
        selectors = [value for value in _values_at_path(statuses, self.label_selector) if isinstance(value, str)]
        if selectors and len(set(selectors)) == 1:
            status = manifest_with_value(mapping_or_empty(status), selectors[0], *self.label_selector[1:])
        return status


def _values_at_path(statuses: Iterable[Manifest], path: Path) -> Iterator[Any]:
    """Yield the values at a path of statuses, as far as they have it."""
    for status in statuses if len(path) > 1 and path[0] == "status" else ():
        try:
            yield value_at(status, *path)
        except InterpreterError:
            continue


REPLICATION_CONTROLLERS: Scales = {
    ("v1", "ReplicationController"): ScaleSubresource(
        spec_replicas=("spec", "replicas"), status_replicas=("status", "replicas"), default=1
    )
}
"""The kind of Kubernetes itself that a server scales and that no other layer knows."""


def interpretation_by_scale(scale: ScaleSubresource) -> Interpretation:
    """Return the interpretation of a kind by its scale subresource."""
    if scale.is_ambiguous:
        return Interpretation(replicas=_refuse_operation, revise=_refuse_operation, aggregate=scale.aggregated_status)
    return Interpretation(
        replicas=partial(_replicas_by_scale, scale),
        revise=scale.revised_manifest,
        aggregate=scale.aggregated_status,
        replica_field=scale.spec_replicas,
    )


def _refuse_operation(*_: Any) -> Any:
    raise InterpreterError(_AMBIGUOUS)


def _replicas_by_scale(scale: ScaleSubresource, manifest: Manifest) -> Replicas | None:
    replicas = scale.replicas(manifest)
    return None if replicas is None else Replicas(replicas=replicas)


def scales_of(manifests: Iterable[Manifest]) -> dict[tuple[str, str], ScaleSubresource]:
    """Return the scale subresources that CustomResourceDefinitions among manifests define, by version and kind."""
    return {kind: scale for manifest in manifests for kind, scale in _scales_of_definition(manifest)}


def kinds_of_definitions(manifests: Iterable[Manifest]) -> frozenset[tuple[str, str]]:
    """Return the groups and kinds that CustomResourceDefinitions define, with or without the subresource."""
    specs = [mapping_or_empty(each.get("spec")) for each in manifests]
    return frozenset((str(spec.get("group")), str(mapping_or_empty(spec.get("names")).get("kind"))) for spec in specs)


def _scales_of_definition(manifest: Manifest) -> Iterator[tuple[tuple[str, str], ScaleSubresource]]:
    if (manifest.get("apiVersion"), manifest.get("kind")) != _DEFINITION:
        return
    spec = mapping_or_empty(manifest.get("spec"))
    group, kind = spec.get("group"), mapping_or_empty(spec.get("names")).get("kind")
    for version in map(mapping_or_empty, _value_as_sequence(spec.get("versions"))):
        scale = scale_as_defined(mapping_or_empty(version.get("subresources")).get("scale"))
        if scale is not None and isinstance(group, str) and isinstance(kind, str) and version.get("served") is True:
            schema = mapping_or_empty(version.get("schema")).get("openAPIV3Schema")
            default = _default_number_in_schema(schema, scale.spec_replicas)
            yield (f"{group}/{version.get('name')}", kind), replace(scale, default=default)


def scale_as_defined(written: Any) -> ScaleSubresource | None:
    """Return the scale subresource that a definition writes; None where it has none that a server would take."""
    paths = mapping_or_empty(written)
    spec, status = (_keys_of_dotted_path(paths.get(name)) for name in ("specReplicasPath", "statusReplicasPath"))
    if len(spec) < 2 or spec[0] != "spec" or len(status) < 2 or status[0] != "status":
        return None
    return ScaleSubresource(
        spec_replicas=spec, status_replicas=status, label_selector=_keys_of_dotted_path(paths.get("labelSelectorPath"))
    )


def plain_scale(scale: ScaleSubresource) -> dict[str, Any]:
    """Return a scale subresource as a definition writes it, with the default of its replicas."""
    selector = {"labelSelectorPath": _dotted_path(scale.label_selector)} if scale.label_selector else {}
    default = {} if scale.default is None else {"default": scale.default}
    return {
        "specReplicasPath": _dotted_path(scale.spec_replicas),
        "statusReplicasPath": _dotted_path(scale.status_replicas),
        **selector,
        **default,
    }


def _dotted_path(keys: Path) -> str:
    return f".{'.'.join(keys)}"


def scale_from_record(plain: Any) -> ScaleSubresource | None:
    """Return the scale subresource that ``plain_scale`` wrote; None for anything else."""
    scale, default = scale_as_defined(plain), mapping_or_empty(plain).get("default")
    return replace(scale, default=default) if scale is not None and type(default) is int else scale


def scales_of_members(
    recorded: Iterable[Mapping[tuple[str, str], Manifest]],
) -> dict[tuple[str, str], ScaleSubresource]:
    """Return the scale subresources that are recorded of members: what some say otherwise is left out of it.

    A kind whose members do not agree on where its replicas stand is *ambiguous*: nothing is known, and nothing may
    change by that.
    """
    found: dict[tuple[str, str], ScaleSubresource] = {}
    for plain_scales in recorded:
        for kind, plain in plain_scales.items():
            if scale := scale_from_record(plain):
                known = found.get(kind, scale)
                found[kind] = known if known == scale else _scale_that_both_have(known, scale)
    return found


def _scale_that_both_have(one: ScaleSubresource, other: ScaleSubresource) -> ScaleSubresource:
    return ScaleSubresource(
        spec_replicas=one.spec_replicas,
        status_replicas=one.status_replicas if one.status_replicas == other.status_replicas else (),
        label_selector=one.label_selector if one.label_selector == other.label_selector else (),
        default=one.default if one.default == other.default else None,
        is_ambiguous=one.is_ambiguous or other.is_ambiguous or one.spec_replicas != other.spec_replicas,
    )


def _keys_of_dotted_path(path: Any) -> Path:
    """Return the keys of a path such as ``.spec.replicas``: a server takes no other notation.

    A member may say anything, and what it says is recorded: so a path is as short as any that is meant.
    """
    is_path = isinstance(path, str) and len(path) <= _LONGEST_PATH and _PATH.fullmatch(path) is not None
    return tuple(path[1:].split(".")) if is_path else ()


def _default_number_in_schema(schema: Any, path: Path) -> int | None:
    """Return the number that a schema has for an object without a field."""
    for key in path:
        schema = mapping_or_empty(mapping_or_empty(schema).get("properties")).get(key)
    default = mapping_or_empty(schema).get("default")
    return default if type(default) is int and 0 <= default < INT32 else None


def _value_as_sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
