"""The aggregated statuses of Ray clusters, jobs and services; a lone member's is taken as it is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from render.interpreter.fields import count_at, mapping_at, text_at, value_at
from render.interpreter.lua.kube_library import resource_add
from render.interpreter.operations import Items
from render.interpreter.statuses import collected, summed
from render.model import Manifest

from .common import conditions_of

COUNTERS = (
    "readyWorkerReplicas",
    "availableWorkerReplicas",
    "desiredWorkerReplicas",
    "minWorkerReplicas",
    "maxWorkerReplicas",
)
RESOURCES = ("desiredCPU", "desiredMemory", "desiredGPU", "desiredTPU")
JOB_STATES = ("FAILED", "STOPPED", "RUNNING", "PENDING", "SUCCEEDED")
DEPLOYMENT_STATES = (
    "Failed",
    "ValidationFailed",
    "Retrying",
    "Running",
    "Suspending",
    "Suspended",
    "Initializing",
    "Waiting",
    "New",
    "Complete",
)
APPLICATION_STATES = ("DEPLOY_FAILED", "UNHEALTHY", "DELETING", "NOT_STARTED", "DEPLOYING", "RUNNING")
"""The states of each list from worst to best; a state in none of them is better than all."""


def aggregated_cluster(template: Manifest, items: Items) -> Any:
    """Add up workers and resources, chain the conditions; state and addresses are those of the first that has one."""
    if not items or len(items) == 1:
        return items[0].get("status") if items else template.get("status")
    statuses = [status for _, status in collected(items)]
    leader = next((status for status in statuses if status.get("state") is not None), {})
    status: dict[str, Any] = {
        **summed(items, COUNTERS),
        **{name: resource_add([status.get(name) for status in statuses]) for name in RESOURCES},
        "lastUpdateTime": _latest(statuses),
        "conditions": [condition for _, condition in conditions_of(items)],
        "state": leader.get("state"),
        "stateTransitionTimes": leader.get("stateTransitionTimes"),
        "endpoints": _first(statuses, "endpoints"),
        "head": _first(statuses, "head"),
    }
    return _known(status)


def aggregated_job(template: Manifest, items: Items) -> Any:
    """Take the worst state of the job and of its deployment, with the reason the latter gives."""
    if not items or len(items) == 1:
        return items[0].get("status") if items else template.get("status")
    statuses = [status for _, status in collected(items)]
    job, deployment = (
        _worst(statuses, "jobStatus", JOB_STATES),
        _worst(statuses, "jobDeploymentStatus", DEPLOYMENT_STATES),
    )
    return _known(
        {
            "jobStatus": job.get("jobStatus"),
            **{field: deployment.get(field) for field in ("jobDeploymentStatus", "reason", "message")},
        }
    )


def aggregated_service(template: Manifest, items: Items) -> Any:
    """Add up the endpoints, chain the conditions, and take the worst state of each application."""
    if not items or len(items) == 1:
        return items[0].get("status") if items else template.get("status")
    statuses = [status for _, status in collected(items)]
    return _known(
        {
            **summed(items, ["numServeEndpoints"]),
            "conditions": [condition for _, condition in conditions_of(items)],
            "serviceStatus": _first(statuses, "serviceStatus"),
            "lastUpdateTime": _latest(statuses),
            "observedGeneration": max((count_at(status, "observedGeneration") for status in statuses), default=0),
            "activeServiceStatus": _service(statuses, "activeServiceStatus"),
            "pendingServiceStatus": _service(statuses, "pendingServiceStatus"),
        }
    )


def _service(statuses: Iterable[Mapping[str, Any]], field: str) -> dict[str, Any] | None:
    """Take the first member's cluster, and of every application the worst status."""
    services = [mapping_at(status, field) for status in statuses if status.get(field) is not None]
    if not services:
        return None
    applications: dict[str, Any] = {}
    for service in services:
        for name in mapping_at(service, "applicationStatuses"):
            application = mapping_at(service, "applicationStatuses", name)
            applications[name] = _worst([applications.get(name, {}), application], "status", APPLICATION_STATES)
    return {**services[0], "applicationStatuses": applications}


def _worst(statuses: Iterable[Mapping[str, Any]], field: str, states: Sequence[str]) -> Mapping[str, Any]:
    """Return the first status in the worst state."""
    known = [status for status in statuses if status.get(field) is not None]
    ranks = {state: rank for rank, state in enumerate(states)}
    return min(known, key=lambda status: ranks.get(text_at(status, field), len(states)), default={})


def _first(statuses: Iterable[Mapping[str, Any]], field: str) -> Any:
    return next((status[field] for status in statuses if value_at(status, field) is not None), None)


def _latest(statuses: Iterable[Mapping[str, Any]]) -> str | None:
    return max((text_at(status, "lastUpdateTime") for status in statuses), default="") or None


def _known(status: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in status.items() if value is not None}
