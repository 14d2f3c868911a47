"""A replay: the passes of a recorded time once more, with what is proposed, beside what really happened.

1. It starts from the rendered commit before that time. Each pass goes on from the replay's own former outcome.
2. At each rendered commit there was a pass. It is done again by the source, the facts, the health, the answers and the
   time that the commit records.
3. Between two rendered commits passes changed nothing. Where the status branch recorded something there, or where an
   answer of the replay flips, a pass of the replay may change something. It counts only if the source as it was, from
   what really stood, changes nothing at that time: then passes were running, and nobody refused them.
4. While the replay is what really happened and nothing is proposed for a source, only what a commit records decides,
   and the outcome has to be that commit.

Guards refuse nothing here; what they would have refused is counted.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import Source, read_previous
from reconciler.console.log import Log
from reconciler.guards.allowances import Allowed
from reconciler.guards.source_trailers import allowed_by
from reconciler.ledger.health import ObservedHealth
from reconciler.pipeline.renames import NewNames, renamed_binding
from reconciler.rendering.guarded_outcome import check_guards
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome
from reconciler.rendering.verified_controls import recorded_speakers
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.errors import GuardRefused, InputError
from render.model import ObjectRef
from render.prices.cluster_prices import ClusterPrices, prices_of_clusters
from render.timing import SECOND, instant_text

from .assumed_health import KnownReports, ReplayedPlaces, clusters_of_binding
from .course import FleetCourse, TrueCourse
from .inputs import InputsReader
from .measures import Changes, FleetCounts
from .observations import KnownState, KnownStates
from .past import RecordedInstant, RecordedPast
from .proposed import ProposedChanges
from .real_passes import RealPasses
from .sources import SourceReader

FLAP_WITHIN = timedelta(hours=1)
"""The time within which coming back to a cluster is a flap, unless another one is asked for."""
_EMITTED = "emit"
_NEXT_LOOK_AFTER = 2 * SECOND
"""The time after which a running fleet has a pass that sees what the one before it gave to clusters."""


class RefusedByGuards(Struct, frozen=True, kw_only=True):
    """A pass of a replay that the guards would have refused, and their words."""

    at: datetime
    message: str


class UnreadSource(Struct, frozen=True, kw_only=True):
    """A rendered commit whose source this version refuses, so that its pass was not done again."""

    commit: str
    source: str
    message: str


class Replayed(Struct, kw_only=True):
    """The outcome of a replay: what happened in truth and in it, and how far the one is like the other.

    ``identical`` are the rendered commits that came out the same, byte for byte, ``same_places`` those after which
    every object stood where it really did. ``looks`` and ``flips`` are the passes between them that changed something,
    ``uncounted`` those that do not count because no pass ran then.
    """

    truth: FleetCounts
    replay: FleetCounts
    identical: int = 0
    same_places: int = 0
    looks: int = 0
    flips: int = 0
    uncounted: int = 0
    first_difference: str = ""
    refused: list[RefusedByGuards] = field(default_factory=list)
    unread: list[UnreadSource] = field(default_factory=list)


class PastReplay(Struct, kw_only=True):
    """A replay on its way through a recorded time."""

    repository: Repository
    log: Log
    past: RecordedPast
    proposed: ProposedChanges
    done: Replayed
    course: FleetCourse
    truth: TrueCourse
    observations: KnownStates
    sources: SourceReader
    real: RealPasses
    known: KnownState | None = None
    members: set[str] = field(default_factory=set)
    _arrivals: dict[tuple[ObjectRef, str], datetime] = field(default_factory=dict)
    _elsewhere: set[ObjectRef] = field(default_factory=set)
    _reports: KnownReports = field(default_factory=dict)
    _last: RecordedInstant | None = None
    _at: datetime | None = None
    _wake: datetime | None = None

    @classmethod
    def of(
        cls, repository: Repository, past: RecordedPast, proposed: ProposedChanges, log: Log, within: timedelta
    ) -> "PastReplay":
        """Return a replay that stands before the first pass of a recorded time."""
        seconds = within.total_seconds()
        made = cls(
            repository=repository,
            log=log,
            past=past,
            proposed=proposed,
            done=Replayed(truth=FleetCounts(within=seconds), replay=FleetCounts(within=seconds)),
            course=FleetCourse(repository=repository, log=log),
            truth=TrueCourse(repository=repository),
            observations=KnownStates(reader=InputsReader(repository)),
            sources=SourceReader(repository),
            real=RealPasses(repository=repository, log=log),
        )
        made.begin()
        return made

    def begin(self) -> None:
        """Start from the rendered commit before the recorded time."""
        base, bindings = self.past.base, dict[ObjectRef, Binding]()
        if base is not None:
            self.course.begin(read_previous(self.repository, base.commit.id))
            self.truth.move_to(base.commit.tree)
            self._last, bindings = base, self.truth.bindings
        prices = self._newest_prices()
        for counts in (self.done.truth, self.done.replay):
            counts.begin(self.past.begin, bindings, prices)

    def _newest_prices(self) -> ClusterPrices | None:
        """Return the prices of the newest source of that time that can be read, by which all of it is priced."""
        newest = self.past.rendered[-1:] or (() if self.past.base is None else (self.past.base,))
        for instant in newest:
            try:
                observed = self.observations.reader.observed_inputs(instant.commit.tree)
                desired = self.sources.source(instant.source, observed).desired
            except InputError:
                return None
            if desired.price_lists:
                return prices_of_clusters(desired.price_lists, ClusterIndex(desired.clusters))
        return None

    def run(self) -> Replayed:
        """Replay every instant, and the flips after the last one."""
        with self.log.counted("replay the past", len(self.past.instants)) as count_one:
            for instant in self.past.instants:
                self._replay_instant(instant)
                count_one(instant_text(instant.at))
        if self.proposed.names:
            self._replay_flips(self.past.end)
        for counts in (self.done.truth, self.done.replay):
            counts.end(self.past.end)
        return self.done

    def _replay_instant(self, instant: RecordedInstant) -> None:
        """Replay one instant: the flips before it, and the commit or the look that it records."""
        if self.proposed.names:
            self._replay_flips(instant.at)
        self.known = self.observations.at_instant(instant)
        self._at = max(instant.at, self.past.begin)
        self._pass_time(self._at, self.known)
        if instant.is_rendered:
            self._replay_commit(instant, self.known)
        elif self.proposed.names and instant.at >= self.past.begin:
            self._replay_look(instant, self.known)

    def _replay_commit(self, instant: RecordedInstant, known: KnownState) -> None:
        """Do the pass of a rendered commit again, and count what it did and what it really did."""
        self._last = instant
        try:
            source = self.sources.source(instant.source, known.observed)
            self.members.update(each.name for each in source.desired.clusters)
            outcome, given = self._outcome(source, instant, known)
        except InputError as error:
            self.done.unread.append(
                UnreadSource(commit=instant.commit.id, source=instant.source, message=error.message)
            )
            self._move_truth(instant, {}, frozenset())
            return
        names, members = outcome.new_names, frozenset(each.name for each in source.desired.clusters)
        really = self._move_truth(instant, names, members)
        changed = self._adopt(outcome, given, instant.at, names)
        self._note_differences({*really, *changed})
        own = {entry.text: entry.id for entry in outcome.entries(outcome.rendered.tree.root)}
        if _entries_that_decide(own) == _entries_that_decide(self.truth.entries):
            self.done.identical += 1
        elif not self.done.first_difference:
            self.done.first_difference = instant.commit.id
        self.done.same_places += not self._elsewhere

    def _outcome(self, source: Source, instant: RecordedInstant, known: KnownState) -> tuple[Outcome, RenderInputs]:
        """Return the outcome of the pass of a rendered commit, and what it was given."""
        desired = self.proposed.laid_over(source.desired)
        speakers, origins = recorded_speakers(self.repository, instant.commit.tree)
        given = RenderInputs(
            observed=known.observed,
            now=instant.now,
            allowed=allowed_by([instant.commit]),
            speakers=speakers,
            origins=origins,
        )
        if desired is not source.desired or self._elsewhere:
            observed = replace(known.observed, health=self._assumed_health(known, instant.at))
            given = replace(given, observed=observed, now=instant.now or instant.at)
        self.course.become_of_engine(instant.engine)
        outcome = self.course.outcome_of_pass(replace(source, desired=desired), given)
        return outcome, given

    def _move_truth(self, instant: RecordedInstant, names: NewNames, members: frozenset[str]) -> Changes:
        """Go on in truth to a rendered commit, and count what it changed."""
        changes = {
            ref: (renamed_binding(old, names) if old is not None else None, new)
            for ref, (old, new) in self.truth.move_to(instant.commit.tree).items()
        }
        counts = self.done.truth
        counts.rename_clusters(names)
        counts.count(instant.at, changes, members or _clusters_in(changes))
        counts.commits += 1
        return changes

    def _adopt(self, outcome: Outcome, given: RenderInputs, at: datetime, names: NewNames) -> Iterable[ObjectRef]:
        """Go on in the replay from an outcome, and count what it changed."""
        before = self.course.previous.bindings if self.course.previous is not None else {}
        self._count_refusal(outcome, given.allowed, at)
        is_changed = outcome.is_changed
        assert self._last is not None
        changed = self.course.adopt(outcome, given, commit=self._last.commit.id, version=self._last.engine)
        after = self.course.bindings
        changes = {
            ref: (renamed_binding(before[ref], names) if ref in before else None, after.get(ref)) for ref in changed
        }
        counts, members = self.done.replay, frozenset(each.name for each in outcome.source.desired.clusters)
        counts.rename_clusters(names)
        counts.count(at, changes, members)
        counts.commits += is_changed
        for ref, (old, new) in changes.items():
            for name in clusters_of_binding(new) - clusters_of_binding(old):
                self._arrivals[ref, name] = at
        self._wake = at + _NEXT_LOOK_AFTER if changes else None
        return changed

    def _replay_look(self, instant: RecordedInstant, known: KnownState) -> None:
        """Do a pass by what the status branch recorded between two rendered commits."""
        if self._pass_between(instant.at, known):
            self.done.looks += 1

    def _replay_flips(self, until: datetime) -> None:
        """Do the passes at which answers of the replay flip by themselves, up to a time."""
        known = self.known
        while known is not None and self._at is not None:
            coming = [*self.course.flips_after(self._at), *([self._wake] if self._wake else [])]
            at = min((each for each in coming if self._at < each < until), default=None)
            if at is None:
                return
            self._at = at
            self._pass_time(at, known)
            if self._pass_between(at, known):
                self.done.flips += 1

    def _pass_between(self, at: datetime, known: KnownState) -> bool:
        """Do a pass between two rendered commits; return whether it changed something, and counts."""
        last = self._last
        if last is None or not last.is_rendered or self.course.previous is None:
            return False
        source = self.sources.source(last.source, known.observed)
        desired = self.proposed.laid_over(source.desired)
        if desired is source.desired and not self._elsewhere:
            return False
        speakers, origins = recorded_speakers(self.repository, last.commit.tree)
        observed = replace(known.observed, health=self._assumed_health(known, at))
        given = RenderInputs(observed=observed, now=at, speakers=speakers, origins=origins)
        self.course.become_of_engine(engine_version())
        outcome = self.course.outcome_of_pass(replace(source, desired=desired), given)
        if not outcome.is_changed:
            self.course.leave_as_it_is(outcome, given)
            return False
        plain = replace(given, observed=replace(known.observed, health=known.health))
        if self.real.would_change(last, source, plain, known.commit):
            self.done.uncounted += 1
            return False
        self._note_differences(self._adopt(outcome, given, at, {}))
        return True

    def _assumed_health(self, known: KnownState, at: datetime) -> ObservedHealth:
        """Return what is known of health at a time, and what is assumed of objects that really stood elsewhere."""
        return ReplayedPlaces(
            truth=self.truth.bindings,
            replay=self.course.bindings,
            elsewhere=sorted(self._elsewhere),
            arrivals=self._arrivals,
            ready=known.ready,
            begin=self.past.begin,
            at=at,
            reports=self._reports,
        ).health(known.health)

    def _note_differences(self, refs: Iterable[ObjectRef]) -> None:
        """Remember which objects stand elsewhere in the replay than they really did."""
        for ref in refs:
            really, here = self.truth.bindings.get(ref), self.course.bindings.get(ref)
            if _places(really) == _places(here):
                self._elsewhere.discard(ref)
            else:
                self._elsewhere.add(ref)

    def _count_refusal(self, outcome: Outcome, allowed: Allowed, at: datetime) -> None:
        """Count what the guards would have refused of an outcome that really did not come."""
        if not self.proposed.names:
            return
        try:
            check_guards(outcome, allowed, self.log)
        except GuardRefused as error:
            self.done.refused.append(RefusedByGuards(at=at, message=error.message.partition("\n")[0]))

    def _pass_time(self, at: datetime, known: KnownState) -> None:
        for counts in (self.done.truth, self.done.replay):
            counts.pass_time(at, known.not_ready)


def _entries_that_decide(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: id_ for name, id_ in entries.items() if name != _EMITTED}


def _places(binding: Binding | None) -> object:
    """Return what has to be equal for an object to stand in a replay where it really did."""
    if binding is None:
        return None
    tasks = tuple((task.from_cluster, task.creation_timestamp) for task in binding.eviction_tasks)
    return sorted(binding.targets), sorted(binding.final_targets), tasks, binding.rollout


def _clusters_in(changes: Changes) -> frozenset[str]:
    return frozenset(each.name for pair in changes.values() for one in pair if one for each in one.targets)
