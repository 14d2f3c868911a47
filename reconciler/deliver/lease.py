"""The lease by which one pass at a time prunes a cluster: a coordination.k8s.io Lease beside the ApplySet's parent.

Applying needs no lock, for equal applies have equal outcomes; deleting from two commits at once might. The server's
own clock decides whether a lease has run out. Where leases may not be had, pruning goes on without: every deletion
still names the incarnation it means.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from reconciler.members.discovery import Resource
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.plans.applyset import ApplySet
from render.model import ObjectRef

LEASE_SECONDS = 120
_LEASES = Resource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", is_namespaced=True)


def acquire_lease(client: Client, applyset: ApplySet, holder: str) -> str:
    """Take the cluster's lease; return who else holds it, empty once it is ours, or where leases cannot be had."""
    ref = _ref(applyset)
    answer = client.send(Request(method="GET", path=_LEASES.path(ref), expects=Expected.OBJECT))
    if isinstance(answer, Answer):
        other = _other_holder(answer, holder)
        if other:
            return other
        body = {**answer.body, "spec": _spec(holder, answer.date)}
        taken = client.send(_write("PUT", _LEASES.path(ref), body, applyset.manager))
    elif answer.kind is FailureKind.NOT_FOUND:
        metadata = {"name": ref.name, "namespace": ref.namespace}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
        body |= {"spec": _spec(holder, "")}
        taken = client.send(_write("POST", _LEASES.collection(ref.namespace), body, applyset.manager))
    else:
        return ""
    is_lost = isinstance(taken, Failure) and taken.kind is FailureKind.RACE
    return "another pass" if is_lost else ""


def release_lease(client: Client, applyset: ApplySet, holder: str) -> None:
    """Give the lease back if it is ours; what cannot be given back runs out."""
    path = _LEASES.path(_ref(applyset))
    answer = client.send(Request(method="GET", path=path, expects=Expected.OBJECT))
    if isinstance(answer, Answer) and (answer.body.get("spec") or {}).get("holderIdentity") == holder:
        body = {**answer.body, "spec": {**answer.body["spec"], "holderIdentity": ""}}
        client.send(_write("PUT", path, body, applyset.manager))


def _ref(applyset: ApplySet) -> ObjectRef:
    return ObjectRef(_LEASES.group, _LEASES.kind, applyset.namespace, applyset.name)


def _other_holder(answer: Answer, holder: str) -> str:
    """Return who else holds a lease that has not run out by the server's clock."""
    spec: Mapping[str, Any] = answer.body.get("spec") or {}
    other = str(spec.get("holderIdentity") or "")
    if other in {"", holder} or not spec.get("renewTime"):
        return ""
    ends = datetime.fromisoformat(str(spec["renewTime"])) + timedelta(seconds=spec.get("leaseDurationSeconds") or 0)
    return other if ends > _now(answer.date) else ""


def _spec(holder: str, date: str) -> dict[str, Any]:
    now = _now(date).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "holderIdentity": holder,
        "leaseDurationSeconds": LEASE_SECONDS,
        "acquireTime": now,
        "renewTime": now,
    }


def _now(date: str) -> datetime:
    return parsedate_to_datetime(date) if date else datetime.now(UTC)


def _write(method: str, path: str, body: Mapping[str, Any], manager: str) -> Request:
    return Request(method=method, path=path, expects=Expected.OBJECT, query={"fieldManager": manager}, body=body)
