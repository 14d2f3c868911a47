"""Moves step by step: replicas leave clusters only as their successors elsewhere are seen ready (``MakeBeforeBreak``).

1. scheduling decides as always, from the targets that it decided on before (``claims``);
2. between what the previous commit gave to clusters and that decision, ``render.moves`` finds the next step;
3. the binding has that step as its targets, so that works, dependencies, rollouts and everything that reads bindings go
   by what clusters are given; what it ends with is kept beside it (``Binding.moving``) until both are the same.

The decision of a move asks no clock: a deadline only says when its waiting is a problem. It waits for health as it was
observed, which stands in the rendered commit.

What is evicted from a cluster that is not known to be well is held there no longer than its grace period, and what
leaves directly not at all: these are the business of failover.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from render.binding import Binding, Condition, Moving
from render.cluster_index import ClusterIndex
from render.failover.eviction import DIRECTLY
from render.failover.health import is_known_to_be_ready
from render.failover.tasks import HEALTHY, UNHEALTHY
from render.kinds import BUILT_IN
from render.layout import object_path
from render.model import ObjectRef, TargetCluster
from render.moves.steps import Move, clusters_waited_for, replicas_of_next_step
from render.rollouts.policy import GradualAction, RolloutPolicy
from render.settings.moves import MoveSettings
from render.timing import Flip, earliest_flip
from render.words import first_few

from .cluster_removals import Paths
from .eviction_notes import MAKE_BEFORE_BREAK, MOVE_STOPPED, MOVING
from .move_waits import MoveWait
from .need_notes import needed_notes
from .rendered_condition import with_condition

_STATEFUL_SET = "StatefulSet.apps"


class MoveInputs(Struct, frozen=True, kw_only=True):
    """The inputs of moves beside the source: the observed health of what moves."""

    health: ObservedHealth = field(default_factory=ObservedHealth)


class MovedBindings(Struct, frozen=True, kw_only=True):
    """The bindings of a pass with the step that each is at.

    ``decided`` are the objects whose health was asked. ``begun`` are the paths that leave clusters once moves that
    begin in this pass are done, ``ended`` those that leave with this pass. ``notes`` say what is waited for.
    ``flip`` is when the next deadline of one passes; ``is_timed``: some have one.
    """

    bindings: tuple[Binding, ...]
    decided: frozenset[ObjectRef] = frozenset()
    begun: Mapping[str, Paths] = field(default_factory=dict)
    ended: Mapping[str, Paths] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flip: Flip | None = None
    is_timed: bool = False

    @property
    def is_under_way(self) -> bool:
        """Say whether anything is on its way step by step."""
        return bool(self.decided) and any(each.moving is not None for each in self.bindings if each.ref in self.decided)

    def with_needed_objects(self, bindings: Iterable[Binding], before: Mapping[ObjectRef, Binding]) -> "MovedBindings":
        """Return this with what leaves clusters beside copies: objects that stay there only for their sake."""
        if not self.begun and not self.ended:
            return self
        kept = [(each.ref, _clusters_in_need(each), _clusters_in_need(before.get(each.ref))) for each in bindings]
        begun = paths_by_cluster((ref, (now - past) & self.begun.keys()) for ref, now, past in kept)
        ended = paths_by_cluster((ref, (past - now) & self.ended.keys()) for ref, now, past in kept)
        return replace(self, begun=joined_paths(self.begun, begun), ended=joined_paths(self.ended, ended))


class MoveStage(Struct, frozen=True, kw_only=True):
    """The stage with its inputs: the bindings of the previous commit, observed health, and the source of the pass.

    ``settings_of`` returns how an object moves. ``placed`` are those whose placement goes out otherwise.
    ``is_judged_whole``: guards judge a move when it begins, and not what leaves clusters when it ends.
    """

    before: Mapping[ObjectRef, Binding]
    health: ObservedHealth
    index: ClusterIndex
    settings_of: Callable[[ObjectRef], MoveSettings]
    source: str
    is_judged_whole: bool = True
    placed: Container[ObjectRef] = frozenset()
    now: datetime | None = None

    def moved(self, bindings: Sequence[Binding]) -> MovedBindings:
        """Return bindings with the targets of the next step, where they are to move step by step."""
        unwell = frozenset(
            name
            for name, conditions in self.health.conditions.items()
            if conditions and not is_known_to_be_ready(conditions)
        )
        steps = [self._step(binding, unwell) for binding in bindings]
        return MovedBindings(
            bindings=tuple(each.binding for each in steps),
            decided=frozenset(each.binding.ref for each in steps if each.is_decided),
            begun=paths_by_cluster((each.binding.ref, each.begun) for each in steps if self.is_judged_whole),
            ended=paths_by_cluster((each.binding.ref, each.ended) for each in steps if self.is_judged_whole),
            notes=tuple(note for each in steps for note in each.notes),
            flip=earliest_flip(each.flip for each in steps),
            is_timed=any(each.binding.moving is not None and bool(each.binding.moving.since) for each in steps),
        )

    def _step(self, decided: Binding, unwell: frozenset[str]) -> "_Step":
        binding, before = binding_without_move_note(decided), self.before.get(decided.ref)
        if before is None or (before.moving is None and before.targets == binding.targets):
            return _Step(binding=binding)
        if binding.ref in self.placed:
            return _Step(binding=binding)
        settings = self.settings_of(binding.ref)
        if not settings.is_make_before_break or not moves_in_steps(binding) or before.overridden:
            return _Step(binding=binding)
        move = self._move_of(binding, before, unwell)
        replicas = replicas_of_next_step(move, settings)
        is_step = replicas != _counts_by_cluster(before.targets, binding)
        wait = MoveWait.of_pass(before, settings.deadline_seconds, self.now, is_step=is_step)
        at_step = self._binding_at_step(binding, before, replicas, wait)
        return _Step(
            binding=at_step,
            flip=wait.flip(binding.ref) if at_step.moving is not None else None,
            is_decided=True,
            begun=_names_left(before.final_targets, binding.targets) & replicas.keys() - _evicted_from(binding),
            ended=_names_left(before.targets, before.final_targets) - replicas.keys(),
            notes=tuple(self._notes(binding, move, replicas, wait)),
        )

    def _move_of(self, binding: Binding, before: Binding, unwell: frozenset[str]) -> Move:
        gone = _clusters_not_held(binding, before, unwell)
        given = [each for each in before.targets if each.name in self.index.index_by_name and each.name not in gone]
        reports = self.health.workloads.get(binding.ref, ())
        return Move(
            asked=_counts_by_cluster(binding.targets, binding),
            given=_counts_by_cluster(given, binding),
            ready=dict(_ready_by_cluster(reports, binding)),
            ailing=frozenset(each.cluster for each in reports if each.health == UNHEALTHY),
            unwell=unwell,
            is_whole=counts_whole_copies(binding),
            is_ordered=binding.ref.group_kind == _STATEFUL_SET,
            is_under_way=before.moving is not None,
        )

    def _binding_at_step(
        self, binding: Binding, before: Binding, replicas: Mapping[str, int], wait: MoveWait
    ) -> Binding:
        """Return a binding at a step, with a note; one that has all that was decided as it is."""
        asked = {each.name: each.replicas for each in binding.targets}
        if not binding.replicas:
            replicas = {
                each.name: each.replicas for each in (*before.targets, *binding.targets) if each.name in replicas
            }
        if replicas == asked:
            return binding
        listed = (*(name for name in asked if name in replicas), *sorted(replicas.keys() - asked.keys()))
        at_step = replace(
            binding,
            targets=tuple(TargetCluster(name, replicas[name]) for name in listed),
            moving=Moving(asked=binding.targets, since=wait.since),
        )
        changing = sorted(name for name in {*replicas, *asked} if replicas.get(name) != asked.get(name))
        note = Condition(
            type=MOVING,
            status="False",
            reason=MOVE_STOPPED if wait.is_over else MAKE_BEFORE_BREAK,
            message=wait.words(_words_of_step(asked, replicas, changing, is_whole=counts_whole_copies(binding))),
            clusters=tuple(name for name in changing if name in replicas),
        )
        return with_condition(at_step, note, self.before, self.source)

    def _notes(self, binding: Binding, move: Move, replicas: Mapping[str, int], wait: MoveWait) -> Iterator[str]:
        """Yield what a move waits for."""
        waiting = clusters_waited_for(move, replicas)
        if waiting and replicas.keys() | move.asked.keys() and dict(replicas) != dict(move.asked):
            words = [_words_of_waiting(name, move, replicas[name]) for name in waiting]
            verb = "has stopped on its way" if wait.is_over else "moves step by step"
            yield f"{binding.ref} {verb}, and waits for {first_few(words)}"


def move_settings_of_policy(policy: RolloutPolicy | None, fleet: MoveSettings) -> MoveSettings:
    """Return how what a rollout policy selects moves (None: no policy does); what it does not say, the fleet says."""
    if policy is None:
        return fleet
    if GradualAction.PLACEMENT in policy.also_for:  # what waves let out is freed by them
        return MoveSettings()
    is_gradual, surge, unavailable = policy.is_make_before_break, policy.surge, policy.max_unavailable
    return MoveSettings(
        is_make_before_break=fleet.is_make_before_break if is_gradual is None else is_gradual,
        surge=fleet.surge if surge is None else surge,
        max_unavailable=fleet.max_unavailable if unavailable is None else unavailable,
        deadline=policy.move_deadline or fleet.deadline,
    )


def may_moves_be_gradual(fleet: MoveSettings, policies: Iterable[RolloutPolicy]) -> bool:
    """Say whether anything moves step by step."""
    return fleet.is_make_before_break or any(each.is_make_before_break for each in policies)


class _Step(Struct, frozen=True, kw_only=True):
    """The step of one binding: what was decided, the clusters whose copies begin to leave, and those that have."""

    binding: Binding
    is_decided: bool = False
    begun: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    flip: Flip | None = None


def moves_in_steps(binding: Binding) -> bool:
    """Say whether the copies of an object are such that others can take over from them: they have pods that go on.

    What runs to completion, is placed by nobody or has begun where it is stays out of this.
    """
    kind = BUILT_IN.get((binding.ref.group, binding.ref.kind))
    has_pods = binding.is_workload or (kind is not None and bool(kind.pod_spec))
    return has_pods and bool(binding.placement and binding.targets) and not binding.is_whole and not _is_run(binding)


def _is_run(binding: Binding) -> bool:
    kind = BUILT_IN.get((binding.ref.group, binding.ref.kind))
    return binding.completions is not None or (kind is not None and kind.is_run)


def counts_whole_copies(binding: Binding) -> bool:
    """Say whether each cluster has all of an object, so that its copies come and go as a whole."""
    return not binding.is_divided or bool(binding.components) or not binding.is_workload


def _clusters_not_held(binding: Binding, before: Binding, unwell: frozenset[str]) -> frozenset[str]:
    """Return the clusters in which an object is not held: it leaves directly, or there is no sign of it for too long.

    One that is evicted from a cluster which is not known to be well is given up there with the end of its grace period.
    """
    directly = {task.from_cluster for task in binding.eviction_tasks if task.purge_mode == DIRECTLY}
    return frozenset(directly) | ((_evicted_from(before) - _evicted_from(binding)) & unwell)


def _evicted_from(binding: Binding) -> frozenset[str]:
    return frozenset(task.from_cluster for task in binding.eviction_tasks)


def _names_left(before: Iterable[TargetCluster], after: Iterable[TargetCluster]) -> frozenset[str]:
    return frozenset(each.name for each in before) - frozenset(each.name for each in after)


def _counts_by_cluster(targets: Iterable[TargetCluster], binding: Binding) -> dict[str, int]:
    """Return what each cluster has: its replicas, or one copy of what has none that are counted."""
    return {each.name: each.replicas if binding.replicas else 1 for each in targets}


def _ready_by_cluster(reports: Iterable[ReportedHealth], binding: Binding) -> Iterator[tuple[str, int]]:
    """Yield the replicas that clusters are known to have ready; of copies without any, whether they are healthy."""
    for each in reports:
        if not binding.replicas and each.health in {HEALTHY, UNHEALTHY}:
            yield each.cluster, int(each.health == HEALTHY)
        elif binding.replicas and each.ready is not None and each.health in {HEALTHY, UNHEALTHY}:
            yield each.cluster, each.ready


def paths_by_cluster(left: Iterable[tuple[ObjectRef, frozenset[str]]]) -> dict[str, Paths]:
    """Return the paths of objects by the clusters that they leave."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for ref, clusters in left:
        for cluster in clusters:
            found.setdefault(cluster, set()).add(tuple(object_path(ref)))
    return {cluster: frozenset(paths) for cluster, paths in found.items()}


