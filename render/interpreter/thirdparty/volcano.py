"""Volcano jobs."""

from collections.abc import Iterator, Mapping
from typing import Any

from render.expressions import lazy_expression
from render.interpretation.fields import count_at, list_at, mapping_at, objects_at, text_at
from render.interpretation.finishing import COMPLETE, FAILED, finish_of_status_word
from render.interpretation.operations import Interpretation, Items
from render.interpretation.requirements import pod_requirements
from render.interpretation.statuses import statuses_by_cluster, sums_of_counters
from render.model import Manifest
from render.resources import Component

from .common import reported_fields, required_number_at

COUNTERS = (
    "minAvailable",
    "pending",
    "running",
    "succeeded",
    "failed",
    "terminating",
    "unknown",
    "retryCount",
)
REPORTED = (
    *COUNTERS,
    "conditions",
    "controlledResources",
    "runningDuration",
    "state",
    "taskStatusCount",
    "version",
)
HEALTHY = {
    "Running",
    "Completed",
    "Pending",
    "Aborting",
    "Aborted",
    "Restarting",
    "Completing",
    "Terminating",
    "Terminated",
}
FINISHES = {"Completed": COMPLETE, "Failed": FAILED, "Aborted": FAILED, "Terminated": FAILED}
DURATION = lazy_expression(r"(?<![0-9.])([0-9]++(?:\.[0-9]*+)?)(h|ms|m|us|µs|ns|s)")
SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def job_components(job: Manifest) -> Iterator[Component]:
    """Yield a component per task: its name or place, and the number of its pods that must run at once."""
    for index, task in enumerate(objects_at(job, "spec", "tasks")):
        replicas = task.get("minAvailable")
        yield Component(
            name=text_at(task, "name") or f"task-{index}",
            replicas=1 if replicas is None else int(required_number_at(task, "minAvailable")),
            requirements=pod_requirements(mapping_at(task, "template", "spec")),
        )


def is_job_healthy(observed: Manifest) -> bool:
    """Say whether the job is in any phase but failed."""
    return text_at(observed, "status", "state", "phase") in HEALTHY


def reflect_job(observed: Manifest) -> Any:
    """Report the fields of the status that are known."""
    return reported_fields(observed, REPORTED)


def aggregated_job(template: Manifest, items: Items) -> Any:
    """Take the status of a lone member as it is; add up several: counters, tasks, resources, the longest run."""
    if not items:
        return template.get("status")
    statuses = [status for _, status in statuses_by_cluster(items)]
    if len(items) == 1:
        return items[0].get("status")
    status: dict[str, Any] = {
        **sums_of_counters(items, COUNTERS),
        "version": max((count_at(status, "version") for status in statuses), default=0),
        "runningDuration": max(
            (text_at(status, "runningDuration") for status in statuses), key=_seconds_of_duration, default=""
        ),
        "conditions": [condition for status in statuses for condition in list_at(status, "conditions")],
        "taskStatusCount": _pods_by_phase_of_each_task(statuses),
        "controlledResources": {
            name: uid for status in statuses for name, uid in mapping_at(status, "controlledResources").items()
        },
    }
    return {field: value for field, value in status.items() if value}


def _pods_by_phase_of_each_task(statuses: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the pods of each task by phase."""
    tasks: dict[str, dict[str, int]] = {}
    for status in statuses:
        for name, task in mapping_at(status, "taskStatusCount").items():
            phases = tasks.setdefault(name, {})
            for phase in mapping_at(task, "phase"):
                phases[phase] = phases.get(phase, 0) + count_at(task, "phase", phase)
    counted = {name: {phase: count for phase, count in phases.items() if count} for name, phases in tasks.items()}
    return {name: {"phase": phases} for name, phases in counted.items() if phases}


def _seconds_of_duration(duration: str) -> float:
    return sum(float(number) * SECONDS[unit] for number, unit in DURATION.findall(duration))


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("batch.volcano.sh/v1alpha1", "Job"): Interpretation(
        components=job_components,
        health=is_job_healthy,
        reflect=reflect_job,
        aggregate=aggregated_job,
        finish=lambda job: finish_of_status_word(text_at(job, "status", "state", "phase"), FINISHES),
    )
}
"""The interpretation of each kind, by apiVersion and kind."""
