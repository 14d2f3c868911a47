"""The descheduler in a pass: replicas that a cluster could not start for a while are placed elsewhere.

1. the replicas of pods that no node has taken for longer than the threshold leave their cluster, which gets no others
   of the workload for an interval;
2. all is scheduled; what no other cluster has room for stays where it is, and scheduling is done once more.

Only a fleet that asks for it has one, and without a time nothing of this happens: what is there stays as it is.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding, Condition, DescheduledReplicas
from render.model import ObjectRef, TargetCluster
from render.rescheduling.descheduling import count_of_unschedulable_pods, is_deschedulable, targets_after_descheduling
from render.scheduling.scheduler import is_schedulable
from render.settings.fleet import Fleet
from render.timing import Flip, earliest_flip, instant_after, instant_text, parse_instant
from render.words import counted_noun

from .failover import FailoverInputs
from .schedules import Schedule, has_no_place
from .sight import Sight

DESCHEDULED = "Descheduled"
NO_ROOM = "NoRoomElsewhere"


class Descheduling(Struct, frozen=True, kw_only=True):
    """The bindings of a pass after the descheduler, and those it took replicas from as they were ``before``.

    ``is_timed``: it asked for the time. ``flip`` is when the same facts give another outcome, ``waits`` when those of
    each object do.
    """

    bindings: tuple[Binding, ...]
    before: Mapping[ObjectRef, Binding] = field(default_factory=dict)
    is_timed: bool = False
    flip: Flip | None = None
    waits: Mapping[ObjectRef, Flip] = field(default_factory=dict)

    @property
    def replicas_lost_by_object(self) -> Mapping[ObjectRef, DescheduledReplicas]:
        """The replicas that clusters lose in this pass."""
        return {each.ref: each.descheduled for each in self.bindings if each.ref in self.before and each.descheduled}

    def without(self, refs: Collection[ObjectRef]) -> "Descheduling":
        """Return this with objects that stay as they were, for no other cluster has room."""
        bindings = tuple(
            _binding_with_kept_record(self.before[each.ref], each) if each.ref in refs else each
            for each in self.bindings
        )
        return replace(
            self, bindings=bindings, before={ref: each for ref, each in self.before.items() if ref not in refs}
        )


def deschedule_bindings(
    bindings: Iterable[Binding],
    leaving: Collection[ObjectRef],
    fleet: Fleet,
    inputs: FailoverInputs,
    sight: Sight | None = None,
) -> Descheduling:
    """Take from clusters the replicas that they cannot start; what is ``leaving`` some in this pass is left alone.

    Nothing is taken from clusters that ``sight`` says nobody sees now, and nothing goes to those not known to be well.
    """
    if inputs.now is None:
        return Descheduling(bindings=tuple(bindings))
    if not fleet.descheduler.is_enabled:
        return Descheduling(bindings=tuple(map(_binding_without_descheduling, bindings)))
    round_ = _DeschedulingRound(fleet, inputs, inputs.now, sight or Sight())
    return Descheduling(
        bindings=tuple(each if each.ref in leaving else round_.deschedule_binding(each) for each in bindings),
        before=round_.before,
        is_timed=bool(round_.waits or round_.before or round_.is_avoiding),
        flip=earliest_flip(round_.waits.values()),
        waits=round_.waits,
    )


def descheduling_with_places(
    lowered: Descheduling, fleet: Fleet, schedule: Callable[[Sequence[Binding]], Schedule]
) -> tuple[Descheduling, Schedule]:
    """Schedule bindings after the descheduler; what has no place elsewhere stays, if the fleet keeps last copies."""
    while True:
        result = schedule(lowered.bindings)
        stuck = objects_without_place(lowered, result) if fleet.failover.guard.keeps_last_copy else frozenset()
        if not stuck:
            return lowered, result
        lowered = lowered.without(stuck)


def objects_without_place(done: Descheduling, schedule: Schedule) -> frozenset[ObjectRef]:
    """Return the objects that lost replicas in this pass, and that no other clusters have room for."""
    return frozenset(ref for ref in done.before if has_no_place(schedule, ref))


def _binding_without_descheduling(binding: Binding) -> Binding:
    """Return a binding without what an earlier descheduler left in it."""
    binding = _binding_without_note(binding)
    return binding if binding.descheduled is None else replace(binding, descheduled=None)


def _binding_without_note(binding: Binding) -> Binding:
    if not any(each.type == DESCHEDULED for each in binding.conditions):
        return binding
    return replace(binding, conditions=tuple(each for each in binding.conditions if each.type != DESCHEDULED))


def _binding_with_kept_record(before: Binding, lowered: Binding) -> Binding:
    """Return a binding as it was, with a note about the replicas that cannot start and go nowhere else."""
    assert lowered.descheduled is not None
    taken = lowered.descheduled.clusters
    counts = ", ".join(f"{counted_noun(each.replicas, 'replica')} in {each.name}" for each in taken)
    note = Condition(
        type=DESCHEDULED,
        status="False",
        reason=NO_ROOM,
        message=f"no node takes {counts}, and no other cluster has room",
        clusters=tuple(each.name for each in taken),
    )
    return replace(before, conditions=(*before.conditions, note))


class _DeschedulingRound:
    """One round over the bindings of a pass, and its outcome."""

    def __init__(self, fleet: Fleet, inputs: FailoverInputs, now: datetime, sight: Sight) -> None:
        self._sight = sight
        self._settings, self._pending, self._now = fleet.descheduler, inputs.health.pending, now
        self._drops_empty = not fleet.is_karmada_compatible
        self.before: dict[ObjectRef, Binding] = {}
        self.waits: dict[ObjectRef, Flip] = {}
        self.is_avoiding = False

    def deschedule_binding(self, binding: Binding) -> Binding:
        """Return one binding without the replicas that its clusters cannot start."""
        if not is_deschedulable(binding) or not is_schedulable(binding):
            return _binding_without_descheduling(binding)
        binding = self._binding_kept_from_left_clusters(_binding_without_note(binding))
        reports = {
            each.cluster: each for each in self._pending.get(binding.ref, ()) if each.cluster not in self._sight.unseen
        }
        answers = {
            name: count_of_unschedulable_pods(each.pending, self._now, self._settings.threshold_seconds)
            for name, each in reports.items()
            if name in {target.name for target in binding.targets}
        }
        self._note_wait(
            binding.ref, (answer.flip for answer in answers.values()), f"replicas of {binding.ref.name} may move"
        )
        found = targets_after_descheduling(
            binding.targets,
            ready={name: each.ready for name, each in reports.items()},
            unschedulable={name: answer.answer for name, answer in answers.items()},
        )
        if found is None:
            return binding
        self.before[binding.ref] = binding
        taken = tuple(TargetCluster(name, count) for name, count in found.removed.items() if count)
        return replace(
            binding,
            targets=tuple(each for each in found.targets if each.replicas or not self._drops_empty),
            unproven=self._sight.unproven,
            avoided=binding.avoided | {each.name for each in taken} if self._drops_empty else frozenset(),
            descheduled=DescheduledReplicas(at=instant_text(self._now), clusters=taken),
        )

    def _binding_kept_from_left_clusters(self, binding: Binding) -> Binding:
        """Return a binding that does not go back to where it was just taken from."""
        past = binding.descheduled
        since = parse_instant(past.at) if past else None
        if past is None or since is None or not self._drops_empty:
            return binding
        end = instant_after(since, self._settings.interval_seconds)
        if end <= self._now:
            return binding
        self.is_avoiding = True
        names = tuple(each.name for each in past.clusters)
        self._note_wait(binding.ref, [Flip(end)], f"{binding.ref.name} may go to {', '.join(names)} again")
        return replace(binding, avoided=frozenset(names))

    def _note_wait(self, ref: ObjectRef, flips: Iterable[Flip | None], what: str) -> None:
        found = earliest_flip((self.waits.get(ref), *(Flip(each.at, what) for each in flips if each)))
        if found:
            self.waits[ref] = found
