"""The pods of one object in members as they are now: their containers, the newest events about them, and a log's end.

An object's pods are those that its selector names and that it owns, a Deployment through its ReplicaSets. Members are
asked with the rights that the command has there, and nothing else. Everything is bounded: pods, events and the log.
Values of Secrets that are known are cut out of messages and logs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from reconciler.console.cleaning import without_passwords
from reconciler.members.discovery import Discovery, discover_served_kinds
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.gathering import results_of_members
from reconciler.members.masking import HIDDEN, values_not_to_be_repeated
from reconciler.members.visits import MemberReach
from reconciler.observe.findings import EVENTS, last_time_of_event, objects_selected_by, uids_of_owners
from render.model import Manifest, ObjectRef, Template, mapping_or_empty
from render.values import DiscreetStruct

MOST_PODS, MOST_EVENTS = 100, 20
_ANY = "application/json, */*"
"""The types that kubectl asks for: a server refuses to be asked for text alone, though it answers with that."""
_SHORTEST_SECRET = 6
_MOST_EVENTS_READ, _MOST_BYTES, _MOST_TEXT = 500, 256 << 10, 1000


class ContainerNow(Struct, frozen=True, kw_only=True):
    """A container of a pod: what it does, why it does not run ("": it does), and how often it was started again."""

    name: str
    state: str
    reason: str = ""
    message: str = ""
    is_ready: bool = False
    restarts: int = 0


class PodNow(Struct, frozen=True, kw_only=True):
    """A pod as it is now."""

    name: str
    phase: str
    reason: str = ""
    message: str = ""
    node: str = ""
    created: str = ""
    containers: tuple[ContainerNow, ...] = ()

    @property
    def ready(self) -> int:
        """The number of containers that are ready."""
        return sum(each.is_ready for each in self.containers)

    @property
    def restarts(self) -> int:
        """The number of times that its containers were started again."""
        return sum(each.restarts for each in self.containers)

    @property
    def state(self) -> str:
        """The word for it: why a container does not run, or its phase."""
        reasons = (each.reason for each in self.containers if each.reason and not each.is_ready)
        return next(reasons, "") or self.reason or self.phase


class EventNow(Struct, frozen=True, kw_only=True):
    """An event about an object or one of its pods."""

    about: str
    type: str
    reason: str
    message: str
    count: int = 1
    last: str = ""


class LogEnd(DiscreetStruct, frozen=True, kw_only=True):
    """The end of a container's log; ``failure`` says why there is none."""

    UNSHOWN = ("lines",)

    pod: str
    container: str
    lines: tuple[str, ...] = ()
    failure: Failure | None = None


class PodsInMember(Struct, frozen=True, kw_only=True):
    """The pods of an object in one member. ``is_absent``: the object is not there; ``count`` are all its pods."""

    pods: tuple[PodNow, ...] = ()
    count: int = 0
    events: tuple[EventNow, ...] = ()
    log: LogEnd | None = None
    is_absent: bool = False


class LogWanted(Struct, frozen=True, kw_only=True):
    """The log that is asked for: of which pod and container ("": the first), and how many lines of it."""

    pod: str
    container: str = ""
    lines: int = 100
    is_previous: bool = False


class PodsWanted(DiscreetStruct, frozen=True, kw_only=True):
    """The object whose pods are asked for, the log of one of them, and the values that may not be repeated."""

    UNSHOWN = ("hidden",)

    ref: ObjectRef
    log: LogWanted | None = None
    hidden: frozenset[str] = frozenset()

    def shown(self, text: str) -> str:
        """Return a text of a member without values that may not be repeated."""
        for value in sorted(self.hidden, key=len, reverse=True):
            text = text.replace(value, HIDDEN)
        return without_passwords(text)


def values_of_secrets(templates: Iterable[Template]) -> frozenset[str]:
    """Return the values of the Secrets among templates that are long enough to be told from other words."""
    secrets = (each for each in templates if each.ref.group_kind == "Secret")
    values = (value for each in secrets for value in values_not_to_be_repeated(each.manifest))
    return frozenset(value for value in values if len(value) >= _SHORTEST_SECRET)


def pods_of_members(names: Sequence[str], wanted: PodsWanted, reach: MemberReach) -> dict[str, PodsInMember | Failure]:
    """Ask members at once for the pods of an object; one that does not answer within its time has failed."""
    return results_of_members(names, partial(_pods_of_member, wanted=wanted, reach=reach), reach)


def _pods_of_member(name: str, wanted: PodsWanted, reach: MemberReach) -> PodsInMember | Failure:
    client = reach.open(name)
    if isinstance(client, Failure):
        return client
    discovery = discover_served_kinds(client)
    return discovery if isinstance(discovery, Failure) else pods_in_member(client, discovery, wanted)


def pods_in_member(client: Client, discovery: Discovery, wanted: PodsWanted) -> PodsInMember | Failure:
    """Return the pods of an object in a member, the events about it and them, and the log that is asked for."""
    ref = wanted.ref
    resource = discovery.preferred_resource(ref.group, ref.kind)
    if resource is None:
        return PodsInMember(is_absent=True)
    answer = client.send(Request(method="GET", path=resource.path(ref), expects=Expected.OBJECT))
    if isinstance(answer, Failure):
        is_absent = answer.kind in {FailureKind.NOT_FOUND, FailureKind.NAMESPACE_MISSING}
        return PodsInMember(is_absent=True) if is_absent else answer
    live = {"kind": ref.kind, **answer.body}
    pods, owners = _pods_of_object(client, discovery, live)
    about = owners | {str(each["metadata"].get("uid")) for each in pods}
    return PodsInMember(
        pods=tuple(_pod(each, wanted) for each in pods[:MOST_PODS]),
        count=len(pods),
        events=tuple(_events(client, about, wanted)),
        log=_log(client, wanted, pods) if wanted.log is not None else None,
    )


