"""``argosy backtest``: what proposed policies and settings would have done in the past that is recorded."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.now_option import instant_of_option
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text

if TYPE_CHECKING:
    from reconciler.backtest.backtesting import Backtest


class BacktestOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy backtest``."""

    since: str
    until: datetime | None = None
    policies: tuple[Path, ...] = ()
    fleet_file: Path | None = None
    flap_within: timedelta = timedelta(hours=1)
    output: str = "text"


def _parse_duration(_context: click.Context, _option: click.Parameter, value: str) -> timedelta:
    from render.timing import parse_duration

    found = parse_duration(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no duration; write it as 30m, 1h or 2d")
    return found


_FILES = click.Path(exists=True, path_type=Path)


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 done; 1 nothing is proposed and a commit came out otherwise than it is; 2 no such time; 3 a"
    " proposed file is refused; 4 Git.",
)
@click.option("--since", required=True, metavar="90d|TIME|COMMIT", help="Since when: so long ago, a time, or a commit.")
@click.option("--until", metavar="TIME", callback=instant_of_option, help="Up to when  [default: the newest commit]")
@click.option(
    "--policy",
    "policies",
    type=_FILES,
    multiple=True,
    metavar="FILE",
    help="A file or folder of policies, overrides, quotas, Clusters or templates to try.",
)
@click.option("--fleet", "fleet_file", type=_FILES, metavar="FILE", help="An argosy.yaml whose settings to try.")
@click.option(
    "--flap-within",
    default="1h",
    show_default=True,
    metavar="TIME",
    callback=_parse_duration,
    help="Who comes back so soon to a cluster flaps.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Show what policies would have done in the past.

    The passes of that time are done again in memory, by the facts, the health and the time that rendered commits and
    the status branch recorded: moves, evictions, flaps, minutes without a place and peak use, beside what really
    happened. An object of --policy takes the place of the one with its name, or adds one, in the source of each time; a
    Cluster only takes one's place. What a replay cannot honour exactly, such as rollouts, is refused with the reason.
    Of the argosy.yaml of --fleet the settings count that decide where objects go. Without either it is checked that all
    comes out as it really was. With -v every object and cluster is listed.
    """
    return backtest_and_show(log, BacktestOptions(**options))


def backtest_and_show(log: Log, options: BacktestOptions) -> int:
    """Print a backtest; return 1 where nothing is proposed and something came out otherwise than it is."""
    from reconciler.backtest.backtesting import BacktestQuestion, backtest_of_fleet
    from reconciler.backtest.past import AskedTime
    from reconciler.repository import open_repository

    question = BacktestQuestion(
        asked=AskedTime(since=_begin(options), until=options.until),
        policies=options.policies,
        fleet_file=options.fleet_file,
        flap_within=options.flap_within,
    )
    with open_repository(log.repository, progress=log.transfer) as repository:
        backtest = backtest_of_fleet(repository, question, log)
    _show(backtest, options.output, is_full=log.level >= VERBOSE)
    return 0 if backtest.proposed or backtest.is_as_it_was else 1


def _begin(options: BacktestOptions) -> datetime | str:
    """Return the time or the commit that ``--since`` names; a duration alone counts back from the end."""
    from reconciler.console.clock import given_or_current_time
    from reconciler.console.instants import instant_of_text, time_before
    from render.timing import parse_duration

    now = given_or_current_time(options.until)
    ago = parse_duration(options.since)
    return time_before(now, ago) if ago is not None else instant_of_text(options.since, now) or options.since


def _show(backtest: "Backtest", output: str, *, is_full: bool) -> None:
    if output == "json":
        from reconciler.outputs.backtest import backtest_document
        from reconciler.outputs.document import document_text

        print_output(document_text(backtest_document(backtest)), "json")
        return
    from reconciler.backtest.text import backtest_markdown, backtest_text

    write = backtest_markdown if output == "markdown" else backtest_text
    print_text(write(backtest, is_full=is_full), end="")
