"""The outcome of scheduling one binding: a decision with targets and Karmada's condition, or a refusal."""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding, Condition
from render.model import ObjectRef, TargetCluster
from render.placement import Placement
from render.resources import Component

SCHEDULED = "Scheduled"
SUCCESS_MESSAGE = "Binding has been scheduled successfully."


class Trigger(StrEnum):
    """The reason why a binding is rescheduled; the first that applies, in this order."""

    PLACEMENT_CHANGED = "PlacementChanged"
    REPLICAS_CHANGED = "ReplicasChanged"
    RESCHEDULE_TRIGGERED = "RescheduleTriggered"
    TARGET_NOT_ALLOWED = "TargetNotAllowed"
    DUPLICATED_OR_NON_WORKLOAD = "DuplicatedOrNonWorkload"
    TERMINATING_TARGET_CLUSTERS = "TerminatingTargetClusters"
    REFUSAL_OUTDATED = "RefusalOutdated"
    NONE = "None"


class ScheduledReason(StrEnum):
    """The reason of the Scheduled condition."""

    SUCCESS = "Success"
    NO_CLUSTER_FIT = "NoClusterFit"
    UNSCHEDULABLE = "Unschedulable"
    SCHEDULER_ERROR = "SchedulerError"
    QUOTA_EXCEEDED = "QuotaExceeded"


class Refusal(Struct, frozen=True):
    """The reason why no clusters could be chosen or no replicas assigned, in Karmada's words."""

    reason: ScheduledReason
    message: str

    def refusal_during_step(self, step: str) -> "Refusal":
        """Return the refusal as the step around it reports it.

        >>> Refusal(ScheduledReason.UNSCHEDULABLE, "no room").refusal_during_step("failed to assign replicas").message
        'failed to assign replicas: no room'
        """
        return Refusal(self.reason, f"{step}: {self.message}")


class SchedulingDecision(Struct, frozen=True, kw_only=True):
    """The decision about a binding in this pass.

    ``targets`` are those it has afterwards, ``condition`` is None when nothing had to be decided. ``hint`` says what
    to do about a refusal. ``has_components``: every target runs the full list of components. ``kept_components`` are
    those that the object keeps, with all that it has, because a quota does not let them grow.
    """

    ref: ObjectRef
    trigger: Trigger
    targets: tuple[TargetCluster, ...]
    condition: Condition | None = None
    observed_affinity: str = ""
    applied_placement: Placement | None = None
    last_scheduled_at: str = ""
    answered_requests: tuple[str, ...] = ()
    hint: str = ""
    has_components: bool = False
    kept_components: tuple[Component, ...] = ()

    @property
    def is_scheduled(self) -> bool:
        """Say whether this pass placed the binding."""
        return self.condition is not None and self.condition.status == "True"


def was_last_decision_refused(binding: Binding) -> bool:
    """Say whether the last decision about a binding, as far as one is recorded, was a refusal."""
    return any(each.type == SCHEDULED and each.status == "False" for each in binding.conditions)


def binding_with_decision(binding: Binding, decision: SchedulingDecision) -> Binding:
    """Return the binding with a decision and its hint written into it, ready for the next pass."""
    condition = decision.condition
    if condition is None:
        return binding
    if decision.hint:
        condition = replace(condition, message=f"{condition.message} {decision.hint}")
    others = tuple(each for each in binding.conditions if each.type != SCHEDULED)
    return replace(
        binding,
        targets=decision.targets,
        components=decision.kept_components or binding.components,
        applied_placement=decision.applied_placement,
        observed_affinity=decision.observed_affinity,
        last_scheduled_at=decision.last_scheduled_at,
        answered_requests=decision.answered_requests,
        conditions=(condition, *others),
    )


def decision_without_change(binding: Binding) -> SchedulingDecision:
    """Return the decision to leave a binding as it is, without a condition."""
    return SchedulingDecision(
        ref=binding.ref,
        trigger=Trigger.NONE,
        targets=binding.targets,
        observed_affinity=binding.observed_affinity,
        applied_placement=binding.applied_placement,
        last_scheduled_at=binding.last_scheduled_at,
        answered_requests=binding.answered_requests,
    )


def decision_of_success(
    binding: Binding, trigger: Trigger, targets: tuple[TargetCluster, ...], affinity: str
) -> SchedulingDecision:
    """Return the decision that a binding is propagated to these clusters by this affinity group.

    The only time recorded is that of the request to reschedule, which is thereby answered: rendering knows no clock.
    """
    return SchedulingDecision(
        ref=binding.ref,
        trigger=trigger,
        targets=targets,
        condition=Condition(type=SCHEDULED, status="True", reason=ScheduledReason.SUCCESS, message=SUCCESS_MESSAGE),
        observed_affinity=affinity,
        applied_placement=binding.placement,
        last_scheduled_at=max(binding.last_scheduled_at, binding.reschedule_triggered_at),
        answered_requests=binding.reschedule_requests,
    )


def decision_of_refusal(binding: Binding, trigger: Trigger, refusal: Refusal, hint: str = "") -> SchedulingDecision:
    """Return the decision that a binding keeps its targets, or loses them all when no cluster fits it."""
    fits_nowhere = refusal.reason is ScheduledReason.NO_CLUSTER_FIT
    return SchedulingDecision(
        ref=binding.ref,
        trigger=trigger,
        targets=() if fits_nowhere else binding.targets,
        condition=Condition(type=SCHEDULED, status="False", reason=refusal.reason, message=refusal.message),
        observed_affinity=binding.observed_affinity,
        applied_placement=binding.placement if fits_nowhere else binding.applied_placement,
        last_scheduled_at=binding.last_scheduled_at,
        answered_requests=binding.answered_requests,
        hint=hint,
    )
