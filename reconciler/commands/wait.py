"""``argosy wait``: until the fleet, a cluster or an object is applied or healthy."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import click

from reconciler.console.log import Log
from reconciler.publish.reading import read_source
from reconciler.repository import open_repository
from reconciler.status.branches import Tips, fetched_tips, read_recorded_fleet
from reconciler.status.waiting import WaitOptions, check_subject, missing_of
from render.errors import GitError

from .options.member_options import seconds
from .options.subject_options import parsed_subject, with_namespace_options

POLL_SECONDS = 2.0
_MOST_TOLD = 20
_LOOK_AGAIN: Tips = ("",)
"""What no branch's tip is, so that the next look is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """A clock and a pause to wait by."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep


def wait_and_say(log: Log, options: WaitOptions, watching: Pacing | None = None) -> int:
    """Wait; return 0 once the wish came true, 1 when the time was over before, saying what is missing."""
    by = watching or Pacing()
    end, missing = by.now() + options.timeout, ["nothing is known yet"]
    seen: Tips = ()
    while True:
        missing, seen = _looked(log, options, missing, seen)
        if not missing:
            click.echo(f"{options.subject or 'the fleet'} is {options.wish}")
            return 0
        if by.now() + POLL_SECONDS > end:
            _give_up(log, options, missing)
            return 1
        by.pause(POLL_SECONDS)


def _looked(log: Log, options: WaitOptions, missing: list[str], seen: Tips) -> tuple[list[str], Tips]:
    """Look what is missing where a branch moved; a look that fails, after one that did not, is made again."""
    try:
        with open_repository(log.repository) as repository:
            tips = fetched_tips(repository)
            if tips == seen:
                return missing, seen
            if tips[1] is None:
                check_subject(read_source(repository, str(tips[0])).desired, options)
                return ["nothing is rendered yet"], tips
            missing = missing_of(read_recorded_fleet(repository, log), options)
    except GitError as error:
        if not seen:
            raise
        return [error.message], _LOOK_AGAIN
    log.progress(f"waiting: {len(missing)} to go")
    return missing, tips


def _give_up(log: Log, options: WaitOptions, missing: list[str]) -> None:
    log.warning(f"after {options.timeout:g} s {options.subject or 'the fleet'} is not {options.wish}")
    for each in missing[:_MOST_TOLD]:
        log.warning(each)
    if len(missing) > _MOST_TOLD:
        log.warning(f"{len(missing) - _MOST_TOLD} more")


@click.command(epilog="Exit codes: 0 it came true; 1 the time was over before.")
@click.argument("subject", nargs=-1, metavar="[cluster/NAME | KIND/NAME]")
@with_namespace_options("The namespace the object is in.")
@click.option(
    "--for", "wish", type=click.Choice(["applied", "healthy"]), default="applied", show_default=True, help="The wish."
)
@click.option(
    "--timeout", default="5m", show_default=True, callback=seconds, metavar="TIME", help="How long to wait at most."
)
@click.pass_obj
def command(log: Log, /, subject: tuple[str, ...], namespace: str, wish: str, timeout: float) -> int:
    """Wait until the newest source is applied, or healthy: everywhere, in one cluster, or one object.

    The branches are fetched every two seconds; no cluster is asked. Something else must run the passes.
    """
    from reconciler.status.waiting import WaitOptions

    options = WaitOptions(subject=parsed_subject(subject), namespace=namespace, wish=wish, timeout=timeout)
    return wait_and_say(log, options)
