"""Works: a template as it must be in each of its target clusters, found once per class of clusters.

1. put *holes* where replicas (and a divided Job's completions) go - or, for a kind whose revision is a script, revise
   once per distinct number;
2. override the result: the override answers with classes of clusters and the manifest each class holds;
3. prune fields only an API server may set, as Karmada does when it stores a Work - after overrides, which may add some;
4. emit each class once; a cluster's bytes are the class' bytes with its numbers filled in.

Overrides cannot read a number, so running them before the numbers are filled in changes nothing; one that sets
``spec.replicas`` replaces the hole and wins, as in Karmada, where overrides come last.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

from msgspec import Struct

from render.settings.switches import TieBreak

from .binding import Binding
from .bits import Mask, mask_of
from .documents import Emitted, Hole, emit_together, with_number
from .failover.eviction import manifest_with_preserved_labels, preserved_labels_of
from .gitobjects import Blob, Spliced, SplicedIds, git_object_id
from .interpreter import Interpreter
from .interpreter.pruning import manifest_without_pruned_fields
from .model import Manifest, TargetCluster, Template
from .revisions import (
    REPLICAS,
    Revised,
    RevisionContext,
    Target,
    WorkFailure,
    json_in_signed_order,
    number_for_hole,
    opaque_revisions,
    revised_variants,
)
from .runs import completions_by_cluster
from .tree import Variant, variants_with_equal_ids_joined


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


class Content(NamedTuple):
    """The manifest of one class of clusters, with holes for its numbers, and the rules that made it."""

    clusters: Mask
    manifest: Manifest
    applied: tuple[RecordedRule, ...]
    runs: tuple[object, ...] = ()


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

    def mask_of_clusters(self, names: Iterable[str]) -> Mask:
        """Return the clusters with these names."""
        return mask_of({self._index_by_cluster[name] for name in names if name in self._index_by_cluster})

    def _targets_by_numbers(self, manifest: Manifest, binding: Binding) -> tuple[Target, ...]:
        replicas_by_cluster = {target.name: target.replicas for target in binding.targets}
        for snapshot in binding.required_by:
            for target in snapshot.clusters:
                replicas_by_cluster.setdefault(target.name, target.replicas)
        identity = binding.uid or (str(binding.ref) if self._tie_break is TieBreak.IDENTITY else "")
        completions = completions_by_cluster(manifest, binding, replicas_by_cluster, identity)
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
    revising = RevisionContext(context.interpreter, context.targets.mask_of_clusters)
    revisions = revised_variants(template, binding, targets, revising)
    if template.text:
        return _works_of_opaque(template, opaque_revisions(template, revisions, targets), context.override)
    preserved = preserved_labels_of(binding)
    contents: list[Content] = []
    failures: list[WorkFailure] = []
    for revised in revisions:
        if isinstance(revised, WorkFailure):
            failures.append(revised)
            continue
        for overridden in context.override(revised.manifest, revised.clusters):
            if overridden.error is not None:
                failures.append(WorkFailure(clusters=overridden.clusters, error=overridden.error))
            elif overridden.manifest is not None:
                made = _without_default_replicas(overridden.manifest) if revised.is_left_out else overridden.manifest
                made = manifest_with_preserved_labels(made, preserved) if preserved else made
                manifest, applied, runs = (
                    manifest_without_pruned_fields(made),
                    tuple(overridden.applied),
                    (*revised.runs, *overridden.runs),
                )
                contents.append(Content(overridden.clusters, manifest, applied, runs))
    blobs: dict[bytes, Blob] = {}
    texts = emit_together([content.manifest for content in contents])
    variants = [
        variant
        for content, text in zip(contents, texts, strict=True)
        for variant in _variants_with_numbers(content, text, targets, blobs)
    ]
    return Works(
        variants=variants_with_equal_ids_joined(variants),
        blobs=blobs,
        contents=tuple(contents),
        failures=tuple(failures),
    )


def _works_of_opaque(template: Template, revisions: Sequence[Revised | WorkFailure], override: Override) -> Works:
    """Return the works of an opaque document: its own bytes wherever no field changes that is not signed.

    One that is changed is written as JSON, in which fields keep the order that SOPS signed them in.
    """
    contents: list[Content] = []
    failures = [each for each in revisions if isinstance(each, WorkFailure)]
    blobs: dict[bytes, Blob] = {}
    variants: list[Variant] = []
    revised = (each for each in revisions if isinstance(each, Revised))
    for overridden in chain.from_iterable(override(each.manifest, each.clusters) for each in revised):
        if overridden.manifest is None:
            failures += [WorkFailure(clusters=overridden.clusters, error=overridden.error)] if overridden.error else []
            continue
        is_changed = overridden.manifest is not template.manifest
        text = json_in_signed_order(overridden.manifest) if is_changed else template.text
        blob_id = git_object_id("blob", text)
        blobs[blob_id] = text
        variants += [Variant(overridden.clusters, blob_id)] if overridden.clusters else []
        applied, runs = tuple(overridden.applied), tuple(overridden.runs)
        contents.append(Content(overridden.clusters, overridden.manifest, applied, runs))
    return Works(
        variants=variants_with_equal_ids_joined(variants),
        blobs=blobs,
        contents=tuple(contents),
        failures=tuple(failures),
        is_carried=True,
    )


def _without_default_replicas(manifest: Manifest) -> Manifest:
    """Return a manifest without replicas that nobody wrote: an autoscaler sets them. What an override set stays."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get(REPLICAS), Hole):
        return manifest
    return {**manifest, "spec": {key: value for key, value in spec.items() if key != REPLICAS}}


def _variants_with_numbers(
    content: Content, emitted: Emitted, targets: Sequence[Target], blobs: dict[bytes, Blob]
) -> list[Variant]:
    """Fill in the numbers of every group of a class' clusters."""
    if not emitted.holes:
        blob = emitted.segments[0]
        blob_id = git_object_id("blob", blob)
        blobs[blob_id] = blob
        return [Variant(content.clusters, blob_id)]
    ids = SplicedIds(emitted.segments)
    variants = []
    for target in targets:
        if clusters := target.clusters & content.clusters:
            values = tuple([number_for_hole(target, hole) for hole in emitted.holes])
            blob_id = ids.id_of(values)
            blobs[blob_id] = Spliced(emitted.segments, values)
            variants.append(Variant(clusters, blob_id))
    return variants
