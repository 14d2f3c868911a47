"""The trial of resource interpreter customizations: one operation, executed on the objects of files."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from overrides.admission import admit
from render.admission.customizations import customization_conflicts
from render.documents import Document, DocumentErrors, locate_field, parse_documents
from render.errors import ConfigError, InputError, Problem
from render.interpreter import Interpreter, Layer, Operation
from render.interpreter.answers import plain_component, plain_dependency, plain_requirements
from render.interpreter.customization_keys import KIND
from render.interpreter.webhooks import KIND as WEBHOOKS
from render.model import Manifest

_WEBHOOK_HINT = "webhooks are asked by 'argosy reconcile' and 'argosy apply', where they reach clusters"


class OperationCall(Struct, frozen=True, kw_only=True):
    """An operation with the files of its arguments; ``-`` is standard input, None an argument that was not given."""

    operation: Operation
    desired_file: Path | None = None
    observed_file: Path | None = None
    status_file: Path | None = None
    desired_replica: int | None = None


def read_customizations(files: Sequence[Path]) -> list[Manifest]:
    """Read and check the customizations of files; InputError lists all that is wrong with them."""
    customizations: list[Manifest] = []
    problems: list[Problem] = []
    for path in files:
        content = _read_file(path)
        for document in _parse_documents_of_file(path, content):
            value = document.value
            if not isinstance(value, dict) or value.get("kind") != KIND:
                hint = _WEBHOOK_HINT if isinstance(value, dict) and value.get("kind") == WEBHOOKS else ""
                problems.append(Problem(str(path), document.line, "kind", f"not a {KIND}", hint))
                continue
            customizations.append(value)
            problems += [
                Problem(
                    str(path),
                    locate_field(content, document.index, each.field).line,
                    each.field,
                    each.message,
                    each.hint,
                )
                for each in admit(value).problems
            ]
    if not problems:
        problems = [Problem("", 0, "", str(conflict)) for conflict in customization_conflicts(customizations)]
    if problems:
        raise InputError(problems)
    return customizations


def _read_file(path: Path) -> bytes:
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def _parse_documents_of_file(path: Path, content: bytes) -> Iterable[Document]:
    try:
        return parse_documents(content)
    except DocumentErrors as errors:
        problems = [Problem(str(path), each.line, "", each.message, each.hint) for each in errors.errors]
        raise InputError(problems) from errors


def execute_operation(interpreter: Interpreter, call: OperationCall) -> tuple[Layer, Any]:
    """Execute an operation; return the layer of the interpreter that answered, and the answer as plain data."""
    workload = _object_asked_about(call)
    return interpreter.answering_layer(call.operation, workload), _call_interpreter(interpreter, workload, call)


def _object_asked_about(call: OperationCall) -> Manifest:
    """Return the object that is asked about."""
    # As with karmadactl, either file will do; only Retain takes two objects.
    if call.operation is Operation.RETAIN:
        return _read_object_of_option(call.desired_file, "--desired-file", call.operation)
    if call.desired_file and call.observed_file:
        raise click.UsageError(f"{call.operation} takes one object: --desired-file or --observed-file")
    return _read_object_of_option(
        call.desired_file or call.observed_file, "--desired-file or --observed-file", call.operation
    )


def _call_interpreter(interpreter: Interpreter, workload: Manifest, call: OperationCall) -> Any:
    ask: dict[Operation, Callable[[], Any]] = {
        Operation.INTERPRET_REPLICA: lambda: _interpreted_replicas(interpreter, workload),
        Operation.INTERPRET_COMPONENT: lambda: [
            plain_component(each) for each in interpreter.components(workload) or ()
        ],
        Operation.REVISE_REPLICA: lambda: interpreter.revise_replica(workload, _desired_replica(call)),
        Operation.RETAIN: lambda: interpreter.retain(
            workload, _read_object_of_option(call.observed_file, "--observed-file", call.operation)
        ),
        Operation.AGGREGATE_STATUS: lambda: interpreter.aggregate_status(
            workload, _read_status_items(call.status_file)
        ),
        Operation.INTERPRET_DEPENDENCY: lambda: [plain_dependency(each) for each in interpreter.dependencies(workload)],
        Operation.INTERPRET_STATUS: lambda: interpreter.reflect_status(workload),
        Operation.INTERPRET_HEALTH: lambda: {"healthy": interpreter.is_healthy(workload)},
    }
    return ask[call.operation]()


def _interpreted_replicas(interpreter: Interpreter, workload: Manifest) -> Any:
    answer = interpreter.replicas(workload)
    if answer is None:
        return None
    return {"replicas": answer.replicas, "requirements": plain_requirements(answer.requirements)}


def _desired_replica(call: OperationCall) -> int:
    if call.desired_replica is None:
        raise click.UsageError(f"{Operation.REVISE_REPLICA} needs --desired-replica")
    return call.desired_replica


def _read_object_of_option(path: Path | None, option: str, operation: Operation) -> Manifest:
    if path is None:
        raise click.UsageError(f"{operation} needs {option}")
    documents = list(_parse_documents_of_file(path, _read_file(path)))
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise ConfigError(f"{path} must hold one object", hint="put a single Kubernetes object into the file")
    value: Manifest = documents[0].value
    return value


def _read_status_items(path: Path | None) -> Sequence[Mapping[str, Any]] | None:
    """Read the items of an aggregatedStatus: a list, or one item for each document."""
    if path is None:
        return None
    values = [document.value for document in _parse_documents_of_file(path, _read_file(path))]
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values
