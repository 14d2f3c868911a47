"""RolloutPolicies, and what people say about a rollout that is under way (RolloutControls), as values.

What a policy says for all of its waves stands in each of them that says nothing itself, so that a wave is whole by
itself: waves that have begun keep what they began with when the policy is edited.
"""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct, field

from render.admission.rollouts import FLEET_KIND, IMPLICIT_WAVE
from render.limits import Limit
from render.placement import SpreadField
from render.selectors import ClusterAffinity, ResourceSelector

from .checks import GateCheck


class Gate(Struct, frozen=True, kw_only=True):
    """The gate of each cluster: healthy without a break for some seconds.

    A cluster that is not through ``deadline`` seconds after it was given the change has failed (None: it may take its
    time). The next wave begins once ``share`` of the wave's clusters that are asked about are through (None: once all
    are, but for those that failed). ``checks`` are what somebody outside is asked. No cluster is through by a status
    that is more than ``max_status_age`` seconds old (None: however old it is).
    """

    healthy_for: int = 0
    deadline: int | None = None
    share: Limit | None = None
    checks: tuple[GateCheck, ...] = ()
    max_status_age: int | None = None

    @property
    def cluster_checks(self) -> tuple[GateCheck, ...]:
        """The checks that each cluster has to pass by itself."""
        return tuple(each for each in self.checks if each.is_of_cluster)

    @property
    def checks_before_wave(self) -> tuple[GateCheck, ...]:
        """The checks that a wave has to pass before it begins."""
        return tuple(each for each in self.checks if each.is_before_wave and not each.is_of_cluster)

    @property
    def checks_after_wave(self) -> tuple[GateCheck, ...]:
        """The checks that a wave has to pass before it is over."""
        return tuple(each for each in self.checks if not each.is_before_wave and not each.is_of_cluster)


class DeadlineAction(StrEnum):
    """The meaning of a deadline that has passed: the cluster has failed, or it is only said that it is late."""

    FAIL = "Fail"
    WAIT = "Wait"


class FailureAction(StrEnum):
    """The consequence of more failed clusters than there may be."""

    PAUSE = "Pause"
    ROLLBACK = "Rollback"


class RollbackOrder(StrEnum):
    """The order in which clusters go back: all at once, or the last wave first."""

    AT_ONCE = "AtOnce"
    REVERSE_WAVES = "ReverseWaves"


class NewChangeAction(StrEnum):
    """The effect of a newer change on the one that goes out: it takes its place at once, or waits for its end.

    Those that wait go out one after the other, or all together, or until an approver expedites the newest of them.
    """

    SUPERSEDE = "Supersede"
    WAIT = "Wait"
    COALESCE = "Coalesce"
    EXPEDITE = "Expedite"


class GradualAction(StrEnum):
    """Something that goes out wave by wave, beside changes of objects that are there, where a policy asks for it."""

    FIRST_DELIVERY = "FirstDeliveries"
    REMOVAL = "Removals"
    PLACEMENT = "Placements"


class GroupKey(StrEnum):
    """The way in which what changes is divided into groups, each of which goes out by itself.

    A change is one group, whatever it is of; or each object is one, or all objects with a value of a label.
    """

    CHANGE = "Change"
    OBJECT = "Object"
    LABEL = "Label"


class LimitByField(Struct, frozen=True, kw_only=True):
    """A number of clusters of each region, zone or provider, or a percentage of those of a wave that are there."""

    field: SpreadField
    limit: Limit


class Window(Struct, frozen=True, kw_only=True):
    """Days of the week (0 is Monday) and the minutes of the day from which to which a change may go out."""

    days: tuple[int, ...]
    begins: int
    ends: int
    time_zone: str = "UTC"


class Freeze(Struct, frozen=True, kw_only=True):
    """A time at which no change goes out; without ``begins`` it began long ago."""

    begins: datetime | None = None
    ends: datetime
    reason: str


class Wave(Struct, frozen=True, kw_only=True):
    """A wave: clusters of an affinity, so many of those that are left, or both; without either, all that are left.

    ``max_concurrent`` clusters may be under way at once (None: all of it), and ``max_failures`` of it may fail (None:
    only the limit of the whole rollout counts). Percentages are of the clusters of the wave. Also of each region and
    the like no more than ``max_concurrent_by_field`` says may be under way. ``approvals``: so many persons approve, of
    whom it is known who they are (0: it takes no more than ``is_approval_required`` says).
    """

    name: str
    cluster_affinity: ClusterAffinity | None = None
    size: Limit | None = None
    max_concurrent: Limit | None = None
    max_concurrent_by_field: tuple[LimitByField, ...] = ()
    max_failures: Limit | None = None
    gate: Gate = field(default_factory=Gate)
    is_approval_required: bool = False
    is_empty_allowed: bool = False
    approvals: int = 0

    @property
    def takes_the_rest(self) -> bool:
        """Say whether it takes every cluster that is left."""
        return self.cluster_affinity is None and self.size is None


