"""One cluster applied to by its plan: the identity, the ApplySet's parent, stage after stage, then the deletions.

What intercepts the writes of others leaves before all of it, unless something of its kind takes its place.
"""

from collections.abc import Container, Iterable, Iterator
from itertools import groupby

from msgspec.structs import replace

from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.parallel import WRITES_A_THREAD, results_in_parallel
from reconciler.observe.objects import read_uid
from reconciler.plans.applyset import ApplySet
from reconciler.plans.cluster import defined_kinds
from reconciler.plans.model import DELETIONS, WRITES, Action, Plan, PlannedObject
from reconciler.plans.prune import DRAINED, LAST_COPY, NO_MEMBER
from reconciler.plans.stages import CRD, is_interceptor, stage_of
from render.kinds.kind import ApplyStage
from render.model import ObjectRef

from .applyset import (
    delete_former_applyset,
    narrow_applyset_parent,
    parent_names_all,
    remove_applyset_namespace,
    widen_applyset_parent,
)
from .definitions import wait_until_established
from .lease import await_lease, release_lease, take_lease
from .prune import carry_out_deletions, results_of_dry_run_deletions
from .results import FINALIZING, UNDONE, WAITING, ApplySettings, ClusterResult, ObjectResult, object_result
from .server_side_apply import ApplyContext, apply_object

_PAUSE = 0.1
_LONGEST_PAUSE = 2.0
_REMEMBERED = frozenset(
    {LAST_COPY, DRAINED, "NeedsConfirmation", "PruneDisabled", "Terminating", FINALIZING, "NotEmpty"}
)
"""The reasons of objects that stay and are remembered by themselves: they outlive the commit that named them."""
_UNSEEN = frozenset(FailureKind) - {FailureKind.NOT_SERVED}
"""The reasons of objects that could not be looked at."""
_AT_REST = frozenset({Action.UNCHANGED, Action.KEPT})


def apply_plan(client: Client, plan: Plan, settings: ApplySettings | None = None) -> ClusterResult:
    """Carry a plan out and return the result; nothing is written when the plan asks for nothing."""
    settings = settings or ApplySettings()
    if plan.refusal:
        return ClusterResult(cluster=plan.cluster, commit=plan.commit, failure=plan.refusal)
    context = ApplyContext(client=client, plan=plan, settings=settings)
    if settings.dry_run:
        return _cluster_result(context, _results_of_dry_run(context), None, plan.prune_hold, None)
    if settings.rehearse and (refused := _result_of_refused_rehearsal(context)):
        return refused
    if plan.writes or plan.members != plan.recorded:
        failure = _failure_of_identity_check(context)
        if failure:
            return ClusterResult(cluster=plan.cluster, commit=plan.commit, failure=failure)
    # A context may lead elsewhere from one connection to the next: from here on each is asked before it may write.
    client.require_cluster_uid(plan.uid)
    gone = _results_of_deleting_interceptors(context)
    context = _context_without(context, {result.ref for result in gone})
    # Before anything is written: an object whose kind the parent does not name is one that nothing finds again.
    unnamed = _failure_to_widen_parent(context, has_waited=not gone)
    parent_hold = plan.parent_refusal or ("" if parent_names_all(plan) else _reason_to_hold_pruning(unnamed))
    results = _apply_stages(context)
    deletions, hold = _results_of_deletions(context, results, parent_hold)
    failure = hold if isinstance(hold, Failure) else client.stopped
    if unnamed and not failure:
        unnamed = widen_applyset_parent(client, plan, settings)
    applied = _cluster_result(
        replace(context, plan=plan),
        [*results, *gone, *deletions],
        failure,
        hold.message if isinstance(hold, Failure) else hold,
        unnamed,
    )
    # Only a cluster that has converged forgets kinds: what still is to leave has to stay in what the parent names.
    if applied.recorded_outcome is ApplyOutcome.CONVERGED and not parent_hold:
        _finish_with_parent(
            replace(context, plan=plan),
            plan.members.set_with_kinds_of(_remaining_members(applied)).united_with(plan.unseen),
        )
    return applied


