"""The document of ``argosy rollout status`` and ``argosy rollout plan``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from reconciler.ledger.rollout_checks import RecordedCheck
from render.rollouts.emergencies import Emergency
from render.rollouts.state import RolloutState
from render.timing import instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .planned_rollouts import GroupOfRollout, RolloutPart, rollout_part

if TYPE_CHECKING:
    from reconciler.status.rollouts import RecordedRollouts


class ClusterInRolloutPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that the change of a rollout is for."""

    policy: Annotated[str, meaning_of_field("The rollout policy, with its kind.")]
    group: GroupOfRollout = UNSET
    cluster: Annotated[str, meaning_of_field("The cluster.")]
    wave: Annotated[str, meaning_of_field("The wave that it is in.")]
    state: Annotated[
        str,
        meaning_of_field("`waits`: it was not given the change; `underWay`, `through`, or `wentBack`."),
    ]
    unasked: (
        Annotated[
            str,
            meaning_of_field("Why it is passed over for so long: `Silent`, `NeverSeen` or `Suspended`."),
        ]
        | UnsetType
    ) = UNSET
    status_too_old: (
        Annotated[
            bool,
            meaning_of_field(
                "True while it was well at the last look, which is older than `maxStatusAge` of its gate allows."
            ),
        ]
        | UnsetType
    ) = UNSET
    given: Annotated[str | None, meaning_of_field("The time at which it was given the change; null while it was not.")]
    through: Annotated[
        str | None, meaning_of_field("The time at which it was seen through its gate; null while it is not.")
    ]


class EmergencyPart(DocumentPart, frozen=True, kw_only=True):
    """A change that went out in an emergency, and that no second person has confirmed."""

    policy: Annotated[str, meaning_of_field("The rollout policy, with its kind; `Fleet`: the calendar of argosy.yaml.")]
    group: GroupOfRollout = UNSET
    change: Annotated[str, meaning_of_field("The digest of the change.")]
    control: Annotated[str, meaning_of_field("The RolloutControl by which it went out.")]
    reason: Annotated[str, meaning_of_field("Why it could not wait.")]
    signer: Annotated[str | None, meaning_of_field("The person who signed the control; null: nobody knows.")]
    since: Annotated[str, meaning_of_field("The time at which a pass first went by it.")]
    until: Annotated[str, meaning_of_field("The time until which somebody else has to confirm it.")]


def emergency_part(emergency: Emergency, seconds: int) -> EmergencyPart:
    """Return an emergency as documents have it; a second person has so many seconds."""
    return EmergencyPart(
        policy=emergency.rollout,
        group=value_unless_empty(emergency.group),
        change=emergency.change,
        control=emergency.name,
        reason=emergency.reason,
        signer=emergency.signer or None,
        since=instant_text(emergency.since),
        until=instant_text(emergency.ends(seconds)),
    )


class AnsweredCheckPart(DocumentPart, frozen=True, kw_only=True):
    """The answer to a check of a rollout that is under way."""

    policy: Annotated[str, meaning_of_field("The rollout policy, with its kind.")]
    group: GroupOfRollout = UNSET
    check: Annotated[str, meaning_of_field("The check.")]
    wave: Annotated[str, meaning_of_field("The wave that it is about, or that its cluster is in.")]
    cluster: Annotated[str, meaning_of_field("The cluster that it is about.")] | UnsetType = UNSET
    answer: Annotated[str, meaning_of_field("`met`, `notMet`, or `none`: nobody answered.")]
    value: Annotated[str, meaning_of_field("What was said, or why nothing was.")]
    since: Annotated[str, meaning_of_field("The time since when it is so without a break.")]


def check_part(check: RecordedCheck, state: RolloutState) -> AnsweredCheckPart:
    """Return the answer to a check as documents have it."""
    return AnsweredCheckPart(
        policy=str(state.plan),
        group=value_unless_empty(state.group),
        check=check.check,
        wave=check.wave,
        cluster=value_unless_empty(check.cluster),
        answer="none" if not check.answered else "met" if check.met else "notMet",
        value=check.value,
        since=check.since,
    )


class RolloutsDocument(OutputDocument, frozen=True, kw_only=True):
    """The rollouts of a fleet."""

    kind = "Rollouts"
    about = "The rollouts of a fleet: what goes out, or went out last, and where each cluster is."
    printed_by = ("rollout status", "rollout plan")

    commit: Annotated[str, meaning_of_field("The rendered commit that records them.")]
    rollouts: Annotated[tuple[RolloutPart, ...], meaning_of_field("Each rollout, by the name of its policy.")]
    clusters: Annotated[
        tuple[ClusterInRolloutPart, ...], meaning_of_field("The clusters that the changes of rollouts are for.")
    ]
    emergencies: (
        Annotated[
            tuple[EmergencyPart, ...],
            meaning_of_field("The changes that went out in an emergency, and that nobody has confirmed."),
        ]
        | UnsetType
    ) = UNSET
    checks: (
        Annotated[
            tuple[AnsweredCheckPart, ...], meaning_of_field("The answers to checks of rollouts that are under way.")
        ]
        | UnsetType
    ) = UNSET


def rollouts_document(
    commit: str,
    states: Sequence[RolloutState],
    unasked: Mapping[str, Mapping[str, str]],
    emergencies: tuple[EmergencyPart, ...] = (),
    *,
    is_past: bool = False,
) -> RolloutsDocument:
    """Return rollouts at a rendered commit as a document; ``unasked`` are the clusters that they pass over, by name.

    Those of the past have no commands, for these would act now.
    """
    return RolloutsDocument(
        commit=commit,
        rollouts=tuple(rollout_part(state, is_past=is_past) for state in states),
        emergencies=value_unless_empty(emergencies),
        clusters=tuple(part for state in states for part in _parts_of_clusters(state, unasked.get(state.name, {}))),
    )


def recorded_rollouts_document(
    recorded: "RecordedRollouts", states: Sequence[RolloutState], *, is_past: bool = False
) -> RolloutsDocument:
    """Return some of the recorded rollouts as a document, with what was answered to their checks."""
    emergencies = tuple(emergency_part(each, recorded.seconds) for each in recorded.emergencies)
    document = rollouts_document(recorded.commit, states, recorded.unasked, emergencies, is_past=is_past)
    checks = tuple(check_part(check, state) for state in states for check in recorded.checks_of(state))
    return replace(document, checks=value_unless_empty(checks))


def _parts_of_clusters(state: RolloutState, unasked: Mapping[str, str]) -> Iterator[ClusterInRolloutPart]:
    given, back = {each.cluster: each for each in state.given}, {each.cluster for each in state.back}
    for name, wave in sorted(state.seats.items()):
        known = given.get(name)
        at, through = (None, None) if known is None else (known.at, known.through if known.is_through else None)
        yield ClusterInRolloutPart(
            policy=str(state.plan),
            group=value_unless_empty(state.group),
            cluster=name,
            wave=wave,
            state="wentBack"
            if name in back
            else "waits"
            if at is None
            else "underWay"
            if through is None
            else "through",
            unasked=value_unless_empty(unasked.get(name, "")),
            status_too_old=True if known is not None and known.has_old_status else UNSET,
            given=instant_text(at) if at is not None else None,
            through=instant_text(through) if through is not None else None,
        )
