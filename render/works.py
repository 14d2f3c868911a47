"""Works: a template as it must be in each of its target clusters, found once per class of clusters.

1. put *holes* where replicas (and a divided Job's completions) go - or, for a kind whose revision is a script, revise
   once per distinct number;
2. override the result: the override answers with classes of clusters and the manifest each class holds;
3. prune fields only an API server may set, as Karmada does when it stores a Work - after overrides, which may add some;
4. emit each class once; a cluster's bytes are the class' bytes with its numbers filled in.

Overrides cannot read a number, so running them before the numbers are filled in changes nothing; one that sets
``spec.replicas`` replaces the hole and wins, as in Karmada, where overrides come last.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from render.settings.switches import TieBreak

from .binding import Binding
from .bits import Mask, mask_of
from .documents import Emitted, Hole, copy_value, emit_together, with_number
from .failover.eviction import preserved_labels_of, with_labels
from .gitobjects import Blob, Spliced, SplicedIds, object_id
from .interpreter import Interpreter, InterpreterError, Operation
from .interpreter.pruning import pruned
from .model import Manifest, TargetCluster, Template, TemplateVariant
from .placement import ReplicaSchedulingType
from .scheduling.webster import divide
from .tree import Variant, merged

REPLICAS = "replicas"
COMPLETIONS = "completions"


class RecordedRule(Protocol):
    """An override's record of one rule it applied."""

    @property
    def policy(self) -> str:
        """The override policy, as ``ClusterOverridePolicy name``."""


class OverriddenClass(Protocol):
    """The result of an override in one class of clusters: a manifest, or an error."""

    @property
    def clusters(self) -> Mask:
        """The clusters of the class."""

    @property
    def manifest(self) -> Manifest | None:
        """The manifest they hold; None when a rule could not be applied."""

    @property
    def applied(self) -> Sequence[RecordedRule]:
        """The rules that applied, in order."""

    @property
    def runs(self) -> Sequence[object]:
        """The runs of those rules on the manifest, for the record in the binding."""

    @property
    def error(self) -> Exception | None:
        """The reason why there is no manifest."""


Override = Callable[[Manifest, Mask], Sequence[OverriddenClass]]
"""Partition clusters into classes and return a manifest as it must be in each."""


class Target(NamedTuple):
    """A set of clusters with the same numbers: replicas, and completions where they are divided (-1: not)."""

    clusters: Mask
    replicas: int
    completions: int


class VariantRun(NamedTuple):
    """The record of a template that is another one in some clusters: that of an override's rule before all others."""

    applied: object
    before: Manifest
    after: Manifest
    place: int = -1


class Content(NamedTuple):
    """The manifest of one class of clusters, with holes for its numbers, and the rules that made it."""

    clusters: Mask
    manifest: Manifest
    applied: tuple[RecordedRule, ...]
    runs: tuple[object, ...] = ()


class WorkFailure(Struct, frozen=True, kw_only=True):
    """Clusters in which an object could not be built, and the error of an override or the interpreter."""

    clusters: Mask
    error: Exception


class BuildFailed(Exception):
    """A tool could not make a manifest for some clusters; the message says which and of what."""


class Works(Struct, frozen=True, kw_only=True):
    """One template in all its clusters: variants (clusters -> blob id), the new blobs, contents and failures.

    ``is_carried``: the blob is not made of the content, but an opaque document as it was.
    """

    variants: tuple[Variant, ...]
    blobs: Mapping[bytes, Blob]
    contents: tuple[Content, ...]
    failures: tuple[WorkFailure, ...]
    is_carried: bool = False

    def manifests(self) -> Iterator[tuple[bytes, Manifest]]:
        """Yield the blobs that hold their content as it is, or with one number filled in, each with that content."""
        for content in () if self.is_carried else self.contents:
            for clusters, blob_id in self.variants:
                blob = self.blobs[blob_id]
                values = blob.values if isinstance(blob, Spliced) else ()
                if clusters & content.clusters and len(values) <= 1:
                    yield blob_id, with_number(content.manifest, values[0]) if values else content.manifest