def _pods_of_object(client: Client, discovery: Discovery, live: Manifest) -> tuple[list[Manifest], set[str]]:
    """Return the pods of an object by name, and the UIDs of what owns them."""
    own = str(live["metadata"].get("uid"))
    if live["kind"] == "Pod":
        return [live], {own}
    owners = {own}
    if live["kind"] == "Deployment":
        sets = objects_selected_by(client, live, discovery, "apps", "ReplicaSet")
        owners |= {str(each["metadata"].get("uid")) for each in sets if own in uids_of_owners(each)}
    pods = [each for each in objects_selected_by(client, live, discovery, "", "Pod") if uids_of_owners(each) & owners]
    return sorted(pods, key=lambda pod: str(pod["metadata"]["name"])), owners


def _pod(pod: Manifest, wanted: PodsWanted) -> PodNow:
    metadata, status = pod["metadata"], mapping_or_empty(pod.get("status"))
    spec = mapping_or_empty(pod.get("spec"))
    statuses = {str(each.get("name")): each for each in _items(status.get("containerStatuses"))}
    names = [str(each.get("name")) for each in _items(spec.get("containers"))]
    unscheduled = next((each for each in _items(status.get("conditions")) if _is_unscheduled(each)), {})
    return PodNow(
        name=str(metadata.get("name")),
        phase="Terminating" if metadata.get("deletionTimestamp") else str(status.get("phase") or "Unknown"),
        reason=str(status.get("reason") or unscheduled.get("reason") or ""),
        message=_text(status.get("message") or unscheduled.get("message"), wanted),
        node=str(spec.get("nodeName") or ""),
        created=str(metadata.get("creationTimestamp") or ""),
        containers=tuple(_container(name, statuses.get(name, {}), wanted) for name in names),
    )


def _is_unscheduled(condition: Manifest) -> bool:
    return condition.get("type") == "PodScheduled" and condition.get("status") == "False"


def _container(name: str, status: Manifest, wanted: PodsWanted) -> ContainerNow:
    state = mapping_or_empty(status.get("state"))
    word = next((each for each in ("running", "waiting", "terminated") if each in state), "unknown")
    detail = mapping_or_empty(state.get(word))
    restarts = status.get("restartCount")
    return ContainerNow(
        name=name,
        state=word,
        reason=str(detail.get("reason") or ""),
        message=_text(detail.get("message"), wanted),
        is_ready=status.get("ready") is True,
        restarts=restarts if type(restarts) is int else 0,
    )


def _items(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _text(value: Any, wanted: PodsWanted) -> str:
    text = wanted.shown(" ".join(str(value or "").split()))
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 3]}..."


def _events(client: Client, about: Iterable[str], wanted: PodsWanted) -> Iterator[EventNow]:
    """Yield the newest events about some objects; those of a namespace that do not fit one page are not read."""
    query, uids = {"limit": str(_MOST_EVENTS_READ)}, frozenset(about)
    path = EVENTS.collection(wanted.ref.namespace)
    answer = client.send(Request(method="GET", path=path, expects=Expected.LIST, query=query, tries=2))
    found = _items(answer.body.get("items")) if isinstance(answer, Answer) else []
    concerned = [each for each in found if mapping_or_empty(each.get("involvedObject")).get("uid") in uids]
    for each in sorted(concerned, key=last_time_of_event, reverse=True)[:MOST_EVENTS]:
        involved, count = mapping_or_empty(each.get("involvedObject")), each.get("count")
        yield EventNow(
            about=f"{involved.get('kind', '')} {involved.get('name', '')}".strip(),
            type=str(each.get("type") or ""),
            reason=str(each.get("reason") or ""),
            message=_text(each.get("message"), wanted),
            count=count if type(count) is int else 1,
            last=last_time_of_event(each),
        )


def _log(client: Client, wanted: PodsWanted, pods: Sequence[Manifest]) -> LogEnd | None:
    """Return the end of the log of one of the pods; None where the member has no such pod of the object."""
    asked = wanted.log
    pod = next((each for each in pods if asked and each["metadata"].get("name") == asked.pod), None)
    if asked is None or pod is None:
        return None
    first = next(iter(_items(mapping_or_empty(pod.get("spec")).get("containers"))), {})
    container = asked.container or str(first.get("name") or "")
    query = {"container": container, "tailLines": str(asked.lines), "limitBytes": str(_MOST_BYTES)}
    query |= {"previous": "true"} if asked.is_previous else {}
    space = wanted.ref.namespace
    path = f"/api/v1/namespaces/{space}/pods/{asked.pod}/log"
    answer = client.send(Request(method="GET", path=path, expects=Expected.TEXT, accept=_ANY, query=query, tries=1))
    if isinstance(answer, Failure):
        return LogEnd(pod=asked.pod, container=container, failure=answer)
    lines = wanted.shown(str(answer.body)).splitlines()
    return LogEnd(pod=asked.pod, container=container, lines=tuple(lines[-asked.lines :]))
