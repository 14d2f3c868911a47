"""The options that say which clusters a run is for, how they are reached and what it may do there."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from reconciler.console.idle_options import refuse_options

_SHARD = re.compile(r"([1-9][0-9]*)/([1-9][0-9]*)")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


Command = TypeVar("Command", bound=Callable[..., Any])


def _shard(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, int]:
    found = _SHARD.fullmatch(value)
    if not found or int(found[1]) > int(found[2]):
        raise click.BadParameter("write i/n, such as 2/5, with i from 1 to n")
    return int(found[1]), int(found[2])


def seconds(_context: click.Context, _option: click.Parameter, value: str) -> float:
    """Read a duration such as ``90s``, ``5m`` or ``300``."""
    found = _DURATION.fullmatch(value)
    if not found:
        raise click.BadParameter("write a duration, such as 90s, 5m or 1h")
    return float(found[1]) * _SECONDS[found[2]]


_ACCESS = (
    click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only these clusters (repeatable)."),
    click.option(
        "-l", "--selector", default="", metavar="LABELS", help="Only clusters with these labels: env=prod,tier."
    ),
    click.option("--shard", default="1/1", callback=_shard, metavar="I/N", help="Only this share of the clusters."),
    click.option(
        "--max-parallel", type=click.IntRange(1, 512), default=32, show_default=True, help="How many clusters at once."
    ),
    click.option(
        "--timeout",
        default="5m",
        show_default=True,
        callback=seconds,
        metavar="TIME",
        help="How long one cluster may take.",
    ),
    click.option(
        "--kubeconfig",
        default="",
        metavar="FILE",
        help="Contexts, one named like each cluster  [default: KUBECONFIG, then ~/.kube/config]",
    ),
    click.option("--kubeconfigs", default="", metavar="FOLDER", help="A folder with one kubeconfig for each cluster."),
    click.option("--in-cluster", default="", metavar="NAME", help="The member that this process runs in."),
    click.option("--as", "as_user", default="", metavar="USER", help="Act as another user."),
    click.option("--as-group", "as_groups", multiple=True, metavar="GROUP", help="Act as a group (repeatable)."),
)
_WRITING = (
    click.option("--rehearse", is_flag=True, help="Ask each server about everything first, and stop at a refusal."),
    click.option("--no-prune", is_flag=True, help="Delete nothing."),
    click.option("--orphans", is_flag=True, help="Also delete objects of ours that no commit names."),
    click.option(
        "--confirm",
        "confirmed",
        multiple=True,
        metavar="KIND/NAME",
        help="Let this Namespace, CRD or volume be pruned (repeatable).",
    ),
    click.option("--confirm-all", is_flag=True, help="Let all of them be pruned."),
    click.option("--allow-older", is_flag=True, help="Apply a commit older than what a cluster holds."),
    click.option(
        "--migrate-from",
        multiple=True,
        metavar="MANAGER",
        help="Take over the fields of this manager, such as kubectl-client-side-apply (repeatable).",
    ),
    click.option("--take-from", multiple=True, metavar="TOOL", help="Take over objects of this tool (repeatable)."),
    click.option("--remove-foreign", is_flag=True, help="Remove fields that people added to our objects."),
)


def with_delivery_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed((*_ACCESS, *_WRITING)):
        command = option(command)
    return command


def with_access_options(command: Command) -> Command:
    """Add the options to a command that looks at clusters and writes nothing."""
    for option in reversed(_ACCESS):
        command = option(command)
    return command


@click.command()
@with_delivery_options
def _every_option(**_options: object) -> None:
    """Hold the options, to be asked for their names."""


_PRUNING = ("orphans", "confirmed", "confirm_all")

NAMES = frozenset(option.name for option in _every_option.params)
"""The names of the delivery options."""


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the delivery options of a command, and its other ones; a usage error for those that would do nothing."""
    if options.get("no_prune"):
        refuse_options(_PRUNING, "goes without --no-prune, which deletes nothing")
    if options.get("dry_run") == "server":
        refuse_options(["rehearse"], "goes without --dry-run server, which is all it does")
    if not options["as_user"]:
        refuse_options(["as_groups"], "goes with --as, as for kubectl")
    return (
        {name: value for name, value in options.items() if name in NAMES},
        {name: value for name, value in options.items() if name not in NAMES},
    )
