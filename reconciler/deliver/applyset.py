"""Writes of the ApplySet's parent: wider before the first apply, narrower after the last, gone with the last member."""

from collections.abc import Mapping
from typing import Any

from reconciler.members.discovery import Resource
from reconciler.members.exchange import APPLY, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import Listing, list_objects, read_object
from reconciler.observe.objects import CONFIG_MAPS, NAMESPACES
from reconciler.plans.applyset import PART_OF, TOOL, ApplySet
from reconciler.plans.model import Plan
from reconciler.plans.ownership import managed_fields_entry
from render.model import Manifest, ObjectRef

from .prune import reason_not_to_delete
from .recreation import deletion_request, was_deleted
from .results import ApplySettings

_LEASE = Resource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", is_namespaced=True)
_PAUSE = 0.5
_WITHOUT_NAMESPACE = frozenset({FailureKind.NAMESPACE_MISSING, FailureKind.NAMESPACE_TERMINATING})
"""The refusals of a parent that was there a moment ago, where its namespace has gone with it."""


def widen_applyset_parent(client: Client, plan: Plan, options: ApplySettings) -> Failure | None:
    """Make the parent name every kind and namespace this pass may touch, before it touches any."""
    wider = _widened_applyset(plan)
    if wider == plan.recorded or not wider.group_kinds:
        return None
    if plan.recorded.group_kinds:
        failure = _write_parent(client, wider, options.version)
        if failure is None or failure.kind not in _WITHOUT_NAMESPACE:
            return failure
    return _ensure_namespace(client, wider, options) or _write_parent(client, wider, options.version)


def parent_names_all(plan: Plan) -> bool:
    """Return whether the parent names every kind and namespace of a plan as it stands, so that none can be lost."""
    wider, recorded = _widened_applyset(plan), plan.recorded
    return wider.group_kinds <= recorded.group_kinds and wider.namespaces <= recorded.namespaces


def _widened_applyset(plan: Plan) -> ApplySet:
    leaving = plan.options.applyset.set_with_kinds_of(item.ref for item in plan.deletions)
    return plan.recorded.united_with(plan.members).united_with(leaving)


def narrow_applyset_parent(client: Client, plan: Plan, remaining: ApplySet, version: str) -> Failure | None:
    """Make the parent name what remains, after everything succeeded; without members there is no parent either."""
    if remaining == _widened_applyset(plan):
        return None
    if remaining.group_kinds:
        return _write_parent(client, remaining, version)
    return _delete_object_if_present(client, CONFIG_MAPS, remaining.parent)


def remove_applyset_namespace(client: Client, plan: Plan) -> Failure | None:
    """Delete the namespace of a parent that is gone, where we made it and nothing else moved in."""
    ref = ObjectRef("", "Namespace", "", plan.options.applyset.namespace)
    live = read_object(client, NAMESPACES, ref)
    if (
        live is None
        or isinstance(live, Failure)
        or not _is_namespace_made_by_us(live, plan)
        or reason_not_to_delete(client, plan, ref)
    ):
        return live if isinstance(live, Failure) else None
    return _delete_object_if_present(client, NAMESPACES, ref)


def _is_namespace_made_by_us(live: Manifest, plan: Plan) -> bool:
    managers = {plan.options.applyset.manager, plan.options.applyset.former.manager}
    return any(managed_fields_entry(live, manager) is not None for manager in managers)


def delete_former_applyset(client: Client, plan: Plan) -> Failure | None:
    """Delete the parent and the lease that fleets once shared, after the last object has left their set."""
    former = plan.former
    if former is None or former == plan.recorded or former.parent == plan.options.applyset.parent:
        return None
    for group_kind in sorted(former.group_kinds):
        kind, _, group = group_kind.partition(".")
        resource = plan.discovery.preferred_resource(group, kind)
        if resource is None or "list" not in resource.verbs:
            continue
        listing = Listing(
            resource=resource,
            selector=f"{PART_OF}={former.id}",
            metadata_only=True,
            namespaces=tuple(sorted(former.namespaces)),
        )
        members = list_objects(client, listing)
        if members:
            return members if isinstance(members, Failure) else None
    lease = ObjectRef("coordination.k8s.io", "Lease", former.namespace, former.name)
    return _delete_object_if_present(client, CONFIG_MAPS, former.parent) or _delete_object_if_present(
        client, _LEASE, lease
    )


def _delete_object_if_present(client: Client, resource: Resource, ref: ObjectRef) -> Failure | None:
    live = read_object(client, resource, ref)
    if live is None or isinstance(live, Failure):
        return live
    outcome = client.send(deletion_request(resource.path(ref), uid=str(live["metadata"]["uid"])))
    return None if was_deleted(outcome) or not isinstance(outcome, Failure) else outcome


def _ensure_namespace(client: Client, applyset: ApplySet, options: ApplySettings) -> Failure | None:
    """Make the parent's namespace, waiting a while for one of an earlier drain that is still being deleted."""
    ref = ObjectRef("", "Namespace", "", applyset.namespace)
    live = read_object(client, NAMESPACES, ref)
    waited = 0.0
    while isinstance(live, dict) and live["metadata"].get("deletionTimestamp"):
        if waited >= options.settle_seconds or not client.wait(_PAUSE):
            break
        waited += _PAUSE
        live = read_object(client, NAMESPACES, ref)
    if live is not None:
        return live if isinstance(live, Failure) else None
    metadata = {"name": applyset.namespace, "labels": {"app.kubernetes.io/managed-by": TOOL}}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    return _apply_parent(client, NAMESPACES.path(ref), body, {"fieldManager": applyset.manager})


def _write_parent(client: Client, applyset: ApplySet, version: str) -> Failure | None:
    query = {"fieldManager": applyset.manager, "force": "true"}
    return _apply_parent(client, CONFIG_MAPS.path(applyset.parent), applyset.manifest(version), query)


def _apply_parent(client: Client, path: str, body: Mapping[str, Any], query: Mapping[str, str]) -> Failure | None:
    outcome = client.send(
        Request(method="PATCH", path=path, expects=Expected.OBJECT, query=query, body=body, content_type=APPLY)
    )
    return outcome if isinstance(outcome, Failure) else None
