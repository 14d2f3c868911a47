"""``argosy interpret``: check, show and try resource interpreter customizations against files."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text

if TYPE_CHECKING:
    from render.model import Manifest

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
_OPERATIONS = {
    "InterpretReplica": ("desiredObj", "number, requirements or nil"),
    "InterpretComponent": ("desiredObj", "list of {name, replicas, replicaRequirements}"),
    "ReviseReplica": ("desiredObj, desiredReplica", "the object"),
    "Retain": ("desiredObj, observedObj", "the object to apply"),
    "AggregateStatus": ("desiredObj, statusItems", "the object with its status"),
    "InterpretDependency": ("desiredObj", "list of {apiVersion, kind, namespace, name or labelSelector}"),
    "InterpretStatus": ("observedObj", "the status to report"),
    "InterpretHealth": ("observedObj", "true or false"),
}
"""The operations with their arguments and what they return, spelled out: help must not load the interpreter."""


class InterpretOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy interpret``."""

    files: tuple[Path, ...] = ()
    check: bool = False
    show_doc: bool = False
    operation: str | None = None
    desired_file: Path | None = None
    observed_file: Path | None = None
    status_file: Path | None = None
    desired_replica: int | None = None
    output: str = "yaml"


@click.command(
    cls=DocumentedCommand,
    epilog="Exit codes: 0 answered, or all well; 1 a script failed; 3 a file or a customization is refused.",
)
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
@click.option("--operation", type=click.Choice(tuple(_OPERATIONS), case_sensitive=False), help="The operation to try.")
@click.option("--desired-file", type=_FILE, metavar="FILE", help="The object as it is wanted; Retain takes both.")
@click.option("--observed-file", type=_FILE, metavar="FILE", help="The object as a member has it.")
@click.option("--status-file", type=_FILE, metavar="FILE", help="The items of aggregatedStatus, for AggregateStatus.")
@click.option("--desired-replica", type=click.IntRange(min=0), metavar="N", help="Replicas, for ReviseReplica.")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Check, show and try resource interpreter customizations against files.

    This is the counterpart of karmadactl interpret. Without --operation, the customizations are listed with what they
    customize. No repository and no cluster is needed, and interpreter webhooks are not called, as by karmadactl.
    """
    return interpret_and_show(log, InterpretOptions(**options))


def interpret_and_show(log: Log, options: InterpretOptions) -> int:
    """Do what the options ask and print it; return the exit code."""
    from reconciler.trial.customizations import OperationCall, execute_operation, read_customizations
    from render.documents import emit
    from render.interpreter import Interpreter, InterpreterError, Operation

    if options.show_doc:
        print_text(_table_of_operations(), end="")
        return 0
    if not options.files and (options.check or options.operation is None):
        raise click.UsageError(
            "there is nothing to look at: name customizations with -f FILE, or an --operation to try"
        )
    customizations = read_customizations(options.files)
    if options.check or options.operation is None:
        print_text(_table_of_customizations(customizations), end="")
        return 0
    call = OperationCall(
        operation=Operation(options.operation),
        desired_file=options.desired_file,
        observed_file=options.observed_file,
        status_file=options.status_file,
        desired_replica=options.desired_replica,
    )
    try:
        layer, answer = execute_operation(Interpreter.of(customizations), call)
    except InterpreterError as error:
        log.warning(f"{call.operation}: {error}")
        return 1
    log.info("answered", layer=layer)
    print_data(f"{json.dumps(answer, indent=2)}\n" if options.output == "json" else emit(answer).decode())
    return 0


def _table_of_operations() -> str:
    """Return a table of the operations: the rule's key, the Lua function, its arguments and what it returns."""
    from reconciler.console.tables import text_table
    from render.interpreter.customization_keys import RULES

    rows = []
    for rule in RULES:
        arguments, returned = _OPERATIONS[rule.operation]
        rows.append((str(rule.operation), rule.key, f"{rule.function}({arguments})", returned))
    return text_table(("OPERATION", "RULE", "FUNCTION", "RETURNS"), rows)


def _table_of_customizations(customizations: "Iterable[Manifest]") -> str:
    """Return a table of the customizations with the operations they have scripts for."""
    from reconciler.console.tables import text_table
    from render.interpreter.customization_keys import RULES

    rows = []
    for manifest in customizations:
        target = manifest["spec"]["target"]
        scripts = manifest["spec"].get("customizations") or {}
        operations = [str(rule.operation) for rule in RULES if (scripts.get(rule.key) or {}).get("luaScript")]
        rows.append(
            (manifest["metadata"]["name"], f"{target['apiVersion']} {target['kind']}", ", ".join(operations) or "-")
        )
    return text_table(("CUSTOMIZATION", "TARGET", "OPERATIONS"), rows) if rows else "no customizations\n"
