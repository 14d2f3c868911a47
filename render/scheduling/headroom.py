"""Headroom: how many more replicas of an object fit, in each cluster by itself and in all of them by its policy.

1. In a cluster, as many as it has room for beside all that is placed, if every filter lets the object go there.
2. By its policy, as many as a pass would place with room for each of them in the cluster that it goes to. Static
   weights and copies go to clusters whatever room these have, so the first cluster without room ends it.
3. With one more, something gives out: the cluster that lacks room for what it would get, or, where replicas are divided
   by room, the one with the least of it, in which room would be over first.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding
from render.bits import indexes_of_mask

from .decisions import SCHEDULED
from .filtering import filter_clusters
from .losses import PlacedAfterLoss, SchedulerAfterPass
from .rules import Strategy, strategy_for_binding
from .scheduler import Scheduler, affinity_groups_to_try

_MOST = 2**31 - 1
"""The most replicas that an object can ask for."""


class ClusterHeadroom(Struct, frozen=True, kw_only=True):
    """A cluster that an object may go to: the replicas it has there, how many more fit, and what gives out then.

    ``fits`` is None where no capacity is known. ``resource`` is such as ``cpu`` or ``pods``; ``nodes``: no node by
    itself has room for one more. ``has_copy``: the object is there.
    """

    cluster: str
    replicas: int
    fits: int | None
    resource: str = ""
    has_copy: bool = False


class Headroom(Struct, frozen=True, kw_only=True):
    """The headroom of an object: ``fits`` is how many more replicas a pass places (None: as many as there can be).

    Of an object that each cluster has whole, ``fits`` are replicas of each copy, and ``copies`` the other clusters that
    it may go to and that have room for a copy (None: its replicas are divided). ``reason`` says why no more are placed,
    ``first`` is the cluster that gives out. ``unknown`` are clusters that get the next one and of which no capacity is
    known: then nobody can tell how many fit, and ``fits`` are those that certainly do.
    """

    replicas: int
    fits: int | None
    clusters: tuple[ClusterHeadroom, ...]
    reason: str = ""
    first: ClusterHeadroom | None = None
    copies: int | None = None
    unknown: frozenset[str] = frozenset()


def headroom_of_binding(after: SchedulerAfterPass, binding: Binding, lost: Collection[str] = ()) -> Headroom:
    """Return how many more replicas of a placed object fit, without some clusters; it must have replicas."""
    scheduler = after.scheduler_without(lost)
    clusters = _headroom_of_clusters(scheduler, binding, frozenset(lost))
    fits, short = _most_more_replicas(after, binding, lost)
    unknown = short.of_unknown_room if short is not None and not short.without_room else frozenset[str]()
    is_copied = _strategy(scheduler, binding) is Strategy.DUPLICATED
    others = [each for each in clusters if not each.has_copy and each.fits is not None]
    return Headroom(
        replicas=binding.replicas,
        fits=fits,
        clusters=clusters,
        reason=_reason(short),
        first=_first_to_give_out(clusters, short),
        unknown=unknown,
        copies=sum(each.fits is not None and each.fits >= binding.replicas for each in others) if is_copied else None,
    )


def _strategy(scheduler: Scheduler, binding: Binding) -> Strategy:
    task = scheduler.state.task(binding)
    return strategy_for_binding(binding, task.rules)


def _headroom_of_clusters(scheduler: Scheduler, binding: Binding, lost: frozenset[str]) -> tuple[ClusterHeadroom, ...]:
    """Return the clusters that every filter of the affinity group in use lets pass, by name."""
    state = scheduler.state
    task = state.task(replace(binding, absent_in=binding.absent_in | lost))
    feasible = filter_clusters(state, task, affinity_groups_to_try(task)[0]).feasible
    room, there = list(state.capacity.replicas(binding.requirements)), binding.target_replicas
    found = []
    for position in indexes_of_mask(feasible):
        cluster = state.index.clusters[position]
        is_known = cluster.resource_summary is not None
        found.append(
            ClusterHeadroom(
                cluster=cluster.name,
                replicas=there.get(cluster.name, 0),
                fits=room[position] if is_known else None,
                resource=state.capacity.resource_that_gives_out(binding.requirements, position) if is_known else "",
                has_copy=cluster.name in there,
            )
        )
    return tuple(found)


def _most_more_replicas(
    after: SchedulerAfterPass, binding: Binding, lost: Collection[str]
) -> tuple[int | None, PlacedAfterLoss | None]:
    """Return how many more replicas are placed with room, and what one more comes to (None: there is no end)."""

    def short(more: int) -> PlacedAfterLoss | None:
        (placed,) = after.placed_after_loss(lost, [replace(binding, replicas=binding.replicas + more)])
        return None if _has_place_and_room(placed) else placed

    if (found := short(0)) is not None:
        return 0, found
    least, most = 0, 1
    while (found := short(most)) is None:
        least, most = most, min(2 * most, _MOST - binding.replicas)
        if least == most:
            return None, None
    while most - least > 1:
        middle = (least + most) // 2
        answer = short(middle)
        if answer is None:
            least = middle
        else:
            most, found = middle, answer
    return least, found


def _has_place_and_room(placed: PlacedAfterLoss) -> bool:
    condition = next((each for each in placed.binding.conditions if each.type == SCHEDULED), None)
    is_placed = condition is not None and condition.status == "True"
    return is_placed and not placed.without_room and not placed.of_unknown_room


def _reason(short: PlacedAfterLoss | None) -> str:
    if short is None or short.without_room or short.of_unknown_room:
        return ""
    return next((each.message for each in short.binding.conditions if each.type == SCHEDULED), "")


def _first_to_give_out(clusters: Sequence[ClusterHeadroom], short: PlacedAfterLoss | None) -> ClusterHeadroom | None:
    """Return the cluster without room for what it would get, or that with the least room; of equals the first."""
    if short is None or (short.of_unknown_room and not short.without_room):
        return None
    lacking = [each for each in clusters if each.cluster in short.without_room] or [
        each for each in clusters if each.fits is not None
    ]
    return min(lacking, key=lambda each: (each.fits or 0, each.cluster), default=None)
