"""Leaving a cluster: its target goes from the binding, and a task keeps what is there until it may go."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.binding import GracefulEvictionTask
from render.model import TargetCluster

DIRECTLY, GRACEFULLY, NEVER = "Directly", "Gracefully", "Never"


class Leaving(Struct, frozen=True):
    """The targets of a binding, and the tasks of the clusters that it is leaving."""

    targets: tuple[TargetCluster, ...]
    tasks: tuple[GracefulEvictionTask, ...]

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of the targets, in their order."""
        return tuple(target.name for target in self.targets)


def evicted(state: Leaving, task: GracefulEvictionTask) -> Leaving:
    """Return targets and tasks after a cluster is left by a task, which gets the replicas that were there.

    A cluster that is no target changes nothing. One that has a task already gets no second one.
    """
    target = next((each for each in state.targets if each.name == task.from_cluster), None)
    if target is None:
        return state
    left = tuple(each for each in state.targets if each.name != task.from_cluster)
    if is_evicting(task.from_cluster, state.tasks):
        return Leaving(left, state.tasks)
    return Leaving(left, (*state.tasks, replace(task, replicas=target.replicas or None)))


def is_evicting(cluster: str, tasks: Sequence[GracefulEvictionTask]) -> bool:
    """Say whether a binding is leaving a cluster already."""
    return any(task.from_cluster == cluster for task in tasks)
