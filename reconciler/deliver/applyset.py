"""Writing the ApplySet's parent: wider before the first write, narrower after the last, gone with the last member."""

from collections.abc import Mapping
from typing import Any

from reconciler.members.discovery import Resource
from reconciler.members.exchange import APPLY, FIELD_MANAGER, Client, Expected, Failure, Request
from reconciler.members.listing import read_object
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import Plan
from reconciler.plans.ownership import own_entry
from render.model import ObjectRef

from .prune import occupied_by
from .recreation import deletion, was_deleted
from .results import ApplySettings

_CONFIG_MAP = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True)
_GOING_PAUSE = 0.5
_NAMESPACE = Resource(group="", version="v1", kind="Namespace", plural="namespaces", is_namespaced=False)


def widen_parent(client: Client, plan: Plan, options: ApplySettings) -> Failure | None:
    """Make the parent name every kind and namespace this pass may touch, before it touches any."""
    leaving = plan.options.applyset.containing(item.ref for item in plan.deletions)
    wider = plan.recorded.united(plan.members).united(leaving)
    if wider == plan.recorded:
        return None
    return _ensure_namespace(client, wider.namespace, options) or _write(client, wider, options.version)


def narrow_parent(client: Client, plan: Plan, remaining: ApplySet, version: str) -> Failure | None:
    """Make the parent name what is left, after everything succeeded; without members there is no parent either."""
    leaving = plan.options.applyset.containing(item.ref for item in plan.deletions)
    current = plan.recorded.united(plan.members).united(leaving)
    if remaining == current:
        return None
    if remaining.group_kinds:
        return _write(client, remaining, version)
    return _remove(client, _CONFIG_MAP, remaining.parent)


def remove_namespace(client: Client, plan: Plan) -> Failure | None:
    """Delete the namespace of a parent that is gone, where we made it and nothing else moved in."""
    ref = ObjectRef("", "Namespace", "", plan.options.applyset.namespace)
    live = read_object(client, _NAMESPACE, ref)
    if live is None or isinstance(live, Failure) or own_entry(live) is None or occupied_by(client, plan, ref):
        return live if isinstance(live, Failure) else None
    return _remove(client, _NAMESPACE, ref)


def _remove(client: Client, resource: Resource, ref: ObjectRef) -> Failure | None:
    live = read_object(client, resource, ref)
    if live is None or isinstance(live, Failure):
        return live
    outcome = client.send(deletion(resource.path(ref), uid=str(live["metadata"]["uid"])))
    return None if was_deleted(outcome) or not isinstance(outcome, Failure) else outcome


def _ensure_namespace(client: Client, name: str, options: ApplySettings) -> Failure | None:
    """Make the parent's namespace, waiting a while for one of an earlier drain that is still on its way out."""
    ref = ObjectRef("", "Namespace", "", name)
    found = read_object(client, _NAMESPACE, ref)
    waited = 0.0
    while isinstance(found, dict) and found["metadata"].get("deletionTimestamp"):
        if waited >= options.settle_seconds or not client.wait(_GOING_PAUSE):
            break
        waited += _GOING_PAUSE
        found = read_object(client, _NAMESPACE, ref)
    if found is not None:
        return found if isinstance(found, Failure) else None
    metadata = {"name": name, "labels": {"app.kubernetes.io/managed-by": FIELD_MANAGER}}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    return _applied(client, _NAMESPACE.path(ref), body, {})


def _write(client: Client, applyset: ApplySet, version: str) -> Failure | None:
    return _applied(client, _CONFIG_MAP.path(applyset.parent), applyset.manifest(version), {"force": "true"})


def _applied(client: Client, path: str, body: Mapping[str, Any], query: Mapping[str, str]) -> Failure | None:
    query = {"fieldManager": FIELD_MANAGER, **query}
    outcome = client.send(
        Request(method="PATCH", path=path, expects=Expected.OBJECT, query=query, body=body, content_type=APPLY)
    )
    return outcome if isinstance(outcome, Failure) else None