class RolloutPolicy(Struct, frozen=True, kw_only=True):
    """A RolloutPolicy (``namespace`` set) or a ClusterRolloutPolicy (``namespace`` empty).

    One that ``is_of_fleet`` is neither: it stands for what the calendar of argosy.yaml holds back.

    ``max_failures`` and ``max_unreachable`` (None: any number) are of all clusters that the change is for. ``gate`` and
    ``max_concurrent`` are those of the implicit last wave; the others have them in themselves. ``group_label`` is the
    label that objects are grouped by, where they are grouped by one. ``is_make_before_break``, ``surge``,
    ``max_unavailable`` and ``move_deadline`` say how the replicas of what it selects move (None, or "": as argosy.yaml
    says). ``approvers`` are the persons whose word counts (none: anybody's).
    """

    name: str
    namespace: str = ""
    resource_selectors: tuple[ResourceSelector, ...] = ()
    priority: int = 0
    waves: tuple[Wave, ...] = ()
    gate: Gate = field(default_factory=Gate)
    max_concurrent: Limit | None = None
    max_concurrent_by_field: tuple[LimitByField, ...] = ()
    max_failures: Limit = Limit(0)
    max_unreachable: Limit | None = None
    on_deadline: DeadlineAction = DeadlineAction.FAIL
    on_failure: FailureAction = FailureAction.PAUSE
    on_new_change: NewChangeAction = NewChangeAction.SUPERSEDE
    rollback: RollbackOrder = RollbackOrder.AT_ONCE
    windows: tuple[Window, ...] = ()
    freezes: tuple[Freeze, ...] = ()
    path: str = ""
    document: int = 0
    group_by: GroupKey = GroupKey.CHANGE
    group_label: str = ""
    is_of_fleet: bool = False
    also_for: frozenset[GradualAction] = frozenset()
    is_make_before_break: bool | None = None
    surge: Limit | None = None
    max_unavailable: Limit | None = None
    move_deadline: str = ""
    approvers: tuple[str, ...] = ()

    @property
    def is_namespaced(self) -> bool:
        """Say whether this is a RolloutPolicy rather than a ClusterRolloutPolicy."""
        return bool(self.namespace)

    @property
    def implicit_wave(self) -> Wave:
        """The last wave, of clusters that no other takes."""
        return Wave(
            name=IMPLICIT_WAVE,
            max_concurrent=self.max_concurrent,
            max_concurrent_by_field=self.max_concurrent_by_field,
            gate=self.gate,
            is_empty_allowed=True,
        )

    def __str__(self) -> str:
        if self.namespace:
            return f"RolloutPolicy {self.namespace}/{self.name}"
        if self.is_of_fleet:
            return f"{FLEET_KIND} {self.name}"
        return f"ClusterRolloutPolicy {self.name}"


class RolloutVerb(StrEnum):
    """The requests that a RolloutControl may make."""

    PAUSE = "Pause"
    RESUME = "Resume"
    APPROVE = "Approve"
    RETRY = "Retry"
    ABORT = "Abort"
    EMERGENCY = "Emergency"
    CONFIRM = "Confirm"
    EXPEDITE = "Expedite"


class RolloutControl(Struct, frozen=True, kw_only=True):
    """The request of a person about one change of a rollout; it means nothing for any other change.

    ``rollout`` is the policy as text (``RolloutPolicy shop/web``), ``group`` the group of its objects that the change
    is of ("": it makes none), ``change`` the digest, ``wave`` the one that is approved. ``at`` is RFC 3339 text: of
    those that contradict each other the last one counts, of those at one time the one whose name comes last. ``by`` is
    text; ``verified_by`` is the person whose signature the control has ("": nobody knows). ``reviewed_by`` are those
    whom the forge names as approving of the pull request that it came with, and ``proposed_by`` its author there.
    ``changed_by`` are those who are known to have made the change that it is about.
    """

    name: str
    rollout: str
    change: str
    verb: RolloutVerb
    wave: str = ""
    reason: str = ""
    by: str = ""
    at: str = ""
    path: str = ""
    document: int = 0
    group: str = ""
    verified_by: str = ""
    reviewed_by: tuple[str, ...] = ()
    proposed_by: str = ""
    changed_by: tuple[str, ...] = ()

    @property
    def approving_signers(self) -> frozenset[str]:
        """The person who signed it; nobody approves of a change of their own."""
        return frozenset({self.verified_by}) - {"", *self.changed_by}

    @property
    def approving_reviewers(self) -> frozenset[str]:
        """The persons who approved of it on the forge; nobody approves of a change of their own."""
        return frozenset(self.reviewed_by) - {*self.changed_by}

    @property
    def is_verified(self) -> bool:
        """Say whether it is known of anybody who stands behind it."""
        return bool(self.verified_by or self.reviewed_by)
