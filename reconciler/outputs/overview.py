"""The document of ``argosy overview``."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.overview.deliveries import MOST_CHANGES, ChangeDelivery, Deliveries
from reconciler.overview.fleet_overview import FleetOverview
from reconciler.overview.silence import LateMember
from reconciler.overview.survival import Survival
from reconciler.overview.text import HOW_FAILURES, HOW_LEAD_TIME
from reconciler.overview.unwell import UnwellObject
from reconciler.overview.waiting import Waiting
from render.rollouts.plan import planned_waves
from render.rollouts.state import RolloutState
from render.timing import epoch_text, instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .overview_changes import RecentChangePart, UnrenderedCommitPart, change_part, unrendered_part
from .parts import ClusterName, Message, ObjectName, Reason, Rendered, StateWord
from .survey_parts import words_of_states

_MOST_CLUSTERS = 10
_MOST_MEMBERS = 100
Since = Annotated[str, meaning_of_field("The time since when; absent where nobody knows.")] | UnsetType
Hint = Annotated[str, meaning_of_field("What to do about it.")] | UnsetType


class UnwellNowPart(DocumentPart, frozen=True, kw_only=True):
    """An object that is unwell for one reason."""

    object: ObjectName
    clusters: Annotated[
        tuple[str, ...], meaning_of_field("The first ten clusters in which it is so; none: it is nowhere.")
    ]
    cluster_count: Annotated[int, meaning_of_field("In how many clusters it is so.")]
    reason: Reason
    message: Message
    since: Since = UNSET
    applied: Annotated[bool, meaning_of_field("False if it is not there as it must be.")]
    owner: Annotated[str, meaning_of_field("Whose it is; absent where nothing tells.")] | UnsetType = UNSET
    owner_from: (
        Annotated[str, meaning_of_field("How that is known: a label, an annotation, or the last author of its file.")]
        | UnsetType
    ) = UNSET


class GoingOutPart(DocumentPart, frozen=True, kw_only=True):
    """A rollout that is not over."""

    rollout: Annotated[str, meaning_of_field("The rollout: its policy, and the group of objects where it makes some.")]
    change: Annotated[str, meaning_of_field("The digest of the change.")]
    phase: Annotated[str, meaning_of_field("`Progressing`, `Waiting`, `Paused`, `Failed` or `Held`.")]
    reason: Reason
    wave: Annotated[str, meaning_of_field("The last wave that has begun.")] | UnsetType = UNSET
    given: Annotated[int, meaning_of_field("How many clusters have been given the change.")]
    total: Annotated[int, meaning_of_field("How many it is for.")]
    since: Annotated[str, meaning_of_field("The time at which it began.")]
    next: Annotated[str, meaning_of_field("What it waits for, or what somebody has to do.")]


class WaitingForPersonPart(DocumentPart, frozen=True, kw_only=True):
    """One thing that waits for a person."""

    kind: Annotated[
        str,
        meaning_of_field(
            "`Guard`, `Source` (it is refused for what it says), `Emergency`, `Approval`, `Rollout`, `PullRequest`,"
            " `Settings`, `Removal`, `StoppedMove`, `Hold` or `ExpiredFreeze`."
        ),
    ]
    subject: Annotated[str, meaning_of_field("The rollout, cluster, object, commit, branch or setting it is about.")]
    message: Message
    since: Since = UNSET
    answer: Annotated[str, meaning_of_field("What answers it, in words.")] | UnsetType = UNSET
    command: Annotated[str, meaning_of_field("The command that does, whole.")] | UnsetType = UNSET


class BreakingLossPart(DocumentPart, frozen=True, kw_only=True):
    """A loss that breaks something."""

    name: Annotated[str, meaning_of_field("The cluster or region that is lost.")]
    objects: Annotated[int, meaning_of_field("How many objects find no place again.")]
    first: Annotated[tuple[str, ...], meaning_of_field("The first of these objects.")]
    overdrawn: Annotated[int, meaning_of_field("How many other clusters would have no room for what they would get.")]


class SurvivalPart(DocumentPart, frozen=True, kw_only=True):
    """The answer about the loss of any one cluster or region."""

    by: Annotated[str, meaning_of_field("What is lost: `cluster` or `region`.")]
    asked: Annotated[bool, meaning_of_field("False if nobody has asked about these commits; `reason` says why.")]
    reason: Annotated[str, meaning_of_field("Why there is no answer.")] | UnsetType = UNSET
    asked_at: Annotated[str, meaning_of_field("The time of the answer.")] | UnsetType = UNSET
    survived: Annotated[bool, meaning_of_field("Whether every loss is survived.")] | UnsetType = UNSET
    losses: Annotated[int, meaning_of_field("How many losses there are.")] | UnsetType = UNSET
    breaking: Annotated[int, meaning_of_field("How many of them break something.")] | UnsetType = UNSET
    worst: (
        Annotated[tuple[BreakingLossPart, ...], meaning_of_field("The first twenty that do, the worst first.")]
        | UnsetType
    ) = UNSET
    assumptions: (
        Annotated[tuple[str, ...], meaning_of_field("The silent clusters that it counts on, each in a sentence.")]
        | UnsetType
    ) = UNSET
    cordoned: (
        Annotated[tuple[str, ...], meaning_of_field("The cordoned clusters that it counts on, each in a sentence.")]
        | UnsetType
    ) = UNSET


class LateMemberPart(DocumentPart, frozen=True, kw_only=True):
    """A member that is silent, or has not what it is asked for."""

    cluster: ClusterName
    state: StateWord
    silent: Annotated[bool, meaning_of_field("True if nobody knows how its objects are.")]
    awaited: Annotated[bool, meaning_of_field("True if passes apply to it.")]
    reason: Reason
    message: Message
    hint: Hint = UNSET
    since: Since = UNSET


class DriftPart(DocumentPart, frozen=True, kw_only=True):
    """Objects that are otherwise in a member than was committed, for one reason."""

    cluster: ClusterName
    reason: Annotated[
        str,
        meaning_of_field(
            "`Foreign`: somebody added fields; `Yielded`: somebody else decides them; `Rewritten`: the cluster rewrites"
            " them; `ScaledOtherwise`: it asks for other replicas."
        ),
    ]
    objects: Annotated[int, meaning_of_field("How many objects.")]
    first: Annotated[tuple[str, ...], meaning_of_field("The first of these objects.")]


class MembersPart(DocumentPart, frozen=True, kw_only=True):
    """The members of the fleet."""

    total: Annotated[int, meaning_of_field("How many there are.")]
    applied: Annotated[int, meaning_of_field("How many are known to have what they are asked for.")]
    states: Annotated[
        Mapping[str, int],
        meaning_of_field(
            "How many clusters are in which state, the worst first, as `argosy list clusters` counts them: those that"
            " left the source among them."
        ),
    ]
    late: Annotated[
        tuple[LateMemberPart, ...], meaning_of_field("The first hundred that are not, the silent ones first.")
    ]
    late_count: Annotated[int, meaning_of_field("How many are not.")]
    silent_count: Annotated[int, meaning_of_field("How many of these are silent.")]
    drift: Annotated[tuple[DriftPart, ...], meaning_of_field("The first hundred kinds of drift, by member.")]
    drift_kinds: Annotated[int, meaning_of_field("How many kinds of drift there are, by member.")]
    drift_count: Annotated[int, meaning_of_field("How many objects drift, an object in each member for itself.")]


class LeadTimePart(DocumentPart, frozen=True, kw_only=True):
    """The time from the merge of a change to its being healthy."""

    median: Annotated[int, meaning_of_field("The median in seconds; absent where none is measured.")] | UnsetType = (
        UNSET
    )
    ninetieth_percentile: (
        Annotated[int, meaning_of_field("The seconds that nine in ten do not exceed, by the nearest rank.")] | UnsetType
    ) = UNSET
    measured: Annotated[int, meaning_of_field("Over how many changes it is measured.")]
    counted: Annotated[str, meaning_of_field("How it is counted.")]


class ChangeFailuresPart(DocumentPart, frozen=True, kw_only=True):
    """The rate of changes that fail."""

    rate: (
        Annotated[float, meaning_of_field("The share of changes that failed, 0 to 1; absent where none is judged.")]
        | UnsetType
    ) = UNSET
    failed: Annotated[int, meaning_of_field("How many failed.")]
    judged: Annotated[int, meaning_of_field("Of how many it is known.")]
    counted: Annotated[str, meaning_of_field("How it is counted.")]


class ChangeDeliveryPart(DocumentPart, frozen=True, kw_only=True):
    """A change of the source, and what became of it."""

    commit: Rendered
    source: Annotated[str, meaning_of_field("The source commit.")]
    merged_at: Annotated[str, meaning_of_field("The time of the source commit.")] | UnsetType = UNSET
    seconds: (
        Annotated[int, meaning_of_field("The seconds from then until it was healthy in every member.")] | UnsetType
    ) = UNSET
    unmeasured: Annotated[str, meaning_of_field("Why they are not known.")] | UnsetType = UNSET
    judged: Annotated[bool, meaning_of_field("False while it is too young to say that it did not fail.")]
    failure: Annotated[str, meaning_of_field("How it failed; absent if it did not.")] | UnsetType = UNSET


class DeliveriesPart(DocumentPart, frozen=True, kw_only=True):
    """The newest changes of the source, measured."""

    changes: Annotated[int, meaning_of_field(f"How many changes were looked at: the newest, {MOST_CHANGES} at most.")]
    lead_time: Annotated[LeadTimePart, meaning_of_field("From the merge to being healthy.")]
    change_failures: Annotated[ChangeFailuresPart, meaning_of_field("How many fail.")]
    newest: Annotated[tuple[ChangeDeliveryPart, ...], meaning_of_field("These changes, the newest first.")]
    is_cut_off: (
        Annotated[bool, meaning_of_field("Present if there are earlier ones that are not in this clone.")] | UnsetType
    ) = UNSET


class OverviewDocument(OutputDocument, frozen=True, kw_only=True):
    """The first look at a fleet."""

    kind = "Overview"
    about = "The first look at a fleet: what is unwell, what moves, what waits for a person, what it would survive."
    printed_by = ("overview",)

    now: Annotated[str, meaning_of_field("The time that it is of.")]
    past: Annotated[bool, meaning_of_field("Present if that is a time in the past.")] | UnsetType = UNSET
    rendered: Rendered
    source: Annotated[str, meaning_of_field("The source commit that is rendered.")]
    newest: Annotated[str, meaning_of_field("The newest source commit that is known.")]
    current: Annotated[bool, meaning_of_field("True if the newest source is known to be rendered.")]
    recorded: (
        Annotated[str, meaning_of_field("The commit of the status branch that it goes by; absent without one.")]
        | UnsetType
    ) = UNSET
    recorded_at: Annotated[str, meaning_of_field("The time of that commit.")] | UnsetType = UNSET
    well: Annotated[bool, meaning_of_field("True if everything is placed, applied and healthy, as far as is known.")]
    unwell: Annotated[
        tuple[UnwellNowPart, ...],
        meaning_of_field(
            "The first hundred objects that are unwell, once for each reason, the worst and oldest first."
        ),
    ]
    unwell_count: Annotated[int, meaning_of_field("How many objects are unwell, each counted once.")]
    unwell_reasons: Annotated[int, meaning_of_field("How many entries `unwell` would have if it had all.")]
    states: Annotated[
        Mapping[str, int],
        meaning_of_field("How many objects are in which state, the worst first, as `argosy list objects` counts them."),
    ]
    changes: Annotated[
        tuple[RecentChangePart, ...], meaning_of_field("The rendered commits of the last 24 hours, the newest first.")
    ]
    unrendered_commits: Annotated[
        tuple[UnrenderedCommitPart, ...],
        meaning_of_field(
            "The source commits of that time of which no rendered commit was made for themselves, the newest first."
        ),
    ]
    going_out: Annotated[tuple[GoingOutPart, ...], meaning_of_field("The rollouts that are not over.")]
    waiting: Annotated[tuple[WaitingForPersonPart, ...], meaning_of_field("What waits for a person.")]
    survival: Annotated[
        tuple[SurvivalPart, ...], meaning_of_field("Whether the fleet survives the loss of any one cluster or region.")
    ]
    members: Annotated[MembersPart, meaning_of_field("The members: silent, late, and drifting.")]
    deliveries: Annotated[DeliveriesPart, meaning_of_field("How long changes take, and how many fail.")]


def overview_document(overview: FleetOverview) -> OverviewDocument:
    """Return the first look at a fleet as a document."""
    branches, fleet = overview.branches, overview.branches.fleet
    return OverviewDocument(
        now=instant_text(overview.now),
        past=value_unless_empty(overview.is_past),
        rendered=fleet.previous.commit,
        source=fleet.previous.source,
        newest=fleet.lag.newest,
        current=fleet.lag.is_current,
        recorded=value_unless_empty(branches.status_commit),
        recorded_at=epoch_text(branches.status_time) if branches.status_commit else UNSET,
        well=overview.is_well,
        unwell=tuple(map(_unwell_part, overview.unwell.first)),
        unwell_count=overview.unwell.count,
        unwell_reasons=overview.unwell.reasons,
        states=words_of_states(overview.states),
        changes=tuple(change_part(each, _waiting_for(each.source, overview)) for each in overview.changes),
        unrendered_commits=tuple(map(unrendered_part, overview.unrendered)),
        going_out=tuple(map(_going_out_part, overview.going_out)),
        waiting=tuple(map(_waiting_part, overview.waiting)),
        survival=tuple(map(_survival_part, overview.survival)),
        members=_members_part(overview),
        deliveries=_deliveries_part(overview.deliveries),
    )


def _unwell_part(each: UnwellObject) -> UnwellNowPart:
    return UnwellNowPart(
        object=each.object,
        clusters=each.clusters[:_MOST_CLUSTERS],
        cluster_count=len(each.clusters),
        reason=each.reason,
        message=each.message,
        since=value_unless_empty(each.since),
        applied=each.is_applied,
        owner=value_unless_empty(each.owner.name),
        owner_from=value_unless_empty(each.owner.known_from),
    )


def _waiting_for(source: str, overview: FleetOverview) -> str:
    """Return what the rollouts of a source wait for; empty where none is under way."""
    return "; ".join(f"{each.phase}: {each.next_step}" for each in overview.going_out if source in each.commits)


def _going_out_part(state: RolloutState) -> GoingOutPart:
    waves = planned_waves(state)
    return GoingOutPart(
        rollout=state.name,
        change=state.change,
        phase=state.phase,
        reason=state.reason,
        wave=value_unless_empty(state.wave),
        given=sum(len(each.given) for each in waves),
        total=sum(len(each.clusters) for each in waves),
        since=instant_text(state.since),
        next=state.next_step,
    )


def _waiting_part(each: Waiting) -> WaitingForPersonPart:
    return WaitingForPersonPart(
        kind=each.kind,
        subject=each.subject,
        message=each.message,
        since=value_unless_empty(each.since),
        answer=value_unless_empty(each.answer),
        command=value_unless_empty(each.command),
    )


def _survival_part(each: Survival) -> SurvivalPart:
    is_answered = bool(each.asked_at) and not each.reason
    return SurvivalPart(
        by=each.by,
        asked=bool(each.asked_at),
        reason=value_unless_empty(each.reason),
        asked_at=value_unless_empty(each.asked_at),
        survived=not each.breaking if is_answered else UNSET,
        losses=each.losses if is_answered else UNSET,
        breaking=each.breaking if is_answered else UNSET,
        worst=tuple(
            BreakingLossPart(name=one.name, objects=one.objects, first=one.first, overdrawn=one.overdrawn)
            for one in each.worst
        )
        if is_answered
        else UNSET,
        assumptions=value_unless_empty(each.assumptions) if is_answered else UNSET,
        cordoned=value_unless_empty(each.cordoned) if is_answered else UNSET,
    )


def _members_part(overview: FleetOverview) -> MembersPart:
    members = overview.members
    return MembersPart(
        total=members.count,
        applied=members.applied,
        states=words_of_states(members.states),
        late=tuple(map(_late_member_part, members.late[:_MOST_MEMBERS])),
        late_count=len(members.late),
        silent_count=sum(each.is_silent for each in members.late),
        drift=tuple(
            DriftPart(cluster=each.cluster, reason=each.reason, objects=each.count, first=each.first)
            for each in members.drift[:_MOST_MEMBERS]
        ),
        drift_kinds=len(members.drift),
        drift_count=sum(each.count for each in members.drift),
    )


def _late_member_part(each: LateMember) -> LateMemberPart:
    return LateMemberPart(
        cluster=each.cluster,
        state=str(each.state),
        silent=each.is_silent,
        awaited=each.is_awaited,
        reason=each.reason,
        message=each.message,
        hint=value_unless_empty(each.hint),
        since=value_unless_empty(each.since),
    )


def _deliveries_part(found: Deliveries) -> DeliveriesPart:
    failed, judged = len(found.failed), len(found.judged)
    return DeliveriesPart(
        changes=len(found.newest),
        lead_time=LeadTimePart(
            median=UNSET if found.median is None else found.median,
            ninetieth_percentile=UNSET if found.ninetieth is None else found.ninetieth,
            measured=len(found.lead_times),
            counted=HOW_LEAD_TIME,
        ),
        change_failures=ChangeFailuresPart(
            rate=round(failed / judged, 4) if judged else UNSET, failed=failed, judged=judged, counted=HOW_FAILURES
        ),
        newest=tuple(map(_delivery_part, found.newest)),
        is_cut_off=value_unless_empty(found.is_cut_off),
    )


def _delivery_part(each: ChangeDelivery) -> ChangeDeliveryPart:
    return ChangeDeliveryPart(
        commit=each.commit,
        source=each.source,
        merged_at=value_unless_empty(each.merged_at),
        seconds=UNSET if each.seconds is None else each.seconds,
        unmeasured=value_unless_empty(each.unmeasured),
        judged=each.is_judged,
        failure=value_unless_empty(each.failure),
    )
