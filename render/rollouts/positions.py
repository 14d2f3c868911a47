"""The position of each cluster in a rollout, derived anew in every pass from what is known of it now.

A cluster is *asked* about if it can be reached and is not suspended. It is *through* if it was given the change and is
healthy with it for as long as its gate says, *failed* if its deadline has passed before that and it is not well, and
*under way* if it was given the change and is neither. One that was well at a look which is too old for its gate is
under way until somebody looks again.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from render.cluster_index import ClusterIndex
from render.timing import Flip, Timed, instant_after

from .calendar import closed_reason
from .checks import Asking, CheckQuestion, ChecksLook
from .policy import DeadlineAction, Gate, Wave
from .state import ClusterObservation, Given, RolloutFacts, RolloutPhase, RolloutState
from .status_ages import StatusAge, StatusLooks, answers_in_order
from .wave_checks import WaveLook, look_at_wave, look_before_wave
from .waves import WaveOfClusters, names_fitting_wave, waves_of_clusters

_UNKNOWN = ClusterObservation(is_reachable=False)


class Positions(Struct, frozen=True, kw_only=True):
    """The waves with their clusters, the number of each cluster's wave, and where the clusters stand.

    ``given`` has those that were given the change and that it is still for, by name. ``closed`` says why nobody may be
    given it at this time ("": everybody may). ``unaffected`` are the waves in whose clusters nothing changes.
    ``closed_clusters`` has what those wait for that the calendar of argosy.yaml closes now.
    ``wave_checks`` are the looks at the checks of waves that are through, ``late_waves`` those that did not pass them
    in time; ``unmet_checks`` says which checks of clusters are not met. ``status_ages`` are the answers how old the
    status of clusters is that gates asked about, and ``age_flips`` when one that counts is too old.
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
    since: datetime
    asking: Asking
    wave_checks: Mapping[int, WaveLook] = field(default_factory=dict)
    late_waves: frozenset[int] = frozenset()
    questions: tuple[CheckQuestion, ...] = ()
    unmet_checks: tuple[str, ...] = ()
    status_ages: tuple[StatusAge, ...] = ()
    age_flips: tuple[Flip, ...] = ()

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

    @property
    def having_old_status(self) -> frozenset[str]:
        """The clusters that were well at the last look, which is too old for their gates."""
        return frozenset(name for name in self.asked & self.given.keys() if self.given[name].has_old_status)

    @property
    def are_all_asked_through(self) -> bool:
        """Say whether every cluster that is asked about is through, there is one, and no wave has failed by checks."""
        return bool(self.through) and self.asked <= self.through and not self.late_waves

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
        return all(
            self.is_proven(earlier) and self.has_share_through(earlier) and self.has_passed_checks(earlier)
            for earlier in range(number)
        )

    def has_passed_checks(self, number: int) -> bool:
        """Say whether a wave has passed its checks, if it has any, or has failed by them."""
        look = self.wave_checks.get(number)
        return look is None or number in self.late_waves or look.are_passed

    def has_share_through(self, number: int) -> bool:
        """Say whether so many clusters of a wave are through as its gate asks for, of those that are asked about.

        A gate that asks for no share asks for all of them, but for those that have failed.
        """
        each = self.waves[number]
        asked, share = self.asked.intersection(each.clusters), each.wave.gate.share
        if share is None:
            return asked <= self.through | self.failed
        return len(asked & self.through) >= share.needed_of_total(len(asked))

    @property
    def unmet_of_late_waves(self) -> tuple[str, ...]:
        """The checks that waves did not pass in time, in words."""
        return tuple(each for number in sorted(self.late_waves) for each in self.wave_checks[number].checks.unmet)

    @property
    def clusters_of_unchecked_waves(self) -> frozenset[str]:
        """The clusters that are through in waves that have not passed their checks, or of which nobody is asked."""
        checked = {number for number, each in enumerate(self.waves) if each.wave.gate.checks_after_wave}
        unchecked = {each for each in checked if self.asking.is_over or not self.has_passed_checks(each)}
        return frozenset(name for name in self.through if self.wave_numbers[name] in unchecked)

    def checks_before_wave(self, number: int) -> ChecksLook:
        """Return the look at the checks that a wave has to pass before it begins."""
        return look_before_wave(self.waves[number].wave, self.given.values(), self.asking, self.since)

    def has_clusters_from(self, number: int) -> bool:
        """Say whether a wave, or one after it, has clusters."""
        return any(each >= number for each in self.wave_numbers.values())


