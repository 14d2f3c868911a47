"""The reasons for which a pass changed where an object goes, how many replicas it has there, or its bytes.

They are what the bindings before and after record, and what the two rendered commits say of their sources, engines and
members. Nothing is guessed: where none of that tells, it is said that what was observed decided, or that nothing
recorded tells.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from render.binding import Binding, GracefulEvictionTask
from render.documents import parse_documents
from render.rescheduling.rollbacks import ROLLBACK
from render.words import first_few

from .steps import RenderedStep

WavesByRollout = Mapping[str, Mapping[str, str]]
"""The wave of each cluster in a rollout, by the rollout's name."""


class ChangeCause(StrEnum):
    """The kind of a reason."""

    FIRST_DELIVERED = "FirstDelivered"
    REMOVED = "Removed"
    POLICY_CHANGED = "PolicyChanged"
    PLACEMENT_EDITED = "PlacementEdited"
    SCALED = "Scaled"
    SCALED_BY_CRON = "ScaledByCron"
    EVICTED = "Evicted"
    EVICTION_ENDED = "EvictionEnded"
    REBALANCED = "Rebalanced"
    ROLLED_BACK = "RolledBack"
    DESCHEDULED = "Descheduled"
    CLUSTER_JOINED = "ClusterJoined"
    CLUSTER_LEFT = "ClusterLeft"
    CLUSTER_RENAMED = "ClusterRenamed"
    AFFINITY_CHANGED = "AffinityChanged"
    ROLLOUT = "Rollout"
    MOVE_STEP = "MoveStep"
    SUSPENDED = "Suspended"
    REQUIRED = "Required"
    OVERRIDES_CHANGED = "OverridesChanged"
    SOURCE_EDITED = "SourceEdited"
    ENGINE_CHANGED = "EngineChanged"
    OBSERVED = "Observed"
    UNKNOWN = "Unknown"


class ChangeReason(Struct, frozen=True, kw_only=True):
    """A reason: its kind, and a sentence without a full stop."""

    cause: ChangeCause
    message: str

    def __str__(self) -> str:
        return self.message


def reasons_of_change(
    before: Binding | None, after: Binding | None, step: RenderedStep, waves: WavesByRollout
) -> tuple[ChangeReason, ...]:
    """Return the reasons for a change of an object between two rendered commits; at least one.

    ``before`` or ``after`` None: the commit has no binding of the object. ``waves`` are those of clusters in rollouts
    that the commit went on with. What a shallow clone begins with may have been so before.
    """
    if step.is_cut_off:
        return (_reason_in_commits(step),)
    if after is None:
        return (ChangeReason(cause=ChangeCause.REMOVED, message=_words_of_removal(before)),)
    if before is None:
        whose = f"claimed by {after.policy}" if after.policy else "required by others" if after.required_by else ""
        return (
            ChangeReason(
                cause=ChangeCause.FIRST_DELIVERED, message=f"first rendered, {whose}" if whose else "first rendered"
            ),
        )
    found = tuple(_recorded_reasons(before, after, step, waves))
    return found or (_reason_in_commits(step),)


def reason_of_other_bytes(step: RenderedStep) -> ChangeReason:
    """Return the reason for other bytes of an object whose binding is as it was."""
    return _reason_in_commits(step)


def _recorded_reasons(
    before: Binding, after: Binding, step: RenderedStep, waves: WavesByRollout
) -> Iterator[ChangeReason]:
    """Yield the reasons that bindings record, those that people ask for first."""
    yield from _reasons_of_policies(before, after)
    yield from _reasons_of_numbers(before, after)
    yield from _reasons_of_evictions(before, after)
    yield from _reasons_of_requests(before, after)
    yield from _reasons_of_members(before, after, step)
    yield from _reasons_of_rollout(before, after, waves)
    is_by_waves = before.rollout is not None and (before.rollout.splits or before.rollout.is_split_restored)
    if before.moving is not None and before.targets != after.targets and not is_by_waves:
        ends = ", and ends" if after.moving is None else ""
        message = f"a step of its move, as replicas elsewhere got ready{ends}"
        yield ChangeReason(cause=ChangeCause.MOVE_STEP, message=message)
    if names := overrides_that_differ(before, after):
        message = f"{first_few(names)} overrides otherwise than before"
        yield ChangeReason(cause=ChangeCause.OVERRIDES_CHANGED, message=message)