class TargetGroups:
    """Target clusters grouped by their numbers; bindings that share a target list share its groups."""

    def __init__(self, index_by_cluster: Mapping[str, int], tie_break: TieBreak = TieBreak.NAME) -> None:
        self._index_by_cluster = index_by_cluster
        self._tie_break = tie_break
        self._known: dict[int, tuple[tuple[TargetCluster, ...], tuple[Target, ...]]] = {}

    def of(self, manifest: Manifest, binding: Binding) -> tuple[Target, ...]:
        """Return a binding's own targets and those of bindings that require it, a group for each pair of numbers.

        A cluster that is not in the index (no longer a member) is left out.
        """
        if binding.required_by or manifest["kind"] == "Job":
            return self._targets_by_numbers(manifest, binding)
        known = self._known.get(id(binding.targets))
        if known is None:
            known = self._known[id(binding.targets)] = (binding.targets, self._targets_by_numbers(manifest, binding))
        return known[1]

    def named(self, names: Iterable[str]) -> Mask:
        """Return the clusters with these names."""
        return mask_of({self._index_by_cluster[name] for name in names if name in self._index_by_cluster})

    def _targets_by_numbers(self, manifest: Manifest, binding: Binding) -> tuple[Target, ...]:
        replicas_by_cluster = {target.name: target.replicas for target in binding.targets}
        for snapshot in binding.required_by:
            for target in snapshot.clusters:
                replicas_by_cluster.setdefault(target.name, target.replicas)
        identity = binding.uid or (str(binding.ref) if self._tie_break is TieBreak.IDENTITY else "")
        completions = _divided_completions(manifest, binding, replicas_by_cluster, identity)
        indexes: dict[tuple[int, int], list[int]] = {}
        for name, replicas in replicas_by_cluster.items():
            if (index := self._index_by_cluster.get(name)) is not None:
                numbers = (replicas, completions.get(name, 0) if completions else -1)
                indexes.setdefault(numbers, []).append(index)
        return tuple(Target(mask_of(found), *numbers) for numbers, found in indexes.items())


class WorkContext(Struct, frozen=True, kw_only=True):
    """The context in which every template is built: target clusters as bits, the interpreter and the override."""

    targets: TargetGroups
    interpreter: Interpreter
    override: Override


def render_works(template: Template, binding: Binding, context: WorkContext) -> Works:
    """Build a template for all target clusters of its binding; a failure stays in its own clusters."""
    manifest = template.manifest
    targets = context.targets.of(manifest, binding)
    if template.text:
        return _works_of_opaque(template, clusters_of(targets), context.override)
    preserved = preserved_labels_of(binding)
    contents: list[Content] = []
    failures: list[WorkFailure] = []
    for revised in _revised_variants(template, binding, targets, context):
        if isinstance(revised, WorkFailure):
            failures.append(revised)
            continue
        for overridden in context.override(revised.manifest, revised.clusters):
            if overridden.error is not None:
                failures.append(WorkFailure(clusters=overridden.clusters, error=overridden.error))
            elif overridden.manifest is not None:
                made = _without_default(overridden.manifest) if revised.is_left_out else overridden.manifest
                made = with_labels(made, preserved) if preserved else made
                manifest, applied, runs = pruned(made), tuple(overridden.applied), (*revised.runs, *overridden.runs)
                contents.append(Content(overridden.clusters, manifest, applied, runs))
    blobs: dict[bytes, Blob] = {}
    texts = emit_together([content.manifest for content in contents])
    variants = [
        variant
        for content, text in zip(contents, texts, strict=True)
        for variant in _fill_numbers(content, text, targets, blobs)
    ]
    return Works(variants=merged(variants), blobs=blobs, contents=tuple(contents), failures=tuple(failures))


