"""Deletions carried out in waves: each object is read again, and kept wherever an error may be the reason for it."""

from collections.abc import Container, Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import Answer, Client, Failure, FailureKind
from reconciler.members.listing import Listing, list_objects, read_object
from reconciler.members.parallel import results_in_parallel
from reconciler.plans.membership import is_member
from reconciler.plans.model import DELETIONS, Action, Plan, PlannedObject
from reconciler.plans.prune import UNKNOWN
from reconciler.plans.stages import CRD, deletion_wave
from render.kinds import BUILT_IN
from render.model import Manifest, ObjectRef

from .definitions import is_established
from .former_versions import with_served_versions
from .ownership import give_up_ownership
from .recreation import deletion_request, was_deleted
from .results import FINALIZING, ObjectResult, failed_result, object_result
from .server_side_apply import ApplyContext

_BORN_WITH_NAMESPACES = frozenset(
    {
        ObjectRef("", "ConfigMap", "", "kube-root-ca.crt"),
        ObjectRef("", "ServiceAccount", "", "default"),
    }
)
"""The objects that Kubernetes makes in every namespace."""
_TRIES = 5
_PAUSE = 0.1
_LAST = frozenset({"Namespace", CRD})


def reason_not_to_delete(client: Client, plan: Plan, ref: ObjectRef, going: Container[ObjectRef] = ()) -> str:
    """Return what keeps a Namespace or CRD from being deleted: an object in it, or a kind that cannot be listed.

    Objects that are ``going`` before it do not count.
    """
    if ref.group_kind == CRD:
        resources = [item for item in _served_resources(plan.discovery) if f"{item.plural}.{item.group}" == ref.name][
            :1
        ]
        namespace = ""
        if not resources and _may_hide_objects(client, plan, ref):
            return "its objects cannot be listed, for the cluster serves none of its versions"
    else:
        resources = [item for item in _served_resources(plan.discovery) if item.is_namespaced]
        namespace = ref.name
        if plan.discovery.unavailable:
            return f"the API of {', '.join(sorted(plan.discovery.unavailable))} does not answer"
    listings = [Listing(resource=item, metadata_only=True, only_namespace=namespace) for item in resources]
    listed = results_in_parallel(lambda item: list_objects(client, item), listings, limit=client.concurrency)
    for listing, objects in zip(listings, listed, strict=True):
        if isinstance(objects, Failure):
            is_gone = objects.kind is FailureKind.NOT_SERVED
            if is_gone and (ref.group_kind != CRD or not _may_hide_objects(client, plan, ref)):
                continue
            return f"{listing.resource.group_kind} could not be listed in it"
        others = [
            other
            for other, live in objects.items()
            if other not in going and _would_be_lost_with_namespace(other, live, plan)
        ]
        if others:
            return f"{others[0]} is in it" + (f" and {len(others) - 1} more" if len(others) > 1 else "")
    return ""


def _may_hide_objects(client: Client, plan: Plan, ref: ObjectRef) -> bool:
    """Return whether there may be objects of a kind that is not served: it once was, or nobody knows."""
    resource = plan.discovery.preferred_resource(ref.group, ref.kind)
    live = None if resource is None else read_object(client, resource, ref)
    return isinstance(live, Failure) or (live is not None and is_established(live))


def _served_resources(discovery: Discovery) -> list[Resource]:
    """Return one version of every kind that can be listed."""
    kinds: dict[str, Resource] = {}
    for item in discovery.resources.values():
        if "list" in item.verbs:
            kinds.setdefault(item.group_kind, item)
    return sorted(kinds.values(), key=lambda item: item.group_kind)


def _would_be_lost_with_namespace(ref: ObjectRef, live: Manifest, plan: Plan) -> bool:
    """Return whether an object would be lost with its namespace: not what came with it or goes with its owner."""
    if replace(ref, namespace="") in _BORN_WITH_NAMESPACES or _is_written_by_controllers(ref):
        return False
    if ref == plan.options.applyset.parent:
        return False
    return not any(owner.get("controller") for owner in live["metadata"].get("ownerReferences") or ())


def _is_written_by_controllers(ref: ObjectRef) -> bool:
    """Return whether controllers write objects of a kind by themselves, so that nobody misses them."""
    kind = BUILT_IN.get((ref.group, ref.kind))
    return kind is not None and kind.is_transient


