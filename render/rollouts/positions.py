"""The position of each cluster in a rollout, derived anew in every pass from what is known of it now.

A cluster is *asked* about if it can be reached and is not suspended. It is *through* if it was given the change and is
healthy with it for as long as its gate says, *failed* if its deadline has passed before that, and *under way* if it was
given the change and is neither.
"""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from render.cluster_index import ClusterIndex
from render.timing import Flip, instant_after

from .calendar import closed_reason
from .policy import DeadlineAction, Gate, Wave
from .state import ClusterObservation, Given, RolloutFacts, RolloutState
from .waves import WaveOfClusters, names_fitting_wave, waves_of_clusters

_UNKNOWN = ClusterObservation(is_reachable=False)


class Positions(Struct, frozen=True, kw_only=True):
    """The waves with their clusters, the number of each cluster's wave, and where the clusters stand.

    ``given`` has those that were given the change and that it is still for, by name. ``closed`` says why nobody may be
    given it at this time ("": everybody may). ``unaffected`` are the waves in whose clusters nothing changes.
    ``closed_clusters`` has what those wait for that the calendar of argosy.yaml closes now.
    """

    waves: tuple[WaveOfClusters, ...]
    wave_numbers: Mapping[str, int]
    given: Mapping[str, Given]
    asked: frozenset[str]
    suspended: frozenset[str]
    through: frozenset[str]
    failed: frozenset[str]
    now: datetime
    fleet: ClusterIndex
    closed: str = ""
    unaffected: frozenset[str] = frozenset()
    flips: tuple[Flip, ...] = ()
    closed_clusters: Mapping[str, str] = field(default_factory=dict)

    @property
    def clusters(self) -> frozenset[str]:
        """All clusters that the change is for and that the fleet has."""
        return frozenset(self.wave_numbers)

    @property
    def unreachable(self) -> frozenset[str]:
        """The clusters that cannot be reached."""
        return self.clusters - self.asked - self.suspended

    @property
    def under_way(self) -> frozenset[str]:
        """The clusters that were given the change and are neither through nor failed."""
        return (self.asked & self.given.keys()) - self.through - self.failed

    def wave_of_cluster(self, name: str) -> Wave:
        """Return the wave of a cluster."""
        return self.waves[self.wave_numbers[name]].wave

    def is_proven(self, number: int) -> bool:
        """Say whether some cluster of a wave has come through its gate, unless it has none or needs none."""
        each = self.waves[number]
        if each.wave.is_empty_allowed or not each.clusters:
            return True
        return any(self.given[name].through is not None for name in each.clusters if name in self.given)

    def is_last_without_need_of_proof(self, number: int) -> bool:
        """Say whether nothing waits for a wave: none comes after it, and it is suspended, or others have shown enough.

        So clusters of the last wave that are silent hold nobody up, while a fleet that is silent altogether does.
        """
        if self.has_clusters_from(number + 1):
            return False
        is_shown = any(each.through is not None for each in self.given.values())
        return is_shown or self.suspended.issuperset(self.waves[number].clusters)

    def are_over_before(self, number: int) -> bool:
        """Say whether the waves before one are over, so that it may begin, or go on."""
        return all(self.is_proven(earlier) and self.has_share_through(earlier) for earlier in range(number))

    def has_share_through(self, number: int) -> bool:
        """Say whether so many clusters of a wave are through as its gate asks for, of those that are asked about.

        A gate that asks for no share asks for all of them, but for those that have failed.
        """
        each = self.waves[number]
        asked, share = self.asked.intersection(each.clusters), each.wave.gate.share
        if share is None:
            return asked <= self.through | self.failed
        return len(asked & self.through) >= share.needed_of_total(len(asked))

    def has_clusters_from(self, number: int) -> bool:
        """Say whether a wave, or one after it, has clusters."""
        return any(each >= number for each in self.wave_numbers.values())


def positions_of_clusters(state: RolloutState, facts: RolloutFacts) -> Positions:
    """Return where the clusters of a change stand."""
    waves = waves_of_clusters(
        state.plan, facts.fleet, facts.clusters, seats=state.seats, begun=state.wave, group=state.group
    )
    numbers = {name: number for number, each in enumerate(waves) for name in each.clusters}
    observed = {name: facts.observed.get(name, _UNKNOWN) for name in numbers}
    suspended = frozenset(name for name, each in observed.items() if each.is_suspended)
    asked = frozenset(name for name, each in observed.items() if each.is_reachable) - suspended
    looks = {
        each.cluster: _look_at_given_cluster(each, observed[each.cluster], waves[numbers[each.cluster]], facts.now)
        for each in state.given
        if each.cluster in numbers
    }
    calendar = closed_reason(state.plan, facts.now)
    fails = state.plan.on_deadline is DeadlineAction.FAIL
    flips = (calendar.flip, facts.calendar_flip, *(looks[name].flip for name in asked & looks.keys()))
    return Positions(
        waves=waves,
        wave_numbers=numbers,
        given={name: look.given if name in asked else look.before for name, look in looks.items()},
        asked=asked,
        suspended=suspended,
        through=frozenset(name for name, look in looks.items() if look.is_through) & asked,
        failed=frozenset(name for name, look in looks.items() if look.is_late and fails) & asked,
        now=facts.now,
        fleet=facts.fleet,
        closed=calendar.answer,
        unaffected=frozenset(
            each.wave.name
            for each in waves
            if not each.clusters and names_fitting_wave(each.wave, facts.fleet) & facts.unaffected
        ),
        flips=tuple(filter(None, flips)),
        closed_clusters=facts.closed,
    )


class _Look(Struct, frozen=True, kw_only=True):
    """The findings of one look at a cluster that was given the change."""

    before: Given
    given: Given
    is_through: bool = False
    is_late: bool = False
    flip: Flip | None = None


def _look_at_given_cluster(given: Given, observed: ClusterObservation, wave: WaveOfClusters, now: datetime) -> _Look:
    """Return where a cluster stands that can be asked about; one that was through and is unwell starts anew."""
    gate, name = wave.wave.gate, given.cluster
    begins = None if observed.well_since is None else max(observed.well_since, given.at)
    opens = None if begins is None else instant_after(begins, gate.healthy_for)
    if opens is not None and opens <= now:
        return _Look(before=given, given=replace(given, through=given.through or now), is_through=True)
    anew = given if given.through is None else Given(cluster=name, at=begins or now)
    ends = deadline_of_cluster(anew, gate)
    is_late = ends is not None and ends <= now
    flips = [
        None if opens is None else Flip(opens, f"{name} is through the gate of wave {wave.wave.name}"),
        None if ends is None or is_late else Flip(ends, f"the deadline of {name} in wave {wave.wave.name} has passed"),
    ]
    return _Look(before=given, given=anew, is_late=is_late, flip=min(filter(None, flips), default=None))


def deadline_of_cluster(given: Given, gate: Gate) -> datetime | None:
    """Return when the time of a cluster is over that was given the change; None: at no time."""
    return None if gate.deadline is None else instant_after(given.at, gate.deadline)
