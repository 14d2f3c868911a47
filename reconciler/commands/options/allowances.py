"""The options that allow more removals, movements and costs than guards let pass, read before anything else is."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from reconciler.guards.allowances import Allowed, CostAllowance, MovementAllowance, RemovalAllowance


def _parser_of_allowances(parse: Callable[[str], Any], form: str) -> Callable[..., tuple[Any, ...]]:
    """Return the callback of an option that is given once for each allowance."""

    def parse_allowances(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[Any, ...]:
        found = []
        for text in texts:
            try:
                found.append(parse(text))
            except ValueError as error:
                said = f"{option.opts[0]} {text!r}: write {form}"
                raise click.UsageError(said, context) from error
        return tuple(found)

    return parse_allowances


_removal_option = click.option(
    "--allow-removal",
    "allowed",
    multiple=True,
    callback=_parser_of_allowances(RemovalAllowance.parse, "<cluster>=<count>, or *=<count>"),
    metavar="CLUSTER=COUNT",
    help="Let so many objects leave a cluster (* for each).",
)
_movement_option = click.option(
    "--allow-movement",
    "allowed_moves",
    multiple=True,
    callback=_parser_of_allowances(MovementAllowance.parse, "<object>=<count>, or *=<count>"),
    metavar="OBJECT=COUNT",
    help="Let so many replicas of a workload move (* for the fleet and each).",
)

_cost_option = click.option(
    "--allow-cost",
    "allowed_costs",
    multiple=True,
    callback=_parser_of_allowances(CostAllowance.parse, "an amount such as 120.50"),
    metavar="AMOUNT",
    help="Let the fleet cost so much more a month.",
)


_fragile_option = click.option(
    "--allow-fragile",
    "allowed_fragile",
    multiple=True,
    metavar="OBJECT",
    help="Let an object lose resilience that a ResiliencePolicy asks for (* for each).",
)


def with_removal_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--allow-removal`` to a command; it gets what is allowed as one value, ``allowed``."""
    return _removal_option(_with_gathered_allowances(command))


def with_allowance_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of all guards; the command gets what is allowed as one value, ``allowed``."""
    return _removal_option(_movement_option(_cost_option(_with_gathered_allowances(command))))


def with_allowances_of_diff(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the guards that passes ask, and of those that are asked about a change alone."""
    return _removal_option(_movement_option(_cost_option(_fragile_option(_with_gathered_allowances(command)))))


def _with_gathered_allowances(command: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)
    def command_with_allowances(
        *arguments: Any,
        allowed: tuple[RemovalAllowance, ...],
        allowed_moves: tuple[MovementAllowance, ...] = (),
        allowed_costs: tuple[CostAllowance, ...] = (),
        allowed_fragile: tuple[str, ...] = (),
        **options: Any,
    ) -> Any:
        gathered = Allowed(
            removals=allowed,
            movements=allowed_moves,
            costs=allowed_costs,
            fragile=frozenset(" ".join(each.split()) for each in allowed_fragile),
        )
        return command(*arguments, allowed=gathered, **options)

    return command_with_allowances
