"""``argosy interpret``: check, show and try resource interpreter customizations against files."""

from pathlib import Path
from typing import Any

import click

from reconciler.report import Log

OPERATIONS = (
    "InterpretReplica",
    "InterpretComponent",
    "ReviseReplica",
    "Retain",
    "AggregateStatus",
    "InterpretDependency",
    "InterpretStatus",
    "InterpretHealth",
)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)


@click.command(epilog="Exit codes: 0 answered, or all well; 1 a script failed; 3 a file or a customization is refused.")
@click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    type=_FILE,
    metavar="FILE",
    help="Customizations, before what Argosy knows itself (repeatable).",
)
@click.option("--check", is_flag=True, help="Check the customizations: their fields, and that every script compiles.")
@click.option("--show-doc", is_flag=True, help="Show which Lua function each operation calls, and with what.")
@click.option("--operation", type=click.Choice(OPERATIONS, case_sensitive=False), help="Which operation to execute.")
@click.option("--desired-file", type=_FILE, metavar="FILE", help="The object as it is wanted; Retain takes both.")
@click.option("--observed-file", type=_FILE, metavar="FILE", help="The object as a member has it.")
@click.option("--status-file", type=_FILE, metavar="FILE", help="The items of aggregatedStatus, for AggregateStatus.")
@click.option("--desired-replica", type=click.IntRange(min=0), metavar="N", help="Replicas, for ReviseReplica.")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="How the answer is printed.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Check, show and try resource interpreter customizations against files.

    The counterpart of karmadactl interpret. Without --operation the customizations are listed with what they customize.
    No repository and no cluster is needed, and interpreter webhooks are not called, as by karmadactl.
    """
    from reconciler.interpreting import InterpretOptions, interpret_and_show

    return interpret_and_show(log, InterpretOptions(**options))
