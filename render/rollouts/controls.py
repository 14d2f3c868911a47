"""Requests of people about a rollout: the RolloutControls about its change, in the order in which they were written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from render.words import first_few

from .approvals import approval_of_wave, words_of_missing_approval, words_of_uncounted_persons
from .emergencies import has_emergency
from .policy import NewChangeAction, RolloutControl, RolloutPolicy, RolloutVerb
from .state import RolloutState

_VOID_BY_OTHER_CHANGE = frozenset({RolloutVerb.APPROVE, RolloutVerb.EXPEDITE})


class Requests(Struct, frozen=True, kw_only=True):
    """The requests of people about the change that goes out.

    ``paused`` and ``aborted`` are the controls that hold it now. ``unapproved`` are the waves that lack an
    approval, with what they wait for. ``retries`` are those that have had no effect yet. ``expedited`` is the control
    by which the change goes to all waves at once, without gates between them, approvals, windows and freezes.
    ``is_emergency``: windows and freezes do not count.
    """

    paused: RolloutControl | None = None
    aborted: RolloutControl | None = None
    unapproved: Mapping[str, str] = field(default_factory=dict)
    retries: tuple[RolloutControl, ...] = ()
    is_emergency: bool = False
    expedited: RolloutControl | None = None


def requests_about_rollout(state: RolloutState, controls: Iterable[RolloutControl]) -> Requests:
    """Return what the controls about the change of a rollout ask for; the last of those that contradict counts."""
    asked = str(state.plan), state.group, state.change
    about = [
        each
        for each in controls
        if (each.rollout, each.group, each.change) == asked and each.name not in state.void_controls
    ]
    ordered = sorted(about, key=lambda each: (each.at, each.name))
    last_pause = _last_control(ordered, RolloutVerb.PAUSE, RolloutVerb.RESUME)
    last_abort = _last_control(ordered, RolloutVerb.ABORT, RolloutVerb.RETRY)
    return Requests(
        paused=last_pause if last_pause and last_pause.verb is RolloutVerb.PAUSE else None,
        aborted=last_abort if last_abort and last_abort.verb is RolloutVerb.ABORT else None,
        unapproved=_unapproved_waves(state, ordered),
        is_emergency=has_emergency(asked, ordered),
        retries=tuple(each for each in ordered if each.verb is RolloutVerb.RETRY and each.name not in state.heard),
        expedited=expediting_control(state.plan, state.group, state.change, about),
    )


def controls_made_void(state: RolloutState, controls: Iterable[RolloutControl]) -> tuple[str, ...]:
    """Return the names of the approvals that another change makes void: those of the change of a state, and of earlier.

    They stay so when that change comes back: what people approved of went out in another fleet than they looked at.
    """
    here = str(state.plan), state.group
    asked = [each for each in controls if (each.rollout, each.group) == here and each.verb in _VOID_BY_OTHER_CHANGE]
    return tuple(sorted(each.name for each in asked if each.change == state.change or each.name in state.void_controls))


def expediting_control(
    plan: RolloutPolicy, group: str, change: str, controls: Iterable[RolloutControl]
) -> RolloutControl | None:
    """Return the control by which an approver lets a change go everywhere at once; None where there is none."""
    if plan.on_new_change is not NewChangeAction.EXPEDITE:
        return None
    heard = [each for each in _requests_to_expedite(plan, group, controls) if _approvers_of_request(plan, each)]
    return next((each for each in heard if each.change == change), None)


def notes_about_requests_to_expedite(
    plan: RolloutPolicy, group: str, changes: Sequence[str], controls: Iterable[RolloutControl]
) -> Iterator[str]:
    """Yield a sentence about each request to expedite one of some changes, of which the first goes out."""
    if plan.on_new_change is not NewChangeAction.EXPEDITE:
        return
    for each in _requests_to_expedite(plan, group, controls):
        persons = _approvers_of_request(plan, each)
        if each.change in changes and not persons:
            who = words_of_uncounted_persons(each) if each.is_verified else "unverified"
            yield f"{each.name} expedites nothing: it is {who}"
        elif each.change in changes[1:-1]:
            yield f"{each.name} expedites nothing: change {changes[-1]} is newer"
        elif each.change in changes:
            reason = " ".join(each.reason.split())
            yield f"{each.name} by {first_few(persons)} lets change {each.change} go past its waves: {reason}"


def _approvers_of_request(plan: RolloutPolicy, control: RolloutControl) -> list[str]:
    """Return the approvers who stand behind a request to expedite."""
    return sorted((control.approving_signers | control.approving_reviewers).intersection(plan.approvers))


def _requests_to_expedite(plan: RolloutPolicy, group: str, controls: Iterable[RolloutControl]) -> list[RolloutControl]:
    asked = str(plan), group, RolloutVerb.EXPEDITE
    return sorted(
        (each for each in controls if (each.rollout, each.group, each.verb) == asked),
        key=lambda each: (each.at, each.name),
    )


def _unapproved_waves(state: RolloutState, controls: Sequence[RolloutControl]) -> Mapping[str, str]:
    """Return the waves that may not begin yet, as nobody or too few have approved of them, with what they wait for."""
    found = {wave.name: approval_of_wave(wave, state.plan, controls) for wave in state.plan.waves}
    return {
        name: words_of_missing_approval(name, approval, state.command("approve"))
        for name, approval in found.items()
        if not approval.is_given
    }


def _last_control(ordered: Iterable[RolloutControl], *verbs: RolloutVerb) -> RolloutControl | None:
    """Return the last of the controls that ask for one of some things."""
    return next((each for each in reversed(list(ordered)) if each.verb in verbs), None)
