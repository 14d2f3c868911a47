"""``argosy rollout``: changes that go out wave by wave, looked at, and what people say about them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedGroup
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.console.log import Log
from reconciler.console.printing import print_output, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.status.rollouts import RecordedRollouts
    from render.rollouts.policy import RolloutVerb
    from render.rollouts.state import RolloutState

_NAME = click.argument("name", default="", metavar="[NAME]")
_GROUP = click.option("--group", default="", metavar="GROUP", help="The group of objects, where the policy makes some.")
_OUTPUT = click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
_DONE = {
    "Pause": "paused",
    "Resume": "resumed",
    "Approve": "approved",
    "Retry": "to be retried",
    "Abort": "aborted",
    "Emergency": "let out in an emergency",
    "Confirm": "confirmed",
    "Expedite": "expedited",
}


@click.group(
    "rollout",
    cls=DocumentedGroup,
    epilog="Exit codes: 0 done; 1 a rollout is not completed; 2 no such rollout; 3 refused, nothing was changed; 4 Git"
    " failed.",
)
def command() -> None:
    """Show changes that go out wave by wave, and pause, approve, retry or abort them.

    A RolloutPolicy says by which waves a change reaches clusters, and what each has to show. Every pass decides on it
    anew. What people say about a change is a file of the source (a RolloutControl) that a review can guard; it means
    nothing for any other change. 'argosy diff' shows the waves of a change before it is merged.
    """


def _with_control_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the rollout that is meant, why, and how the edit is shown."""
    for option in (
        _OUTPUT,
        click.option("--commit", is_flag=True, help="Commit the file that was written, and nothing else."),
        click.option("--reason", default="", metavar="TEXT", help="Why, for those who read it later."),
        _GROUP,
        with_namespace_options("The namespace of the RolloutPolicy."),
        _NAME,
    ):
        function = option(function)
    return function


@command.command()
@_NAME
@with_namespace_options("The namespace of the RolloutPolicy.")
@_GROUP
@_OUTPUT
@click.pass_obj
def status(log: Log, /, name: str, *, namespace: str, group: str, output: str) -> int:
    """Show each rollout, or every cluster of one.

    They are read from the newest rendered commit that is known here; 'git fetch' brings a newer one. The exit code is 1
    as long as one of them is not completed, and while an emergency waits for its confirmation for too long.
    """
    from reconciler.console.clock import given_or_current_time
    from reconciler.status.rollouts import text_of_emergencies, text_of_rollout, text_of_rollouts

    recorded, states = _rollouts_meant(log, name, namespace, group)
    now = given_or_current_time()
    is_one = len(states) == 1 and bool(name or group)
    if output == "json":
        _print_document(recorded, states)
    else:
        unasked = recorded.unasked
        texts = (
            text_of_rollout(states[0], unasked, recorded.checks_of(states[0]))
            if is_one
            else text_of_rollouts(states, unasked)
        )
        for text in texts:
            print_text(text, end="")
        for text in text_of_emergencies(recorded.emergencies, recorded.seconds, now):
            print_text(text, end="")
    is_late = any(each.ends(recorded.seconds) <= now for each in recorded.emergencies)
    return 0 if all(state.is_completed for state in states) and not is_late else 1


@command.command()
@_NAME
@with_namespace_options("The namespace of the RolloutPolicy.")
@_GROUP
@_OUTPUT
@click.pass_obj
def plan(log: Log, /, name: str, *, namespace: str, group: str, output: str) -> int:
    """Show the waves of rollouts with their clusters.

    Each has the time at which it begins at the earliest. That of a change which is not merged yet is in 'argosy diff'.
    """
    from reconciler.status.rollouts import text_of_plan

    recorded, states = _rollouts_meant(log, name, namespace, group)
    if output == "json":
        _print_document(recorded, states)
        return 0
    for state in states:
        for text in text_of_plan(state):
            print_text(text, end="")
    return 0


def _rollouts_meant(
    log: Log, name: str, namespace: str, group: str
) -> "tuple[RecordedRollouts, Sequence[RolloutState]]":
    """Return all rollouts, and those that are meant; without a name those of the namespace, or all.

    Without a group those of all groups of a policy are.
    """
    from reconciler.repository import open_repository
    from reconciler.status.rollouts import read_recorded_rollouts

    with open_repository(log.repository, progress=log.transfer) as repository:
        recorded = read_recorded_rollouts(repository)
    found = recorded.groups_meant(name, namespace, group)
    if len(found) > 1 and len({str(state.plan) for state in found}) == 1 and any(state.group for state in found):
        return recorded, found
    if name or group:
        return recorded, [recorded.meant(name, namespace, group)]
    return recorded, found or ([recorded.meant("", namespace)] if namespace else [])


def _print_document(recorded: "RecordedRollouts", states: "Sequence[RolloutState]") -> None:
    from reconciler.outputs.document import document_text
    from reconciler.outputs.rollouts import recorded_rollouts_document

    print_output(document_text(recorded_rollouts_document(recorded, states)), "json")


