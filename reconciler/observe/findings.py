"""Findings about workloads that are not well, read from their pods and from the newest warnings: a few words each.

A finding is known by the kind it is about and by its reason. The text beside them - back-off times, counts, pod names -
differs at every observation, so the one that was recorded first stays. Everything is bounded, for a cluster that is in
trouble has thousands of pods and events that say the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Client, Expected, Request
from reconciler.members.listing import Listing, list_objects
from render.interpretation.progress import Progress
from render.kinds import KUBERNETES
from render.kinds.workloads import POD_TEMPLATE
from render.model import Manifest, ObjectRef, mapping_or_empty

from .progress import progress_of_live_object

MOST_WORKLOADS = 10
MOST_PODS = 5
MOST_EVENTS = 5
_MOST_EVENTS_READ = 500
_MOST_TEXT = 500
WORKLOADS = frozenset(kind.group_kind for kind in KUBERNETES if kind.progress and kind.pod_spec == POD_TEMPLATE)
"""The kinds whose pods and events are looked at when they are not well."""
EVENTS = Resource(group="", version="v1", kind="Event", plural="events", is_namespaced=True)
_FINE = frozenset({Progress.CURRENT, Progress.TERMINATING})


class Finding(Struct, frozen=True, order=True, kw_only=True):
    """A reason why a workload is not well: the object it is about (``Pod web-1``), the container if one, a message."""

    about: str
    container: str = ""
    reason: str
    message: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the finding: the kind it is about, the container and the reason."""
        return self.about.partition(" ")[0], self.container, self.reason

    def __str__(self) -> str:
        where = f"{self.about}, container {self.container}" if self.container else self.about
        return f"{where}: {self.reason}" + (f": {self.message}" if self.message else "")


def observe_findings(
    client: Client, discovery: Discovery, live: Mapping[ObjectRef, Manifest]
) -> dict[ObjectRef, tuple[Finding, ...]]:
    """Return the findings about the first ten workloads of a cluster that are not as they should be."""
    return findings_about_unwell(client, discovery, all_unwell_workloads(live))


def findings_about_unwell(
    client: Client, discovery: Discovery, unwell: Mapping[ObjectRef, Manifest]
) -> dict[ObjectRef, tuple[Finding, ...]]:
    """Return the findings about the first ten of some workloads, in their order, that are not as they should be."""
    first = dict(islice(unwell.items(), MOST_WORKLOADS))
    warnings = {space: _warning_events(client, space) for space in sorted({ref.namespace for ref in first})}
    known = {
        ref: _findings_of_workload(client, manifest, discovery, warnings[ref.namespace])
        for ref, manifest in first.items()
    }
    return {ref: findings for ref, findings in known.items() if findings}


def unwell_workloads(live: Mapping[ObjectRef, Manifest]) -> dict[ObjectRef, Manifest]:
    """Return the first ten workloads that are not as they should be, by name."""
    return dict(islice(all_unwell_workloads(live).items(), MOST_WORKLOADS))


def all_unwell_workloads(live: Mapping[ObjectRef, Manifest]) -> dict[ObjectRef, Manifest]:
    """Return all workloads that are not as they should be, by name."""
    unwell = {
        ref: manifest
        for ref, manifest in live.items()
        if ref.group_kind in WORKLOADS and progress_of_live_object(manifest).progress not in _FINE
    }
    return {ref: unwell[ref] for ref in sorted(unwell)}


def is_status_of_generation(live: Manifest) -> bool:
    """Return whether the status of an object is about what it asks for now: its controller has seen that."""
    generation = live["metadata"].get("generation")
    return generation is None or mapping_or_empty(live.get("status")).get("observedGeneration") == generation


def _findings_of_workload(
    client: Client, live: Manifest, discovery: Discovery, warnings: Iterable[Manifest]
) -> tuple[Finding, ...]:
    owners = {str(live["metadata"].get("uid"))}
    if live["kind"] == "Deployment":
        owners |= {
            str(each["metadata"].get("uid"))
            for each in objects_selected_by(client, live, discovery, "apps", "ReplicaSet")
        }
    pods = [pod for pod in objects_selected_by(client, live, discovery, "", "Pod") if uids_of_owners(pod) & owners]
    about = owners | {str(pod["metadata"].get("uid")) for pod in pods}
    events = (event for event in warnings if (event.get("involvedObject") or {}).get("uid") in about)
    return findings_in_pods_and_events(pods, events)


