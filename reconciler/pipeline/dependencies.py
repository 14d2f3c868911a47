"""Objects that are propagated with a workload to its clusters: ``propagateDeps``.

A dependency that a policy holds keeps its own placement and settings and merely gains the clusters it is required in;
one that no policy holds gets an *attached* binding with nothing but those clusters.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding, BindingSnapshot, Condition
from render.bits import indexes_of_mask
from render.cluster_index import LabelIndex
from render.interpreter import Interpreter, InterpreterError
from render.layout import object_path
from render.model import ObjectRef, Template
from render.parsing.selectors import parse_label_selector
from render.policy import ConflictResolution
from render.resources import DependentObject

NOT_SCHEDULED = Condition(
    type="Scheduled", status="False", reason="NotScheduled", message="no policy holds it; it follows what requires it"
)


class Following(Struct, frozen=True, kw_only=True):
    """The dependencies of a pass: the owners' snapshots by dependency, and owners that could not be read."""

    snapshots: Mapping[ObjectRef, tuple[BindingSnapshot, ...]]
    owners: Mapping[ObjectRef, tuple[Binding, ...]]
    failed: tuple[tuple[ObjectRef, InterpreterError], ...]


def binding_name(ref: ObjectRef) -> str:
    """Return Karmada's name of an object's binding.

    >>> binding_name(ObjectRef("rbac.authorization.k8s.io", "ClusterRole", "", "system:Foo"))
    'system.foo-clusterrole'
    """
    return f"{ref.name.replace(':', '.')}-{ref.kind}".lower()


def followers_of_bindings(
    bindings: Iterable[Binding], template_by_ref: Mapping[ObjectRef, Template], interpreter: Interpreter
) -> Following:
    """Find what every binding with ``propagateDeps`` brings along. Cluster-scoped owners bring nothing (Karmada's)."""
    index: TemplateIndex | None = None
    owners: dict[ObjectRef, list[Binding]] = {}
    failed = []
    for binding in bindings:
        if not binding.propagate_deps or not binding.ref.namespace:
            continue
        try:
            manifests = template_by_ref[binding.ref].manifests
            wanted = [each for manifest in manifests for each in interpreter.dependencies(manifest)]
        except InterpreterError as error:
            failed.append((binding.ref, error))
            continue
        index = index or TemplateIndex(template_by_ref.values())
        for ref in {ref for dependency in wanted for ref in index.refs_matching(dependency)}:
            owners.setdefault(ref, []).append(binding)
    ordered = {ref: tuple(sorted(found, key=lambda owner: owner.ref)) for ref, found in owners.items()}
    snapshots = {
        ref: tuple(sorted(map(_binding_snapshot, found), key=_identity_of_snapshot)) for ref, found in ordered.items()
    }
    return Following(snapshots=snapshots, owners=ordered, failed=tuple(failed))


def _binding_snapshot(owner: Binding) -> BindingSnapshot:
    return BindingSnapshot(namespace=owner.ref.namespace, name=binding_name(owner.ref), clusters=owner.targets)


def _identity_of_snapshot(snapshot: BindingSnapshot) -> tuple[str, str]:
    return snapshot.namespace, snapshot.name


def bindings_with_dependencies(
    bindings: Sequence[Binding], follows: Following, template_by_ref: Mapping[ObjectRef, Template]
) -> tuple[Binding, ...]:
    """Return the bindings with what requires them, and attached bindings for dependencies that had none."""
    binding_by_ref = {
        binding.ref: replace(binding, required_by=()) if binding.required_by else binding for binding in bindings
    }
    for ref, snapshots in follows.snapshots.items():
        if ref in binding_by_ref:
            binding_by_ref[ref] = replace(binding_by_ref[ref], required_by=snapshots)
        else:
            binding_by_ref[ref] = _attached_binding(template_by_ref[ref], snapshots, follows.owners[ref])
    return tuple(binding_by_ref[ref] for ref in sorted(binding_by_ref))


def _attached_binding(template: Template, snapshots: tuple[BindingSnapshot, ...], owners: Sequence[Binding]) -> Binding:
    overwrite = any(owner.conflict_resolution is ConflictResolution.OVERWRITE for owner in owners)
    return Binding(
        ref=template.ref,
        api_version=template.api_version,
        required_by=snapshots,
        conflict_resolution=ConflictResolution.OVERWRITE if overwrite else ConflictResolution.ABORT,
        preserve_resources_on_deletion=any(owner.preserve_resources_on_deletion for owner in owners),
        conditions=(NOT_SCHEDULED,),
    )


def followers_of(
    owners: Iterable[tuple[ObjectRef, tuple[str, ...]]], before: Iterable[Binding]
) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return the paths below clusters' folders of what owners that leave these clusters required there."""
    clusters_by_name = {(ref.namespace, binding_name(ref)): frozenset(names) for ref, names in owners}
    found: dict[str, set[tuple[str, ...]]] = {}
    for binding in before if clusters_by_name else ():
        for snapshot in binding.required_by:
            left = clusters_by_name.get((snapshot.namespace, snapshot.name), frozenset())
            for target in snapshot.clusters if left else ():
                if target.name in left:
                    found.setdefault(target.name, set()).add(tuple(object_path(binding.ref)))
    return {cluster: frozenset(paths) for cluster, paths in found.items()}


class TemplateIndex:
    """Templates by what a dependency names: apiVersion, kind and namespace, then a name or labels."""

    def __init__(self, templates: Iterable[Template]) -> None:
        self._by_kind: dict[tuple[str, str, str], dict[str, Template]] = {}
        self._labels: dict[tuple[str, str, str], tuple[LabelIndex, list[Template]]] = {}
        for template in templates:
            key = (template.api_version, template.ref.kind, template.ref.namespace)
            self._by_kind.setdefault(key, {})[template.ref.name] = template

    def refs_matching(self, dependency: DependentObject) -> list[ObjectRef]:
        """Return the templates a dependency means; one that is not in the source is ignored, as Karmada does."""
        key = (dependency.api_version, dependency.kind, dependency.namespace)
        named = self._by_kind.get(key, {})
        if dependency.name:
            return [named[dependency.name].ref] if dependency.name in named else []
        selector = parse_label_selector(dependency.label_selector)
        if selector is None or not named:
            return []
        if key not in self._labels:
            templates = list(named.values())
            self._labels[key] = LabelIndex(template.labels for template in templates), templates
        index, templates = self._labels[key]
        return [templates[place].ref for place in indexes_of_mask(index.indexes_with_labels(selector))]
