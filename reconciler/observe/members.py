"""The observation of every member before a pass renders: its health, the APIs it serves, its capacity.

One health check, one discovery and one list each of nodes and pods; a cluster that hangs costs its own time limit.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from reconciler.members.boundary import guarded
from reconciler.members.discovery import Resource, discover
from reconciler.members.exchange import TEXT, Answer, Client, Expected, Failure, FailureKind, OpenClient, Request
from reconciler.members.listing import Listing, list_objects
from reconciler.members.parallel import results_in_time

from .cluster_status import MemberObservation

GRACE = 2.0
"""For so long after its time is over a member may still be at what has no limit of its own (a name lookup)."""
_PROBE_SECONDS = 10.0
_NODES = Listing(resource=Resource(group="", version="v1", kind="Node", plural="nodes", is_namespaced=False))
_PODS = Listing(
    resource=Resource(group="", version="v1", kind="Pod", plural="pods", is_namespaced=True),
    fields="status.phase!=Succeeded,status.phase!=Failed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveOptions:
    """The means and limits of an observation: clients for members, how many at once, and each one's time in seconds."""

    open_client: OpenClient
    max_parallel: int = 32
    timeout: float = 60.0
    clock: Callable[[], float] = time.monotonic


def observe_fleet(clusters: Iterable[str], options: ObserveOptions) -> tuple[MemberObservation, ...]:
    """Return the observation of every cluster, in the order asked."""
    names = list(clusters)
    seconds = options.timeout + GRACE
    outcomes = results_in_time(
        lambda name: guarded(lambda: _opened(name, options)), names, limit=options.max_parallel, seconds=seconds
    )
    return tuple(_observation(name, outcome, options) for name, outcome in zip(names, outcomes, strict=True))


def _observation(name: str, outcome: MemberObservation | Failure | None, options: ObserveOptions) -> MemberObservation:
    if isinstance(outcome, MemberObservation):
        return outcome
    overdue = Failure(kind=FailureKind.DEADLINE, message=f"it was not observed within {options.timeout:g} s")
    return MemberObservation(cluster=name, failure=outcome or overdue)


def _opened(name: str, options: ObserveOptions) -> MemberObservation:
    client = options.open_client(name, options.clock() + options.timeout)
    return (
        MemberObservation(cluster=name, failure=client) if isinstance(client, Failure) else observe_member(client, name)
    )


def observe_member(client: Client, name: str) -> MemberObservation:
    """Return the observation of one cluster; one that is not healthy is asked nothing more."""
    health = _health(client)
    if health is not None:
        return MemberObservation(cluster=name, failure=health)
    version = client.send(Request(method="GET", path="/version", expects=Expected.VERSION, tries=2))
    discovery = discover(client)
    if isinstance(version, Failure) or isinstance(discovery, Failure):
        broken = version if isinstance(version, Failure) else discovery
        return MemberObservation(cluster=name, failure=broken if isinstance(broken, Failure) else None)
    observation = MemberObservation(
        cluster=name, version=str(version.body.get("gitVersion") or ""), discovery=discovery
    )
    nodes, pods = (list_objects(client, listing) for listing in (_NODES, _PODS))
    unread = tuple(each for each in (nodes, pods) if isinstance(each, Failure))
    if isinstance(nodes, Failure) or isinstance(pods, Failure):
        return replace(observation, unread=unread)
    return replace(observation, nodes=tuple(nodes.values()), pods=tuple(pods.values()))


def _health(client: Client) -> Failure | None:
    """Ask for readiness as Karmada does: ``/readyz``, or ``/healthz`` of a server that is too old for it."""
    failure = None
    for path in ("/readyz", "/healthz"):
        answer = client.send(
            Request(method="GET", path=path, expects=Expected.TEXT, accept=TEXT, timeout=_PROBE_SECONDS, tries=2)
        )
        if isinstance(answer, Answer):
            return None
        failure = answer
        if answer.kind is not FailureKind.NOT_FOUND:
            break
    return failure
