"""The document of ``argosy rollout status`` and ``argosy rollout plan``."""

from collections.abc import Sequence
from typing import Annotated

from render.rollouts.plan import PlannedWave, planned_waves
from render.rollouts.state import RolloutState
from render.timing import instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field


class RecordedClusterPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster in its wave."""

    cluster: Annotated[str, meaning_of_field("The cluster.")]
    given: Annotated[str | None, meaning_of_field("When it was given the change; null while it waits for its wave.")]
    through: Annotated[str | None, meaning_of_field("When it was seen through its gate; null while it is not.")]


class RecordedWavePart(DocumentPart, frozen=True, kw_only=True):
    """A wave of a rollout."""

    name: Annotated[str, meaning_of_field("The wave.")]
    approval: Annotated[bool, meaning_of_field("True if it begins only when somebody has approved of it.")]
    concurrent: Annotated[
        int | None, meaning_of_field("So many of its clusters may be under way at once; null: all of them.")
    ]
    earliest: Annotated[
        int, meaning_of_field("So many seconds after the beginning of the rollout it begins at the earliest.")
    ]
    clusters: Annotated[tuple[RecordedClusterPart, ...], meaning_of_field("Its clusters.")]


class RecordedRolloutPart(DocumentPart, frozen=True, kw_only=True):
    """A rollout: the change that goes out by a rollout policy, or that went out last."""

    rollout: Annotated[str, meaning_of_field("The policy, such as `RolloutPolicy shop/web`.")]
    change: Annotated[str, meaning_of_field("The digest of the change.")]
    sources: Annotated[tuple[str, ...], meaning_of_field("The source commits that brought it.")]
    state: Annotated[str, meaning_of_field("`Progressing`, `Waiting`, `Paused`, `Failed`, `Held` or `Completed`.")]
    reason: Annotated[str, meaning_of_field("The reason for the state, as one word.")]
    next: Annotated[str, meaning_of_field("What it waits for, or who has to do what.")]
    began: Annotated[str, meaning_of_field("When the rollout began.")]
    since: Annotated[str, meaning_of_field("Since when it is in this state.")]
    wave: Annotated[str | None, meaning_of_field("The last wave that has begun; null before the first.")]
    waves: Annotated[tuple[RecordedWavePart, ...], meaning_of_field("The waves that take clusters, in their order.")]


class RolloutsDocument(OutputDocument, frozen=True, kw_only=True):
    """The rollouts of a fleet."""

    kind = "Rollouts"
    about = "The rollouts of a fleet: what goes out, or went out last, and where each cluster is."
    printed_by = ("rollout status", "rollout plan")

    commit: Annotated[str, meaning_of_field("The rendered commit that records them.")]
    rollouts: Annotated[tuple[RecordedRolloutPart, ...], meaning_of_field("Each rollout, by the name of its policy.")]


def rollouts_document(commit: str, states: Sequence[RolloutState]) -> RolloutsDocument:
    """Return rollouts at a rendered commit as a document."""
    return RolloutsDocument(commit=commit, rollouts=tuple(map(_part_of_rollout, states)))


def _part_of_rollout(state: RolloutState) -> RecordedRolloutPart:
    return RecordedRolloutPart(
        rollout=str(state.plan),
        change=state.change,
        sources=state.commits,
        state=str(state.phase),
        reason=str(state.reason),
        next=state.next_step,
        began=instant_text(state.since),
        since=instant_text(state.phase_since),
        wave=state.wave or None,
        waves=tuple(_part_of_wave(wave, state) for wave in planned_waves(state)),
    )


def _part_of_wave(wave: PlannedWave, state: RolloutState) -> RecordedWavePart:
    given = {each.cluster: each for each in state.given}
    clusters = []
    for name in wave.clusters:
        known = given.get(name)
        through = known.through if known is not None else None
        clusters.append(
            RecordedClusterPart(
                cluster=name,
                given=instant_text(known.at) if known is not None else None,
                through=instant_text(through) if through is not None else None,
            )
        )
    return RecordedWavePart(
        name=wave.name,
        approval=wave.is_approval_required,
        concurrent=wave.at_once or None,
        earliest=wave.earliest,
        clusters=tuple(clusters),
    )
