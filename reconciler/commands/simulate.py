"""``argosy simulate``: what would become of the fleet without a cluster, with other taints, capacity or replicas."""

from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.allowances import with_allowance_options
from reconciler.commands.options.at_option import with_at_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import parse_seconds
from reconciler.commands.options.now_option import with_now_option
from reconciler.commands.options.simulate_options import SimulateOptions
from reconciler.commands.options.subject_options import with_namespace_options
from reconciler.commands.options.suppositions import Suppositions, with_suppositions
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text

if TYPE_CHECKING:
    from reconciler.commands.supposed_changes import Supposition
    from reconciler.simulation.outcome import SimulationOutcome


_IDLE_WITH_EVERY_LOSS = (
    *("without_clusters", "without_regions", "without_zones", "without_providers"),
    *("horizon", "allowed", "allowed_moves", "allowed_costs", "explained"),
)
"""The options that say nothing of every loss: which clusters are lost, and what happens by itself after that."""


_IDLE_WITH_HEADROOM = ("n_minus", "by", "horizon", "allowed", "allowed_moves", "allowed_costs", "explained")
"""The options that say nothing of room: what is lost one after the other, and what happens by itself."""


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 everything finds a place; 1 something finds none, or is short of replicas or has no copy left"
    " at the horizon, or a loss breaks something, or no more fit for certain; 2 no such name; 3 input refused; 4 Git;"
    " 6 a guard would refuse what follows.",
)
@with_suppositions
@with_namespace_options("The namespace of what --scale, --explain and --headroom name.")
@click.option("--rev", default="", metavar="REV", help="A source commit  [default: HEAD]")
@click.option("--worktree", is_flag=True, help="Take the files as they stand, committed or not.")
@with_at_option
@with_now_option
@click.option(
    "--horizon",
    default="1h",
    show_default=True,
    callback=parse_seconds,
    metavar="DURATION",
    help="Look so far ahead.",
)
@with_allowance_options
@click.option(
    "--explain", "explained", default="", metavar="KIND/NAME", help="Explain the placement that it would have."
)
@click.option(
    "--n-minus",
    type=click.IntRange(1, 2),
    metavar="1|2",
    help="Suppose every loss, one after the other: of one, or of every two at once.",
)
@click.option(
    "--by",
    type=click.Choice(["cluster", "region", "zone", "provider"]),
    default="cluster",
    show_default=True,
    help="What --n-minus loses.",
)
@click.option(
    "--headroom",
    default="",
    metavar="KIND/NAME",
    help="Say how many more of its replicas fit, and what gives out first.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "junit", "markdown"]),
    default="text",
    help="Output format; junit and markdown go with --n-minus.",
)
@click.pass_obj
def command(log: Log, /, supposed: Suppositions, **options: Any) -> int:
    """Show what would happen if, for example, a cluster was lost.

    What is supposed is combined at will. The answer has two sides: what an ideal reschedule would do at once, and what
    happens by itself as the fleet is configured, pass by pass - tolerations, the guard against mass failures, paced and
    graceful evictions - with what is short of replicas, from when to when. It names the copies that are lost of
    what is duplicated or keeps a state, what finds no place, quotas and guards that stop it, and how old each fact is.
    Nothing is committed or applied, and no cluster is asked. The time of the answer is now, or that of --now. With --at
    it is of the past: the source, the placements, the facts and the time are those of then.

    With --n-minus every single loss is placed anew, or every pair of them, and the answer is a table: what breaks, how
    many replicas move, which capacity is missing, and what is left behind.

    With --headroom the answer is how many more replicas of one object fit beside all that is placed: in each cluster,
    and by its policy, and which cluster and resource give out first.
    """
    if options["headroom"]:
        from reconciler.commands.supposed_object import show_headroom

        refuse_given_options(_IDLE_WITH_HEADROOM, "goes without --headroom")
        _refuse_reports(options["output"])
        return show_headroom(log, supposed, SimulateOptions(**options))
    if options["n_minus"]:
        from reconciler.commands.every_loss import show_every_loss

        refuse_given_options(_IDLE_WITH_EVERY_LOSS, "goes without --n-minus")
        return show_every_loss(log, supposed, SimulateOptions(**options))
    refuse_given_options(["by"], "goes with --n-minus")
    _refuse_reports(options["output"])
    return simulate_and_show(log, supposed, SimulateOptions(**options))


def _refuse_reports(output: str) -> None:
    if output in {"junit", "markdown"}:
        raise click.UsageError(f"-o {output} goes with --n-minus")


def simulate_and_show(log: Log, supposed: Suppositions, options: SimulateOptions) -> int:
    """Print what would become of the fleet; return 1 where something finds no place, 6 where a guard refuses."""
    from datetime import timedelta

    from reconciler.commands.supposed_changes import open_supposition
    from reconciler.simulation.outcome import outcome_of_simulation

    if not (supposed.scaled or options.explained):
        refuse_given_options(["namespace"], "goes with --scale or --explain")
    with open_supposition(log, supposed, options) as supposition:
        if not supposition.alterations and not supposition.added:
            raise click.UsageError("suppose something: --without-cluster, --cordon, --scale, --add or another of these")
        with log.timed("simulate"):
            simulation = supposition.fleet.simulation(supposition.alterations, timedelta(seconds=options.horizon))
            outcome = outcome_of_simulation(simulation)
        if options.explained:
            from reconciler.commands.supposed_object import show_simulated_explanation

            show_simulated_explanation(log, options, supposition.fleet, simulation)
        else:
            _print_outcome(log, options, supposition, outcome)
    return exit_code_of_simulation(outcome)


def exit_code_of_simulation(outcome: "SimulationOutcome") -> int:
    """Return how the answer ends a command."""
    if outcome.refusal is not None:
        return outcome.refusal.exit_code
    return 1 if outcome.unplaced else 0


def _print_outcome(
    log: Log, options: SimulateOptions, supposition: "Supposition", outcome: "SimulationOutcome"
) -> None:
    from reconciler.outputs.document import document_text
    from reconciler.outputs.simulation import simulation_document
    from reconciler.simulation.text import simulation_text

    added = supposition.added
    if options.output == "json":
        source = supposition.fleet.source_in_force.commit
        print_output(document_text(simulation_document(outcome, source=source, added=added)), "json")
        return
    for text in simulation_text(outcome, added, is_full=log.level >= VERBOSE):
        print_text(text, end="")