def positions_of_clusters(state: RolloutState, facts: RolloutFacts) -> Positions:
    """Return where the clusters of a change stand."""
    found, fails = _positions_beside_wave_checks(state, facts), state.plan.on_deadline is DeadlineAction.FAIL
    looks = {} if found.asking.is_over else dict(_looks_at_waves(found))
    late = frozenset(number for number, look in looks.items() if look.is_late and fails)
    # Whether a cluster of such a wave can be asked about now or not: the checks were about the wave, and are not met.
    judged = found.asked | {name for name, each in found.given.items() if each.through is not None}
    failed = {name for name in found.given if found.wave_numbers[name] in late} & judged
    return replace(
        found,
        wave_checks=looks,
        late_waves=late,
        failed=found.failed | failed,
        through=found.through - failed,
        questions=(*found.questions, *(each for look in looks.values() for each in look.checks.questions)),
        flips=(*found.flips, *(flip for look in looks.values() for flip in look.flips)),
    )


def _looks_at_waves(found: Positions) -> Iterator[tuple[int, WaveLook]]:
    """Yield the look at the checks of each wave that is through."""
    for number, each in enumerate(found.waves):
        if not each.wave.gate.checks_after_wave or not found.has_share_through(number):
            continue
        given = [found.given[name] for name in each.clusters if name in found.given]
        look = look_at_wave(each.wave, given, found.asking, len(found.asked.intersection(each.clusters)))
        if look is not None:
            yield number, look


def _asking_of_rollout(state: RolloutState, facts: RolloutFacts) -> Asking:
    """Return what the checks of a rollout are asked about; a change that is held is asked about no more."""
    return Asking(
        rollout=state.name,
        change=state.change,
        commits=state.commits,
        answers=facts.answers,
        now=facts.now,
        is_over=state.phase is RolloutPhase.HELD,
    )


def _positions_beside_wave_checks(state: RolloutState, facts: RolloutFacts) -> Positions:
    """Return where the clusters of a change stand, by what each of them shows by itself."""
    waves = waves_of_clusters(
        state.plan, facts.fleet, facts.clusters, seats=state.seats, begun=state.wave, group=state.group
    )
    numbers = {name: number for number, each in enumerate(waves) for name in each.clusters}
    observed = {name: facts.observed.get(name, _UNKNOWN) for name in numbers}
    suspended = frozenset(name for name, each in observed.items() if each.is_suspended)
    asked = frozenset(name for name, each in observed.items() if each.is_reachable) - suspended
    asking = _asking_of_rollout(state, facts)
    looks = {
        name: _look_at_given_cluster(each, observed[name], waves[numbers[name]], asking, facts.looks)
        for each in state.given
        if (name := each.cluster) in numbers
    }
    calendar = Timed("") if facts.is_calendar_lifted else closed_reason(state.plan, facts.now)
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
        unaffected=frozenset(_names_of_unaffected_waves(waves, facts)),
        flips=tuple(filter(None, flips)),
        closed_clusters=facts.closed,
        since=state.since,
        asking=asking,
        questions=tuple(each for name, look in looks.items() if name in asked for each in look.checks.questions),
        unmet_checks=tuple(each for name, look in looks.items() if name in asked for each in look.checks.unmet),
        status_ages=answers_in_order(look.age for name, look in looks.items() if name in asked),
        age_flips=tuple(filter(None, (look.age_flip for name, look in looks.items() if name in asked))),
    )


