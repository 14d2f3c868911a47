"""``argosy overview``: what is unwell, what moves, what waits for a person, and what the fleet would survive."""

import click

from reconciler.commands.fleets_below import fleets_listed_on_error
from reconciler.commands.options.at_option import with_at_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_output, print_text


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 all is well; 1 something is not placed, applied or healthy, or not known to be;"
    " passes refuse the newest source.",
)
@with_at_option
@click.option(
    "--losses",
    type=click.Choice(["auto", "always", "known"]),
    default="auto",
    show_default=True,
    help="Ask what any loss would break: where that costs little, always, or not at all.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, at: str, losses: str, output: str) -> int:
    """Show the first things to know of a fleet: what is unwell, what moves, and what waits for a person.

    It tells what is unwell, for how long and whose it is; what was rendered in the last 24 hours and what is going out;
    what waits for an approval, an acceptance or another word of a person; whether the fleet would survive the loss of
    any one cluster or region; which members are silent or late, and what drifts; how long changes take from the merge
    to being healthy everywhere, and how many fail.

    Everything is read from the branches as they are here: nothing is fetched and no cluster is asked. An owner is who
    an annotation argosy.dev/owner, or a label of that name, owner or team names, on the object or its Namespace, or
    else the last author of its file. Losses are those of simulate --n-minus 1; an answer is kept for the commits that
    it is about.
    """
    with fleets_listed_on_error(log):
        return show_overview(log, at, losses, output)


def show_overview(log: Log, at: str, losses: str, output: str) -> int:
    """Print the overview of the fleet; return 1 where something is not well, or not known to be."""
    from reconciler.console.text import sections_for_terminal
    from reconciler.outputs.document import document_text
    from reconciler.outputs.overview import overview_document
    from reconciler.overview.fleet_overview import overview_of_fleet
    from reconciler.overview.instants import fleet_of_instant, repository_meant
    from reconciler.overview.survival import AskLosses
    from reconciler.overview.text import head_of_overview, sections_of_overview
    from reconciler.overview.waiting import AskedFleet
    from reconciler.repository import open_repository
    from reconciler.status.branches import read_recorded_fleet

    with open_repository(log.repository, progress=log.transfer) as opened:
        with log.timed("read branches"):
            repository, instant = repository_meant(opened, log, at)
            branches = fleet_of_instant(repository, log, instant) if instant else read_recorded_fleet(repository, log)
        asked = AskedFleet(repository=repository, branches=branches)
        overview = overview_of_fleet(asked, log, AskLosses(losses))
    if output == "json":
        print_output(document_text(overview_document(overview)), "json")
    else:
        sections = sections_for_terminal(sections_of_overview(overview))
        print_text((f"{head_of_overview(overview)}\n", *sections), end="")
    return 0 if overview.is_well else 1