def objects_selected_by(
    client: Client, live: Manifest, discovery: Discovery, group: str, kind: str
) -> list[dict[str, Any]]:
    """Return the objects of a kind that a workload's selector names; none where they cannot be listed."""
    resource = discovery.preferred_resource(group, kind)
    labels = ((live.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    if resource is None or not labels:
        return []
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    space = str(live["metadata"].get("namespace") or "")
    owned = list_objects(client, Listing(resource=resource, selector=selector, only_namespace=space))
    return list(owned.values()) if isinstance(owned, dict) else []


def uids_of_owners(pod: Manifest) -> set[str]:
    """Return the UIDs of the objects that own a pod, or another object."""
    return {str(each.get("uid")) for each in pod["metadata"].get("ownerReferences") or ()}


def _warning_events(client: Client, namespace: str) -> list[Manifest]:
    """Return one page of a namespace's warnings; those that do not fit it are old."""
    query = {"fieldSelector": "type=Warning", "limit": str(_MOST_EVENTS_READ)}
    answer = client.send(
        Request(method="GET", path=EVENTS.collection(namespace), expects=Expected.LIST, query=query, tries=2)
    )
    return list(answer.body.get("items") or ()) if isinstance(answer, Answer) else []


def findings_in_pods_and_events(pods: Iterable[Manifest], events: Iterable[Manifest]) -> tuple[Finding, ...]:
    """Return the distinct findings about at most five pods that are not well, then the newest five warnings."""
    by_pod = [findings for findings in map(_findings_of_pod, _pods_sorted_by_name(pods)) if findings][:MOST_PODS]
    newest = sorted(events, key=last_time_of_event, reverse=True)
    states = _distinct_findings(each for findings in by_pod for each in findings)
    messages = {each.message for each in states}
    # Events often repeat what the state of a container says already.
    warnings = (each for each in map(_finding_of_event, newest) if each.message not in messages)
    return (*states, *_distinct_findings(warnings, MOST_EVENTS))


def _distinct_findings(findings: Iterable[Finding], most: int = 10) -> list[Finding]:
    known: dict[tuple[str, str, str], Finding] = {}
    for each in findings:
        known.setdefault(each.key, each)
    return list(known.values())[:most]


def _pods_sorted_by_name(pods: Iterable[Manifest]) -> list[Manifest]:
    return sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))


def _findings_of_pod(pod: Manifest) -> list[Finding]:
    status = pod.get("status") or {}
    about = f"Pod {pod['metadata']['name']}"
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    findings = [each for container in containers for each in _findings_of_container(about, container)]
    if findings:
        return findings
    scheduled: Manifest = next(
        (each for each in status.get("conditions") or () if each.get("type") == "PodScheduled"), {}
    )
    if scheduled.get("status") == "False":
        return [
            Finding(
                about=about, reason=str(scheduled.get("reason") or "Unschedulable"), message=_message_text(scheduled)
            )
        ]
    if status.get("phase") == "Failed":
        return [Finding(about=about, reason=str(status.get("reason") or "Failed"), message=_message_text(status))]
    return []


def _findings_of_container(about: str, container: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield why a container does not run: what it waits for, or how it ended, with what its last run ended in."""
    state, last = container.get("state") or {}, (container.get("lastState") or {}).get("terminated") or {}
    name = str(container.get("name") or "")
    waiting, ended = state.get("waiting"), state.get("terminated")
    if waiting and waiting.get("reason") not in {None, "ContainerCreating", "PodInitializing"}:
        message = "; ".join(filter(None, (_message_text(waiting), _termination_in_words(last))))
        yield Finding(about=about, container=name, reason=str(waiting["reason"]), message=message)
    elif ended and ended.get("exitCode"):
        reason = str(ended.get("reason") or "Error")
        yield Finding(about=about, container=name, reason=reason, message=_termination_in_words(ended))


def _termination_in_words(ended: Mapping[str, Any]) -> str:
    if "exitCode" not in ended:
        return ""
    return f"last exit code {ended['exitCode']}" + (f" ({ended['reason']})" if ended.get("reason") else "")


def _finding_of_event(event: Manifest) -> Finding:
    involved = event.get("involvedObject") or {}
    return Finding(
        about=f"{involved.get('kind', '')} {involved.get('name', '')}".strip(),
        reason=str(event.get("reason") or ""),
        message=_message_text(event),
    )


def last_time_of_event(event: Manifest) -> str:
    """Return when an event happened last; an empty text where it does not say."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return max((str(time) for time in times if time), default="")


def _message_text(plain: Mapping[str, Any]) -> str:
    text = " ".join(str(plain.get("message") or "").split()).removeprefix("(combined from similar events): ")
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 3]}..."