def _works_of_opaque(template: Template, clusters: Mask, override: Override) -> Works:
    """Return the works of an opaque document: its own bytes wherever no override changes a field that is not signed.

    An overridden one is written as JSON, in which fields keep the order that SOPS signed them in.
    """
    contents: list[Content] = []
    failures: list[WorkFailure] = []
    blobs: dict[bytes, Blob] = {}
    variants: list[Variant] = []
    for overridden in override(template.manifest, clusters):
        if overridden.manifest is None:
            failures += [WorkFailure(clusters=overridden.clusters, error=overridden.error)] if overridden.error else []
            continue
        is_changed = overridden.manifest is not template.manifest
        text = ordered_text(overridden.manifest) if is_changed else template.text
        blob_id = object_id("blob", text)
        blobs[blob_id] = text
        variants += [Variant(overridden.clusters, blob_id)] if overridden.clusters else []
        applied, runs = tuple(overridden.applied), tuple(overridden.runs)
        contents.append(Content(overridden.clusters, overridden.manifest, applied, runs))
    return Works(
        variants=merged(variants), blobs=blobs, contents=tuple(contents), failures=tuple(failures), is_carried=True
    )


def ordered_text(manifest: Manifest) -> bytes:
    """Return a manifest as JSON, whose fields keep the order that SOPS signed them in."""
    return f"{json.dumps(manifest, ensure_ascii=False, indent=2)}\n".encode("utf-8", "surrogatepass")


def clusters_of(targets: Sequence[Target]) -> Mask:
    """Return the clusters of all groups."""
    clusters = 0
    for target in targets:
        clusters |= target.clusters
    return clusters


def _divided_completions(
    manifest: Manifest, binding: Binding, replicas_by_cluster: Mapping[str, int], identity: str
) -> Mapping[str, int]:
    """Return a divided Job's completions by cluster; empty when they are not divided (Karmada's rule: kind alone).

    Ties go by ``identity``, as in the division of its replicas.
    """
    if manifest["kind"] != "Job" or binding.replicas <= 0 or not _is_divided(binding):
        return {}
    completions = (manifest.get("spec") or {}).get("completions")
    if type(completions) is not int or not any(replicas_by_cluster.values()):
        return {}
    return divide(completions, replicas_by_cluster, uid=identity)


def _is_divided(binding: Binding) -> bool:
    """Say whether the placement divides replicas, so that each cluster has a number of its own."""
    scheduling = binding.placement.replica_scheduling if binding.placement else None
    return scheduling is not None and scheduling.type is ReplicaSchedulingType.DIVIDED