def _failure_to_widen_parent(context: ApplyContext, *, has_waited: bool) -> Failure | None:
    """Widen the parent, and try again where what has just left may be in force still: servers hear of it late."""
    failure, pause = widen_applyset_parent(context.client, context.plan, context.settings), _PAUSE
    while failure and not has_waited and context.client.wait(pause):
        failure, pause = widen_applyset_parent(context.client, context.plan, context.settings), pause * 2
        has_waited = pause > _LONGEST_PAUSE
    return failure


def _context_without(context: ApplyContext, gone: Container[ObjectRef]) -> ApplyContext:
    """Return the context of what is left to do once some objects have been deleted."""
    deletions = tuple(item for item in context.plan.deletions if item.ref not in gone)
    return replace(context, plan=replace(context.plan, deletions=deletions))


def _reason_to_hold_pruning(failure: Failure | None) -> str:
    """Return why nothing may be pruned: members of a set whose parent does not name them would be lost with it."""
    return f"the ApplySet's parent could not be written ({failure.message})" if failure else ""


def _finish_with_parent(context: ApplyContext, remaining: ApplySet) -> None:
    """Narrow the parent; one that cannot be narrowed now is too wide, which loses nothing, until the next time."""
    delete_former_applyset(context.client, context.plan)
    failure = narrow_applyset_parent(context.client, context.plan, remaining, context.settings.version)
    if not failure and not remaining.group_kinds and context.plan.options.confirm_all:
        remove_applyset_namespace(context.client, context.plan)


def _failure_of_identity_check(context: ApplyContext) -> Failure | None:
    """Ask the cluster for its identity once more, and return a failure for any answer but the planned one."""
    uid = read_uid(context.client)
    if uid == context.plan.uid:
        return None
    if isinstance(uid, Failure):
        return uid
    return Failure(
        kind=FailureKind.WRONG_CLUSTER,
        message=f"the context of {context.plan.cluster!r} leads to another cluster than a moment ago",
        hint="see what stands between here and the cluster",
    )


def _results_of_dry_run(context: ApplyContext) -> list[ObjectResult]:
    """Ask the server what it would do; what depends on a namespace or kind that is yet to be made cannot be asked."""
    dry = replace(context, settings=replace(context.settings, dry_run=True))
    planned, client = context.plan.objects, context.client
    created = frozenset(_names_created_in_stage(planned))
    results = results_in_parallel(
        lambda item: _result_of_dry_run(dry, item, created), planned, limit=client.concurrency
    )
    return results + results_of_dry_run_deletions(context)


def _result_of_dry_run(dry: ApplyContext, item: PlannedObject, created: frozenset[str]) -> ObjectResult:
    if item.action not in WRITES:
        return object_result(item)
    if item.ref.namespace in created or item.ref.group_kind in created:
        return replace(object_result(item), message="not verified: its namespace or kind is yet to be created")
    result = apply_object(dry, item)
    # A webhook with side effects makes servers refuse dry runs; that says nothing about the object.
    if result.reason == FailureKind.BAD_REQUEST and "dry run" in result.message.lower():
        return replace(object_result(item), message="not verified: an admission webhook does not support dry runs")
    return result


def _result_of_refused_rehearsal(context: ApplyContext) -> ClusterResult | None:
    results = _results_of_dry_run(context)
    if not any(result.is_failure for result in results):
        return None
    failure = Failure(kind=FailureKind.INVALID, message="the rehearsal was refused; nothing was written")
    plan = context.plan
    return ClusterResult(cluster=plan.cluster, commit=plan.commit, results=tuple(results), failure=failure)