_AT_ONCE = click.option("--now", is_flag=True, help="At once, on the status branch: no file of the source changes.")


@command.command()
@_with_control_options
@_AT_ONCE
@click.pass_obj
def pause(log: Log, /, *, now: bool, **options: Any) -> int:
    """Let no further cluster get a change.

    Those that have it keep it. With --now it needs no change of the source, and so no review.
    """
    return _pause_at_once(log, _Options(**options)) if now else _ask_and_show(log, "Pause", **options)


@command.command()
@_with_control_options
@_AT_ONCE
@click.pass_obj
def resume(log: Log, /, *, now: bool, **options: Any) -> int:
    """Let a change that was paused go on.

    With --now it takes back what 'argosy rollout pause --now' has recorded, and no pause that is a file of the source.
    """
    return _resume_at_once(log, _Options(**options)) if now else _ask_and_show(log, "Resume", **options)


@command.command()
@_with_control_options
@click.option("--wave", default="", metavar="WAVE", help="The wave  [default: the next one that needs an approval]")
@click.pass_obj
def approve(log: Log, /, *, wave: str, **options: Any) -> int:
    """Let a wave begin that needs an approval.

    It is about the change that goes out now, and about no other.
    """
    return _ask_and_show(log, "Approve", wave=wave, **options)


@command.command()
@_with_control_options
@click.pass_obj
def retry(log: Log, /, **options: Any) -> int:
    """Give clusters that failed their time again.

    They get the same change. One that was aborted begins again.
    """
    return _ask_and_show(log, "Retry", **options)


@command.command()
@_with_control_options
@click.pass_obj
def abort(log: Log, /, **options: Any) -> int:
    """Hold a change back until there is a newer one.

    No cluster gets it any more, unless somebody retries it; those that have it keep it.
    """
    return _ask_and_show(log, "Abort", **options)


@command.command()
@_with_control_options
@click.pass_obj
def emergency(log: Log, /, **options: Any) -> int:
    """Let a change out whatever windows and freezes say.

    It is about the change that waits now, and about no other. Waves, gates, approvals and limits stay. It takes a
    --reason, and a second person who confirms it afterwards; until then 'argosy status' says so.
    """
    return _ask_and_show(log, "Emergency", **options)


@command.command()
@_with_control_options
@click.pass_obj
def confirm(log: Log, /, **options: Any) -> int:
    """Confirm an emergency of somebody else.

    Both have to have signed their commits by a key that argosy.yaml lists in spec.rollouts.signers, or the forge has to
    name them: the second as one of spec.rollouts.reviewers who approved of the pull request.
    """
    return _ask_and_show(log, "Confirm", **options)


@command.command()
@_with_control_options
@click.pass_obj
def expedite(log: Log, /, **options: Any) -> int:
    """Let the newest change go everywhere at once.

    It takes the place of what goes out and of what waits, without gates between waves, approvals, windows and freezes;
    limits hold. The policy has to allow it (onNewChange: Expedite), the commit to be signed by one of its approvers,
    and --reason to say why.
    """
    if not options["reason"]:
        raise click.UsageError("say why with --reason: the change goes past gates, approvals, windows and freezes")
    return _ask_and_show(log, "Expedite", **options)


class _Options(Struct, frozen=True, kw_only=True):
    """The options of a command that asks something of a rollout."""

    name: str
    namespace: str
    group: str
    reason: str
    commit: bool
    output: str
    wave: str = ""


def _ask_and_show(log: Log, verb: str, **options: Any) -> int:
    """Write a RolloutControl about the change of a rollout, and say what to run next."""
    import time

    from reconciler.commands.options.edit_options import print_edit_document, print_next_steps
    from reconciler.edit.cluster_files import opened_source, write_change
    from reconciler.edit.next_steps import steps_to_deliver
    from reconciler.edit.rollout_controls import ControlRequest, change_that_asks
    from reconciler.status.rollouts import read_recorded_rollouts
    from render.rollouts.policy import RolloutVerb
    from render.timing import epoch_text

    chosen = _Options(**options)
    with opened_source(log) as source:
        state = _state_meant(read_recorded_rollouts(source.repository), RolloutVerb(verb), chosen)
        wave = _wave_of_request(RolloutVerb(verb), state, chosen.wave)
        author = source.repository.author
        request = ControlRequest(
            verb=RolloutVerb(verb),
            wave=wave,
            reason=chosen.reason,
            by=f"{author.name} <{author.email}>",
            at=epoch_text(time.time()),
            change=_change_of_request(RolloutVerb(verb), state),
        )
        change = change_that_asks(source, state, request)
        commit_id = write_change(source, change, log, commit=chosen.commit)
        steps = tuple(steps_to_deliver(source, change))
    if chosen.output == "json":
        print_edit_document(change, commit_id, None, steps)
        return 0
    what = f"wave {wave} of {state.name}" if wave else state.name
    print_text(f"{what} is {_DONE[verb]} for change {request.change}, from the next pass on")
    print_next_steps(steps, is_refused=False)
    return 0


