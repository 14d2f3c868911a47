"""The runs of objects that run to completion: where they have begun, and how they ended, as far as is recorded."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from reconciler.ledger.conditions import condition_of_type
from render.binding import Binding
from render.boundary import result_or_substitute
from render.interpreter import Interpreter
from render.model import Manifest, ObjectRef, Template
from render.runs import ReportedRun

from .binding_status import expected_clusters
from .recorded_status import RecordedStatus, path_in_cluster
from .work_status import APPLIED

_IMMUTABLE = "Immutable"


def runs_of_completing_objects(
    recorded: RecordedStatus,
    bindings: Mapping[ObjectRef, Binding],
    templates: Mapping[ObjectRef, Template],
    interpreter: Interpreter,
) -> dict[ObjectRef, tuple[ReportedRun, ...]]:
    """Return the runs of the objects that run to completion, in the clusters in which they have begun."""
    found, before = dict[ObjectRef, tuple[ReportedRun, ...]](), recorded.health().runs
    for ref, binding in bindings.items():
        template = templates.get(ref)
        if template is None or _outcome_of_run(template.manifest, interpreter) is None:
            continue
        known = {each.cluster: each for each in before.get(ref, ())}
        works = ((name, recorded.manifest(path)) for name, path in work_path_by_cluster(binding))
        runs = (
            _run_in_cluster(name, work, template.manifest, interpreter, known.get(name)) for name, work in works if work
        )
        if begun := tuple(filter(None, runs)):
            found[ref] = begun
    return found


def work_path_by_cluster(binding: Binding) -> Iterator[tuple[str, str]]:
    """Yield the clusters of a binding's object, each with the path of what is recorded of it there."""
    below = path_in_cluster(binding.ref)
    return ((name, f"works/{name}/{below}") for name in expected_clusters(binding))


def _run_in_cluster(
    cluster: str, work: Manifest, template: Manifest, interpreter: Interpreter, before: ReportedRun | None
) -> ReportedRun | None:
    """Return the run of an object in a cluster; None where it has not begun, for it was never applied there.

    Where the last change of it was refused, nothing is reported of it, and what was known of it stays.
    """
    status: Mapping[str, Any] = work.get("status") or {}
    applied = condition_of_type(status.get("conditions"), APPLIED)
    if applied.get("status") != "True":
        is_there = str(applied.get("message") or "").startswith(_IMMUTABLE)
        return before or (ReportedRun(cluster=cluster) if is_there else None)
    entry: Mapping[str, Any] = next(iter(status.get("manifestStatuses") or ()), {})
    finish = _outcome_of_run({**template, "status": entry.get("status")}, interpreter)
    # Who is told of an end once has it for good: a status that is gone, or is none of the kind, takes nothing back.
    is_silent = finish is None or not entry.get("status")
    return ReportedRun(cluster=cluster, finish=finish or (before.finish if before and is_silent else ""))


def _outcome_of_run(manifest: Manifest, interpreter: Interpreter) -> str | None:
    """Return how the run of an object ended ("": it goes on); None where it runs for ever, or its fields do not say."""
    # Members and agents may report a status of any form, and the health of all others is recorded all the same.
    return result_or_substitute(partial(interpreter.ending_of_run, manifest), lambda _error: None)