def results_of_dry_run_deletions(context: ApplyContext) -> list[ObjectResult]:
    """Return the result of each deletion as far as it shows without one: what would still stand in a namespace."""
    planned = context.plan.deletions
    going = frozenset(item.ref for item in planned if item.action is Action.PRUNE)
    return [_result_if_occupied(context, item, going) or object_result(item) for item in planned]


def _result_if_occupied(
    context: ApplyContext, item: PlannedObject, going: Container[ObjectRef] = ()
) -> ObjectResult | None:
    """Return the result of a Namespace or CRD that is kept for what is in it, None for everything else."""
    if item.action is not Action.PRUNE or item.ref.group_kind not in _LAST:
        return None
    occupied = reason_not_to_delete(context.client, context.plan, item.ref, going)
    if not occupied:
        return None
    hint = "delete it by hand, or wait until it is gone"
    return replace(object_result(item), action=Action.KEPT, reason="NotEmpty", message=occupied, hint=hint)


def carry_out_deletions(context: ApplyContext, applied: Sequence[ObjectResult]) -> list[ObjectResult]:
    """Delete and hand off what was planned, wave by wave; return the result of each object, kept ones included."""
    failed = [result.ref for result in applied if result.is_failure]
    # What could not be looked at may be there and need others, as what failed does.
    failed += [item.ref for item in context.plan.deletions if item.reason == UNKNOWN]
    results: list[ObjectResult] = []
    for _, wave in groupby(context.plan.deletions, key=lambda item: deletion_wave(item.ref)):
        planned = [_kept_where_failure_matters(item, failed, context.plan.discovery) for item in wave]
        if any(item.ref.group_kind in _LAST and item.action in DELETIONS for item in planned):
            context = _with_fresh_discovery(context)
        wave_results = _wait_until_gone(context, _results_of_wave(context, planned))
        results += wave_results
        failed += [result.ref for result in wave_results if result.is_failure]
    return results


def _results_of_wave(context: ApplyContext, planned: Sequence[PlannedObject]) -> list[ObjectResult]:
    return results_in_parallel(
        lambda item: _result_of_pruning(context, item), planned, limit=context.client.concurrency
    )


def _with_fresh_discovery(context: ApplyContext) -> ApplyContext:
    """Ask again what the cluster serves, for what was deleted just now may have served some of it."""
    discovery = discover_served_kinds(context.client)
    if isinstance(discovery, Failure):
        return context
    return replace(context, plan=replace(context.plan, discovery=discovery))


def _kept_where_failure_matters(
    item: PlannedObject, failed: Iterable[ObjectRef], discovery: Discovery
) -> PlannedObject:
    """Keep an object that something failed may still need, or that is unwanted only because of that failure."""
    if item.action not in DELETIONS:
        return item
    for ref in failed:
        if _is_reason_to_keep(ref, item.ref, discovery):
            return replace(item, action=Action.KEPT, reason="Held", message=f"{ref} failed, which may concern it")
    return item


def _is_reason_to_keep(failed: ObjectRef, ref: ObjectRef, discovery: Discovery) -> bool:
    """Return whether the failure of one object may be a reason to keep another.

    That is what shares its namespace, the namespace that it is in, its definition, and the objects that it defines.
    Any other objects have nothing to do with each other.
    """
    is_in_it = ref.group_kind == "Namespace" and ref.name == failed.namespace
    return (
        is_in_it
        or _shares_namespace(failed, ref)
        or _may_define_kind_of(failed, ref, discovery)
        or _may_define_kind_of(ref, failed, discovery)
    )


def _shares_namespace(failed: ObjectRef, ref: ObjectRef) -> bool:
    """Return whether an object is in the namespace of another, or in the namespace that this other is."""
    if not ref.namespace:
        return False
    return ref.namespace == (failed.name if failed.group_kind == "Namespace" else failed.namespace)


def _may_define_kind_of(crd: ObjectRef, ref: ObjectRef, discovery: Discovery) -> bool:
    """Return whether a CRD (named ``plural.group``) is the one of a custom resource, or may be."""
    plural, _, group = crd.name.partition(".")
    if crd.group_kind != CRD or group != ref.group:
        return False
    resource = discovery.preferred_resource(ref.group, ref.kind)
    return resource is None or resource.plural == plural


