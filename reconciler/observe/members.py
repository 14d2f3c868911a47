"""The observation of every member before a pass renders: its health, the APIs it serves, its capacity.

One health check, one discovery and one list each of nodes and pods. The members answer at once, and nobody waits for
one that hangs: what has not come when the others are done comes late, while the pass goes on.
"""

import time
from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.member_schemas import KindVersion, MemberSchemas
from reconciler.members.boundary import result_or_failure
from reconciler.members.discovery import Resource, discover_served_kinds
from reconciler.members.exchange import TEXT, Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import Listing, list_objects
from reconciler.members.patience import time_to_stop_waiting
from reconciler.members.visits import MemberReach, Visit, Visits
from reconciler.plans.cluster import failure_of_another_cluster, failure_of_known_cluster
from reconciler.source.schemas.observed import ObservedSchemas
from render.model import Manifest
from render.values import DiscreetStruct

from .cluster_status import MemberObservation
from .objects import read_uid
from .pending_pods import observe_pending
from .scales import observe_scales
from .schemas import observe_schemas

MOST_SECONDS = 60.0
"""The time that an observation of one member may take at most."""
GRACE = 2.0
"""For so long after its time is over a member may still be at what has no limit of its own (a name lookup)."""
RETRY_SECONDS = 5.0
"""The time within which a member that failed the last time has to say that it is healthy."""
_PROBE_SECONDS = 10.0
_ABSENT = frozenset({FailureKind.NOT_FOUND, FailureKind.NOT_SERVED})
MOST_ERROR = 60.0
"""The seconds by which most members' clocks may be away from the one here before it counts as wrong."""
NODES = Resource(group="", version="v1", kind="Node", plural="nodes", is_namespaced=False)
PODS = Resource(group="", version="v1", kind="Pod", plural="pods", is_namespaced=True)
_LISTINGS = (
    Listing(resource=NODES),
    Listing(resource=PODS, fields="status.phase!=Succeeded,status.phase!=Failed"),
)


class ObserveOptions(DiscreetStruct, frozen=True, kw_only=True):
    """The options of an observation: its reach, and what is known of the members before.

    ``failed`` are the members that failed the last time; those that are not ``identified`` are asked for their UID.
    Those with recorded ``uids`` have to be the cluster that is recorded, or nothing that they say counts.
    ``kinds`` are those whose schemas are asked for (None: as the last time), ``schemas`` those that are recorded.
    ``has_descheduler``: members are asked which replicas they cannot start. ``scaled_kinds`` are the custom kinds that
    nothing but a scale subresource can interpret (None: as the last time), ``scales`` those recorded of each member.
    """

    UNSHOWN = ("schemas",)

    reach: MemberReach
    failed: frozenset[str] = frozenset()
    identified: frozenset[str] = frozenset()
    uids: Mapping[str, str] = field(default_factory=dict)
    kinds: frozenset[KindVersion] | None = None
    schemas: ObservedSchemas = field(default_factory=ObservedSchemas)
    has_descheduler: bool = False
    scaled_kinds: frozenset[KindVersion] | None = None
    scales: Mapping[str, Mapping[KindVersion, Manifest]] = field(default_factory=dict)


_Look = Visit[MemberObservation | Failure]


class LateObservation(DiscreetStruct, frozen=True):
    """The observation of a member that is still under way when the pass goes on without it."""

    UNSHOWN = ("look", "options")

    look: _Look
    options: ObserveOptions

    @property
    def seconds(self) -> float:
        """The time that it has taken so far."""
        return self.options.reach.clock() - self.look.began

    @property
    def is_over(self) -> bool:
        """True where it has come, or its time is over."""
        return _is_time_of_look_over(self.look, self.options)

    def wait(self, seconds: float) -> None:
        """Wait for the observation for so long."""
        self.look.wait(seconds)

    def wait_for_observation(self) -> MemberObservation:
        """Wait for the observation, or the end of its time."""
        self.look.wait(_end_time_of_look(self.look, self.options) - self.options.reach.clock())
        return _observation_of_look(self.look, self.options)

    def failure(self) -> Failure | None:
        """Wait for the observation, and return why the member is not healthy or answers no more, if so."""
        return self.wait_for_observation().failure_of_silent_cluster


