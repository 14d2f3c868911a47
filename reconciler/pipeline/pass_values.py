"""The values of a pass: its inputs, what it decides and builds, and the tree that comes of it."""

from collections.abc import Mapping

from msgspec import Struct, field

from reconciler.ledger.facts import Facts
from reconciler.ledger.webhook_answers import Answers
from reconciler.source.desired import Desired
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.layout import object_path
from render.model import ObjectRef, Template
from render.rollouts.policy import RolloutControl
from render.timing import Flip, earliest_flip, earliest_flip_of_each_key
from render.works import WorkContext, Works

from .assembly import (
    Tree,
)
from .claims import Claims
from .cluster_removals import Paths, Removal
from .cron import CronScaling
from .dependencies import Following
from .descheduling import Descheduling
from .failover import FailedOver, FailoverInputs
from .former_splits import NO_RESTORATIONS, Restorations
from .moves import MovedBindings, MoveInputs
from .previous import Previous
from .readme import Tally
from .reserves import Reserves
from .rollouts.origins import OriginRule
from .rollouts.speakers import controls_with_speakers
from .rollouts.stage_values import RolledOut, RolloutInputs
from .schedules import Schedule
from .scope import Scope
from .taints import TaintedClusters
from .webhook_answers import Recording


class Inputs(Struct, frozen=True, kw_only=True):
    """All that decides a rendered tree. ``previous`` None is a first run; ``reserves`` are the previous commit's.

    ``answers`` are the recorded answers of interpreter webhooks. ``scope`` limits what is looked at (None: everything);
    it decides how long a pass takes, and nothing else. ``allowed_removals`` are the objects that may leave a cluster
    beyond the limits of the removal guard, where it holds back clusters one by one. ``failover`` has the time and
    the health that evictions depend on, ``rollouts`` what rollouts that are under way go by,
    and ``moves`` what replicas that move wait for. ``restorations`` are the splits that are to stand again.
    """

    desired: Desired
    facts: Facts
    previous: Previous | None
    source: str
    reserves: Reserves = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    scope: Scope | None = None
    allowed_removals: Mapping[str, int] = field(default_factory=dict)
    failover: FailoverInputs = field(default_factory=FailoverInputs)
    rollouts: RolloutInputs = field(default_factory=RolloutInputs)
    moves: MoveInputs = field(default_factory=MoveInputs)
    restorations: Restorations = NO_RESTORATIONS

    @property
    def controls(self) -> tuple[RolloutControl, ...]:
        """The RolloutControls of the source, with the persons who stand behind them."""
        given = self.rollouts
        rule = OriginRule(
            origins=given.origins,
            states=tuple(given.states.values()),
            source=self.source,
            reviewers=self.desired.fleet.rollouts.reviewers,
        )
        return controls_with_speakers(self.desired.rollout_controls, given.speakers, rule)

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates to look at."""
        scope, templates = self.scope, self.desired.templates
        return templates if scope is None else tuple(each for each in templates if each.ref in scope.refs)


class Built(Struct, frozen=True, kw_only=True):
    """The decisions and works of a pass, before the tree is put together."""

    index: ClusterIndex
    work_context: WorkContext
    claims: Claims
    schedule: Schedule
    failover: FailedOver
    descheduling: Descheduling
    cron: CronScaling
    tainted: TaintedClusters
    following: Following
    rolled: RolledOut
    moved: MovedBindings
    works: Mapping[ObjectRef, Works]
    bindings: tuple[Binding, ...]
    webhooks: Recording

    @property
    def flip(self) -> Flip | None:
        """The next instant at which the same inputs give another outcome, and what happens then."""
        return earliest_flip(
            (self.failover.flip, self.descheduling.flip, self.cron.flip, self.rolled.flip, self.moved.flip)
        )

    @property
    def is_timed(self) -> bool:
        """Say whether a rule asked for the time."""
        return any(each.is_timed for each in (self.failover, self.descheduling, self.cron, self.rolled, self.moved))

    @property
    def flips_by_waiting_object(self) -> Mapping[ObjectRef, Flip]:
        """The next instant at which each object that waits for one has another outcome, but for rules of cron."""
        return earliest_flip_of_each_key(self.failover.waits, self.descheduling.waits)

    @property
    def removals_judged_before(self) -> Mapping[str, frozenset[tuple[str, ...]]]:
        """The paths below the folder of each cluster that leave it by failover, or at the end of a move or a removal.

        Nobody is asked about the latter: the whole of them was judged when they began.
        """
        return _joined_paths(self.failover.removed_paths, self.moved.ended, self.rolled.departures.expected)

    @property
    def begun_removals(self) -> Mapping[str, Paths]:
        """The paths below the folder of each cluster that leave it by moves and removals which begin in the pass."""
        return _joined_paths(self.moved.begun, self.rolled.departures.begun)

    @property
    def expected_removals(self) -> Mapping[str, frozenset[tuple[str, ...]]]:
        """The paths below the folder of each cluster that may be gone because of a rule of time, or of moves."""
        known = self.removals_judged_before
        descheduled = self.descheduling.replicas_lost_by_object
        changed = frozenset(tuple(object_path(ref)) for ref in {*self.cron.fired, *descheduled})
        if not changed:
            return known
        return {name: known.get(name, frozenset()) | changed for name in self.index.names}


def _joined_paths(*several: Mapping[str, Paths]) -> Mapping[str, Paths]:
    return {
        name: frozenset().union(*(each.get(name, frozenset()) for each in several))
        for name in frozenset().union(*several)
    }


class Rendered(Struct, frozen=True, kw_only=True):
    """The result of a pass: the tree, how every binding came to be, the namespaces of its objects, and its counts.

    ``held_removals`` are the removals that hold back their clusters.
    """

    tree: Tree
    built: Built
    namespaces: tuple[tuple[Template, Works], ...]
    tally: Tally
    held_removals: tuple[Removal, ...] = ()
