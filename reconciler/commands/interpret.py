"""``argosy interpret``: check, show and try resource interpreter customizations against files."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from overrides.admission import admit
from reconciler.console.log import Log
from reconciler.console.text import table
from render.admission.customizations import customization_conflicts
from render.documents import DocumentErrors, emit, locate_field, parse_documents
from render.errors import ConfigError, InputError, Problem
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.interpreter.answers import plain_component, plain_dependency, plain_requirements
from render.interpreter.customization_keys import KIND, RULES
from render.interpreter.webhooks import KIND as WEBHOOKS
from render.model import Manifest

_WEBHOOK_HINT = "webhooks are asked by 'argosy reconcile' and 'argosy apply', where they reach clusters"
_ARGUMENTS = {
    Operation.INTERPRET_REPLICA: ("desiredObj", "number, requirements or nil"),
    Operation.INTERPRET_COMPONENT: ("desiredObj", "list of {name, replicas, replicaRequirements}"),
    Operation.REVISE_REPLICA: ("desiredObj, desiredReplica", "the object"),
    Operation.RETAIN: ("desiredObj, observedObj", "the object to apply"),
    Operation.AGGREGATE_STATUS: ("desiredObj, statusItems", "the object with its status"),
    Operation.INTERPRET_DEPENDENCY: ("desiredObj", "list of {apiVersion, kind, namespace, name or labelSelector}"),
    Operation.INTERPRET_STATUS: ("observedObj", "the status to report"),
    Operation.INTERPRET_HEALTH: ("observedObj", "true or false"),
}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class InterpretOptions:
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


def interpret_and_show(log: Log, options: InterpretOptions) -> int:
    """Do what the options ask and print it; return the exit code."""
    if options.show_doc:
        click.echo(documentation(), nl=False)
        return 0
    if not options.files and (options.check or options.operation is None):
        raise click.UsageError(
            "there is nothing to look at: name customizations with -f FILE, or an --operation to try"
        )
    customizations = read_customizations(options.files)
    if options.check or options.operation is None:
        click.echo(_listing(customizations), nl=False)
        return 0
    operation = Operation(options.operation)
    try:
        layer, answer = answered(Interpreter.of(customizations), operation, options)
    except InterpreterError as error:
        log.warning(f"{operation}: {error}")
        return 1
    log.info("answered", layer=layer)
    click.echo(json.dumps(answer, indent=2) + "\n" if options.output == "json" else emit(answer).decode(), nl=False)
    return 0


def documentation() -> str:
    """Return a table of the operations: the rule's key, the Lua function, its arguments and what it returns."""
    rows = [
        (
            str(rule.operation),
            rule.key,
            f"{rule.function}({_ARGUMENTS[rule.operation][0]})",
            _ARGUMENTS[rule.operation][1],
        )
        for rule in RULES
    ]
    return table(("OPERATION", "RULE", "FUNCTION", "RETURNS"), rows)


def read_customizations(files: Sequence[Path]) -> list[Manifest]:
    """Read and check the customizations of files; InputError lists all that is wrong with them."""
    found: list[Manifest] = []
    problems: list[Problem] = []
    for path in files:
        content = _content(path)
        for document in _documents(path, content):
            value = document.value
            if not isinstance(value, dict) or value.get("kind") != KIND:
                hint = _WEBHOOK_HINT if isinstance(value, dict) and value.get("kind") == WEBHOOKS else ""
                problems.append(Problem(str(path), document.line, "kind", f"not a {KIND}", hint))
                continue
            admitted = admit(value)
            found.append(value)
            problems += [
                Problem(
                    str(path),
                    locate_field(content, document.index, each.field).line,
                    each.field,
                    each.message,
                    each.hint,
                )
                for each in admitted.problems
            ]
    problems += (
        [Problem("", 0, "", str(conflict)) for conflict in customization_conflicts(found)] if not problems else []
    )
    if problems:
        raise InputError(problems)
    return found