class FleetObservation(Struct, frozen=True, kw_only=True):
    """The observations of a fleet's members: those that came in time to render by, and those that come late.

    ``seconds`` are those that each one in time took.
    """

    in_time: tuple[MemberObservation, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    late: Mapping[str, LateObservation] = field(default_factory=dict)


def observe_fleet(clusters: Iterable[str], options: ObserveOptions) -> FleetObservation:
    """Observe all clusters; those that answered are in the order asked."""
    names = list(clusters)
    # What failed before comes last, so that it takes no place from the others.
    ordered = sorted(names, key=lambda name: name in options.failed)
    looks: Visits[MemberObservation | Failure] = options.reach.visits(
        lambda look: result_or_failure(lambda: _observe_within_time(look, options)), ordered
    )
    _wait_for_looks(looks, options)
    looks.begin_all()
    # A look may end at any time, so that each is asked once whether it has.
    over = {name: _is_time_of_look_over(looks.begun[name], options) for name in names}
    return FleetObservation(
        in_time=tuple(_observation_of_look(looks.begun[name], options) for name in names if over[name]),
        seconds={name: _seconds_for_look(looks.begun[name], options) for name in names if over[name]},
        late={name: LateObservation(looks.begun[name], options) for name in names if not over[name]},
    )


def _wait_for_looks(looks: Visits[MemberObservation | Failure], options: ObserveOptions) -> None:
    """Wait until all members have answered, or those that have not are waited for no longer."""
    while not looks.are_over:
        for look in tuple(looks.under_way.values()):
            if options.reach.clock() >= _end_time_of_look(look, options):
                looks.give_up(look)
        is_waiting = any(name not in options.failed for name in looks.waiting)
        until = float("inf") if is_waiting else _time_to_stop_waiting(looks, options)
        if options.reach.clock() >= until:
            return
        looks.next_ended_visit(min([until, *(_end_time_of_look(look, options) for look in looks.under_way.values())]))


def _time_to_stop_waiting(looks: Visits[MemberObservation | Failure], options: ObserveOptions) -> float:
    return time_to_stop_waiting(
        look.times(
            is_answered=isinstance(look.result, MemberObservation) and look.result.failure is None,
            failed_before=look.name in options.failed,
        )
        for look in looks.begun.values()
        if not _is_time_of_look_over(look, options) or look.ended is not None
    )


def _end_time_of_look(look: _Look, options: ObserveOptions) -> float:
    return look.began + options.reach.timeout + GRACE


def _is_time_of_look_over(look: _Look, options: ObserveOptions) -> bool:
    return look.ended is not None or options.reach.clock() >= _end_time_of_look(look, options)


def _seconds_for_look(look: _Look, options: ObserveOptions) -> float:
    return (options.reach.clock() if look.ended is None else look.ended) - look.began


def _observation_of_look(look: _Look, options: ObserveOptions) -> MemberObservation:
    if look.error is not None:
        raise look.error
    if isinstance(look.result, MemberObservation):
        return look.result
    overdue = Failure(kind=FailureKind.DEADLINE, message=f"it was not observed within {options.reach.timeout:g} s")
    return MemberObservation(cluster=look.name, failure=look.result or overdue)


def _observe_within_time(look: _Look, options: ObserveOptions) -> MemberObservation:
    """Observe one member; one that failed the last time has little time to say that it is healthy, and then as all."""
    name, failure = look.name, None
    if name in options.failed:
        probe = options.reach.open(name, RETRY_SECONDS)
        failure = probe if isinstance(probe, Failure) else failure_of_readiness(look.heard_through(probe))
    if failure is not None:
        return MemberObservation(cluster=name, failure=failure)
    client = options.reach.open(name)
    if isinstance(client, Failure):
        return MemberObservation(cluster=name, failure=client)
    heard = look.heard_through(client)
    failure = failure_of_readiness(heard) if name not in options.failed else None
    identity = failure or _identity_or_failure(heard, name, options)
    if isinstance(identity, Failure):
        return MemberObservation(cluster=name, failure=identity)
    observation = _with_schemas(heard, _with_pending_replicas(heard, observe_member(heard, name), options), options)
    observation = replace(_with_scales(heard, observation, options), identity=identity, at=options.reach.clock())
    is_new = name not in options.identified and name not in options.uids
    uid = read_uid(heard) if is_new and observation.failure is None else ""
    return observation if isinstance(uid, Failure) else replace(observation, uid=uid, identity=uid or identity)


def _identity_or_failure(client: Client, name: str, options: ObserveOptions) -> str | Failure:
    """Return the UID of a member; or the failure of one that is not the cluster it was, or does not tell.

    Of one that is new it may be empty. A new one that is the cluster of another member is none of its own.
    """
    is_new = name not in options.uids
    if is_new and (name in options.identified or not options.uids):
        return ""
    uid = read_uid(client)
    if isinstance(uid, Failure):
        return "" if is_new else uid
    if is_new:
        known_as = next((other for other, known in sorted(options.uids.items()) if known == uid), "")
        return failure_of_known_cluster(name, known_as) if known_as else uid
    return uid if uid == options.uids[name] else failure_of_another_cluster(name, uid, options.uids[name])


def clock_error(observations: Iterable[MemberObservation]) -> float:
    """Return by how many seconds the clock here is behind those of the members; 0 while it goes like them.

    It is wrong where most of at least two members that tell their time are over a minute away from it, to one side.
    Then the one of them counts that is away least.
    """
    ahead = sorted(each.ahead for each in observations if each.ahead is not None)
    if len(ahead) < 2:
        return 0.0
    low, high = ahead[(len(ahead) - 1) // 2], ahead[len(ahead) // 2]
    if low > MOST_ERROR:
        return low
    return high if high < -MOST_ERROR else 0.0


def _with_pending_replicas(
    client: Client, observation: MemberObservation, options: ObserveOptions
) -> MemberObservation:
    """Add the replicas that a member cannot start, where a descheduler asks for them."""
    if not options.has_descheduler or observation.pods is None:
        return observation
    return replace(observation, pending=observe_pending(client, observation.cluster, observation.pods))


def _with_schemas(client: Client, observation: MemberObservation, options: ObserveOptions) -> MemberObservation:
    """Add the schemas of the custom kinds that are asked for."""
    if observation.failure is not None or observation.discovery is None:
        return observation
    known = options.schemas.by_cluster.get(observation.cluster, MemberSchemas())
    kinds = known.kinds if options.kinds is None else options.kinds
    return replace(observation, schemas=observe_schemas(client, observation.discovery, kinds, known))


def _with_scales(client: Client, observation: MemberObservation, options: ObserveOptions) -> MemberObservation:
    """Add the scale subresources of the kinds that are asked for."""
    if observation.failure is not None or observation.discovery is None:
        return observation
    known = options.scales.get(observation.cluster, {})
    kinds = known.keys() if options.scaled_kinds is None else options.scaled_kinds
    scales = observe_scales(client, observation.discovery, kinds, known)
    return replace(observation, scales=scales)


def observe_member(client: Client, name: str) -> MemberObservation:
    """Return the observation of one cluster, which is healthy."""
    version = client.send(Request(method="GET", path="/version", expects=Expected.VERSION, tries=2))
    ahead = version.seconds_ahead(time.time()) if isinstance(version, Answer) else None
    discovery = discover_served_kinds(client)
    if isinstance(version, Failure) or isinstance(discovery, Failure):
        broken = version if isinstance(version, Failure) else discovery
        return MemberObservation(cluster=name, failure=broken if isinstance(broken, Failure) else None)
    observation = MemberObservation(
        cluster=name, version=str(version.body.get("gitVersion") or ""), discovery=discovery, ahead=ahead
    )
    nodes, pods = (list_objects(client, listing) for listing in _LISTINGS)
    unread = tuple(each for each in (nodes, pods) if isinstance(each, Failure))
    if isinstance(nodes, Failure) or isinstance(pods, Failure):
        return replace(observation, unread=unread)
    return replace(observation, nodes=tuple(nodes.values()), pods=tuple(pods.values()))


def failure_of_readiness(client: Client) -> Failure | None:
    """Ask for readiness as Karmada does: ``/readyz``, or ``/healthz`` of a server that is too old for it."""
    failure = None
    for path in ("/readyz", "/healthz"):
        answer = client.send(
            Request(method="GET", path=path, expects=Expected.TEXT, accept=TEXT, timeout=_PROBE_SECONDS, tries=2)
        )
        if isinstance(answer, Answer):
            return None
        failure = answer
        if answer.kind not in _ABSENT:
            break
    return failure
