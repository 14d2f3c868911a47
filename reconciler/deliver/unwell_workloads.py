"""A second look at workloads that are not well: their pods, and the warnings about them - bounded in every way."""

from collections.abc import Iterable, Mapping
from typing import Any

from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Client, Request
from reconciler.members.listing import Listing, list_objects
from reconciler.observe.findings import Finding, findings_of
from reconciler.observe.liveness import Progress, live_state
from render.model import Manifest, ObjectRef

from .results import ClusterReport, live_objects

MOST_WORKLOADS = 10
_MOST_EVENTS = 500
_WORKLOADS = frozenset({"Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch"})
_FINE = frozenset({Progress.CURRENT, Progress.TERMINATING})


def with_findings(client: Client, report: ClusterReport) -> Mapping[ObjectRef, tuple[Finding, ...]]:
    """Return what ails the first ten workloads of a cluster that are not as they should be."""
    ailing = [
        (ref, live)
        for ref, live in sorted(live_objects(report).items())
        if ref.group_kind in _WORKLOADS and live_state(live).progress not in _FINE
    ][:MOST_WORKLOADS]
    discovery = report.observed.discovery if report.observed is not None else Discovery()
    warnings = {space: _warnings(client, space) for space in sorted({ref.namespace for ref, _ in ailing})}
    found = {ref: _findings(client, live, discovery, warnings[ref.namespace]) for ref, live in ailing}
    return {ref: findings for ref, findings in found.items() if findings}


def _findings(
    client: Client, live: Manifest, discovery: Discovery, warnings: Iterable[Manifest]
) -> tuple[Finding, ...]:
    owners = {str(live["metadata"].get("uid"))}
    if live["kind"] == "Deployment":
        owners |= {str(each["metadata"].get("uid")) for each in _owned(client, live, discovery, "apps", "ReplicaSet")}
    pods = [pod for pod in _owned(client, live, discovery, "", "Pod") if _owner(pod) & owners]
    about = owners | {str(pod["metadata"].get("uid")) for pod in pods}
    events = (event for event in warnings if (event.get("involvedObject") or {}).get("uid") in about)
    return findings_of(pods, events)


def _owned(client: Client, live: Manifest, discovery: Discovery, group: str, kind: str) -> list[dict[str, Any]]:
    """Return the objects of a kind that a workload's selector names; none where they cannot be listed."""
    resource = discovery.preferred(group, kind)
    labels = ((live.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    if resource is None or not labels:
        return []
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    space = str(live["metadata"].get("namespace") or "")
    found = list_objects(client, Listing(resource=resource, selector=selector, only_namespace=space))
    return list(found.values()) if isinstance(found, dict) else []


def _owner(pod: Manifest) -> set[str]:
    return {str(each.get("uid")) for each in pod["metadata"].get("ownerReferences") or ()}


def _warnings(client: Client, namespace: str) -> list[Manifest]:
    """Return a page of a namespace's warnings: what does not fit one is not news any more."""
    resource = Resource(group="", version="v1", kind="Event", plural="events", is_namespaced=True)
    query = {"fieldSelector": "type=Warning", "limit": str(_MOST_EVENTS)}
    answer = client.send(Request(method="GET", path=resource.collection(namespace), query=query, tries=2))
    return list(answer.body.get("items") or ()) if isinstance(answer, Answer) else []