def _apply_stages(context: ApplyContext) -> list[ObjectResult]:
    """Apply stage after stage; what failed in one blocks only what depends on it in the others."""
    results: list[ObjectResult] = []
    failed_by_name: dict[str, ObjectRef] = {}
    has_written = False  # the identity was asked for right before the first stage that writes
    for stage, items in groupby(context.plan.objects, key=lambda item: stage_of(item.ref)):
        planned = [_blocked_by_failure(item, failed_by_name) for item in items]
        is_writing = any(item.action in WRITES for item in planned)
        failure = _failure_of_identity_check(context) if has_written and is_writing else None
        has_written = has_written or is_writing
        if failure or context.client.stopped:
            results += [_result_of_object_not_reached(item, failure or context.client.stopped) for item in planned]
            continue
        stage_results = _results_of_stage(context, planned)
        if stage == ApplyStage.DEFINITIONS:
            stage_results = wait_until_established(context, stage_results)
        results += stage_results
        failed_by_name |= dict(_objects_failed_by_name(planned, stage_results))
        context = replace(context, just_created=context.just_created | frozenset(_names_created_in_stage(planned)))
    return results


def _results_of_stage(context: ApplyContext, planned: list[PlannedObject]) -> list[ObjectResult]:
    """Apply what is to be written, several at once; the rest, which is mostly everything, needs no threads."""
    writes = [item for item in planned if item.action in WRITES]
    written = iter(
        results_in_parallel(
            lambda item: apply_object(context, item), writes, limit=context.client.concurrency, each=WRITES_A_THREAD
        )
    )
    return [next(written) if item.action in WRITES else object_result(item) for item in planned]


def _result_of_object_not_reached(item: PlannedObject, failure: Failure | None) -> ObjectResult:
    if item.action not in WRITES or failure is None:
        return object_result(item)
    return replace(object_result(item), action=Action.BLOCKED, reason=failure.kind, message=failure.message)


def _blocked_by_failure(item: PlannedObject, failed_by_name: dict[str, ObjectRef]) -> PlannedObject:
    """Block an object whose namespace or kind could not be made."""
    missing = failed_by_name.get(item.ref.namespace) if item.ref.namespace else None
    missing = missing or failed_by_name.get(item.ref.group_kind)
    if missing is None or item.action not in WRITES:
        return item
    return replace(item, action=Action.BLOCKED, reason="DependencyFailed", message=f"it needs {missing}, which failed")


def _objects_failed_by_name(
    planned: Iterable[PlannedObject], results: Iterable[ObjectResult]
) -> Iterator[tuple[str, ObjectRef]]:
    for item, result in zip(planned, results, strict=True):
        # One that could not be looked at may well be there, and then nothing that needs it fails.
        if result.is_failure and not _could_not_be_observed(item):
            yield from ((name, item.ref) for name in _names_made_usable_by(item))


def _could_not_be_observed(item: PlannedObject) -> bool:
    return item.action is Action.BLOCKED and item.reason in _UNSEEN


def _names_created_in_stage(planned: Iterable[PlannedObject]) -> Iterator[str]:
    for item in planned:
        if item.action is Action.CREATED:
            yield from _names_made_usable_by(item)


def _names_made_usable_by(item: PlannedObject) -> Iterator[str]:
    """Yield the names that an object makes usable: a Namespace its own, a CRD its kinds."""
    if item.ref.group_kind == "Namespace":
        yield item.ref.name
    elif item.ref.group_kind == CRD and item.desired is not None:
        yield from {kind.group_kind for kind in defined_kinds(item.desired.manifest)}


def _results_of_deletions(
    context: ApplyContext, results: list[ObjectResult], parent_hold: str
) -> tuple[list[ObjectResult], str | Failure]:
    """Carry out the deletions unless something holds them all back; return their results, and what holds them back.

    Another pass that prunes and does not end is a failure of the cluster, and says nothing of its objects.
    """
    if not _has_deletions(context):
        return [object_result(item) for item in context.plan.deletions], context.plan.prune_hold or parent_hold
    if failure := context.client.stopped or _failure_of_identity_check(context):
        return _results_of_keeping_all(context, failure.message), failure.message
    if parent_hold:
        context = _context_deleting_interceptors_only(context, parent_hold)
    if not _has_deletions(context):
        return [object_result(item) for item in context.plan.deletions], parent_hold
    if busy := await_lease(context.client, context.plan, context.settings):
        return _results_of_keeping_all(context, busy.message), busy
    return _deletion_results_under_lease(context, results), parent_hold or context.plan.prune_hold


