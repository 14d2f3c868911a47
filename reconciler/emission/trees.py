"""A cluster's tree as other tools must treat it: what is never pruned, applied last, or left to others."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.plans.field_paths import Key
from reconciler.plans.field_rules import field_rules_of_object, ruling_for
from reconciler.plans.model import DesiredObject
from reconciler.plans.prune import forbids_pruning
from reconciler.plans.retention import scaled_objects
from reconciler.plans.stages import needs_confirmation, stage_of
from render.kinds.kind import ApplyStage
from render.kinds.workloads import RETAIN_REPLICAS
from render.model import Manifest, ObjectRef
from render.settings.field_rules import FieldRule, FieldRuling

from .model import ClusterTree, IgnoredField, RenderedPlace

_LEFT = frozenset({FieldRuling.IGNORE, FieldRuling.YIELD})
_KUSTOMIZATION = "kustomization"
_REPLICAS = "/spec/replicas"


class TreeRules(Struct, frozen=True, kw_only=True):
    """The rules about objects that are not in their manifests: argosy.yaml's about fields, and those kept by policy."""

    fields: tuple[FieldRule, ...] = ()
    preserved: Collection[ObjectRef] = frozenset()


def cluster_tree(cluster: str, objects: Iterable[DesiredObject], place: RenderedPlace, rules: TreeRules) -> ClusterTree:
    """Return what decides about emitted objects, of all that a cluster must hold."""
    listed = tuple(objects)
    manifests = {item.ref: item.manifest for item in listed}
    return ClusterTree(
        cluster=cluster,
        place=place,
        kept=tuple(
            (str(manifests[ref]["apiVersion"]), ref)
            for ref in sorted(manifests)
            if (ref in rules.preserved or forbids_pruning(manifests[ref])) and not needs_confirmation(ref)
        ),
        kept_kinds=_kinds_of_manifests(manifests, [ref for ref in manifests if needs_confirmation(ref)]),
        interceptors=_kinds_of_manifests(
            manifests, [ref for ref in manifests if stage_of(ref) == ApplyStage.INTERCEPTORS]
        ),
        ignored=tuple(sorted({*_fields_left_to_scalers(manifests), *_fields_left_by_rules(manifests, rules.fields)})),
        is_encrypted=any(item.encrypted for item in listed),
        misread=tuple(sorted(ref for ref in manifests if ref.name == _KUSTOMIZATION)),
    )


def _kinds_of_manifests(
    manifests: Mapping[ObjectRef, Manifest], refs: Iterable[ObjectRef]
) -> tuple[tuple[str, str], ...]:
    """Return kinds with a version that they are written in."""
    found = {ref.group_kind: (str(manifests[ref]["apiVersion"]), ref.kind) for ref in sorted(refs, reverse=True)}
    return tuple(found[name] for name in sorted(found))


def _fields_left_to_scalers(manifests: Mapping[ObjectRef, Manifest]) -> Iterator[IgnoredField]:
    """Yield the replicas that an autoscaler of the tree owns, or that a label leaves to the cluster."""
    for ref, manifest in manifests.items():
        if (manifest["metadata"].get("labels") or {}).get(RETAIN_REPLICAS) == "true" and _has_replicas(manifest):
            yield IgnoredField(ref=ref, pointer=_REPLICAS)
    for scaled in scaled_objects(manifests.values()):
        if _has_replicas(manifests.get(scaled, {})):
            yield IgnoredField(ref=scaled, pointer=_REPLICAS)


def _has_replicas(manifest: Manifest) -> bool:
    return "replicas" in (manifest.get("spec") or {})


def _fields_left_by_rules(
    manifests: Mapping[ObjectRef, Manifest], rules: tuple[FieldRule, ...]
) -> Iterator[IgnoredField]:
    """Yield the fields that argosy.yaml, or an annotation of the object, leaves to others."""
    for ref, manifest in manifests.items():
        found = tuple(replace(rule, manager="") for rule in field_rules_of_object(manifest, ref, rules))
        if found:
            yield from (
                IgnoredField(ref=ref, pointer=each) for each in _pointers_left_to_others(manifest, (), "", found)
            )


def _pointers_left_to_others(
    value: Any, path: tuple[Any, ...], pointer: str, rules: tuple[FieldRule, ...]
) -> Iterator[str]:
    """Yield pointers to the outermost fields that rules leave to others."""
    ruling = ruling_for(path, (), rules) if path else None
    if ruling is not None:
        if ruling in _LEFT:
            yield pointer
        return
    if isinstance(value, Mapping):
        for name, inside in value.items():
            yield from _pointers_left_to_others(
                inside, (*path, str(name)), f"{pointer}/{_pointer_token(str(name))}", rules
            )
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, Mapping) and "name" in item:
                step = Key((("name", item["name"]),))
                yield from _pointers_left_to_others(item, (*path, step), f"{pointer}/{index}", rules)


def _pointer_token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
