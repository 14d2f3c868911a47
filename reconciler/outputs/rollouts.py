"""The document of ``argosy rollout status`` and ``argosy rollout plan``."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import UNSET

from render.rollouts.state import RolloutState
from render.timing import instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .planned_rollouts import GroupOfRollout, RolloutPart, rollout_part


class ClusterInRolloutPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that was given the change of a rollout."""

    policy: Annotated[str, meaning_of_field("The rollout policy, with its kind.")]
    group: GroupOfRollout = UNSET
    cluster: Annotated[str, meaning_of_field("The cluster.")]
    given: Annotated[str, meaning_of_field("The time at which it was given the change.")]
    through: Annotated[
        str | None, meaning_of_field("The time at which it was seen through its gate; null while it is not.")
    ]


class RolloutsDocument(OutputDocument, frozen=True, kw_only=True):
    """The rollouts of a fleet."""

    kind = "Rollouts"
    about = "The rollouts of a fleet: what goes out, or went out last, and where each cluster is."
    printed_by = ("rollout status", "rollout plan")

    commit: Annotated[str, meaning_of_field("The rendered commit that records them.")]
    rollouts: Annotated[tuple[RolloutPart, ...], meaning_of_field("Each rollout, by the name of its policy.")]
    clusters: Annotated[
        tuple[ClusterInRolloutPart, ...], meaning_of_field("The clusters that were given the change of a rollout.")
    ]


def rollouts_document(commit: str, states: Sequence[RolloutState]) -> RolloutsDocument:
    """Return rollouts at a rendered commit as a document."""
    return RolloutsDocument(
        commit=commit,
        rollouts=tuple(map(rollout_part, states)),
        clusters=tuple(part for state in states for part in _parts_of_clusters(state)),
    )


def _parts_of_clusters(state: RolloutState) -> Iterator[ClusterInRolloutPart]:
    for each in state.given:
        yield ClusterInRolloutPart(
            policy=str(state.plan),
            group=value_unless_empty(state.group),
            cluster=each.cluster,
            given=instant_text(each.at),
            through=instant_text(each.through) if each.through is not None else None,
        )
