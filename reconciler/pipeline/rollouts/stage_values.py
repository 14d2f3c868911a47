"""The inputs of the rollouts of a pass beside its source, and what comes of their steps."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth
from reconciler.pipeline.cluster_removals import NO_DEPARTURES, Departures
from render.binding import Binding
from render.model import ObjectRef
from render.rollouts.checks import Answers, CheckQuestion
from render.rollouts.emergencies import Emergency
from render.rollouts.policy import RolloutControl
from render.rollouts.status_ages import StatusAge, StatusLooks
from render.timing import Flip
from render.words import counted_noun
from render.works import Works

from .origins import NO_ORIGINS, RolloutOrigins
from .speakers import Speakers
from .splits_before_change import RestoredSplits
from .state_files import RolloutStates
from .versions import ClusterAttributes


class RolloutInputs(Struct, frozen=True, kw_only=True):
    """The inputs of rollouts beside the source: their states after the previous pass, health, and answers to checks.

    ``are_over``: every cluster gets the newest version, as if all rollouts were over. ``speakers`` have signed
    RolloutControls, and ``emergencies`` are those that nobody had confirmed. ``pauses`` are those that somebody asked
    for at once. ``attributes`` are those that clusters had in the previous commit. ``upgrade`` is the engine, where
    another one made that. ``looks`` are the last ones at clusters.
    """

    states: RolloutStates = field(default_factory=dict)
    health: ObservedHealth = field(default_factory=ObservedHealth)
    are_over: bool = False
    speakers: Speakers = field(default_factory=dict)
    origins: RolloutOrigins = NO_ORIGINS
    answers: Answers = field(default_factory=dict)
    pauses: tuple[RolloutControl, ...] = ()
    emergencies: tuple[Emergency, ...] = ()
    attributes: Mapping[str, ClusterAttributes] = field(default_factory=dict)
    upgrade: str = ""
    looks: StatusLooks = field(default_factory=StatusLooks)


class RolledOut(Struct, frozen=True, kw_only=True):
    """The bindings and works of a pass after the steps of its rollouts, and what these lead to.

    ``contents`` are those of versions that may be new, by object and digest; ``states`` the rollouts after the pass
    by their policy. ``under_way`` are the objects that health counts for, ``waiting`` those of newer changes that wait
    for the end of one, by policy. ``questions`` are those of checks that the steps went by, and ``status_ages`` the
    answers how old what is known of clusters is. ``emergencies`` are those that nobody has confirmed. ``attributes`` is
    the file of those that clusters have now. ``departures`` are what removals of several waves take away, as guards are
    to judge it: all of it when it begins.
    """

    bindings: tuple[Binding, ...]
    works: Mapping[ObjectRef, Works]
    contents: Mapping[tuple[ObjectRef, str], bytes] = field(default_factory=dict)
    states: RolloutStates = field(default_factory=dict)
    flip: Flip | None = None
    notes: tuple[str, ...] = ()
    under_way: frozenset[ObjectRef] = frozenset()
    waiting: Mapping[str, frozenset[ObjectRef]] = field(default_factory=dict)
    has_calendar: bool = False
    questions: tuple[CheckQuestion, ...] = ()
    status_ages: tuple[StatusAge, ...] = ()
    emergencies: tuple[Emergency, ...] = ()
    attributes: bytes = b""
    departures: Departures = NO_DEPARTURES

    @classmethod
    def of_newest(cls, bindings: Iterable[Binding], works: Mapping[ObjectRef, Works]) -> "RolledOut":
        """Return the outcome where every cluster gets the newest version of each object at once."""
        return cls(
            bindings=tuple(replace(each, rollout=None) if each.rollout else each for each in bindings), works=works
        )

    @property
    def restored_splits(self) -> RestoredSplits:
        """The former targets that rollbacks give back to objects in this pass, or have given back before."""
        rollouts = ((each.ref, each.rollout) for each in self.bindings)
        known = ((ref, rollout.before_change) for ref, rollout in rollouts if rollout is not None)
        return {ref: former for ref, former in known if former is not None and former.is_restored}

    def after_another_round(self, later: "RolledOut") -> "RolledOut":
        """Return what comes of a second round of the same pass; the health and the answers of both have decided."""
        return replace(
            later,
            under_way=self.under_way | later.under_way,
            questions=tuple(dict.fromkeys((*self.questions, *later.questions))),
            notes=tuple(dict.fromkeys((*self.notes, *later.notes))),
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each rollout that is not over, with what comes next, and what is passed over."""
        going = ((name, state) for name, state in sorted(self.states.items()) if not state.is_completed)
        waiting = (
            f"{name}: {counted_noun(len(state.queue), 'newer change')} to go out after the one under way"
            for name, state in sorted(self.states.items())
            if state.queue
        )
        return (*(f"{name} is {state.phase}: {state.next_step}" for name, state in going), *waiting, *self.notes)

    @property
    def waits_for_clusters(self) -> bool:
        """Say whether a rollout can go on by what is seen of clusters."""
        return any(each.waits_for_clusters for each in self.states.values())

    @property
    def is_timed(self) -> bool:
        """Say whether a rollout, or the calendar, asked for the time."""
        return bool(self.under_way or self.emergencies) or self.has_calendar
