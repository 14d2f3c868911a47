"""Schedule one binding: filter the clusters, choose some, assign replicas, or try the next affinity group.

1. Decide whether the binding needs scheduling at all (``triggers``).
2. Attempt each affinity group, from the one in use on (``attempts``):
   a. filter the clusters (``filtering``), put them in order;
   b. choose among them by spread constraints (``spread``);
   c. assign replicas to the chosen (``replicas``); the first group that succeeds decides.
3. If all fail, the first failure is the answer: a binding that fits no cluster loses its targets, any other one
   keeps them.
"""

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding
from render.bits import indexes_of_mask
from render.cluster_index import ClusterIndex

from .attempts import Attempt, attempt_with_group, is_set_in_one_cluster
from .decisions import (
    Refusal,
    ScheduledReason,
    SchedulingDecision,
    Trigger,
    decision_of_refusal,
    decision_of_success,
    decision_without_change,
)
from .filtering import filter_clusters
from .options import SchedulingOptions
from .replicas import Shares, shares_of_idle_workload
from .rules import AffinityGroup
from .state import PassState, Task
from .targets import TargetList, shares_with_empty_clusters
from .triggers import trigger_of_scheduling

DEFAULT_SCHEDULER = "default-scheduler"


class SchedulingCycle(Struct, frozen=True, kw_only=True):
    """One run of the scheduler for a binding: its trigger and every attempt in order (the last may succeed)."""

    task: Task
    trigger: Trigger
    attempts: tuple[Attempt, ...] = ()

    @property
    def success(self) -> Attempt | None:
        """The attempt that found targets."""
        last = self.attempts[-1] if self.attempts else None
        return None if last is None or isinstance(last.outcome, Refusal) else last

    @property
    def refusal(self) -> Refusal | None:
        """The first failure, which is the answer when every group fails."""
        return next((each.outcome for each in self.attempts if isinstance(each.outcome, Refusal)), None)


class Scheduler:
    """The scheduler of one pass over one set of clusters."""

    __slots__ = ("state",)

    def __init__(self, index: ClusterIndex, options: SchedulingOptions | None = None) -> None:
        self.state = PassState(index, options or SchedulingOptions())

    @classmethod
    def of_state(cls, state: PassState) -> "Scheduler":
        """Return the scheduler that goes on from the state of a pass."""
        scheduler = cls.__new__(cls)
        scheduler.state = state
        return scheduler

    def schedule(self, binding: Binding) -> SchedulingDecision:
        """Decide the targets of a binding."""
        return self.decision(self.cycle(binding)) if is_schedulable(binding) else decision_without_change(binding)

    def cycle(self, binding: Binding) -> SchedulingCycle:
        """Return the trigger of a binding and the attempts made for it; it must be schedulable."""
        task = self.state.task(binding)
        groups = affinity_groups_to_try(task)
        first = filter_clusters(self.state, task, groups[0])
        trigger = trigger_of_scheduling(
            binding,
            task.current,
            # A current target may stay where it passes all filters; those that exempt it let it pass.
            allowed=first.feasible,
            leaving=self.state.terminating,
            options=self.state.options,
        )
        attempts: list[Attempt] = []
        for group in groups if trigger is not Trigger.NONE else ():
            filters = first if group is groups[0] else filter_clusters(self.state, task, group)
            attempts.append(attempt_with_group(self.state, task, group, filters, trigger))
            if not isinstance(attempts[-1].outcome, Refusal):
                break
        return SchedulingCycle(task=task, trigger=trigger, attempts=tuple(attempts))

    def decision(self, cycle: SchedulingCycle) -> SchedulingDecision:
        """Return the decision a cycle leads to."""
        task, trigger, success = cycle.task, cycle.trigger, cycle.success
        if trigger is Trigger.REFUSAL_OUTDATED and task.binding.targets:
            # Its targets are what it asks for. To choose anew could move replicas for what clusters report alone.
            return decision_of_success(task.binding, trigger, task.binding.targets, task.binding.observed_affinity)
        if success is not None and not isinstance(success.outcome, Refusal):
            targets = self._target_clusters(task, success, success.outcome)
            affinity = success.group.name if task.rules.is_grouped else ""
            decision = decision_of_success(task.binding, trigger, targets, affinity)
            # Read by `explain -o json`.
            return replace(decision, has_components=True) if is_set_in_one_cluster(task) else decision
        refusal = cycle.refusal
        if refusal is None:
            return decision_without_change(task.binding)
        hint = self._hint_of_unknown_capacity(cycle) if refusal.reason is ScheduledReason.UNSCHEDULABLE else ""
        return decision_of_refusal(task.binding, trigger, refusal, hint)

    def _target_clusters(self, task: Task, success: Attempt, shares: Shares) -> TargetList:
        targets_now = task.binding.targets
        targets = self._target_list_of_attempt(task, success, shares)
        return targets_now if self.state.targets.are_equal(targets, targets_now) else targets

    def _target_list_of_attempt(self, task: Task, success: Attempt, shares: Shares) -> TargetList:
        options, division = self.state.options, success.division
        if options.propagates_empty_workloads:
            shares = shares_with_empty_clusters(shares, success.selected)
        elif division is not None and not shares and options.keeps_idle_workloads:
            # A Job's completions cannot change, and nothing says how many each cluster has when none runs any.
            is_kept = bool(task.binding.targets) and task.binding.ref.kind != "Job"
            shares = shares_of_idle_workload(division, is_kept=is_kept)
        elif (
            division
            and division.is_copied
            and success.selected is self.state.index.indexes_in_mask(success.filters.feasible)
        ):
            return self.state.targets.target_list_of_copies(success.selected, shares)
        return self.state.targets.of(sorted(shares) if options.lists_by_name else shares)

    def _hint_of_unknown_capacity(self, cycle: SchedulingCycle) -> str:
        """Name the feasible clusters of which no capacity is known, if there are any: they count as full."""
        clusters = self.state.index.clusters
        feasible = indexes_of_mask(cycle.attempts[0].filters.feasible)
        unknown = [clusters[each].name for each in feasible if clusters[each].resource_summary is None]
        if not unknown:
            return ""
        names = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        return f"No capacity is known of {names}: declare status.resourceSummary in the Cluster, or let it be observed."


def is_schedulable(binding: Binding) -> bool:
    """Say whether a binding is ours to schedule: with a placement, not suspended, by the default scheduler."""
    is_ours = binding.scheduler_name in {"", DEFAULT_SCHEDULER}
    return binding.placement is not None and is_ours and not binding.scheduling_suspended


def affinity_groups_to_try(task: Task) -> tuple[AffinityGroup, ...]:
    """Return the affinity groups from the one in use on; a request to reschedule starts over."""
    groups = task.rules.groups
    observed = task.binding.observed_affinity
    if task.binding.is_reschedule_requested or not task.rules.is_grouped:
        return groups
    start = next((position for position, group in enumerate(groups) if group.name == observed), 0)
    return groups[start:]