def overrides_that_differ(before: Binding | None, after: Binding | None) -> list[str]:
    """Return the policies that make other changes of what they find than before; it may be another value by itself."""
    records = [side.applied_overrides if side is not None else "" for side in (before, after)]
    if records[0] == records[1]:
        return []
    old, new = map(_changes_by_rule, records)
    same_start = {key for key in old.keys() & new.keys() if old[key][0] == new[key][0]}
    found = {key[0] for key in old.keys() ^ new.keys()} | {key[0] for key in same_start if old[key] != new[key]}
    return sorted(found)


def _changes_by_rule(record: str) -> Mapping[tuple[str, str, str, str], tuple[Any, Any]]:
    """Return the values before and after each change that a binding records, by policy, rule, clusters and path."""
    rules = parse_documents(f"rules:\n{record}\n".encode())[0].value["rules"] if record else ()
    return {
        (rule["policy"], rule["rule"], ",".join(rule.get("clusters") or ()), change["path"]): (
            change.get("before"),
            change.get("after"),
        )
        for rule in rules
        for change in rule.get("changes") or ()
    }


def _words_of_removal(before: Binding | None) -> str:
    policy = f"; {before.policy} claimed it" if before is not None and before.policy else ""
    return f"no longer rendered: the source has no such object, or nothing claims it{policy}"


def _reasons_of_policies(before: Binding, after: Binding) -> Iterator[ChangeReason]:
    if before.policy != after.policy:
        message = f"claimed by {after.policy or 'no policy'}, and by {before.policy or 'no policy'} before"
        yield ChangeReason(cause=ChangeCause.POLICY_CHANGED, message=message)
    elif before.placement != after.placement:
        yield ChangeReason(cause=ChangeCause.PLACEMENT_EDITED, message=f"the placement of {after.policy} was edited")
    if before.observed_affinity != after.observed_affinity and before.observed_affinity:
        message = f"affinity group {before.observed_affinity or '-'} -> {after.observed_affinity or '-'}"
        yield ChangeReason(cause=ChangeCause.AFFINITY_CHANGED, message=message)
    if (before.suspension, before.scheduling_suspended) != (after.suspension, after.scheduling_suspended):
        is_on = bool(after.suspension) or after.scheduling_suspended
        yield ChangeReason(cause=ChangeCause.SUSPENDED, message="suspended" if is_on else "no longer suspended")
    needing = [sorted(f"{each.namespace}/{each.name}" for each in side.required_by) for side in (before, after)]
    if needing[0] != needing[1]:
        names = first_few(needing[1]) if needing[1] else "nothing"
        yield ChangeReason(cause=ChangeCause.REQUIRED, message=f"required by {names} now")
    elif before.required_by != after.required_by:
        yield ChangeReason(cause=ChangeCause.REQUIRED, message=f"follows {first_few(needing[1])}, which moved")


def _reasons_of_numbers(before: Binding, after: Binding) -> Iterator[ChangeReason]:
    if after.scaled != before.scaled and after.scaled is not None:
        rule = f"rule {after.scaled.rule} of {after.scaled.autoscaler}"
        message = f"scaled {before.asked_replicas} -> {after.asked_replicas} by {rule}"
        yield ChangeReason(cause=ChangeCause.SCALED_BY_CRON, message=message)
    elif before.asked_replicas != after.asked_replicas:
        yield ChangeReason(
            cause=ChangeCause.SCALED, message=f"scaled {before.asked_replicas} -> {after.asked_replicas}"
        )


def _reasons_of_evictions(before: Binding, after: Binding) -> Iterator[ChangeReason]:
    old, new = (_tasks_by_cluster(side.eviction_tasks) for side in (before, after))
    for name in sorted(new.keys() - old.keys()):
        yield ChangeReason(cause=ChangeCause.EVICTED, message=f"evicted from {name}: {_words_of_task(new[name])}")
    if ended := sorted(old.keys() - new.keys()):
        yield ChangeReason(cause=ChangeCause.EVICTION_ENDED, message=f"the eviction from {first_few(ended)} ended")
    moved = after.moved
    if moved is not None and moved != before.moved and not set(moved.clusters) <= new.keys():
        message = f"evicted from {first_few(moved.clusters)}: {moved.message or moved.reason}"
        yield ChangeReason(cause=ChangeCause.EVICTED, message=message)
    if after.descheduled is not None and after.descheduled != before.descheduled:
        taken = ", ".join(f"{each.replicas} from {each.name}" for each in after.descheduled.clusters)
        yield ChangeReason(cause=ChangeCause.DESCHEDULED, message=f"descheduled: {taken} could not start there")


