"""The parts of documents that are about rollouts: their plans, and how far they are."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field, value_unless_empty

if TYPE_CHECKING:
    from reconciler.diff.difference import HeldChange, PlannedRollout
    from render.rollouts.plan import PlannedWave
    from render.rollouts.state import OneWayChange, RolloutState, SplitToRestore, WaitingChange


class PlannedWavePart(DocumentPart, frozen=True, kw_only=True):
    """A wave of a rollout that takes clusters."""

    name: Annotated[str, meaning_of_field("The name of the wave.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that it takes.")]
    given: Annotated[tuple[str, ...], meaning_of_field("Those of them that have been given the change.")]
    earliest: Annotated[
        int,
        meaning_of_field("How many seconds after the beginning it can begin, if all before it goes well at once."),
    ]
    at_once: (
        Annotated[int, meaning_of_field("How many of its clusters may be under way at once; absent: all.")] | UnsetType
    ) = UNSET
    approval: Annotated[bool, meaning_of_field("Whether somebody has to approve it before it begins.")] | UnsetType = (
        UNSET
    )
    needed: (
        Annotated[int, meaning_of_field("How many of its clusters have to be through for the next wave; absent: all.")]
        | UnsetType
    ) = UNSET


GroupOfRollout = (
    Annotated[str, meaning_of_field("The group of its objects that goes out; absent: it makes no groups.")] | UnsetType
)


class OneWayChangePart(DocumentPart, frozen=True, kw_only=True):
    """Something of a change that would not go back with a rollback."""

    object: Annotated[str, meaning_of_field("The object.")]
    reason: Annotated[str, meaning_of_field("What stays as it became, or is refused.")]


OneWayChanges = (
    Annotated[
        tuple[OneWayChangePart, ...],
        meaning_of_field("What of the change would not go back with a rollback; absent: nothing that is known."),
    ]
    | UnsetType
)


class ChangeAtOncePart(DocumentPart, frozen=True, kw_only=True):
    """An object that changes in all clusters at once, though an object of a rollout names it."""

    object: Annotated[str, meaning_of_field("The object, which no rollout policy selects.")]
    named_by: Annotated[str, meaning_of_field("The object of the rollout that names it.")]


class RestoredReplicasPart(DocumentPart, frozen=True, kw_only=True):
    """The replicas of an object that clusters had before a change."""

    object: Annotated[str, meaning_of_field("The object.")]
    clusters: Annotated[dict[str, int], meaning_of_field("The replicas that each cluster had of it.")]


RestoredReplicas = (
    Annotated[
        tuple[RestoredReplicasPart, ...],
        meaning_of_field("The replicas that a rollback gives back, where the change moves or scales objects."),
    ]
    | UnsetType
)


class PlannedRolloutPart(DocumentPart, frozen=True, kw_only=True):
    """A rollout that a change begins or waits for."""

    policy: Annotated[
        str,
        meaning_of_field("The rollout policy, with its kind; `Fleet`: what the calendar of argosy.yaml holds back."),
    ]
    group: GroupOfRollout = UNSET
    change: Annotated[str, meaning_of_field("The digest of the change, by which it is approved, paused and aborted.")]
    waves: Annotated[tuple[PlannedWavePart, ...], meaning_of_field("The waves in their order.")]
    waiting: (
        Annotated[int, meaning_of_field("How many objects of a newer change wait until the rollout is over.")]
        | UnsetType
    ) = UNSET
    held_by: (
        Annotated[str, meaning_of_field("What it waits for before it begins: a freeze, or its next window.")]
        | UnsetType
    ) = UNSET
    cannot_go_back: OneWayChanges = UNSET
    restores: RestoredReplicas = UNSET
    at_once: (
        Annotated[
            tuple[ChangeAtOncePart, ...],
            meaning_of_field(
                "The objects that change in all clusters at once, though objects of the rollout name them."
            ),
        ]
        | UnsetType
    ) = UNSET


class HeldChangePart(DocumentPart, frozen=True, kw_only=True):
    """A change that a rollout keeps out after a rollback or an abort."""

    rollout: Annotated[str, meaning_of_field("The rollout: its policy, and the group of objects where it makes some.")]
    change: Annotated[str, meaning_of_field("The digest of the change that is kept out.")]
    is_ended: Annotated[bool, meaning_of_field("Whether this difference brings a newer one, which ends the hold.")]


def held_change_part(held: "HeldChange") -> HeldChangePart:
    """Return a change that is held as documents have it."""
    return HeldChangePart(rollout=held.rollout, change=held.change, is_ended=held.is_ended)


def planned_rollout_part(rollout: "PlannedRollout") -> PlannedRolloutPart:
    """Return a planned rollout as documents have it."""
    return PlannedRolloutPart(
        policy=rollout.policy,
        group=value_unless_empty(rollout.group),
        change=rollout.change,
        waves=tuple(map(_planned_wave_part, rollout.waves)),
        waiting=value_unless_empty(rollout.waiting),
        held_by=value_unless_empty(rollout.held_by),
        cannot_go_back=_one_way_parts(rollout.one_way),
        restores=_restored_parts(rollout.restores),
        at_once=value_unless_empty(
            tuple(ChangeAtOncePart(object=str(each.ref), named_by=str(each.named_by)) for each in rollout.beside)
        ),
    )


def _one_way_parts(found: "Iterable[OneWayChange]") -> tuple[OneWayChangePart, ...] | UnsetType:
    return value_unless_empty(tuple(OneWayChangePart(object=str(each.ref), reason=each.reason) for each in found))


def _restored_parts(found: "Iterable[SplitToRestore]") -> tuple[RestoredReplicasPart, ...] | UnsetType:
    return value_unless_empty(
        tuple(
            RestoredReplicasPart(
                object=str(each.ref), clusters={target.name: target.replicas for target in each.targets}
            )
            for each in found
        )
    )


def _planned_wave_part(wave: "PlannedWave") -> PlannedWavePart:
    return PlannedWavePart(
        name=wave.name,
        clusters=wave.clusters,
        given=wave.given,
        earliest=wave.earliest,
        at_once=value_unless_empty(wave.at_once),
        approval=value_unless_empty(wave.is_approval_required),
        needed=value_unless_empty(wave.needed),
    )


class WaitingChangePart(DocumentPart, frozen=True, kw_only=True):
    """A newer change that waits until the one under way is over."""

    change: Annotated[str, meaning_of_field("The digest of the change.")]
    commits: Annotated[tuple[str, ...], meaning_of_field("The commits of the source that it came by.")]
    objects: Annotated[tuple[str, ...], meaning_of_field("The objects that it changes.")]


class RolloutPart(DocumentPart, frozen=True, kw_only=True):
    """A rollout: the change that goes out by a rollout policy, or that went out last."""

    policy: Annotated[str, meaning_of_field("The rollout policy, with its kind.")]
    group: GroupOfRollout = UNSET
    change: Annotated[str, meaning_of_field("The digest of the change, by which it is approved, paused and aborted.")]
    commits: Annotated[tuple[str, ...], meaning_of_field("The commits of the source that it came by.")] | UnsetType = (
        UNSET
    )
    phase: Annotated[str, meaning_of_field("`Progressing`, `Waiting`, `Paused`, `Failed`, `Held` or `Completed`.")]
    reason: Annotated[str, meaning_of_field("Why it is so, in a word.")]
    since: Annotated[str, meaning_of_field("The time at which it began.")]
    waits_since: Annotated[str, meaning_of_field("The time since when its phase is so for this reason.")]
    wave: Annotated[str, meaning_of_field("The last wave that has begun.")] | UnsetType = UNSET
    waves: Annotated[tuple[PlannedWavePart, ...], meaning_of_field("The waves in their order.")]
    next: Annotated[str, meaning_of_field("What it waits for, or what somebody has to do.")]
    command: (
        Annotated[str, meaning_of_field("The command by which a person lets it go on; left out where none does.")]
        | UnsetType
    ) = UNSET
    queue: (
        Annotated[
            tuple[WaitingChangePart, ...],
            meaning_of_field("The newer changes that wait until it is over, in the order in which they go out."),
        ]
        | UnsetType
    ) = UNSET
    cannot_go_back: OneWayChanges = UNSET
    restores: RestoredReplicas = UNSET
    not_restored: (
        Annotated[
            tuple[str, ...],
            meaning_of_field("What a rollback could not give back of the replicas before the change, in sentences."),
        ]
        | UnsetType
    ) = UNSET


RolloutsUnderWay = Annotated[
    tuple[RolloutPart, ...], meaning_of_field("The rollouts that are not over, with what each of them waits for.")
]


def rollout_part(state: "RolloutState", *, is_past: bool = False) -> RolloutPart:
    """Return a rollout as documents have it; of the past without the command that lets it go on now."""
    from reconciler.status.rollout_commands import command_letting_rollout_go_on
    from render.rollouts.plan import planned_waves
    from render.timing import instant_text

    return RolloutPart(
        policy=str(state.plan),
        group=value_unless_empty(state.group),
        change=state.change,
        commits=value_unless_empty(state.commits),
        phase=state.phase,
        reason=state.reason,
        since=instant_text(state.since),
        waits_since=instant_text(state.waits_since),
        wave=value_unless_empty(state.wave),
        waves=tuple(map(_planned_wave_part, planned_waves(state))),
        next=state.next_step,
        command=value_unless_empty("" if is_past else command_letting_rollout_go_on(state)),
        queue=value_unless_empty(tuple(map(_waiting_change_part, state.queue))),
        cannot_go_back=_one_way_parts(state.one_way),
        restores=_restored_parts(state.restores),
        not_restored=value_unless_empty(state.unrestored),
    )


def _waiting_change_part(change: "WaitingChange") -> WaitingChangePart:
    return WaitingChangePart(
        change=change.digest, commits=change.commits, objects=tuple(str(ref) for ref, _ in change.versions)
    )
