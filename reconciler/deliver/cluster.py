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
from reconciler.plans.inventory import ApplyOutcome, HeldObject
from reconciler.plans.model import DELETIONS, WRITES, Action, Plan, PlannedObject
from reconciler.plans.prune import NO_MEMBER
from reconciler.plans.stages import CRDS, stage_of
from render.model import Manifest, ObjectRef

from .applyset import narrow_parent, remove_namespace, widen_parent
from .lease import acquire_lease, release_lease
from .object import ApplyContext, apply_object
from .prune import carry_out_deletions
from .results import Applied, ApplyOptions, Result, result_of

_PAUSE = 0.1
_CRD = "CustomResourceDefinition"


_REMEMBERED = frozenset({"NeedsConfirmation", "PruneDisabled", "Terminating", "Finalizing", "NotEmpty"})
_UNDONE = frozenset({"Held", "Unknown"})


def wait_until_established(site: ApplyContext, done: Sequence[Result]) -> list[Result]:
    """Wait for the CRDs that were written; one that does not become established is a failure."""
    return in_parallel(lambda result: _awaited(site, result), done, limit=site.client.concurrency)


def _awaited(site: ApplyContext, result: Result) -> Result:
    if result.is_failure or result.live is None or result.ref.kind != _CRD:
        return result
    resource = site.plan.discovery.resource(str(result.live["apiVersion"]), _CRD)
    live: Manifest | Failure | None = result.live
    waited, pause = 0.0, _PAUSE
    while not _is_established(live):
        if resource is None or waited >= site.options.settle_seconds or not site.client.wait(pause):
            return _not_established(result, live)
        waited, pause = waited + pause, min(pause * 2, 1.0)
        live = read_object(site.client, resource, result.ref)
    return result


def _is_established(live: Manifest | Failure | None) -> bool:
    return not isinstance(live, Failure) and live is not None and _status(live, "Established") == "True"


def _status(live: Manifest, kind: str) -> str:
    conditions = (live.get("status") or {}).get("conditions") or ()
    return next((str(item.get("status")) for item in conditions if item.get("type") == kind), "")


def _not_established(result: Result, live: Manifest | Failure | None) -> Result:
    is_refused = isinstance(live, dict) and _status(live, "NamesAccepted") == "False"
    message = "its names clash with another kind's" if is_refused else "it is not established yet"
    hint = "see `kubectl describe crd`; custom resources of its kind wait for it"
    return replace(result, action=Action.FAILED, reason="NotEstablished", message=message, hint=hint)


def apply_plan(client: Client, plan: Plan, options: ApplyOptions | None = None) -> Applied:
    """Carry a plan out and return what came of it; nothing is written when the plan asks for nothing."""
    chosen = options or ApplyOptions()
    if plan.refusal:
        return Applied(cluster=plan.cluster, commit=plan.commit, failure=plan.refusal)
    site = ApplyContext(client=client, plan=plan, options=chosen)
    if chosen.dry_run:
        return _summary(site, _rehearsed(site), None, "")
    if chosen.rehearse and (refused := _refused_in_rehearsal(site)):
        return refused
    if plan.writes or plan.members != plan.recorded:
        failure = _identity_failure(site)
        if failure:
            return Applied(cluster=plan.cluster, commit=plan.commit, failure=failure)
    client.pin(plan.uid)
    parent = plan.parent_refusal or _text(widen_parent(client, plan, chosen))
    results = _apply_stages(site)
    deletions, hold = _deleted(site, results, parent)
    applied = _summary(site, [*results, *deletions], client.stopped, hold)
    if applied.outcome is ApplyOutcome.CONVERGED and not parent:
        _close(site, plan.options.applyset.containing(_remaining(applied)))
    return applied


def _close(site: ApplyContext, remaining: ApplySet) -> None:
    """Narrow the parent; what cannot be narrowed now is too wide, which loses nothing, and narrowed the next time."""
    failure = narrow_parent(site.client, site.plan, remaining, site.options.version)
    if not failure and not remaining.group_kinds and site.plan.options.confirm_all:
        remove_namespace(site.client, site.plan)


def _text(failure: Failure | None) -> str:
    return f"the ApplySet's parent could not be written ({failure.message})" if failure else ""


def _identity_failure(site: ApplyContext) -> Failure | None:
    """Ask once more which cluster this is, and stop at any other answer."""
    uid = read_uid(site.client)
    if uid == site.plan.uid:
        return None
    if isinstance(uid, Failure):
        return uid
    return Failure(
        kind=FailureKind.WRONG_CLUSTER,
        message=f"the context of {site.plan.cluster!r} leads to another cluster than a moment ago",
        hint="see what stands between here and the cluster",
    )


def _rehearsed(site: ApplyContext) -> list[Result]:
    """Ask the server what it would do; what depends on things not yet there cannot be asked."""
    dry = replace(site, options=replace(site.options, dry_run=True))
    coming = frozenset(_created_now(site.plan.objects))
    return in_parallel(lambda item: _asked(dry, item, coming), site.plan.objects, limit=site.client.concurrency) + [
        result_of(item) for item in site.plan.deletions
    ]


