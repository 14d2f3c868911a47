"""``argosy simulate --n-minus``: every loss of so many clusters, regions, zones or providers."""

from typing import TYPE_CHECKING

from reconciler.commands.options.simulate_options import SimulateOptions
from reconciler.commands.options.suppositions import Suppositions
from reconciler.console.idle_options import refuse_given_options
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_data, print_output, print_text
from reconciler.names.subjects import error_of_unknown_cluster
from render.errors import UnknownName

if TYPE_CHECKING:
    from reconciler.simulation.loss_text import LossReport
    from render.placement import SpreadField


def show_every_loss(log: Log, supposed: Suppositions, options: SimulateOptions) -> int:
    """Print what becomes of the fleet at each loss; return 1 where one breaks something."""
    from reconciler.commands.supposed_changes import open_supposition
    from reconciler.simulation.assumptions import assumptions_of_losses, words_of_pass_before
    from reconciler.simulation.loss_text import LossReport
    from reconciler.simulation.outcome import ages_of_facts
    from reconciler.simulation.shared_work import outcomes_of_every_loss
    from reconciler.simulation.text import supposed_words
    from render.placement import SpreadField
    from render.prices.cluster_prices import currency_of_price_lists
    from render.resilience.losses import clusters_lost_together

    by, count = SpreadField(options.by), options.n_minus or 1
    if not supposed.scaled:
        refuse_given_options(["namespace"], "goes with --scale")
    with open_supposition(log, supposed, options) as supposition:
        fleet = supposition.fleet
        clusters = fleet.source_in_force.desired.clusters
        together = clusters_lost_together(clusters, by)
        if not together:
            raise _error_of_no_loss(by, is_empty=not clusters)
        with log.timed("place everything"):
            losses = fleet.losses(supposition.alterations)
        outcomes = outcomes_of_every_loss(losses, by, count, log)
        before = words_of_pass_before(fleet.previous, fleet.source_in_force.commit, supposition.added)
        facts = tuple(ages_of_facts(losses.inputs, fleet.now))
        report = LossReport(
            by=by,
            count=count,
            outcomes=outcomes,
            never_lost=tuple(sorted({each.name for each in clusters}.difference(*together.values()))),
            supposed=supposed_words(supposition.alterations, supposition.added),
            facts=facts,
            now=fleet.now,
            assumptions=(*before, *assumptions_of_losses(losses, facts, fleet.given.observed.facts)),
            currency=currency_of_price_lists(losses.inputs.desired.price_lists),
            is_full=log.level >= VERBOSE,
        )
        _print_report(options.output, report, fleet.source_in_force.commit)
    return 1 if report.breaking else 0


def _error_of_no_loss(by: "SpreadField", *, is_empty: bool) -> UnknownName:
    """Return the error for a source in which nothing can be lost, of which nobody could say what it survives."""
    if is_empty:
        return error_of_unknown_cluster("", ())
    return UnknownName(
        f"no {by} is known of any cluster of the source, so none can be lost",
        hint=f"write the {by} into the Clusters, or ask for the loss of another place with --by",
    )


def _print_report(output: str, report: "LossReport", source: str) -> None:
    from reconciler.console.junit import junit_xml
    from reconciler.console.text import escape_markdown, sections_as_markdown, sections_for_terminal
    from reconciler.outputs.document import document_text
    from reconciler.outputs.losses import losses_document
    from reconciler.simulation.loss_text import sections_of_losses, suite_of_losses, summary_of_losses

    if output == "json":
        print_output(document_text(losses_document(report, source=source)), "json")
    elif output == "junit":
        print_data(junit_xml([suite_of_losses(report)]))
    elif output == "markdown":
        text = f"{escape_markdown(summary_of_losses(report))}\n\n{sections_as_markdown(sections_of_losses(report))}"
        print_output(text, "markdown")
    else:
        sections = sections_for_terminal(sections_of_losses(report))
        print_text((f"{summary_of_losses(report)}\n\n", *sections), end="")