def _tasks_by_cluster(tasks: Iterable[GracefulEvictionTask]) -> dict[str, GracefulEvictionTask]:
    return {task.from_cluster: task for task in tasks}


def _words_of_task(task: GracefulEvictionTask) -> str:
    return task.message or task.reason or task.producer or "no reason is recorded"


def _reasons_of_requests(before: Binding, after: Binding) -> Iterator[ChangeReason]:
    answered = [name for name in after.answered_requests if name not in before.answered_requests]
    for name in (each.removeprefix(ROLLBACK) for each in answered if each.startswith(ROLLBACK)):
        request, _, commit = name.partition("@")
        message = f"rolled back to rendered commit {commit}, as {request} asked"
        yield ChangeReason(cause=ChangeCause.ROLLED_BACK, message=message)
    answered = [name for name in answered if not name.startswith(ROLLBACK)]
    if answered:
        yield ChangeReason(cause=ChangeCause.REBALANCED, message=f"rebalanced, as {first_few(answered)} asked")
    elif after.reschedule_triggered_at and after.reschedule_triggered_at != before.reschedule_triggered_at:
        yield ChangeReason(
            cause=ChangeCause.REBALANCED, message=f"rebalanced, as asked at {after.reschedule_triggered_at}"
        )


def _reasons_of_members(before: Binding, after: Binding, step: RenderedStep) -> Iterator[ChangeReason]:
    had, has = ({target.name for target in side.targets} for side in (before, after))
    if gone := sorted((had - has) - step.members):
        verb = "leaves" if len(gone) == 1 else "leave"
        yield ChangeReason(cause=ChangeCause.CLUSTER_LEFT, message=f"{first_few(gone)} {verb} the fleet")
    if come := sorted((has - had) & (step.members - step.members_before)):
        verb = "joins" if len(come) == 1 else "join"
        yield ChangeReason(cause=ChangeCause.CLUSTER_JOINED, message=f"{first_few(come)} {verb} the fleet")


def _reasons_of_rollout(before: Binding, after: Binding, waves: WavesByRollout) -> Iterator[ChangeReason]:
    rollout, former = after.rollout, before.rollout
    if rollout is None or rollout == former:
        return
    old = former.version_by_cluster if former is not None else {}
    new = rollout.version_by_cluster
    given = sorted(name for name, each in new.items() if old.get(name) != each)
    back = sorted(old.keys() - new.keys()) if rollout.is_under_way else []
    if not rollout.is_under_way and former is not None and former.is_under_way:
        yield ChangeReason(
            cause=ChangeCause.ROLLOUT, message=f"{rollout.name} let version {rollout.target} out everywhere"
        )
    elif given:
        named = sorted({waves.get(rollout.name, {}).get(name, "") for name in given} - {""})
        wave = f"wave {', '.join(named)} of " if named else ""
        message = f"{wave}{rollout.name}: {first_few(given)} got version {rollout.target}"
        yield ChangeReason(cause=ChangeCause.ROLLOUT, message=message)
    elif back:
        message = f"{rollout.name}: {first_few(back)} went back to version {rollout.completed}"
        yield ChangeReason(cause=ChangeCause.ROLLOUT, message=message)
    elif rollout.is_under_way:
        yield ChangeReason(cause=ChangeCause.ROLLOUT, message=f"{rollout.name} lets version {rollout.target} out")


def _reason_in_commits(step: RenderedStep) -> ChangeReason:
    """Return the reason that two rendered commits tell: another source, another engine, or what was observed."""
    if step.is_cut_off or (step.before is None and not step.is_of_new_source):
        return ChangeReason(cause=ChangeCause.UNKNOWN, message="the history that is here begins with it")
    if step.is_of_new_source:
        also = ", and another engine made it" if step.is_of_other_engine else ""
        return ChangeReason(cause=ChangeCause.SOURCE_EDITED, message=f"the source was edited{also}")
    if step.is_of_other_engine:
        return ChangeReason(cause=ChangeCause.ENGINE_CHANGED, message="another version of the engine made it")
    return ChangeReason(
        cause=ChangeCause.OBSERVED, message="the source is the same: what was observed of clusters decided"
    )
