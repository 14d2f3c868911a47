"""Released objects: no policy claims them any more, so clusters keep them as they are, whatever their templates say.

They are pointed out on every pass, with those whose template says something else by now: its change goes nowhere.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from overrides.engine import OverrideEngine
from reconciler.source.desired import Desired, interpreter_of_source
from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.cluster_index import ClusterIndex
from render.interpreter import InterpreterError
from render.matching.bindings import interpreted_workload
from render.matching.match import NoPolicyReason
from render.model import ObjectRef, Template
from render.tree import Variant, clusters_of_variants
from render.words import first_few
from render.works import TargetGroups, WorkContext, render_works

from .assembly import TreeContext
from .claims import SCHEDULED
from .previous import RenderedTree

HINT = "write a policy that selects it, or delete its template to remove it"
_LISTED = 6
_MOST = 10


class Released(Struct, frozen=True, kw_only=True):
    """A released object, the clusters that keep it, and whether they would get something else from its template."""

    ref: ObjectRef
    clusters: tuple[str, ...]
    is_outdated: bool = False

    def __str__(self) -> str:
        keep = "keeps" if len(self.clusters) == 1 else "keep"
        sentence = (
            f"{self.ref} is released: no policy selects it, so {first_few(self.clusters, _LISTED)} {keep} it as it is"
        )
        return f"{sentence}, though its template or its overrides have changed" if self.is_outdated else sentence


def released_lines(released: Iterable[Released]) -> tuple[str, ...]:
    """Return a line for each object, those first that should have changed; of many, the first few."""
    ordered = sorted(released, key=lambda each: (not each.is_outdated, each.ref))
    lines = tuple(map(str, ordered[:_MOST]))
    more = len(ordered) - _MOST
    return (*lines, f"and {more} more released") if more > 0 else lines


def released_objects(
    desired: Desired, bindings: Iterable[Binding], index: ClusterIndex, before: RenderedTree | None
) -> tuple[Released, ...]:
    """Return which of a source's bindings are released and still in some cluster; ``before``: what clusters hold."""
    found = [binding for binding in bindings if is_released(binding)]
    if not found or before is None:
        return ()
    template_by_ref = {template.ref: template for template in desired.templates}
    work_context = WorkContext(
        targets=TargetGroups(index.index_by_name, desired.fleet.tie_break),
        interpreter=interpreter_of_source(desired, members=index.clusters),
        override=OverrideEngine(desired.override_policies, index.clusters).override,
    )
    fleet = TreeContext(index=index, previous=before)
    return tuple(_released_objects(found, template_by_ref, work_context, fleet))


def is_released(binding: Binding) -> bool:
    """Return whether a binding's object stays although no policy selects it."""
    return not binding.policy and any(
        condition.type == SCHEDULED and condition.reason == NoPolicyReason.NO_POLICY for condition in binding.conditions
    )


def _released_objects(
    bindings: Iterable[Binding],
    template_by_ref: Mapping[ObjectRef, Template],
    work_context: WorkContext,
    fleet: TreeContext,
) -> Iterator[Released]:
    for binding in bindings:
        targets = fleet.index.clusters_named(target.name for target in binding.targets)
        kept = fleet.variants_of(binding.ref, targets)
        if kept:
            yield Released(
                ref=binding.ref,
                clusters=tuple(fleet.index.names[index] for index in indexes_of_mask(clusters_of_variants(kept))),
                is_outdated=_is_released_object_outdated(template_by_ref[binding.ref], binding, kept, work_context),
            )


def _is_released_object_outdated(
    template: Template, binding: Binding, kept: Iterable[Variant], work_context: WorkContext
) -> bool:
    """Return whether a template, overridden, differs from what clusters keep; False where it cannot be built."""
    try:
        divides_components = bool(binding.components)
        workload = interpreted_workload(template, work_context.interpreter, divides_components=divides_components)
        if workload.replicas != binding.replicas:
            return True
    except InterpreterError:
        return False
    works = render_works(template, replace(binding, required_by=()), work_context)
    return not works.failures and _clusters_by_blob(works.variants) != _clusters_by_blob(kept)


def _clusters_by_blob(variants: Iterable[Variant]) -> dict[bytes, Mask]:
    blobs: dict[bytes, Mask] = {}
    for clusters, blob_id in variants:
        blobs[blob_id] = blobs.get(blob_id, 0) | clusters
    return blobs
