"""A plan carried out on one cluster: identity, the ApplySet's parent, stage after stage, then what leaves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.listing import read_object
from reconciler.members.parallel import in_parallel
from reconciler.observe.objects import read_uid
from reconciler.plans.applyset import ApplySet
from reconciler.plans.cluster import defined_kinds
from reconciler.plans.inventory import ApplyOutcome
from reconciler.plans.model import DELETIONS, WRITES, Action, Plan, PlannedObject
from reconciler.plans.prune import NO_MEMBER
from reconciler.plans.stages import CRDS, stage_of
from render.model import Manifest, ObjectRef

from .applyset import narrow_parent, remove_namespace, retire_former, widen_parent
from .lease import acquire_lease, release_lease
from .object import ApplyContext, apply_object
from .prune import carry_out_deletions
from .results import ApplySettings, ClusterResult, ObjectResult, object_result

_PAUSE = 0.1
_CRD = "CustomResourceDefinition"


_REMEMBERED = frozenset({"NeedsConfirmation", "PruneDisabled", "Terminating", "Finalizing", "NotEmpty"})
_UNDONE = frozenset({"Held", "Unknown"})


def wait_until_established(context: ApplyContext, done: Sequence[ObjectResult]) -> list[ObjectResult]:
    """Wait for the CRDs that were written; one that does not become established is a failure."""
    return in_parallel(lambda result: _awaited(context, result), done, limit=context.client.concurrency)


def _awaited(context: ApplyContext, result: ObjectResult) -> ObjectResult:
    if result.is_failure or result.live is None or result.ref.kind != _CRD:
        return result
    resource = context.plan.discovery.resource(str(result.live["apiVersion"]), _CRD)
    live: Manifest | Failure | None = result.live
    waited, pause = 0.0, _PAUSE
    while not _is_established(live):
        if resource is None or waited >= context.options.settle_seconds or not context.client.wait(pause):
            return _not_established(result, live)
        waited, pause = waited + pause, min(pause * 2, 1.0)
        live = read_object(context.client, resource, result.ref)
    return result


def _is_established(live: Manifest | Failure | None) -> bool:
    return not isinstance(live, Failure) and live is not None and _status(live, "Established") == "True"


def _status(live: Manifest, kind: str) -> str:
    conditions = (live.get("status") or {}).get("conditions") or ()
    return next((str(item.get("status")) for item in conditions if item.get("type") == kind), "")


def _not_established(result: ObjectResult, live: Manifest | Failure | None) -> ObjectResult:
    is_refused = isinstance(live, dict) and _status(live, "NamesAccepted") == "False"
    message = "its names clash with another kind's" if is_refused else "it is not established yet"
    hint = "see `kubectl describe crd`; custom resources of its kind wait for it"
    return replace(result, action=Action.FAILED, reason="NotEstablished", message=message, hint=hint)


def apply_plan(client: Client, plan: Plan, options: ApplySettings | None = None) -> ClusterResult:
    """Carry a plan out and return what came of it; nothing is written when the plan asks for nothing."""
    chosen = options or ApplySettings()
    if plan.refusal:
        return ClusterResult(cluster=plan.cluster, commit=plan.commit, failure=plan.refusal)
    context = ApplyContext(client=client, plan=plan, options=chosen)
    if chosen.dry_run:
        return _summary(context, _rehearsed(context), None, "")
    if chosen.rehearse and (refused := _refused_in_rehearsal(context)):
        return refused
    if plan.writes or plan.members != plan.recorded:
        failure = _identity_failure(context)
        if failure:
            return ClusterResult(cluster=plan.cluster, commit=plan.commit, failure=failure)
    client.pin(plan.uid)
    parent = plan.parent_refusal or _text(widen_parent(client, plan, chosen))
    results = _apply_stages(context)
    deletions, hold = _deleted(context, results, parent)
    applied = _summary(context, [*results, *deletions], client.stopped, hold)
    if applied.outcome is ApplyOutcome.CONVERGED and not parent:
        _close(context, plan.options.applyset.containing(_remaining(applied)))
    return applied


def _close(context: ApplyContext, remaining: ApplySet) -> None:
    """Narrow the parent; what cannot be narrowed now is too wide, which loses nothing, and narrowed the next time."""
    retire_former(context.client, context.plan)
    failure = narrow_parent(context.client, context.plan, remaining, context.options.version)
    if not failure and not remaining.group_kinds and context.plan.options.confirm_all:
        remove_namespace(context.client, context.plan)


def _text(failure: Failure | None) -> str:
    return f"the ApplySet's parent could not be written ({failure.message})" if failure else ""


def _identity_failure(context: ApplyContext) -> Failure | None:
    """Ask once more which cluster this is, and stop at any other answer."""
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


def _rehearsed(context: ApplyContext) -> list[ObjectResult]:
    """Ask the server what it would do; what depends on things not yet there cannot be asked."""
    dry = replace(context, options=replace(context.options, dry_run=True))
    coming = frozenset(_created_now(context.plan.objects))
    return in_parallel(
        lambda item: _asked(dry, item, coming), context.plan.objects, limit=context.client.concurrency
    ) + [object_result(item) for item in context.plan.deletions]


def _asked(dry: ApplyContext, item: PlannedObject, coming: frozenset[str]) -> ObjectResult:
    if item.action not in WRITES or item.ref.namespace in coming or item.ref.group_kind in coming:
        not_yet = "not verified: its namespace or kind is yet to be created" if item.action in WRITES else item.message
        return replace(object_result(item), message=not_yet)
    result = apply_object(dry, item)
    if result.reason == FailureKind.BAD_REQUEST and "dry run" in result.message.lower():
        return replace(object_result(item), message="not verified: an admission webhook does not support dry runs")
    return result


def _refused_in_rehearsal(context: ApplyContext) -> ClusterResult | None:
    results = _rehearsed(context)
    if not any(result.is_failure for result in results):
        return None
    failure = Failure(kind=FailureKind.INVALID, message="the rehearsal was refused; nothing was written")
    return ClusterResult(
        cluster=context.plan.cluster, commit=context.plan.commit, results=tuple(results), failure=failure
    )


def _apply_stages(context: ApplyContext) -> list[ObjectResult]:
    results: list[ObjectResult] = []
    lacking: dict[str, ObjectRef] = {}
    for stage, items in groupby(context.plan.objects, key=lambda item: stage_of(item.ref)):
        planned = [_blocked(item, lacking) for item in items]
        failure = _identity_failure(context) if results and any(item.action in WRITES for item in planned) else None
        if failure or context.client.stopped:
            results += [_not_reached(item, failure or context.client.stopped) for item in planned]
            continue
        done = _applied(context, planned)
        if stage == CRDS:
            done = wait_until_established(context, done)
        results += done
        lacking |= dict(_lacking(planned, done))
        context = replace(context, fresh=context.fresh | frozenset(_created_now(planned)))
    return results


def _applied(context: ApplyContext, planned: list[PlannedObject]) -> list[ObjectResult]:
    """Apply what is to be written, several at once; the rest, which is mostly everything, is told without threads."""
    writes = [item for item in planned if item.action in WRITES]
    written = iter(in_parallel(lambda item: apply_object(context, item), writes, limit=context.client.concurrency))
    return [next(written) if item.action in WRITES else object_result(item) for item in planned]


def _not_reached(item: PlannedObject, failure: Failure | None) -> ObjectResult:
    if item.action not in WRITES or failure is None:
        return object_result(item)
    return replace(object_result(item), action=Action.BLOCKED, reason=failure.kind, message=failure.message)


def _blocked(item: PlannedObject, lacking: dict[str, ObjectRef]) -> PlannedObject:
    """Block an object whose namespace or kind could not be made."""
    missing = lacking.get(item.ref.namespace) if item.ref.namespace else None
    missing = missing or lacking.get(item.ref.group_kind)
    if missing is None or item.action not in WRITES:
        return item
    return replace(item, action=Action.BLOCKED, reason="DependencyFailed", message=f"it needs {missing}, which failed")


def _lacking(planned: Iterable[PlannedObject], done: Iterable[ObjectResult]) -> Iterator[tuple[str, ObjectRef]]:
    for item, result in zip(planned, done, strict=True):
        if result.is_failure:
            yield from ((name, item.ref) for name in _brought(item))


def _created_now(planned: Iterable[PlannedObject]) -> Iterator[str]:
    for item in planned:
        if item.action is Action.CREATED:
            yield from _brought(item)


def _brought(item: PlannedObject) -> Iterator[str]:
    """Yield what an object makes possible: a Namespace its name, a CRD its kinds."""
    if item.ref.group_kind == "Namespace":
        yield item.ref.name
    elif item.ref.group_kind == "CustomResourceDefinition.apiextensions.k8s.io" and item.desired is not None:
        yield from {kind.group_kind for kind in defined_kinds(item.desired.manifest)}


def _deleted(context: ApplyContext, results: list[ObjectResult], parent: str) -> tuple[list[ObjectResult], str]:
    """Carry out the deletions, unless something holds them all; return what came of them, and what holds them."""
    planned = context.plan.deletions
    if not any(item.action in DELETIONS for item in planned):
        return [object_result(item) for item in planned], context.plan.prune_hold or parent
    failure = context.client.stopped or _identity_failure(context)
    hold = failure.message if failure else parent
    if not hold:
        holder = acquire_lease(context.client, context.plan.options.applyset, context.options.holder)
        hold = f"{holder} is pruning this cluster" if holder else ""
    if hold:
        return [_held(item, hold) for item in planned], hold
    try:
        return carry_out_deletions(context, results), ""
    finally:
        release_lease(context.client, context.plan.options.applyset, context.options.holder)


def _held(item: PlannedObject, hold: str) -> ObjectResult:
    if item.action not in DELETIONS:
        return object_result(item)
    return replace(object_result(item), action=Action.KEPT, reason="Held", message=hold)


def _summary(context: ApplyContext, results: list[ObjectResult], failure: Failure | None, hold: str) -> ClusterResult:
    deletions = {item.ref for item in context.plan.deletions}
    left = [result for result in results if result.ref in deletions and _stays(result)]
    is_undone = any(result.is_failure or result.reason in _UNDONE for result in results)
    outcome = ApplyOutcome.INCOMPLETE if is_undone or hold else ApplyOutcome.CONVERGED
    return ClusterResult(
        cluster=context.plan.cluster,
        commit=context.plan.commit,
        results=tuple(results),
        failure=failure,
        prune_hold=hold or context.plan.prune_hold,
        outcome=ApplyOutcome.INTERRUPTED if failure or context.options.dry_run else outcome,
        # What no commit of this fleet names is never remembered: remembered, it would be deleted by a later pass.
        left=tuple(context.plan.held[result.ref] for result in left if result.ref in context.plan.held),
    )


def _stays(result: ObjectResult) -> bool:
    return result.is_failure or result.reason in _REMEMBERED | _UNDONE


def _remaining(applied: ClusterResult) -> Iterator[ObjectRef]:
    """Yield what the set still has as members."""
    for result in applied.results:
        is_gone = result.action in {Action.DELETED, Action.HANDED_OFF} and result.reason != "Finalizing"
        if not is_gone and result.reason not in NO_MEMBER:
            yield result.ref