def _deletion_results_under_lease(context: ApplyContext, results: list[ObjectResult]) -> list[ObjectResult]:
    """Carry out the deletions with the lease that was taken for it, and give that back."""
    try:
        return carry_out_deletions(context, results)
    finally:
        release_lease(context.client, context.plan.options.applyset, context.settings.holder)


def _has_deletions(context: ApplyContext) -> bool:
    return any(item.action in DELETIONS for item in context.plan.deletions)


def _results_of_deleting_interceptors(context: ApplyContext) -> list[ObjectResult]:
    """Delete what intercepts others, before anything it may refuse is written; return the result of each.

    One whose place another of its kind takes leaves with the rest, so that its rule is in force without a gap. While
    another pass prunes, nothing is deleted before that has ended.
    """
    taking = {item.ref.group_kind for item in context.plan.objects if item.action is Action.CREATED}
    first = [
        item
        for item in context.plan.deletions
        if item.action in DELETIONS and is_interceptor(item.ref) and item.ref.group_kind not in taking
    ]
    if not first or not take_lease(context.client, context.plan, context.settings):
        return []
    return _deletion_results_under_lease(replace(context, plan=replace(context.plan, deletions=tuple(first))), [])


def _context_deleting_interceptors_only(context: ApplyContext, hold: str) -> ApplyContext:
    """Return a context in which nothing is deleted but what intercepts others, which may be the reason for a hold."""
    deletions = tuple(
        item
        if is_interceptor(item.ref) or item.action not in DELETIONS
        else replace(item, action=Action.KEPT, reason="Held", message=hold)
        for item in context.plan.deletions
    )
    return replace(context, plan=replace(context.plan, deletions=deletions))


def _results_of_keeping_all(context: ApplyContext, hold: str) -> list[ObjectResult]:
    return [_kept_result(item, hold) for item in context.plan.deletions]


def _kept_result(item: PlannedObject, hold: str) -> ObjectResult:
    if item.action not in DELETIONS:
        return object_result(item)
    return replace(object_result(item), action=Action.KEPT, reason="Held", message=hold)


def _cluster_result(
    context: ApplyContext, results: list[ObjectResult], failure: Failure | None, hold: str, unnamed: Failure | None
) -> ClusterResult:
    """Return the result of all objects; ``unnamed`` is why the ApplySet's parent does not say what the set holds."""
    deletions = {item.ref for item in context.plan.deletions}
    left = [result for result in results if result.ref in deletions and _stays_in_applyset(result)]
    is_undone = bool(hold or unnamed) or any(result.is_failure or result.reason in UNDONE for result in results)
    is_waiting = any(result.ref in deletions and result.reason in WAITING for result in results)
    outcome = ApplyOutcome.INCOMPLETE if is_undone or is_waiting else ApplyOutcome.CONVERGED
    # A dry run converges where there is nothing to do.
    is_open = context.settings.dry_run and any(result.action not in _AT_REST for result in results)
    return ClusterResult(
        cluster=context.plan.cluster,
        commit=context.plan.commit,
        results=tuple(results),
        failure=failure,
        prune_hold=hold or context.plan.prune_hold,
        parent_failure=unnamed,
        outcome=ApplyOutcome.INTERRUPTED if failure or is_open else outcome,
        is_waiting=is_waiting and not is_undone,
        # What no commit of this fleet names is never remembered: remembered, it would be deleted by a later pass.
        left=tuple(context.plan.held_objects[result.ref] for result in left if result.ref in context.plan.held_objects),
    )


def _stays_in_applyset(result: ObjectResult) -> bool:
    return result.is_failure or result.reason in _REMEMBERED | UNDONE


def _remaining_members(applied: ClusterResult) -> Iterator[ObjectRef]:
    """Yield the objects that still are members of the set."""
    for result in applied.results:
        is_gone = result.action in {Action.DELETED, Action.HANDED_OFF} and result.reason != FINALIZING
        if not is_gone and result.reason not in NO_MEMBER:
            yield result.ref
