"""The clusters that a rollout passes over: nobody knows that they answer, or dispatching to them is suspended."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from reconciler.ledger.cluster import ClusterRecord
from reconciler.pipeline.health import cluster_conditions
from reconciler.pipeline.karmada_works import is_suspended
from reconciler.pipeline.rollouts.observations import is_known_to_answer
from render.binding import Binding
from render.object_rollout import ObjectRollout
from render.rollouts.state import RolloutState
from render.words import first_few


class UnaskedReason(StrEnum):
    """The reason why a rollout passes a cluster over."""

    SUSPENDED = "Suspended"
    SILENT = "Silent"
    NEVER_SEEN = "NeverSeen"


WORDS: Mapping[str, str] = {
    UnaskedReason.SUSPENDED: "suspended",
    UnaskedReason.SILENT: "silent",
    UnaskedReason.NEVER_SEEN: "never seen",
}
"""The reasons in words."""
UnaskedClusters = Mapping[str, Mapping[str, UnaskedReason]]
"""The clusters that each rollout passes over, by its name, each with the reason."""


def clusters_not_asked(
    states: Iterable[RolloutState], records: Mapping[str, ClusterRecord], bindings: Iterable[Binding]
) -> UnaskedClusters:
    """Return the clusters that are not through and are not asked about, by the newest records of them.

    A rollout completes without them: each gets what it is due once it can be asked again.
    """
    suspended = [(each.rollout, each) for each in bindings if each.rollout is not None and each.suspension]
    found: dict[str, dict[str, UnaskedReason]] = {}
    for state in states:
        through = {each.cluster for each in state.given if each.through is not None}
        of_state = [binding for rollout, binding in suspended if _is_of_rollout(rollout, state)]
        for name in () if state.plan.is_of_fleet else sorted(state.seats.keys() - through):
            is_kept_from = any(is_suspended(binding, name) for binding in of_state)
            reason = UnaskedReason.SUSPENDED if is_kept_from else _reason(records.get(name))
            if reason is not None:
                found.setdefault(state.name, {})[name] = reason
    return found


def _is_of_rollout(rollout: ObjectRollout, state: RolloutState) -> bool:
    """Say whether an object is part of a rollout; one whose rollout is over names no group any more."""
    return rollout.policy == str(state.plan) and rollout.group in {"", state.group}


def _reason(record: ClusterRecord | None) -> UnaskedReason | None:
    """Return why a cluster with this record is not asked; None where it is known to answer."""
    if record is None:
        return UnaskedReason.NEVER_SEEN
    return None if is_known_to_answer(cluster_conditions(record.state.status)) else UnaskedReason.SILENT


def words_of_unasked(clusters: Mapping[str, UnaskedReason]) -> str:
    """Return the clusters that a rollout passes over in words.

    >>> words_of_unasked({"oslo": UnaskedReason.SILENT, "paris": UnaskedReason.SUSPENDED})
    'oslo (silent), paris (suspended)'
    """
    return first_few([f"{name} ({WORDS[why]})" for name, why in clusters.items()])