def _content(path: Path) -> bytes:
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def _documents(path: Path, content: bytes) -> Iterable[Any]:
    try:
        return parse_documents(content)
    except DocumentErrors as errors:
        problems = [Problem(str(path), each.line, "", each.message, each.hint) for each in errors.errors]
        raise InputError(problems) from errors


def _listing(customizations: Iterable[Manifest]) -> str:
    rows = []
    for manifest in customizations:
        target = manifest["spec"]["target"]
        scripts = manifest["spec"].get("customizations") or {}
        operations = [str(rule.operation) for rule in RULES if (scripts.get(rule.key) or {}).get("luaScript")]
        rows.append(
            (manifest["metadata"]["name"], f"{target['apiVersion']} {target['kind']}", ", ".join(operations) or "-")
        )
    return table(("CUSTOMIZATION", "TARGET", "OPERATIONS"), rows) if rows else "no customizations\n"


def answered(interpreter: Interpreter, operation: Operation, options: InterpretOptions) -> tuple[Layer, Any]:
    """Execute one operation on the objects of the files; return who answered, and the answer as plain data."""
    workload = _workload(operation, options)
    return interpreter.layer(operation, workload), _answer(interpreter, operation, workload, options)


def _workload(operation: Operation, options: InterpretOptions) -> Manifest:
    """Return the object that is asked about: but for Retain, which takes two, either file will do (karmadactl's)."""
    desired, observed = options.desired_file, options.observed_file
    if operation is Operation.RETAIN:
        return _object(desired, "--desired-file", operation)
    if desired and observed:
        raise click.UsageError(f"{operation} takes one object: --desired-file or --observed-file")
    return _object(desired or observed, "--desired-file or --observed-file", operation)


def _answer(interpreter: Interpreter, operation: Operation, workload: Manifest, options: InterpretOptions) -> Any:
    ask: dict[Operation, Callable[[], Any]] = {
        Operation.INTERPRET_REPLICA: lambda: _replicas(interpreter, workload),
        Operation.INTERPRET_COMPONENT: lambda: [
            plain_component(each) for each in interpreter.components(workload) or ()
        ],
        Operation.REVISE_REPLICA: lambda: interpreter.revise_replica(workload, _replica_option(options)),
        Operation.RETAIN: lambda: interpreter.retain(
            workload, _object(options.observed_file, "--observed-file", operation)
        ),
        Operation.AGGREGATE_STATUS: lambda: interpreter.aggregate_status(workload, _items(options.status_file)),
        Operation.INTERPRET_DEPENDENCY: lambda: [plain_dependency(each) for each in interpreter.dependencies(workload)],
        Operation.INTERPRET_STATUS: lambda: interpreter.reflect_status(workload),
        Operation.INTERPRET_HEALTH: lambda: {"healthy": interpreter.health(workload)},
    }
    return ask[operation]()


def _replicas(interpreter: Interpreter, workload: Manifest) -> Any:
    found = interpreter.replicas(workload)
    if found is None:
        return None
    return {"replicas": found.replicas, "requirements": plain_requirements(found.requirements)}


def _replica_option(options: InterpretOptions) -> int:
    if options.desired_replica is None:
        raise click.UsageError(f"{Operation.REVISE_REPLICA} needs --desired-replica")
    return options.desired_replica


def _object(path: Path | None, option: str, operation: Operation) -> Manifest:
    if path is None:
        raise click.UsageError(f"{operation} needs {option}")
    documents = list(_documents(path, _content(path)))
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise ConfigError(f"{path} must hold one object", hint="put a single Kubernetes object into the file")
    value: Manifest = documents[0].value
    return value


def _items(path: Path | None) -> Sequence[Mapping[str, Any]] | None:
    """Read the items of an aggregatedStatus: a list, or one item for each document."""
    if path is None:
        return None
    values = [document.value for document in _documents(path, _content(path))]
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


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
    return interpret_and_show(log, InterpretOptions(**options))