def _names_of_unaffected_waves(waves: Iterable[WaveOfClusters], facts: RolloutFacts) -> Iterator[str]:
    """Yield the waves without clusters that would have some if anything changed there."""
    for each in waves:
        if not each.clusters and names_fitting_wave(each.wave, facts.fleet) & facts.unaffected:
            yield each.wave.name


class _Look(Struct, frozen=True, kw_only=True):
    """The findings of one look at a cluster that was given the change."""

    before: Given
    given: Given
    is_through: bool = False
    is_late: bool = False
    flip: Flip | None = None
    checks: ChecksLook = field(default_factory=ChecksLook)
    age: StatusAge | None = None
    age_flip: Flip | None = None


def _look_at_given_cluster(
    given: Given, observed: ClusterObservation, wave: WaveOfClusters, asking: Asking, looks: StatusLooks
) -> _Look:
    """Return where a cluster stands that can be asked about.

    One that was well at a look which is too old is not through; nor has it failed, or does its time begin anew.
    """
    given = replace(given, has_old_status=False) if given.has_old_status else given
    look, seconds = _look_at_known_cluster(given, observed, wave, asking), wave.wave.gate.max_status_age
    if seconds is None or observed.well_since is None:
        return look
    age = looks.age_of(given.cluster, seconds, asking.now)
    if not age.answer.is_too_old:
        return replace(look, age=age.answer, age_flip=age.flip)
    known = given if look.is_through else look.given
    return replace(look, given=replace(known, has_old_status=True), is_through=False, age=age.answer)


def _look_at_known_cluster(given: Given, observed: ClusterObservation, wave: WaveOfClusters, asking: Asking) -> _Look:
    """Return where a cluster stands by its last status; one that was through and is unwell starts anew."""
    gate, name, now = wave.wave.gate, given.cluster, asking.now
    begins = None if observed.well_since is None else max(observed.well_since, given.at)
    checks = _look_at_cluster_checks(given, begins, wave, asking)
    opens = (
        None
        if begins is None or checks.passes_at is None
        else max(instant_after(begins, gate.healthy_for), checks.passes_at)
    )
    if opens is not None and opens <= now:
        passed = replace(given, through=given.through or now)
        return _Look(before=given, given=passed, is_through=True, checks=checks)
    anew = given if given.through is None else Given(cluster=name, at=_new_beginning(given.through, begins, now))
    ends = deadline_of_cluster(anew, gate)
    # One that is well by now may have been so in time: nobody looked. It only has to stay so until its gate opens.
    is_late = ends is not None and ends <= now and (begins is None or bool(checks.unmet))
    flips = [
        None if opens is None else Flip(opens, f"{name} is through the gate of wave {wave.wave.name}"),
        None
        if ends is None or ends <= now
        else Flip(ends, f"the deadline of {name} in wave {wave.wave.name} has passed"),
    ]
    return _Look(before=given, given=anew, is_late=is_late, flip=min(filter(None, flips), default=None), checks=checks)


def _new_beginning(through: datetime, begins: datetime | None, now: datetime) -> datetime:
    """Return when the time of a cluster begins that was through: since it is well again, or now if it still is well.

    One that has been well all the time has a check that is not met any more.
    """
    return now if begins is None or begins <= through else begins


def _look_at_cluster_checks(given: Given, begins: datetime | None, wave: WaveOfClusters, asking: Asking) -> ChecksLook:
    """Return the look at the checks of a cluster, which are asked while it is well by the change."""
    checks = wave.wave.gate.cluster_checks
    if begins is None or not checks:
        return ChecksLook(passes_at=begins)
    if asking.is_over:
        return ChecksLook(passes_at=begins if given.through is not None else None)
    return asking.look(checks, wave.wave.name, begins, given.cluster)


def deadline_of_cluster(given: Given, gate: Gate) -> datetime | None:
    """Return when the time of a cluster is over that was given the change; None: at no time."""
    return None if gate.deadline is None else instant_after(given.at, gate.deadline)