def _without_default(manifest: Manifest) -> Manifest:
    """Return a manifest without replicas that nobody wrote: an autoscaler sets them. What an override set stays."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get(REPLICAS), Hole):
        return manifest
    return {**manifest, "spec": {key: value for key, value in spec.items() if key != REPLICAS}}


class _Revised(NamedTuple):
    """A manifest to override in some clusters; ``is_left_out``: without the replicas that nobody wrote."""

    clusters: Mask
    manifest: Manifest
    is_left_out: bool = False
    runs: tuple[VariantRun, ...] = ()


def _revised_variants(
    template: Template, binding: Binding, targets: Sequence[Target], context: WorkContext
) -> Iterator[_Revised | WorkFailure]:
    """Yield a template as it is to be overridden, in the clusters of each variant and in all others."""
    others = clusters_of(targets)
    for variant in template.variants:
        clusters = context.targets.named(variant.clusters) & others
        others &= ~clusters
        if clusters and variant.error:
            yield WorkFailure(clusters=clusters, error=BuildFailed(variant.error))
        elif clusters and variant.manifest is not None:
            yield from _revised_variant(template, variant, binding, _among(targets, clusters), context.interpreter)
    if others or not template.variants:
        is_left_out = template.has_default_replicas and not _is_divided(binding)
        for each in _revisions(template.manifest, binding, _among(targets, others), context.interpreter):
            yield each if isinstance(each, WorkFailure) else each._replace(is_left_out=is_left_out)


def _revised_variant(
    template: Template,
    variant: TemplateVariant,
    binding: Binding,
    targets: Sequence[Target],
    interpreter: Interpreter,
) -> Iterator[_Revised | WorkFailure]:
    """Yield a variant; where the policy divides nothing, the replicas it has itself are those of its clusters."""
    assert variant.manifest is not None
    if not _is_divided(binding):
        manifest, every = _with_completions_hole(variant.manifest, targets), clusters_of(targets)
        if variant.has_default_replicas:
            manifest = _with_hole(manifest, ("spec", REPLICAS), REPLICAS)
        run = VariantRun(variant.rule, template.manifest, variant.manifest)
        yield _Revised(every, manifest, variant.has_default_replicas, (run,))
        return
    revised = _revisions(template.manifest, binding, targets, interpreter)
    before = {each.clusters: each.manifest for each in revised if isinstance(each, _Revised)}
    for each in _revisions(variant.manifest, binding, targets, interpreter):
        if isinstance(each, WorkFailure):
            yield each
        else:
            run = VariantRun(variant.rule, before.get(each.clusters, template.manifest), each.manifest)
            yield each._replace(runs=(run,))


def _among(targets: Sequence[Target], clusters: Mask) -> Sequence[Target]:
    """Return the groups of targets as far as they are among some clusters."""
    if not clusters_of(targets) & ~clusters:
        return targets
    return [each._replace(clusters=each.clusters & clusters) for each in targets if each.clusters & clusters]


def _revisions(
    manifest: Manifest, binding: Binding, targets: Sequence[Target], interpreter: Interpreter
) -> list[_Revised | WorkFailure]:
    """Return the manifest with holes where numbers can be filled in later, else once per number of replicas."""
    every = clusters_of(targets)
    # Karmada would write the replicas of a target here, of which one that runs components has none: 0.
    is_whole = not binding.is_workload or bool(binding.components)
    if is_whole or not interpreter.has(Operation.REVISE_REPLICA, manifest):
        return [_Revised(every, _with_completions_hole(manifest, targets))]
    path = interpreter.replica_field(manifest)
    if path is not None:
        return [_Revised(every, _with_hole(_with_completions_hole(manifest, targets), path, REPLICAS))]
    clusters_by_replicas: dict[int, Mask] = {}
    for target in targets:
        clusters_by_replicas[target.replicas] = clusters_by_replicas.get(target.replicas, 0) | target.clusters
    revised = [_revise(manifest, replicas, mask, interpreter) for replicas, mask in clusters_by_replicas.items()]
    # Completions become holes last, as Karmada sets them last: a script could not pass a hole on.
    return [
        each._replace(manifest=_with_completions_hole(each.manifest, targets)) if isinstance(each, _Revised) else each
        for each in revised
    ]


def _with_completions_hole(manifest: Manifest, targets: Sequence[Target]) -> Manifest:
    is_divided = any(target.completions >= 0 for target in targets)
    return _with_hole(manifest, ("spec", "completions"), COMPLETIONS) if is_divided else manifest


def _revise(manifest: Manifest, replicas: int, clusters: Mask, interpreter: Interpreter) -> _Revised | WorkFailure:
    try:
        return _Revised(clusters, interpreter.revise_replica(manifest, replicas))
    except InterpreterError as error:
        return WorkFailure(clusters=clusters, error=error)


def _with_hole(manifest: Manifest, path: Sequence[str], name: str) -> Manifest:
    """Return a copy with a hole in place of an integer at a path; without one nothing changes (Karmada's rule)."""
    copied: Any = copy_value(manifest)
    parent = copied
    for key in path[:-1]:
        parent = parent.get(key)
        if not isinstance(parent, dict):
            return copied  # type: ignore[no-any-return]  # copy_value keeps the shape of a manifest
    if type(parent.get(path[-1])) is int:
        parent[path[-1]] = Hole(name)
    return copied  # type: ignore[no-any-return]  # as above


def _fill_numbers(
    content: Content, emitted: Emitted, targets: Sequence[Target], blobs: dict[bytes, Blob]
) -> list[Variant]:
    """Fill in the numbers of every group of a class' clusters."""
    if not emitted.holes:
        blob = emitted.segments[0]
        blob_id = object_id("blob", blob)
        blobs[blob_id] = blob
        return [Variant(content.clusters, blob_id)]
    ids = SplicedIds(emitted.segments)
    variants = []
    for target in targets:
        if clusters := target.clusters & content.clusters:
            values = tuple([_number(target, hole) for hole in emitted.holes])
            blob_id = ids.id_of(values)
            blobs[blob_id] = Spliced(emitted.segments, values)
            variants.append(Variant(clusters, blob_id))
    return variants


def _number(target: Target, hole: str) -> int:
    return target.replicas if hole == REPLICAS else target.completions
