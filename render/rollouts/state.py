"""The state of a rollout that is kept from pass to pass, and what a pass sees and decides, as values."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct, field

from render.cluster_index import ClusterIndex
from render.model import ObjectRef, TargetCluster
from render.object_rollout import name_of_rollout
from render.timing import Flip, instant_text
from render.words import first_few

from .checks import Answers, CheckQuestion
from .commands import rollout_command
from .policy import RolloutControl, RolloutPolicy
from .status_ages import StatusAge, StatusLooks


class Change(Struct, frozen=True, kw_only=True):
    """All that goes out together: ``digest`` names the versions of the objects, ``commits`` are those it came by.

    ``group`` is the group of objects that it is of ("": the policy makes none).
    """

    digest: str
    commits: tuple[str, ...] = ()
    group: str = ""


class WaitingChange(Struct, frozen=True, kw_only=True):
    """A newer change that waits for the end of another: the ``versions`` that its objects are to come to, in order."""

    digest: str
    commits: tuple[str, ...] = ()
    versions: tuple[tuple[ObjectRef, str], ...] = ()


class OneWayChange(Struct, frozen=True, kw_only=True):
    """A change of an object that does not go back with a rollback, and the reason."""

    ref: ObjectRef
    reason: str


class ClusterObservation(Struct, frozen=True, kw_only=True):
    """The knowledge about a cluster that the change is for.

    ``well_since``: all objects of the change stand there as given, or as before in one that went back, and are healthy
    since then; None: they do not, are not, or nobody knows. ``is_reachable`` is false as well where nobody knows.
    """

    is_reachable: bool = True
    is_suspended: bool = False
    well_since: datetime | None = None


class RolloutFacts(Struct, frozen=True, kw_only=True):
    """The facts that a pass decides on a rollout by.

    ``clusters`` are the names of those that the change is for: their bytes differ from what they stand at, or they were
    given it already. Those ``given_before`` have it from an earlier rollout that was not completed. To those that are
    ``unaffected`` its objects go as well, and are the same bytes there. A cluster that was not ``observed`` is one of
    which nobody knows anything. ``controls`` are all RolloutControls of the source. ``closed`` are the clusters that
    the calendar of argosy.yaml closes now, with what they wait for, and ``calendar_flip`` is when it does no longer, or
    closes others. ``is_calendar_lifted``: no window and no freeze counts, neither its own nor those of the policy.
    Clusters that are ``away`` stand at other bytes than those of the version that was completed last. ``looks`` say how
    old the status of a cluster is.
    """

    fleet: ClusterIndex
    clusters: frozenset[str]
    unaffected: frozenset[str] = frozenset()
    given_before: frozenset[str] = frozenset()
    observed: Mapping[str, ClusterObservation]
    controls: tuple[RolloutControl, ...] = ()
    now: datetime
    closed: Mapping[str, str] = field(default_factory=dict)
    calendar_flip: Flip | None = None
    is_calendar_lifted: bool = False
    away: frozenset[str] = frozenset()
    answers: Answers = field(default_factory=dict)
    looks: StatusLooks = field(default_factory=StatusLooks)


class Given(Struct, frozen=True, kw_only=True):
    """A cluster that was given the change, since when its deadline runs, and when it was seen through its gate.

    A cluster that was through and is no longer starts anew: ``at`` is the instant of that observation. While it
    ``has_old_status``, of an age that its gate does not go by, nobody knows whether it still is well: it is not through
    meanwhile, and its time goes on.
    """

    cluster: str
    at: datetime
    through: datetime | None = None
    has_old_status: bool = False

    @property
    def is_through(self) -> bool:
        """Say whether it is through its gate, as far as is known."""
        return self.through is not None and not self.has_old_status


class RolloutPhase(StrEnum):
    """The state of a rollout as people are told it."""

    PROGRESSING = "Progressing"
    WAITING = "Waiting"
    PAUSED = "Paused"
    FAILED = "Failed"
    HELD = "Held"
    COMPLETED = "Completed"


class RolloutReason(StrEnum):
    """The reason for a phase."""

    CLUSTERS_UNDER_WAY = "ClustersUnderWay"
    CLUSTERS_UNWELL = "ClustersUnwell"
    CLUSTERS_FAILED = "ClustersFailed"
    NOBODY_REACHABLE = "NobodyReachable"
    APPROVAL_MISSING = "ApprovalMissing"
    WAVE_EMPTY = "WaveEmpty"
    TOO_MANY_UNREACHABLE = "TooManyUnreachable"
    TOO_MANY_FAILURES = "TooManyFailures"
    OUTSIDE_WINDOW = "OutsideWindow"
    FROZEN = "Frozen"
    PAUSED_BY_CONTROL = "PausedByControl"
    ROLLING_BACK = "RollingBack"
    ROLLED_BACK = "RolledBack"
    ABORTED_BY_CONTROL = "AbortedByControl"
    CHECK_NOT_MET = "CheckNotMet"
    STATUS_TOO_OLD = "StatusTooOld"
    EVERY_CLUSTER_THROUGH = "EveryClusterThrough"


_GOING_ON = frozenset({RolloutPhase.PROGRESSING, RolloutPhase.WAITING})
_OVER_UNTIL_ASKED = frozenset({RolloutPhase.FAILED, RolloutPhase.HELD})
_WAITING_FOR_NO_CLUSTER = frozenset(
    {
        RolloutReason.APPROVAL_MISSING,
        RolloutReason.WAVE_EMPTY,
        RolloutReason.OUTSIDE_WINDOW,
        RolloutReason.FROZEN,
        RolloutReason.CHECK_NOT_MET,
    }
)


class SplitToRestore(Struct, frozen=True, kw_only=True):
    """The replicas of an object that clusters had before a change, and have again after a rollback of it."""

    ref: ObjectRef
    targets: tuple[TargetCluster, ...]

    def __str__(self) -> str:
        clusters = [f"{each.name}={each.replicas}" if each.replicas else each.name for each in self.targets]
        return f"{self.ref}: {first_few(clusters)}"


class RolloutState(Struct, frozen=True, kw_only=True):
    """A rollout as its file on the rendered branch has it.

    ``plan`` is the policy that it goes by. ``wave`` is the last one that has begun ("": none), ``since`` and
    ``wave_since`` when the rollout and the wave began. ``seats`` has the wave of each cluster, by which a cluster stays
    in its wave when others join and leave, in the order in which they are given the change. ``next_step`` says in a
    sentence what it waits for or who has to do what. ``reason_since`` is when the reason came to be so where that was
    after the phase did (None: with it). ``heard`` are the names of the RolloutControls that have had their
    one effect, ``void_controls`` those of approvals that another change has made void. ``group`` is the group of
    objects that the change is of. ``queue`` has the newer changes that wait for its end, in the order in which they go
    out. While it goes back by waves ``back`` has the clusters that did, and since when. ``one_way`` says what of the
    change would not go back, ``restores`` which replicas of before the change a rollback gives back, and ``unrestored``
    which of them it could not.
    """

    plan: RolloutPolicy
    change: str
    commits: tuple[str, ...] = ()
    since: datetime
    wave: str = ""
    wave_since: datetime
    given: tuple[Given, ...] = ()
    seats: Mapping[str, str] = field(default_factory=dict)
    phase: RolloutPhase = RolloutPhase.PROGRESSING
    phase_since: datetime
    reason: RolloutReason = RolloutReason.CLUSTERS_UNDER_WAY
    reason_since: datetime | None = None
    next_step: str = ""
    heard: tuple[str, ...] = ()
    void_controls: tuple[str, ...] = ()
    group: str = ""
    queue: tuple[WaitingChange, ...] = ()
    back: tuple[Given, ...] = ()
    one_way: tuple[OneWayChange, ...] = ()
    restores: tuple[SplitToRestore, ...] = ()
    unrestored: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The rollout as people are told of it."""
        return name_of_rollout(str(self.plan), self.group)

    def command(self, verb: str) -> str:
        """Return the command by which a person says something about it, named so that it can be copied as it is."""
        return rollout_command(verb, str(self.plan), self.group)

    @property
    def waits_since(self) -> datetime:
        """The time since when its phase is so for this reason: since when what it waits for is waited for."""
        return self.reason_since or self.phase_since

    @property
    def is_completed(self) -> bool:
        """Say whether it has ended well."""
        return self.phase is RolloutPhase.COMPLETED

    @property
    def is_held(self) -> bool:
        """Say whether its change is kept out, after a rollback or an abort, until there is a newer one."""
        return self.phase is RolloutPhase.HELD

    @property
    def hold(self) -> str:
        """The hold on its change in words, as those on clusters are told."""
        since = instant_text(self.phase_since)
        return f"{self.name} is held: change {self.change} is kept out since {since} ({self.reason})"

    @property
    def waits_for_clusters(self) -> bool:
        """Say whether what is seen of clusters can lead to another step, without a time or a person that it waits for.

        Those that were given the change can still fail while it goes to no other.
        """
        if self.reason is RolloutReason.ROLLING_BACK:
            return True
        if self.phase in _OVER_UNTIL_ASKED:
            return bool(self.queue)  # the next pass begins with the first that waits
        if self.is_completed:
            return False
        has_stragglers = any(not each.is_through for each in self.given)
        return has_stragglers or (self.phase in _GOING_ON and self.reason not in _WAITING_FOR_NO_CLUSTER)


def times_of_phase(
    before: RolloutState | None, phase: RolloutPhase, reason: RolloutReason, now: datetime
) -> tuple[datetime, datetime | None]:
    """Return since when a rollout is in a phase, and since when for a reason, where that came later."""
    if before is None or before.phase is not phase:
        return now, None
    return before.phase_since, before.reason_since if before.reason is reason else now


class RolloutStep(Struct, frozen=True, kw_only=True):
    """The answer of a pass: the new state (None: there is no rollout), and the clusters that get the change.

    ``due``: all other clusters keep the version that they stand at, but for those that are ``withdrawn``: these go back
    to the version that was completed last. ``flip`` is when the same facts give another answer. ``notes`` are sentences
    about clusters that are passed over. ``questions`` are those whose answers it goes by, and ``status_ages`` the
    answers how old what is known of clusters is.
    """

    state: RolloutState | None
    due: frozenset[str] = frozenset()
    withdrawn: frozenset[str] = frozenset()
    flip: Flip | None = None
    notes: tuple[str, ...] = ()
    questions: tuple[CheckQuestion, ...] = ()
    status_ages: tuple[StatusAge, ...] = ()
