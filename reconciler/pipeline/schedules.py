"""Scheduling a pass: every binding decided in one total order, and what was decided written into it."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, Template
from render.resources import Component
from render.scheduling.batch import BatchContext, explanations_of_decisions, schedule_all
from render.scheduling.decisions import SchedulingDecision, binding_with_decision
from render.scheduling.options import SchedulingOptions
from render.scheduling.scheduler import Scheduler
from render.settings.fleet import Fleet

if TYPE_CHECKING:
    from render.scheduling.explanation import Explanation


class Schedule(Struct, frozen=True, kw_only=True):
    """The bindings of a pass with their decisions, and all they were taken from, for who asks why."""

    bindings: tuple[Binding, ...]
    decisions: Mapping[ObjectRef, SchedulingDecision]
    scheduler: Scheduler
    undecided: Sequence[Binding] = ()
    context: BatchContext | None = None

    @property
    def objects_kept_by_quota(self) -> frozenset[ObjectRef]:
        """The objects that stay as clusters have them, because a quota does not let their components grow."""
        return frozenset(ref for ref, decision in self.decisions.items() if decision.kept_components)

    def explanations(self, among: Container[ObjectRef]) -> "Iterator[Explanation]":
        """Take the decisions once more and explain those about some objects."""
        state = self.scheduler.state
        return explanations_of_decisions(self.undecided, state.index, state.options, self.context, among=among)


def schedule_bindings(
    bindings: Sequence[Binding], index: ClusterIndex, fleet: Fleet, context: BatchContext | None = None
) -> Schedule:
    """Decide every binding in the order of ``render.scheduling.batch``."""
    batch = schedule_all(bindings, index, SchedulingOptions.of(fleet), context)
    decisions = {decision.ref: decision for decision in batch.decisions}
    done = tuple(binding_with_decision(binding, decisions[binding.ref]) for binding in bindings)
    return Schedule(
        bindings=done,
        decisions=decisions,
        scheduler=batch.scheduler,
        undecided=bindings,
        context=context,
    )


def former_components(
    bindings: Iterable[Binding], before: Mapping[ObjectRef, Binding]
) -> Mapping[ObjectRef, tuple[Component, ...]]:
    """Return the components that objects have so far, of those whose templates have others now."""
    known = ((each, before[each.ref].components) for each in bindings if each.components and each.ref in before)
    return {each.ref: former for each, former in known if former and former != each.components}


def has_no_place(schedule: Schedule, ref: ObjectRef) -> bool:
    """Say whether an object could not be placed as it asks."""
    decision = schedule.decisions.get(ref)
    return decision is not None and decision.condition is not None and not decision.is_scheduled


def refs_gaining_unproven(
    before: Iterable[Binding], schedule: Schedule, among: Container[ObjectRef]
) -> frozenset[ObjectRef]:
    """Return the objects of which clusters get more replicas that nobody knows to be well."""
    moved = {binding.ref: binding for binding in before if binding.unproven and binding.ref in among}
    after = (binding for binding in schedule.bindings if binding.ref in moved)
    return frozenset(binding.ref for binding in after if _does_binding_gain(moved[binding.ref], binding))


def refs_all_unproven(
    before: Iterable[Binding], schedule: Schedule, among: Container[ObjectRef]
) -> frozenset[ObjectRef]:
    """Return the objects that are left with no cluster that is known to be well."""
    unproven = {binding.ref: binding.unproven for binding in before if binding.unproven and binding.ref in among}
    after = (binding for binding in schedule.bindings if binding.ref in unproven)
    return frozenset(
        binding.ref for binding in after if all(target.name in unproven[binding.ref] for target in binding.targets)
    )


def _does_binding_gain(before: Binding, after: Binding) -> bool:
    counts = before.target_replicas
    return any(
        name in before.unproven and replicas > counts.get(name, 0) for name, replicas in after.target_replicas.items()
    )


def apis_by_crd(templates: Iterable[Template]) -> dict[ObjectRef, frozenset[tuple[str, str]]]:
    """Return the ``(apiVersion, kind)`` that each CustomResourceDefinition among templates makes its clusters serve."""
    found = {
        template.ref: _served_kinds(template.manifest.get("spec"))
        for template in templates
        if _is_resource_definition(template.ref)
    }
    return {ref: apis for ref, apis in found.items() if apis}


def _is_resource_definition(ref: ObjectRef) -> bool:
    return (ref.group, ref.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")


def _served_kinds(spec: Any) -> frozenset[tuple[str, str]]:
    """Return what a definition serves; nothing where it cannot be read."""
    names, versions = (spec.get("names"), spec.get("versions")) if isinstance(spec, dict) else (None, None)
    if not isinstance(names, dict) or not isinstance(versions, list):
        return frozenset()
    served = (each["name"] for each in versions if isinstance(each, dict) and each.get("served") and "name" in each)
    return frozenset((f"{spec.get('group')}/{version}", str(names.get("kind"))) for version in served)