def _asked(dry: ApplyContext, item: PlannedObject, coming: frozenset[str]) -> Result:
    if item.action not in WRITES or item.ref.namespace in coming or item.ref.group_kind in coming:
        not_yet = "not verified: its namespace or kind is yet to be created" if item.action in WRITES else item.message
        return replace(result_of(item), message=not_yet)
    result = apply_object(dry, item)
    if result.reason == FailureKind.BAD_REQUEST and "dry run" in result.message.lower():
        return replace(result_of(item), message="not verified: an admission webhook does not support dry runs")
    return result


def _refused_in_rehearsal(site: ApplyContext) -> Applied | None:
    results = _rehearsed(site)
    if not any(result.is_failure for result in results):
        return None
    failure = Failure(kind=FailureKind.INVALID, message="the rehearsal was refused; nothing was written")
    return Applied(cluster=site.plan.cluster, commit=site.plan.commit, results=tuple(results), failure=failure)


def _apply_stages(site: ApplyContext) -> list[Result]:
    results: list[Result] = []
    lacking: dict[str, ObjectRef] = {}
    for stage, items in groupby(site.plan.objects, key=lambda item: stage_of(item.ref)):
        planned = [_blocked(item, lacking) for item in items]
        failure = _identity_failure(site) if results and any(item.action in WRITES for item in planned) else None
        if failure or site.client.stopped:
            results += [_not_reached(item, failure or site.client.stopped) for item in planned]
            continue
        done = _applied(site, planned)
        if stage == CRDS:
            done = wait_until_established(site, done)
        results += done
        lacking |= dict(_lacking(planned, done))
        site = replace(site, fresh=site.fresh | frozenset(_created_now(planned)))
    return results


def _applied(site: ApplyContext, planned: list[PlannedObject]) -> list[Result]:
    """Apply what is to be written, several at once; the rest, which is mostly everything, is told without threads."""
    writes = [item for item in planned if item.action in WRITES]
    written = iter(in_parallel(lambda item: apply_object(site, item), writes, limit=site.client.concurrency))
    return [next(written) if item.action in WRITES else result_of(item) for item in planned]


def _not_reached(item: PlannedObject, failure: Failure | None) -> Result:
    if item.action not in WRITES or failure is None:
        return result_of(item)
    return replace(result_of(item), action=Action.BLOCKED, reason=failure.kind, message=failure.message)


def _blocked(item: PlannedObject, lacking: dict[str, ObjectRef]) -> PlannedObject:
    """Block an object whose namespace or kind could not be made."""
    missing = lacking.get(item.ref.namespace) if item.ref.namespace else None
    missing = missing or lacking.get(item.ref.group_kind)
    if missing is None or item.action not in WRITES:
        return item
    return replace(item, action=Action.BLOCKED, reason="DependencyFailed", message=f"it needs {missing}, which failed")


def _lacking(planned: Iterable[PlannedObject], done: Iterable[Result]) -> Iterator[tuple[str, ObjectRef]]:
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


def _deleted(site: ApplyContext, results: list[Result], parent: str) -> tuple[list[Result], str]:
    """Carry out the deletions, unless something holds them all; return what came of them, and what holds them."""
    planned = site.plan.deletions
    if not any(item.action in DELETIONS for item in planned):
        return [result_of(item) for item in planned], site.plan.hold or parent
    failure = site.client.stopped or _identity_failure(site)
    hold = failure.message if failure else parent
    if not hold:
        holder = acquire_lease(site.client, site.plan.options.applyset, site.options.holder)
        hold = f"{holder} is pruning this cluster" if holder else ""
    if hold:
        return [_held(item, hold) for item in planned], hold
    try:
        return carry_out_deletions(site, results), ""
    finally:
        release_lease(site.client, site.plan.options.applyset, site.options.holder)


def _held(item: PlannedObject, hold: str) -> Result:
    if item.action not in DELETIONS:
        return result_of(item)
    return replace(result_of(item), action=Action.KEPT, reason="Held", message=hold)


def _summary(site: ApplyContext, results: list[Result], failure: Failure | None, hold: str) -> Applied:
    deletions = {item.ref for item in site.plan.deletions}
    left = [result for result in results if result.ref in deletions and _stays(result)]
    is_undone = any(result.is_failure or result.reason in _UNDONE for result in results)
    outcome = ApplyOutcome.INCOMPLETE if is_undone or hold else ApplyOutcome.CONVERGED
    return Applied(
        cluster=site.plan.cluster,
        commit=site.plan.commit,
        results=tuple(results),
        failure=failure,
        hold=hold or site.plan.hold,
        outcome=ApplyOutcome.INTERRUPTED if failure or site.options.dry_run else outcome,
        left=tuple(site.plan.held.get(result.ref) or HeldObject(ref=result.ref) for result in left),
    )


def _stays(result: Result) -> bool:
    return result.is_failure or result.reason in _REMEMBERED | _UNDONE


def _remaining(applied: Applied) -> Iterator[ObjectRef]:
    """Yield what the set still has as members."""
    for result in applied.results:
        is_gone = result.action in {Action.DELETED, Action.HANDED_OFF} and result.reason != "Finalizing"
        if not is_gone and result.reason not in NO_MEMBER:
            yield result.ref
