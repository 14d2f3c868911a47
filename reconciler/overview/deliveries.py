"""Deliveries: how long changes take from the merge to being healthy everywhere, and how many of them fail.

Both are measured over the newest changes of the source (``changes``), by what the branches record:

1. *Merged* is the time of the source commit that was rendered.
2. A change is *in* a cluster from the first record in which the cluster has converged to it, or to a later commit.
3. It is *healthy* there from the first record after that in which all objects that it touched there are applied and
   healthy, and *healthy* when that is so in each cluster that it touched and that is still a member.
4. It *failed* if a later commit took it back within an hour, if its rollout failed, or if something that it touched is
   recorded as unwell within an hour after it was in the cluster: after it had been well, or still when the hour ends.
   What is on its way, such as a Job that runs, is neither well nor unwell. What happens once a later change is there
   is not counted for it.
5. Until an hour has passed in each cluster a change that has not failed is not judged yet.

What is known for good of a change is kept beside the repository.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from statistics import median

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.record.recorded_status import RecordedStatus
from reconciler.repository import Repository
from reconciler.repository.cache import read_privately, write_privately
from reconciler.survey.states import SurveyedState
from render.errors import GitError
from render.json_values import json_text, value_of_json_text

from .changes import WITHIN, ChangeReader, RenderedChange
from .instants import KnownBranches
from .timelines import RecordedTimelines, timelines_since

MOST_CHANGES = 20
_FILE = "deliveries.json"
_LARGEST, _MOST_KEPT = 4 << 20, 1000
_HOW_FAR = timedelta(minutes=10)


class ChangeDelivery(Struct, frozen=True, kw_only=True):
    """A change and what became of it, as far as it is recorded.

    ``seconds`` are those from the merge to being healthy everywhere (None: it is not, or nobody can tell, and
    ``unmeasured`` says why). ``failure`` says how it failed ("": it did not). ``is_judged``: an hour has passed, or it
    failed. ``is_final``: nothing that comes later changes the answer.
    """

    commit: str
    source: str
    merged_at: str = ""
    seconds: int | None = None
    unmeasured: str = ""
    failure: str = ""
    is_judged: bool = False
    is_final: bool = False


class Deliveries(Struct, frozen=True, kw_only=True):
    """The newest deliveries, the newest first. ``is_cut_off``: there are earlier changes that are not in this clone."""

    newest: tuple[ChangeDelivery, ...]
    is_cut_off: bool = False

    @property
    def lead_times(self) -> list[int]:
        """The seconds of all changes that became healthy, the shortest first."""
        return sorted(each.seconds for each in self.newest if each.seconds is not None)

    @property
    def median(self) -> int | None:
        """The median of the lead times; None where there is none."""
        return round(median(self.lead_times)) if self.lead_times else None

    @property
    def ninetieth(self) -> int | None:
        """The lead time that nine in ten changes do not exceed (the nearest rank)."""
        times = self.lead_times
        return times[-(-len(times) * 9 // 10) - 1] if times else None

    @property
    def judged(self) -> tuple[ChangeDelivery, ...]:
        """The changes of which it is known whether they failed."""
        return tuple(each for each in self.newest if each.is_judged)

    @property
    def failed(self) -> tuple[ChangeDelivery, ...]:
        """The changes that failed."""
        return tuple(each for each in self.judged if each.failure)


class _KnownDeliveries(Struct, frozen=True, kw_only=True):
    """The deliveries that this machine knows for good, by their rendered commits."""

    deliveries: dict[str, ChangeDelivery] = field(default_factory=dict)


class DeliveredFleet(Struct, frozen=True, kw_only=True):
    """A fleet whose deliveries are asked for: its branches, its members, and the time ("": nothing is recorded)."""

    repository: Repository
    branches: KnownBranches
    status: str
    recorded: RecordedStatus
    members: frozenset[str]
    now: datetime


def deliveries_of_fleet(fleet: DeliveredFleet, reader: ChangeReader, limit: int = MOST_CHANGES) -> Deliveries:
    """Return the newest deliveries of a fleet, so many at most."""
    positions = reader.positions
    wanted = positions[-limit:][::-1]
    path = fleet.repository.cache_dir / _FILE
    content = read_privately(path, _LARGEST)
    known = ((value_of_json_text(content, _KnownDeliveries) if content else None) or _KnownDeliveries()).deliveries
    found = dict(_deliveries(fleet, reader, wanted, known))
    new = {each.commit: each for each in found.values() if each.is_final and each.commit not in known}
    if new:
        kept = dict([*known.items(), *new.items()][-_MOST_KEPT:])
        with suppress(OSError):  # then it is found out again
            write_privately(path, json_text(_KnownDeliveries(deliveries=kept)).encode())
    is_cut_off = fleet.branches.is_cut_off and len(positions) < limit
    return Deliveries(newest=tuple(found[number] for number in wanted), is_cut_off=is_cut_off)


def _deliveries(
    fleet: DeliveredFleet, reader: ChangeReader, wanted: Sequence[int], known: dict[str, ChangeDelivery]
) -> Iterator[tuple[int, ChangeDelivery]]:
    unknown = [number for number in wanted if reader.passes[number].commit.id not in known]
    begin = min((reader.passes[number].at for number in unknown), default=fleet.now)
    looks = fleet.branches.looks
    timelines = (
        timelines_since(fleet.repository, fleet.status, fleet.recorded, looks, begin)
        if unknown and fleet.status and looks
        else None
    )
    for number in wanted:
        step = reader.passes[number]
        if step.commit.id in known:
            yield number, known[step.commit.id]
            continue
        try:
            yield number, _delivery(fleet, reader.change(number), timelines)
        except GitError:
            yield number, ChangeDelivery(commit=step.commit.id, source=step.source, unmeasured=_NOT_HERE)


_NOT_HERE = "commits that tell of it are not in this clone"
_NOTHING_RECORDED = "nothing is recorded of the members"
_TOO_MUCH = "it changed too much to be looked at object by object"
_GOING_OUT = "it is still going out"
_NOTHING_TOUCHED = "it changed nothing in a member"
_NOT_YET = "it is not healthy in every cluster yet"
_CLOCK = "its source commit is dated later than the record of its being healthy"


def _delivery(fleet: DeliveredFleet, change: RenderedChange, timelines: RecordedTimelines | None) -> ChangeDelivery:
    merged = datetime.fromtimestamp(change.source.time, UTC)
    base = ChangeDelivery(
        commit=change.step.commit.id, source=change.step.source, merged_at=merged.strftime("%Y-%m-%dT%H:%M:%SZ")
    )
    touched = {name: found for name, found in change.files.items() if name in fleet.members}
    failure = _failure_without_records(change)
    why = _reason_not_to_measure(change, timelines, touched)
    if why or timelines is None:
        return replace(base, unmeasured=why, failure=failure, is_judged=bool(failure))
    timelines.load([path for name, found in touched.items() for path in timelines.paths_of_course(name, found)])
    courses = [_course(change, name, found, timelines) for name, found in touched.items()]
    healthy = [each.healthy for each in courses]
    failure = failure or next((words for each in courses if (words := each.failure(fleet.now))), "")
    is_over = all(each.is_over(fleet.now) for each in courses)
    healthy_at = max((each for each in healthy if each is not None), default=None)
    if change.is_going_out or None in healthy or healthy_at is None:
        why = _GOING_OUT if change.is_going_out else _NOT_YET
        return replace(base, unmeasured=why, failure=failure, is_judged=bool(failure) or is_over)
    seconds = int((healthy_at - merged).total_seconds())
    is_judged = bool(failure) or (is_over and fleet.now >= change.step.at + WITHIN)
    return replace(
        base,
        seconds=seconds if seconds >= 0 else None,
        unmeasured="" if seconds >= 0 else _CLOCK,
        failure=failure,
        is_judged=is_judged,
        is_final=is_judged and fleet.now >= change.step.at + WITHIN + _HOW_FAR,
    )


def _failure_without_records(change: RenderedChange) -> str:
    """Return how a change failed as the rendered branch tells it; an empty text where it does not."""
    if change.rollout:
        return f"its rollout failed: {change.rollout}"
    return f"source {change.went_back[:12]} took it back within an hour" if change.went_back else ""


def _reason_not_to_measure(
    change: RenderedChange, timelines: RecordedTimelines | None, touched: Collection[str]
) -> str:
    if timelines is None:
        return _NOTHING_RECORDED
    if not timelines.is_whole or (change.count and not change.files):
        return _TOO_MUCH
    return "" if touched else _NOTHING_TOUCHED


class _CourseInCluster(Struct, frozen=True, kw_only=True):
    """The course of a change in one cluster: since when it is there (None: not yet), and how what it touched was.

    ``states`` are those of each object that it touched, by path below the cluster's folder, the oldest first.
    ``superseded`` is since when the cluster has a later change (None: it has none), for which nothing counts that
    happens then.
    """

    cluster: str
    there: datetime | None
    states: Mapping[str, Sequence[tuple[datetime, SurveyedState]]] = field(default_factory=dict)
    superseded: datetime | None = None

    @property
    def healthy(self) -> datetime | None:
        """The time since when all of it is there and well; None where it is not yet."""
        if self.there is None:
            return None
        times = [_first_well(each, self.there) for each in self.states.values()]
        known = [each for each in times if each is not None]
        return max((self.there, *known)) if len(known) == len(times) else None

    def is_over(self, now: datetime) -> bool:
        """Say whether an hour has passed since the change is in the cluster."""
        return self.there is not None and now >= self.there + WITHIN

    def failure(self, now: datetime) -> str:
        """Return what was unwell within an hour, or still at its end; an empty text where nothing was."""
        if self.there is None:
            return ""
        end = self.there + WITHIN
        if self.superseded is not None and self.superseded < end:
            end = self.superseded - timedelta(seconds=1)
        if self.superseded is None and now >= end and self._has_never_been_well(self.there, end):
            return f"it was not healthy in {self.cluster} an hour after it was there"
        found = sorted(self._relapses(self.there, end))
        return f"{found[0][1]} became unwell in {self.cluster} within an hour" if found else ""

    def _has_never_been_well(self, there: datetime, end: datetime) -> bool:
        """Say whether an object is unwell at the end of the hour that has not been well since the change was there."""
        times = ((_first_well(each, there), each) for each in self.states.values())
        return any(
            (well_at is None or well_at > end) and _state_at(end, each) is SurveyedState.UNWELL
            for well_at, each in times
        )

    def _relapses(self, there: datetime, end: datetime) -> Iterator[tuple[datetime, str]]:
        """Yield when objects became unwell that had been well since the change was there."""
        for below, states in self.states.items():
            well_at = _first_well(states, there)
            for at, state in states if well_at is not None else ():
                if well_at is not None and well_at < at <= end and state is SurveyedState.UNWELL:
                    yield at, below


def _course(
    change: RenderedChange, cluster: str, files: Mapping[str, bool], timelines: RecordedTimelines
) -> _CourseInCluster:
    converged = list(timelines.converged(cluster))
    there = next((at for at, commit in converged if commit in change.later), None)
    if there is None:
        return _CourseInCluster(cluster=cluster, there=None)
    return _CourseInCluster(
        cluster=cluster,
        there=there,
        states={below: timelines.states_of_object(cluster, below) for below, is_kept in files.items() if is_kept},
        superseded=next((at for at, commit in converged if commit in change.later - change.own), None),
    )


def _first_well(states: Sequence[tuple[datetime, SurveyedState]], there: datetime) -> datetime | None:
    """Return since when an object was well once the change was there; None where it is not yet."""
    if _state_at(there, states) is SurveyedState.WELL:
        return there
    return next((at for at, state in states if at > there and state is SurveyedState.WELL), None)


def _state_at(when: datetime, states: Sequence[tuple[datetime, SurveyedState]]) -> SurveyedState:
    return next((state for at, state in reversed(states) if at <= when), SurveyedState.UNKNOWN)
