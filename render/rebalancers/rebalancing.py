"""WorkloadRebalancer: workloads named in it are scheduled afresh once, as of the time it was created.

A pass over a rebalancer sets the time at which rescheduling was asked for in each binding that has none, or an older
one, and remembers which workloads it is done with. A workload that is done with is never looked at again while the
spec names it; one that the spec does not name any more is remembered only where it was successful.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from render.model import Manifest, ObjectRef, group_of
from render.timing import instant_after, whole_second

_PARTS = ("apiVersion", "kind", "namespace", "name")
NOT_FOUND = "ReferencedBindingNotFound"


class RequestOutcome(StrEnum):
    """The state of a workload of a rebalancer: asked for, not found, or not yet."""

    SUCCESSFUL = "Successful"
    FAILED = "Failed"
    PENDING = ""


class NamedWorkload(Struct, frozen=True, order=True):
    """A workload as a rebalancer names it; all four parts are its identity there."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def ref(self) -> ObjectRef:
        """The object that is meant."""
        return ObjectRef(group_of(self.api_version), self.kind, self.namespace, self.name)


class ObservedWorkload(Struct, frozen=True, kw_only=True):
    """A workload and what became of it."""

    workload: NamedWorkload
    outcome: RequestOutcome = RequestOutcome.PENDING
    reason: str = ""


class Rebalancer(Struct, frozen=True, kw_only=True):
    """A WorkloadRebalancer: what it names, when it was created, and how long it stays once it has finished."""

    workloads: tuple[NamedWorkload, ...]
    created: datetime
    generation: int = 0
    ttl_seconds: int | None = None


class RebalancerStatus(Struct, frozen=True, kw_only=True):
    """The memory of a rebalancer: its workloads, the generation it saw, and when it finished."""

    observed: tuple[ObservedWorkload, ...] = ()
    generation: int = 0
    finished: datetime | None = None


class RebalancerPass(Struct, frozen=True, kw_only=True):
    """A rebalancer after a pass: its status, how many workloads need another try, and when it expires, if it does.

    ``is_expired``: its time is over. ``is_changed``: this pass changed the status, and nothing is deleted then.
    """

    status: RebalancerStatus
    retries: int = 0
    expires: datetime | None = None
    is_expired: bool = False
    is_changed: bool = False


Trigger = Callable[[NamedWorkload, datetime], RequestOutcome]
"""Ask for rescheduling as of a time: successful; failed, for there is no binding; or pending, for it was not set."""


def parse_named_workload(plain: Manifest) -> NamedWorkload:
    """Return a workload of a rebalancer's spec."""
    api_version, kind, namespace, name = (plain.get(part) or "" for part in _PARTS)
    return NamedWorkload(api_version, kind, namespace, name)


def rebalancer_pass(
    rebalancer: Rebalancer, status: RebalancerStatus, now: datetime, trigger: Trigger
) -> RebalancerPass:
    """Carry out one pass over a rebalancer."""
    observed = tuple(
        _try_workload(each, rebalancer, trigger) if each.outcome is RequestOutcome.PENDING else each
        for each in _merged_workloads(rebalancer.workloads, status.observed)
    )
    retries = sum(each.outcome is RequestOutcome.PENDING for each in observed)
    after_pass = RebalancerStatus(observed=observed, generation=rebalancer.generation, finished=status.finished)
    is_changed = after_pass != status
    if is_changed and not retries:
        after_pass = replace(after_pass, finished=now)
    expires = None
    if rebalancer.ttl_seconds is not None and after_pass.finished is not None and not retries:
        expires = instant_after(after_pass.finished, rebalancer.ttl_seconds)
    return RebalancerPass(
        status=replace(after_pass, finished=after_pass.finished and whole_second(after_pass.finished)),
        retries=retries,
        expires=expires,
        is_expired=expires is not None and expires <= now,
        is_changed=is_changed,
    )


def _merged_workloads(
    workloads: Iterable[NamedWorkload], observed: Iterable[ObservedWorkload]
) -> tuple[ObservedWorkload, ...]:
    named = set(workloads)
    known = [each for each in observed if each.workload in named or each.outcome is RequestOutcome.SUCCESSFUL]
    fresh = named - {each.workload for each in known}
    return workloads_in_status_order((*known, *(ObservedWorkload(workload=each) for each in fresh)))


def workloads_in_status_order(observed: Iterable[ObservedWorkload]) -> tuple[ObservedWorkload, ...]:
    """Return workloads in the order in which a status has them."""
    return tuple(sorted(observed, key=_sort_text_of_workload))


def _sort_text_of_workload(observed: ObservedWorkload) -> str:
    each = observed.workload
    return f"{each.api_version} {each.kind} {each.namespace} {each.name}"


def _try_workload(observed: ObservedWorkload, rebalancer: Rebalancer, trigger: Trigger) -> ObservedWorkload:
    outcome = trigger(observed.workload, rebalancer.created)
    return replace(observed, outcome=outcome, reason=NOT_FOUND if outcome is RequestOutcome.FAILED else "")
