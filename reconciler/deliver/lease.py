"""The lease by which one pass at a time prunes a cluster: a coordination.k8s.io Lease beside the ApplySet's parent.

Applying needs no lock, for equal applies have equal outcomes; deleting from two commits at once might. The server's
own clock decides whether a lease has run out. Where leases may not be had, pruning goes on without: every deletion
still names the incarnation it means. A lease whose holder is known to be dead is taken; any other is waited for.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from reconciler.members.discovery import Resource
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import Plan
from render.model import ObjectRef

from .holder import LeaseHolder
from .results import ApplySettings

LEASE_SECONDS = 120
_PAUSE = 1.0
_LEASES = Resource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", is_namespaced=True)


def take_lease(client: Client, plan: Plan, settings: ApplySettings) -> bool:
    """Take the cluster's lease without waiting for it; False while another pass has it."""
    if acquire_lease(client, plan.options.applyset, settings.holder):
        return False
    settings.holder.taken.add(plan.options.applyset.member)
    return True


def await_lease(client: Client, plan: Plan, settings: ApplySettings) -> Failure | None:
    """Take the cluster's lease, waiting for another pass that has it; return a failure if that takes too long."""
    waited = 0.0
    while other := acquire_lease(client, plan.options.applyset, settings.holder):
        if not waited:
            settings.tell(f"{plan.cluster}: waiting for {other}, which is pruning this cluster")
        if waited >= settings.lease_seconds or not client.wait(_PAUSE):
            return Failure(
                kind=FailureKind.DEADLINE,
                message=f"{other} is pruning this cluster, and was not done within {waited:g} s",
                hint="run it again once that pass has ended",
            )
        waited += _PAUSE
    settings.holder.taken.add(plan.options.applyset.member)
    return None


def acquire_lease(client: Client, applyset: ApplySet, holder: LeaseHolder) -> str:
    """Take the cluster's lease; return who else holds it, or nothing once it is ours (or cannot be had by anybody)."""
    ref = _lease_ref(applyset)
    answer = client.send(Request(method="GET", path=_LEASES.path(ref), expects=Expected.OBJECT))
    if isinstance(answer, Answer):
        held_by = _other_holder_of_lease(answer, holder)
        if held_by:
            return held_by
        body = {**answer.body, "spec": _lease_spec(holder.name, answer.date)}
        taken = client.send(_lease_request("PUT", _LEASES.path(ref), body, applyset.manager))
    elif answer.kind is FailureKind.NOT_FOUND:
        metadata = {"name": ref.name, "namespace": ref.namespace}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
        body |= {"spec": _lease_spec(holder.name, "")}
        taken = client.send(_lease_request("POST", _LEASES.collection(ref.namespace), body, applyset.manager))
    else:
        return ""
    is_lost = isinstance(taken, Failure) and taken.kind is FailureKind.RACE
    return "another pass" if is_lost else ""


def release_lease(client: Client, applyset: ApplySet, holder: LeaseHolder) -> None:
    """Give the lease back if it is ours; what cannot be given back runs out, unless its holder is known to be dead."""
    path = _LEASES.path(_lease_ref(applyset))
    answer = client.send(Request(method="GET", path=path, expects=Expected.OBJECT))
    if isinstance(answer, Answer) and (answer.body.get("spec") or {}).get("holderIdentity") == holder.name:
        body = {**answer.body, "spec": {**answer.body["spec"], "holderIdentity": ""}}
        answer = client.send(_lease_request("PUT", path, body, applyset.manager))
    if isinstance(answer, Answer) or answer.kind is FailureKind.NOT_FOUND:
        holder.taken.discard(applyset.member)


def _lease_ref(applyset: ApplySet) -> ObjectRef:
    return ObjectRef(_LEASES.group, _LEASES.kind, applyset.namespace, applyset.name)


def _other_holder_of_lease(answer: Answer, holder: LeaseHolder) -> str:
    """Return who else holds a lease that has not run out by the server's clock, unless that pass is dead."""
    spec: Mapping[str, Any] = answer.body.get("spec") or {}
    other = str(spec.get("holderIdentity") or "")
    if other in {"", holder.name} or not spec.get("renewTime") or holder.is_dead(other):
        return ""
    ends = datetime.fromisoformat(str(spec["renewTime"])) + timedelta(seconds=spec.get("leaseDurationSeconds") or 0)
    return other if ends > _server_time(answer.date) else ""


def _lease_spec(holder: str, date: str) -> dict[str, Any]:
    now = _server_time(date).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "holderIdentity": holder,
        "leaseDurationSeconds": LEASE_SECONDS,
        "acquireTime": now,
        "renewTime": now,
    }


def _server_time(date: str) -> datetime:
    return parsedate_to_datetime(date) if date else datetime.now(UTC)


def _lease_request(method: str, path: str, body: Mapping[str, Any], manager: str) -> Request:
    return Request(method=method, path=path, expects=Expected.OBJECT, query={"fieldManager": manager}, body=body)