def _pause_at_once(log: Log, chosen: _Options) -> int:
    """Record on the status branch that a rollout is paused."""
    from reconciler.edit.rollout_pauses import pause_at_once
    from reconciler.repository import open_repository
    from reconciler.status.rollouts import read_recorded_rollouts
    from render.rollouts.policy import RolloutVerb

    _check_no_file_is_asked_for(chosen)
    with open_repository(log.repository, progress=log.transfer) as repository:
        recorded = read_recorded_rollouts(repository)
        state = recorded.meant(chosen.name, chosen.namespace, chosen.group)
        _wave_of_request(RolloutVerb.PAUSE, state, "")
        pause_at_once(recorded.publication, recorded.status_branch, state, chosen.reason)
    print_text(f"{state.name} is paused for change {state.change}, from the next pass on")
    print_text("next:\n  argosy reconcile")
    return 0


def _resume_at_once(log: Log, chosen: _Options) -> int:
    """Take back what the status branch records of a pause."""
    from reconciler.edit.rollout_pauses import resume_at_once
    from reconciler.repository import open_repository
    from reconciler.status.rollouts import read_recorded_rollouts
    from render.errors import ConfigError

    _check_no_file_is_asked_for(chosen)
    with open_repository(log.repository, progress=log.transfer) as repository:
        recorded = read_recorded_rollouts(repository)
        state = recorded.meant(chosen.name, chosen.namespace, chosen.group)
        is_resumed = resume_at_once(recorded.publication, recorded.status_branch, state)
    if not is_resumed:
        raise ConfigError(
            f"nobody has paused {state.name} with --now for change {state.change}",
            hint="a pause that is a file of the source ends with argosy rollout resume",
        )
    print_text(f"{state.name} is resumed for change {state.change}, from the next pass on")
    print_text("next:\n  argosy reconcile")
    return 0


def _check_no_file_is_asked_for(chosen: _Options) -> None:
    """Raise UsageError for options that are about a file, where none is written."""
    if chosen.commit or chosen.output == "json":
        raise click.UsageError("--now writes no file of the source: leave --commit and --output out")


def _state_meant(recorded: "RecordedRollouts", verb: "RolloutVerb", chosen: _Options) -> "RolloutState":
    """Return the rollout that a request is about, or the change of an emergency; ConfigError without its reason."""
    from render.errors import ConfigError
    from render.rollouts.policy import RolloutVerb

    if verb is RolloutVerb.CONFIRM:
        return recorded.emergency_meant(chosen.name, chosen.namespace, chosen.group)
    if verb is RolloutVerb.EMERGENCY and not chosen.reason:
        raise ConfigError("an emergency needs a reason", hint="say with --reason why it cannot wait")
    return recorded.meant(chosen.name, chosen.namespace, chosen.group)


def _change_of_request(verb: "RolloutVerb", state: "RolloutState") -> str:
    """Return the change that a request is about; ConfigError where the policy lets nobody ask for that."""
    from render.errors import ConfigError
    from render.rollouts.policy import NewChangeAction, RolloutVerb

    if verb is not RolloutVerb.EXPEDITE:
        return state.change
    if state.plan.on_new_change is not NewChangeAction.EXPEDITE:
        raise ConfigError(
            f"{state.plan} lets nobody expedite a change",
            hint="write onNewChange: Expedite in it, and who may in approvers",
        )
    return state.queue[-1].digest if state.queue else state.change


def _wave_of_request(verb: "RolloutVerb", state: "RolloutState", wave: str) -> str:
    """Return the wave that a request is about ("": none); ConfigError where the request would mean nothing."""
    from reconciler.status.rollouts import name_of_wave_needing_approval, wave_to_approve
    from render.errors import ConfigError
    from render.rollouts.policy import RolloutVerb

    if state.is_completed:
        raise ConfigError(
            f"change {state.change} of {state.name} has reached all its clusters: there is nothing to {verb.lower()}",
            hint="argosy diff HEAD~1 HEAD shows a newer change, which a pass has to begin first",
        )
    if state.plan.is_of_fleet and verb not in {RolloutVerb.EMERGENCY, RolloutVerb.CONFIRM}:
        raise ConfigError(
            f"the calendar of argosy.yaml holds change {state.change} back, and nothing else: {verb} means nothing",
            hint=f"{state.next_step}; argosy rollout emergency lets it out at once",
        )
    if verb is not RolloutVerb.APPROVE:
        return ""
    found = name_of_wave_needing_approval(state.plan, wave) if wave else wave_to_approve(state)
    if not found:
        raise ConfigError(
            f"no wave of {state.name} waits for an approval", hint=f"it waits for this: {state.next_step}"
        )
    return found
