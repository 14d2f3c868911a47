"""The rollouts that keep a fleet, a cluster or an object from being rolled out."""

from collections.abc import Iterable, Iterator

from render.binding import Binding
from render.errors import ReconcileError
from render.rollouts.state import RolloutPhase, RolloutState
from render.timing import instant_text

from .obstacles import Obstacle

ROLLED_OUT = "rolled-out"
"""The state of what no rollout holds back any more."""
_STOPPED = frozenset({RolloutPhase.FAILED, RolloutPhase.HELD})
"""Phases that only a person ends, or a newer change."""


class RolloutsHaveStopped(ReconcileError):
    """Rollouts that are waited for go on only once a person decides, or there is a newer change."""

    exit_code = 1

    def __init__(self, states: Iterable[RolloutState]) -> None:
        lines = [f"{state.name} is {state.phase} ({state.reason}) with change {state.change}" for state in states]
        super().__init__("\n".join(lines), hint="; ".join(sorted({state.next_step for state in states})))


def obstacles_of_rollouts(
    states: Iterable[RolloutState], *, of_object: Binding | None = None, of_cluster: str = ""
) -> Iterator[Obstacle]:
    """Yield a reason for each rollout under way: of one object, of one cluster, or of any.

    RolloutsHaveStopped where one of them goes on only by a person's decision.
    """
    awaited = [each for each in states if _concerns_subject(each, of_object, of_cluster)]
    stopped = [each for each in awaited if each.phase in _STOPPED]
    if stopped:
        raise RolloutsHaveStopped(stopped)
    for state in awaited:
        yield Obstacle(
            text=f"{state.name} is {state.phase}: {state.next_step}",
            reason=state.reason,
            cluster=of_cluster,
            object=str(of_object.ref) if of_object is not None else "",
            message=state.next_step,
            since=instant_text(state.waits_since),
        )


def _concerns_subject(state: RolloutState, of_object: Binding | None, cluster: str) -> bool:
    if of_object is not None:
        rollout = of_object.rollout
        return rollout is not None and rollout.is_unfinished and rollout.name == state.name
    if not cluster:
        return True
    through = {each.cluster for each in state.given if each.is_through}
    return cluster in state.seats and cluster not in through
