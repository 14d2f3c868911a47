"""Whatever waits for a person: what it is, since when, and the command or the edit that answers it.

Each kind of waiting is a function of the fleet in ``_KINDS``; nothing is asked but the branches that are here.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import publication_of
from reconciler.ledger.cluster import Deviation
from reconciler.ledger.holds import release_hint
from reconciler.pipeline.eviction_notes import MOVE_STOPPED
from reconciler.pipeline.rollouts.emergency_files import emergencies_of_tree
from reconciler.repository import Repository
from reconciler.status.branches import RecordedFleet
from reconciler.status.rollout_commands import command_letting_rollout_go_on, committing_command, explain_command
from reconciler.status.rollouts import wave_to_approve
from render.errors import GitError, GuardRefused, InputError
from render.rollouts.emergencies import seconds_to_confirm
from render.rollouts.fleet_calendar import ended_freezes_of_fleet
from render.rollouts.state import RolloutPhase, RolloutReason, RolloutState
from render.timing import epoch_text, instant_text
from render.words import counted_noun

_MOST_SOURCES = 3
"""The most commits by which a change came that are told of."""


class WaitsFor(StrEnum):
    """The kind of what waits for a person."""

    APPROVAL = "Approval"
    ROLLOUT = "Rollout"
    EMERGENCY = "Emergency"
    GUARD = "Guard"
    SOURCE = "Source"
    REMOVAL = "Removal"
    HOLD = "Hold"
    FREEZE = "ExpiredFreeze"
    SETTINGS = "Settings"
    PULL_REQUEST = "PullRequest"
    MOVE = "StoppedMove"


class Waiting(Struct, frozen=True, kw_only=True):
    """One thing that waits for a person: about what, since when ("": nobody knows), and what answers it.

    ``answer`` says so in words, ``command`` is the command that does, whole and nothing else ("": none is known).
    """

    kind: WaitsFor
    subject: str
    message: str
    since: str = ""
    answer: str = ""
    command: str = ""


class AskedFleet(Struct, frozen=True, kw_only=True):
    """A fleet about which it is asked, in its repository."""

    repository: Repository
    branches: RecordedFleet

    @property
    def is_past(self) -> bool:
        """Say whether it is told as it was."""
        return self.branches.is_past

    @property
    def instant(self) -> datetime:
        """The time that the answer is of."""
        return datetime.fromtimestamp(self.branches.now, UTC)


def what_waits(asked: AskedFleet) -> tuple[Waiting, ...]:
    """Return whatever waits for a person, in the order of the kinds; of the past without commands, which act now."""
    found = (each for kind in _KINDS for each in kind(asked))
    return tuple(replace(each, command="") if asked.is_past else each for each in found)


def _refusals(asked: AskedFleet) -> Iterator[Waiting]:
    """Yield the refusal of the newest source: by a guard, which a person may let through, or for what it says."""
    refusal = asked.branches.refusal
    if refusal is not None:
        is_guard = refusal.code == GuardRefused.exit_code
        yield Waiting(
            kind=WaitsFor.GUARD if is_guard else WaitsFor.SOURCE,
            subject=refusal.source,
            message="; ".join((refusal.message, *refusal.details[:3])),
            since=refusal.since,
            answer=refusal.hint,
        )


def _rollouts(asked: AskedFleet) -> Iterator[Waiting]:
    """Yield the rollouts that go on only when somebody says so."""
    for state in asked.branches.fleet.rollouts_under_way:
        if _is_left_to_people(state):
            is_approval = state.reason is RolloutReason.APPROVAL_MISSING
            wave = wave_to_approve(state) if is_approval else ""
            yield Waiting(
                kind=WaitsFor.APPROVAL if is_approval else WaitsFor.ROLLOUT,
                subject=f"{state.name}, change {state.change}" + (f", wave {wave}" if wave else ""),
                message="; ".join((f"{state.phase}: {state.reason}", *_sources_in_words(asked.repository, state))),
                since=instant_text(state.waits_since),
                answer=state.next_step,
                command=command_letting_rollout_go_on(state),
            )


def _sources_in_words(repository: Repository, state: RolloutState) -> Iterator[str]:
    """Yield the commits that a change came by, the last ones, as far as they are here: subject and author of each."""
    for commit in state.commits[-_MOST_SOURCES:]:
        try:
            info = repository.commit_info(commit)
        except GitError:
            continue
        yield f"it came by {commit[:12]}, {info.subject!r} of {info.author.partition(' <')[0]}"


def _is_left_to_people(state: RolloutState) -> bool:
    return state.reason is RolloutReason.APPROVAL_MISSING or state.phase in {
        RolloutPhase.PAUSED,
        RolloutPhase.FAILED,
        RolloutPhase.HELD,
    }


def _emergencies(asked: AskedFleet) -> Iterator[Waiting]:
    """Yield the changes that went out in an emergency and that no second person has confirmed."""
    fleet = asked.branches.fleet
    seconds = seconds_to_confirm(fleet.source.desired.fleet.rollouts)
    for each in emergencies_of_tree(fleet.previous.tree):
        words = each.words(seconds, asked.instant).removeprefix(f"{each.rollout}: ")
        since, command = instant_text(each.since), committing_command("confirm", each.rollout, each.group)
        answer = "somebody else confirms it"
        yield Waiting(
            kind=WaitsFor.EMERGENCY, subject=each.rollout, message=words, since=since, answer=answer, command=command
        )


def _removals(asked: AskedFleet) -> Iterator[Waiting]:
    """Yield the clusters in which passes keep objects that are to go, until somebody says so or takes them away."""
    members = asked.branches.fleet.members
    for name, record in sorted(asked.branches.recorded.clusters().items()):
        kept: dict[tuple[str, str], list[Deviation]] = {}
        for each in record.deviations if name in members else ():
            if not each.field:
                kept.setdefault((each.reason, each.message), []).append(each)
        for (reason, message), several in sorted(kept.items()):
            yield Waiting(
                kind=WaitsFor.REMOVAL,
                subject=name,
                message=f"{counted_noun(len(several), 'object')} kept, such as {several[0].ref}: {message or reason}",
                since=record.since,
                command=f"argosy status cluster/{name} -v",
            )


def _stopped_moves(asked: AskedFleet) -> Iterator[Waiting]:
    for binding in asked.branches.fleet.bindings:
        for each in binding.conditions:
            if each.reason == MOVE_STOPPED and each.status == "False":
                ref = binding.ref
                command = explain_command(ref.kind, ref.namespace, ref.name)
                yield Waiting(kind=WaitsFor.MOVE, subject=str(ref), message=each.message, command=command)


def _holds(asked: AskedFleet) -> Iterator[Waiting]:
    for name, hold in asked.branches.holds.items():
        answer, _, command = release_hint(hold, name).partition(": ")
        yield Waiting(
            kind=WaitsFor.HOLD, subject=name, message=str(hold), since=hold.since, answer=answer, command=command
        )


def _freezes(asked: AskedFleet) -> Iterator[Waiting]:
    settings = asked.branches.fleet.source.desired.fleet.rollouts
    for number, freeze in ended_freezes_of_fleet(settings, asked.instant):
        yield Waiting(
            kind=WaitsFor.FREEZE,
            subject=f"spec.rollouts.freezes[{number}]",
            message=f"it is over: {freeze.reason}",
            since=instant_text(freeze.ends),
            answer="remove it from argosy.yaml",
        )


def _settings(asked: AskedFleet) -> Iterator[Waiting]:
    """Yield the settings that somebody changed and that wait until a person accepts them."""
    if asked.is_past:
        return
    try:
        commit = asked.branches.fleet.lag.newest
        _, waiting = fleet_in_force(asked.repository, commit, rendered_tip_or_none)
    except (GitError, InputError):  # what is wrong with the source is said as its refusal
        return
    for each in waiting:
        yield Waiting(
            kind=WaitsFor.SETTINGS,
            subject=each.field,
            message=str(each),
            answer="a changed place waits until a pass accepts it",
            command="argosy reconcile --accept-settings",
        )


def _pull_requests(asked: AskedFleet) -> Iterator[Waiting]:
    """Yield the commit that is proposed for the rendered branch, as far as this clone knows of it."""
    fleet = asked.branches.fleet.source.desired.fleet
    publication = publication_of(asked.repository, fleet)
    tip = None if asked.is_past else asked.repository.tip(publication.ref(fleet.proposed_branch))
    rendered = asked.branches.fleet.previous.commit
    if tip is None or _is_merged(asked.repository, tip, rendered):
        return
    info = asked.repository.commit_info(tip)
    yield Waiting(
        kind=WaitsFor.PULL_REQUEST,
        subject=fleet.proposed_branch,
        message=f"{info.subject} is proposed for {fleet.rendered_branch}",
        since=epoch_text(info.time),
        answer="merge the pull request, or read it",
        command=f"git log -1 -p {tip[:12]}",
    )


def _is_merged(repository: Repository, commit: str, rendered: str) -> bool:
    try:
        return repository.is_ancestor(commit, rendered)
    except GitError:
        return False


_KINDS: tuple[Callable[[AskedFleet], Iterator[Waiting]], ...] = (
    _refusals,
    _emergencies,
    _rollouts,
    _pull_requests,
    _settings,
    _removals,
    _stopped_moves,
    _holds,
    _freezes,
)