def _result_of_pruning(context: ApplyContext, item: PlannedObject) -> ObjectResult:
    if item.action not in DELETIONS:
        return object_result(item)
    resource = context.plan.discovery.preferred_resource(item.ref.group, item.ref.kind)
    if resource is None:
        return failed_result(
            item, Failure(kind=FailureKind.NOT_SERVED, message="the cluster no longer serves its kind")
        )
    if occupied := _result_if_occupied(context, item):
        return occupied
    for attempt in range(_TRIES):
        live = read_object(context.client, resource, item.ref)
        outcome = _try_to_prune(context, item, resource, live)
        if isinstance(outcome, ObjectResult):
            return outcome
        if not context.client.wait(_PAUSE * 2**attempt):
            break
    return failed_result(item, Failure(kind=FailureKind.RACE, message="it keeps changing while it is to be deleted"))


def _try_to_prune(
    context: ApplyContext, item: PlannedObject, resource: Resource, live: Manifest | Failure | None
) -> ObjectResult | None:
    """Delete or hand off an object as it is now; None asks to read it again and to try once more."""
    if isinstance(live, Failure):
        return failed_result(item, live)
    if live is None or live["metadata"]["uid"] != item.uid:
        return replace(object_result(item), action=Action.DELETED, reason="Gone", message="it was gone already")
    if not is_member(live, context.plan.options.applyset, is_held=item.ref in context.plan.held_objects):
        message = "it was taken out of our set meanwhile"
        return replace(object_result(item), action=Action.KEPT, reason="LabelLost", message=message)
    if item.action is Action.HAND_OFF:
        return _result_of_handing_off(context, item, resource, live)
    version = str(live["metadata"]["resourceVersion"])
    outcome = context.client.send(deletion_request(resource.path(item.ref), uid=item.uid, resource_version=version))
    if was_deleted(outcome):
        return _result_of_deletion(item, outcome)
    assert isinstance(outcome, Failure)
    return None if outcome.kind is FailureKind.RACE else failed_result(item, outcome)


def _result_of_handing_off(
    context: ApplyContext, item: PlannedObject, resource: Resource, live: Manifest
) -> ObjectResult | None:
    readable = with_served_versions(live, resource, context.plan.discovery)
    outcome = give_up_ownership(context.client, resource.path(item.ref), readable, context.plan.options.applyset)
    if isinstance(outcome, Answer):
        return replace(object_result(item), action=Action.HANDED_OFF, message="it stays, no longer ours")
    return None if outcome.kind is FailureKind.RACE else failed_result(item, outcome)


def _result_of_deletion(item: PlannedObject, outcome: Answer | Failure) -> ObjectResult:
    body = outcome.body if isinstance(outcome, Answer) else {}
    metadata = body.get("metadata") or {}
    if body.get("kind") == "Status" or not metadata.get("deletionTimestamp"):
        return replace(object_result(item), action=Action.DELETED)
    finalizers = ", ".join(metadata.get("finalizers") or (body.get("spec") or {}).get("finalizers") or ())
    message = f"it goes once its finalizers are done: {finalizers}" if finalizers else "it is going"
    return replace(object_result(item), action=Action.DELETED, reason=FINALIZING, message=message)


def _wait_until_gone(context: ApplyContext, results: Sequence[ObjectResult]) -> list[ObjectResult]:
    """Wait for objects with finalizers: custom resources need their controllers, which a later wave deletes."""
    pending = {result.ref for result in results if result.reason == FINALIZING}
    waited, pause = 0.0, _PAUSE
    while pending and waited < context.settings.settle_seconds and context.client.wait(pause):
        waited, pause = waited + pause, min(pause * 2, 2.0)
        pending = {ref for ref in pending if _is_still_there(context, ref)}
    return [_result_once_gone(result) if result.ref not in pending else result for result in results]


def _result_once_gone(result: ObjectResult) -> ObjectResult:
    return replace(result, reason="NotWanted", message="") if result.reason == FINALIZING else result


def _is_still_there(context: ApplyContext, ref: ObjectRef) -> bool:
    resource = context.plan.discovery.preferred_resource(ref.group, ref.kind)
    return resource is not None and read_object(context.client, resource, ref) is not None