def joined_paths(one: Mapping[str, Paths], other: Mapping[str, Paths]) -> dict[str, Paths]:
    """Return the paths of both by cluster."""
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in {*one, *other}}


def _clusters_in_need(binding: Binding | None) -> frozenset[str]:
    """Return the clusters in which an object stays for the sake of others."""
    notes = needed_notes(binding) if binding is not None else ()
    return frozenset(name for note in notes for name in note.clusters)


def binding_without_move_note(binding: Binding) -> Binding:
    """Return a binding without the note of an earlier step."""
    if not any(each.type == MOVING for each in binding.conditions):
        return binding
    return replace(binding, conditions=tuple(each for each in binding.conditions if each.type != MOVING))


def _words_of_step(
    asked: Mapping[str, int], replicas: Mapping[str, int], changing: Sequence[str], *, is_whole: bool
) -> str:
    """Return where an object stands on its way, in words that only another step changes."""
    if is_whole:
        leaving = first_few([name for name in changing if name not in asked])
        return f"stays in {leaving} until its copies in other clusters are healthy"
    words = [f"{name} has {replicas.get(name, 0)} and ends with {asked.get(name, 0)}" for name in changing]
    return f"moves step by step: {first_few(words)}; the next step comes when enough of them are ready"


def _words_of_waiting(cluster: str, move: Move, replicas: int) -> str:
    """Return why a cluster is waited for."""
    if cluster in move.unwell:
        return f"{cluster}, which is not known to be well"
    if cluster not in move.ready:
        return f"{cluster}, where nobody knows yet what is ready"
    return f"{cluster}, where {min(move.ready[cluster], replicas)} of {replicas} replicas are ready"
