"""``argosy status``: what the branches say about the fleet, a cluster or an object."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from reconciler.commands.fleets_below import fleets_listed_on_error
from reconciler.commands.options.at_option import with_at_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.subject_options import parse_subject_words, with_namespace_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output
from reconciler.console.terminal import output_screen

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.status.branches import Pacing, RecordedFleet
    from reconciler.status.views import View


class StatusOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy status``.

    ``subject`` is ``cluster/NAME``, ``policy/NAME``, ``KIND/NAME`` or nothing for the fleet. ``tells_each``: what many
    have in common has a row for each.
    """

    subject: str = ""
    namespace: str = ""
    output: str = "table"
    watch: bool = False
    at: str = ""
    tells_each: bool = False


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 all is well; 1 something is not placed, applied or healthy, or not known to be;"
    " passes refuse the newest source.",
)
@click.argument("subject", nargs=-1, metavar="[cluster/NAME | policy/NAME | KIND/NAME]")
@with_namespace_options("The namespace the object is in.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "json", "yaml", "name"]),
    default="table",
    help="Output format; wide lists every binding, or every object of a cluster.",
)
@with_at_option
@click.option("-w", "--watch", is_flag=True, help="Fetch again and again, and show what is new, until q or ^C.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show what the branches say: of the fleet, of a cluster (cluster/NAME), a policy or an object (KIND/NAME).

    It tells which source is rendered, what every cluster holds since when, and why something is not as it should be,
    down to the container or the warning that says so. Nothing is fetched without --watch, and no cluster is asked.
    What is recorded of a cluster counts only if the last look at it and the last run over it succeeded; ages are since
    the last change. A cluster that passes apply to is not well until
    one has; where argosy.yaml says of no cluster how it is reached, and no run is recorded, others apply the folders.
    REPLICAS are what the trees say, LIVE what the objects ask for in the cluster, of which an autoscaler or a person
    may be the owner; - is a number that nobody knows. What is not well for one reason, in three clusters or objects or
    more, has one row, the most important first; -v has a row for each. Of a policy (pp, cpp, op, cop, rolloutpolicy,
    resiliencepolicy, clustertaintpolicy, federatedresourcequota, policytest, freeze and window of argosy.yaml by their
    numbers, or policy for any of them) it tells what it is about, what it does, what it loses to which other one, and
    what waits by it.
    """
    subject = parse_subject_words(options.pop("subject"))
    with fleets_listed_on_error(log):
        return show_status(log, StatusOptions(subject=subject, tells_each=log.level >= VERBOSE, **options))


def show_status(log: Log, options: StatusOptions, pacing: "Pacing | None" = None) -> int:
    """Print the status of the subject, and with ``watch`` again whenever a branch moved; return the exit code."""
    from reconciler.overview.instants import recorded_fleet_at
    from reconciler.repository import open_repository
    from reconciler.status.branches import Pacing, follow_branches

    pacing = pacing or Pacing()
    if options.watch and options.at:
        raise click.UsageError("--at goes without --watch: what was does not change")
    if options.watch and options.output in {"table", "wide"} and output_screen().can_redraw:
        return _show_live_status(log, options, pacing)
    if options.watch:
        follow_branches(log, lambda branches, is_first: _print_status(branches, options, is_first=is_first), pacing)
    with open_repository(log.repository, refresh=False) as repository:
        return _print_status(recorded_fleet_at(repository, log, options.at, pacing.clock), options)


def _show_live_status(log: Log, options: StatusOptions, pacing: "Pacing") -> int:
    """Show the status on the whole terminal until somebody ends that; return the exit code of what was shown last."""
    from reconciler.console.live_screen import LiveScreen, LookEndedError
    from reconciler.status.branches import follow_branches

    codes = [0]
    with LiveScreen.opened(f"argosy status {options.subject}".rstrip()) as screen:

        def show(branches: "RecordedFleet", _is_first: bool) -> None:
            view = _view_of_subject(branches, options)
            codes[:] = [0 if view.is_fine else 1]
            screen.show(lambda: _view_of_subject(branches, options).text)

        silent = replace(log, stream=screen.note, is_terminal=False, color=False)
        try:
            follow_branches(silent, show, replace(pacing, pause=screen.pause))
        except LookEndedError:
            return codes[0]


def _print_status(branches: "RecordedFleet", options: StatusOptions, *, is_first: bool = True) -> int:
    from reconciler.outputs.document import document_text, plain_document
    from render.documents import emit

    view = _view_of_subject(branches, options)
    texts: dict[str, Callable[[], str]] = {
        "json": lambda: document_text(_status_document(branches, options)),
        "yaml": lambda: emit(plain_document(_status_document(branches, options))).decode(),
        "name": lambda: f"{view.name}\n",
    }
    text = texts[options.output]() if options.output in texts else view.text
    parts = (text,) if isinstance(text, str) else text
    print_output(parts if is_first else ("\n", *parts), options.output)
    return 0 if view.is_fine else 1


def _view_of_subject(branches: "RecordedFleet", options: StatusOptions) -> "View":
    from reconciler.names.subjects import is_noun_of_any_policy
    from reconciler.status.views import View, view_of_subject

    if not is_noun_of_any_policy(options.subject.partition("/")[0]):
        is_wide = options.output == "wide"
        return view_of_subject(
            branches, options.subject, namespace=options.namespace, is_wide=is_wide, tells_each=options.tells_each
        )
    from reconciler.survey.named_policies import policies_named
    from reconciler.survey.states import SurveyedState
    from reconciler.survey.surveying import Survey
    from reconciler.survey.text import policies_text

    noun, _, name = options.subject.partition("/")
    named = policies_named(Survey(branches), noun, name, options.namespace)
    kinds = [policy.partition(" ")[0].lower() for policy in named.names]
    return View(
        text=tuple(policies_text(named, branches.now)),
        name="\n".join(f"{kind}/{name}" for kind in kinds),
        is_fine=all(held.worst.state is SurveyedState.WELL for each in named.placing for held in each.holds),
    )


def _status_document(branches: "RecordedFleet", options: StatusOptions) -> "OutputDocument":
    from reconciler.names.subjects import is_cluster_noun, is_noun_of_any_policy
    from reconciler.outputs.cluster_status import cluster_status_document
    from reconciler.outputs.fleet_status import fleet_status_document
    from reconciler.outputs.object_status import object_status_document
    from reconciler.status.branches import binding_meant_by

    noun, _, name = options.subject.partition("/")
    if not options.subject:
        return fleet_status_document(branches)
    if is_cluster_noun(noun):
        return cluster_status_document(branches, name)
    if is_noun_of_any_policy(noun):
        return _policy_document(branches, noun, name, options.namespace)
    return object_status_document(branches, binding_meant_by(branches, noun, name, options.namespace))


def _policy_document(branches: "RecordedFleet", noun: str, name: str, namespace: str) -> "OutputDocument":
    from reconciler.outputs.claims import policy_status_document
    from reconciler.survey.named_policies import policies_named
    from reconciler.survey.surveying import Survey

    survey = Survey(branches)
    return policy_status_document(survey, policies_named(survey, noun, name, namespace))
