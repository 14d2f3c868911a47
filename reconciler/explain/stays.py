"""The reasons why rescheduling moves nothing of an object, in sentences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from reconciler.rendering.outcome import Outcome
from render.binding import Binding
from render.model import ObjectRef
from render.scheduling.decisions import SchedulingDecision, Trigger
from render.scheduling.scheduler import is_schedulable
from render.scheduling.unknown_capacity import hint_to_make_capacity_known
from render.words import first_few


def reasons_objects_stay(refs: Iterable[ObjectRef], outcome: Outcome) -> Iterator[str]:
    """Yield why each of some objects stays as it is in a pass that was asked to reschedule them."""
    built = outcome.rendered.built
    bindings = {binding.ref: binding for binding in built.bindings}
    clusters_by_object: dict[str, list[str]] = defaultdict(list)
    for each in outcome.unknown_capacities:
        for name in each.divided:
            clusters_by_object[name].append(each.cluster)
    for ref in refs:
        binding, decision = bindings.get(ref), built.schedule.decisions.get(ref)
        yield f"{ref} stays as it is: {_reason_object_stays(binding, decision)}"
        if unknown := clusters_by_object.get(str(ref), []):
            gets = "it gets" if len(unknown) == 1 else "they get"
            hint = hint_to_make_capacity_known(unknown[0])
            yield f"no capacity is known of {first_few(unknown)}, so that {gets} no new replicas of {ref}: {hint}"


def _reason_object_stays(binding: Binding | None, decision: SchedulingDecision | None) -> str:
    if binding is None or not binding.policy:
        return "no policy selects it"
    if decision is None or not is_schedulable(binding):
        return "scheduling it is suspended, or left to another scheduler"
    if decision.condition is not None and not decision.is_scheduled:
        return f"{decision.condition.reason}: {decision.condition.message}"
    if not binding.is_divided:
        return "its replicas are not divided, so that every pass decides it afresh"
    if decision.trigger is not Trigger.RESCHEDULE_TRIGGERED:
        return "it has begun, or waits for something else"
    placed = first_few([f"{each.name} {each.replicas}" for each in decision.targets])
    return f"decided afresh, its replicas are where they are already ({placed or 'nowhere'})"
