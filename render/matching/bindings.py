"""Make the binding of a template from its policy, keeping the results of earlier decisions.

The policy's fields are copied on every pass; target clusters, eviction tasks, requests to reschedule and the record of
the last decision stay as they are.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding
from render.interpreter import Interpreter, InterpreterError, Operation
from render.model import Template
from render.placement import WorkloadAffinity
from render.policy import PropagationPolicy
from render.resources import Component, ReplicaRequirements
from render.syntax import quoted_text

from .match import Match

_POLICY_FIELDS = {
    "policy": "policy",
    "placement": "placement",
    "propagateDeps": "propagate_deps",
    "schedulerName": "scheduler_name",
    "failover": "failover",
    "conflictResolution": "conflict_resolution",
    "preserveResourcesOnDeletion": "preserve_resources_on_deletion",
    "suspension": "suspension",
    "schedulePriority": "priority",
}
"""The fields of a policy, by their API names, and the fields of a binding that they make."""
_MOST_LETTERS = 32
"""The length of the name of a component that Karmada's API server lets stand in a binding."""


class Workload(Struct, frozen=True, kw_only=True):
    """An interpreter's answer about a template's replicas; the empty one is that of a non-workload."""

    replicas: int = 0
    requirements: ReplicaRequirements | None = None
    components: tuple[Component, ...] = ()


def interpreted_workload(template: Template, interpreter: Interpreter, *, divides_components: bool = False) -> Workload:
    """Ask an interpreter about a template; InterpreterError if it cannot be read.

    Components count only where ``divides_components`` (Karmada's gate MultiplePodTemplatesScheduling, off by default),
    and then instead of replicas.
    """
    if divides_components and interpreter.has(Operation.INTERPRET_COMPONENT, template.manifest):
        components = interpreter.components(template.manifest) or ()
        if fault := _fault_of_components(components):
            raise InterpreterError(f"{Operation.INTERPRET_COMPONENT}: {fault}", where=str(template.ref))
        return Workload(components=components)
    answer = interpreter.replicas(template.manifest)
    return Workload() if answer is None else Workload(replicas=answer.replicas, requirements=answer.requirements)


def _fault_of_components(components: Sequence[Component]) -> str:
    """Return what Karmada would not let stand in a binding of these components; empty if it is right."""
    names = set()
    for each in components:
        if not each.name:
            return "a component has no name"
        if len(each.name) > _MOST_LETTERS:
            return f"the component {quoted_text(each.name)} has a name of more than {_MOST_LETTERS} characters"
        if each.name in names:
            return f"two components are called {quoted_text(each.name)}"
        if each.replicas < 0:
            return f"the component {quoted_text(each.name)} has {each.replicas} replicas"
        names.add(each.name)
    return ""


def binding_before_scheduling(
    template: Template,
    match: Match,
    workload: Workload,
    previous: Binding | None = None,
    *,
    is_changed: bool = True,
) -> Binding | None:
    """Return a template's binding before scheduling; None while it has none.

    Without a policy there is no change: the previous binding stays, without its policy (*released*). A policy with lazy
    activation leaves everything as it is until the template itself changes (``is_changed``; a new template is).
    """
    kept = previous if previous is not None and is_same_object(template, previous) else None
    if kept is not None and template.absent_in:
        kept = replace(kept, absent_in=template.absent_in)
    if match.policy is None:
        return kept and replace(kept, policy="" if _is_released_by_policy(match) else kept.policy)
    if match.is_lazy and not is_changed:
        return kept
    fresh = _new_binding(template, match, match.policy, workload)
    return fresh if kept is None else _binding_with_kept_fields(fresh, kept)


def fields_waiting_for_change(template: Template, match: Match, workload: Workload, kept: Binding) -> tuple[str, ...]:
    """Return the fields of a lazy policy that wait for its template to change; ``policy`` is its claim itself."""
    if match.policy is None:
        return ()
    fresh = _new_binding(template, match, match.policy, workload)
    return tuple(field for field, name in _POLICY_FIELDS.items() if getattr(fresh, name) != getattr(kept, name))


def is_same_object(template: Template, previous: Binding) -> bool:
    """Say whether a binding is of this very object; one of another UID was of an object since deleted."""
    return not template.uid or not previous.uid or template.uid == previous.uid


def _is_released_by_policy(match: Match) -> bool:
    return not match.is_selected


def _new_binding(template: Template, match: Match, policy: PropagationPolicy, workload: Workload) -> Binding:
    """Return the binding that a policy makes of a template, without a past."""
    fresh = _binding_of_policy(template, policy, workload)
    if not template.ref.namespace:
        return fresh
    together, apart = _workload_affinity_groups(policy.placement.workload_affinity, template.labels)
    return replace(fresh, priority=match.priority, affinity_group=together, anti_affinity_group=apart)


def _binding_of_policy(template: Template, policy: PropagationPolicy, workload: Workload) -> Binding:
    return Binding(
        ref=template.ref,
        api_version=template.api_version,
        uid=template.uid,
        policy=str(policy),
        replicas=workload.replicas,
        requirements=workload.requirements,
        components=workload.components,
        placement=policy.placement,
        propagate_deps=policy.propagate_deps,
        scheduler_name=policy.scheduler_name,
        failover=policy.failover,
        conflict_resolution=policy.conflict_resolution,
        preserve_resources_on_deletion=policy.preserve_resources_on_deletion,
        suspension=policy.suspension,
        absent_in=template.absent_in,
    )


def _binding_with_kept_fields(fresh: Binding, kept: Binding) -> Binding:
    return replace(
        fresh,
        # Karmada sets propagateDeps on a cluster-scoped binding when it creates one, and never again.
        propagate_deps=fresh.propagate_deps if fresh.ref.namespace else kept.propagate_deps,
        targets=kept.targets,
        required_by=kept.required_by,
        eviction_tasks=kept.eviction_tasks,
        scheduling_suspended=kept.scheduling_suspended,
        reschedule_triggered_at=kept.reschedule_triggered_at,
        applied_placement=kept.applied_placement,
        observed_affinity=kept.observed_affinity,
        last_scheduled_at=kept.last_scheduled_at,
        answered_requests=kept.answered_requests,
        completions=kept.completions,
        descheduled=kept.descheduled,
        moved=kept.moved,
        conditions=kept.conditions,
    )


def _workload_affinity_groups(affinity: WorkloadAffinity | None, labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the affinity and anti-affinity group, ``key=value``; empty where the template lacks the label."""
    if affinity is None:
        return "", ""
    together, apart = (
        f"{key}={labels[key]}" if key and key in labels else "" for key in (affinity.affinity, affinity.anti_affinity)
    )
    return together, apart
