"""Ray: clusters, jobs on them and services on them - a head and groups of workers each; their statuses added up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import floor
from typing import Any

from msgspec.structs import replace

from render.interpretation.fields import count_at, manifest_with_value, mapping_at, objects_at, text_at, value_at
from render.interpretation.finishing import COMPLETE, FAILED, finish_of_status_word
from render.interpretation.operations import Interpretation, Items, Replicas
from render.interpretation.references import pod_dependencies
from render.interpretation.requirements import pod_requirements
from render.interpretation.statuses import statuses_by_cluster, sums_of_counters
from render.interpreter.lua.kube_library import resource_add
from render.model import Manifest
from render.quantity import parse_quantity
from render.resources import Component, DependentObject, ReplicaRequirements

from .common import conditions_with_member_names, has_condition, required_number_at

FINISHES = {"SUCCEEDED": COMPLETE, "FAILED": FAILED, "STOPPED": FAILED}
Path = tuple[str, ...]
CLUSTER: Path = ("spec",)
JOB: Path = ("spec", "rayClusterSpec")
SERVICE: Path = ("spec", "rayClusterConfig")
COUNTERS = (
    "readyWorkerReplicas",
    "availableWorkerReplicas",
    "desiredWorkerReplicas",
    "minWorkerReplicas",
    "maxWorkerReplicas",
)
RESOURCES = ("desiredCPU", "desiredMemory", "desiredGPU", "desiredTPU")
JOB_STATES = {"FAILED": 5, "STOPPED": 4, "SUCCEEDED": 3, "RUNNING": 2, "PENDING": 1}
DEPLOYMENT_STATES = {
    "Failed": 8,
    "ValidationFailed": 7,
    "Complete": 6,
    "Running": 5,
    "Retrying": 4,
    "Suspended": 3,
    "Suspending": 3,
    "Waiting": 2,
    "Initializing": 1,
}
APPLICATION_STATES = {"DEPLOY_FAILED": 5, "UNHEALTHY": 4, "DELETING": 3, "DEPLOYING": 2, "NOT_STARTED": 1}
"""The states of each list by how much they count when members differ; a state in none of them counts 0."""


def aggregated_cluster(template: Manifest, items: Items) -> Any:
    """Add up workers and resources, chain the conditions; state and addresses are those of the first that has one."""
    if not items or len(items) == 1:
        return items[0].get("status") if items else template.get("status")
    statuses = [status for _, status in statuses_by_cluster(items)]
    leader = next((status for status in statuses if status.get("state") is not None), {})
    status: dict[str, Any] = {
        **sums_of_counters(items, COUNTERS),
        **{name: _sum_of_quantities(status.get(name) for status in statuses) for name in RESOURCES},
        "lastUpdateTime": _latest_state_change(statuses),
        "conditions": [condition for _, condition in conditions_with_member_names(items)],
        "state": leader.get("state"),
        "stateTransitionTimes": leader.get("stateTransitionTimes"),
        "endpoints": _first_value_of_field(statuses, "endpoints"),
        "head": _first_value_of_field(statuses, "head"),
    }
    return _status_without_nulls(status)


def aggregated_job(template: Manifest, items: Items) -> Any:
    """Take the state of the job and of its deployment that counts most, with the reason the latter gives."""
    if not items or len(items) == 1:
        return items[0].get("status") if items else template.get("status")
    statuses = [status for _, status in statuses_by_cluster(items)]
    job = _status_in_leading_state(
        (status for status in statuses if status.get("jobStatus") != ""), "jobStatus", JOB_STATES
    )
    deployment = _status_in_leading_state(statuses, "jobDeploymentStatus", DEPLOYMENT_STATES)
    return _status_without_nulls(
        {
            "jobStatus": job.get("jobStatus"),
            **{field: deployment.get(field) for field in ("jobDeploymentStatus", "reason", "message")},
        }
    )


def aggregated_service(template: Manifest, items: Items) -> Any:
    """Add up the endpoints, chain the conditions, and take of each application the state that counts most."""
    if not items or len(items) == 1:
        return items[0].get("status") if items else template.get("status")
    statuses = [status for _, status in statuses_by_cluster(items)]
    return _status_without_nulls(
        {
            **sums_of_counters(items, ["numServeEndpoints"]),
            "conditions": [condition for _, condition in conditions_with_member_names(items)],
            # An empty state means that the service does not run.
            "serviceStatus": "" if any(status.get("serviceStatus") == "" for status in statuses) else "Running",
            "lastUpdateTime": _latest_state_change(statuses),
            "observedGeneration": max((count_at(status, "observedGeneration") for status in statuses), default=0),
            "activeServiceStatus": _active_service_status(statuses),
            "pendingServiceStatus": _first_value_of_field(statuses, "pendingServiceStatus"),
        }
    )


def _active_service_status(statuses: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Take the first member's cluster, and the status of every application whose state counts most."""
    services = [service for status in statuses if (service := mapping_at(status, "activeServiceStatus"))]
    if not services:
        return None
    applications: dict[str, Any] = {}
    for service in services:
        for name in mapping_at(service, "applicationStatuses"):
            application = mapping_at(service, "applicationStatuses", name)
            applications[name] = _status_in_leading_state(
                [applications.get(name, {}), application], "status", APPLICATION_STATES
            )
    return {**services[0], "applicationStatuses": applications}


def _status_in_leading_state(
    statuses: Iterable[Mapping[str, Any]], field: str, states: Mapping[str, int]
) -> Mapping[str, Any]:
    """Return the first status in the state that counts most."""
    known = [status for status in statuses if status.get(field) is not None]
    return max(known, key=lambda status: states.get(text_at(status, field), 0), default={})


def _sum_of_quantities(quantities: Iterable[Any]) -> str:
    """Add one quantity after the other: each sum is written before the next is added, which decides its notation."""
    return reduce(lambda total, quantity: resource_add([total, quantity]), quantities, "0")


def _first_value_of_field(statuses: Iterable[Mapping[str, Any]], field: str) -> Any:
    return next((status[field] for status in statuses if value_at(status, field) is not None), None)


def _latest_state_change(statuses: Iterable[Mapping[str, Any]]) -> str | None:
    return max((text_at(status, "lastUpdateTime") for status in statuses), default="") or None


def _status_without_nulls(status: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in status.items() if value is not None}


def cluster_components(cluster: Mapping[str, Any]) -> Iterator[Component]:
    """Yield the head, if it has a template, and a component per worker group."""
    if mapping_at(cluster, "headGroupSpec").get("template") is not None:
        yield Component(
            name="ray-head",
            replicas=1,
            requirements=_requirements_of_worker_group(mapping_at(cluster, "headGroupSpec")),
        )
    for index, group in enumerate(objects_at(cluster, "workerGroupSpecs"), 1):
        yield Component(
            name=text_at(group, "groupName") or f"worker-{index}",
            replicas=_count_of_workers(group),
            requirements=_requirements_of_worker_group(group),
        )


def _requirements_of_worker_group(group: Mapping[str, Any]) -> ReplicaRequirements | None:
    return pod_requirements(mapping_at(group, "template", "spec"))


def _count_of_workers(group: Mapping[str, Any]) -> int:
    return 0 if group.get("replicas") is None else int(required_number_at(group, "replicas"))


def cluster_dependencies(manifest: Manifest, cluster: Path) -> set[DependentObject]:
    """Return the objects the pods of head, workers and submitter refer to."""
    namespace = text_at(manifest, "metadata", "namespace")
    groups = [mapping_at(manifest, *cluster, "headGroupSpec"), *objects_at(manifest, *cluster, "workerGroupSpecs")]
    templates = [mapping_at(group, "template", "spec") for group in groups]
    templates.append(mapping_at(manifest, "spec", "submitterPodTemplate", "spec"))
    return set().union(*(pod_dependencies(template, namespace) for template in templates))


def service_replicas(service: Manifest) -> Replicas:
    """Return head and workers together; one needs the largest cpu and memory of them all, if the head needs any.

    Without a head there is no service.
    """
    cluster = mapping_at(service, *SERVICE)
    if mapping_at(cluster, "headGroupSpec").get("template") is None:
        return Replicas(replicas=0, requirements=None)
    groups = objects_at(cluster, "workerGroupSpecs")
    head = _requirements_of_worker_group(mapping_at(cluster, "headGroupSpec"))
    needs = [needed for needed in (head, *map(_requirements_of_worker_group, groups)) if needed is not None]
    largest = {
        name: max(amounts, key=parse_quantity)
        for name in ("cpu", "memory")
        if (amounts := [needed.resource_request[name] for needed in needs if name in needed.resource_request])
    }
    requirements = head and replace(head, resource_request={**head.resource_request, **largest})
    return Replicas(replicas=1 + sum(map(_count_of_workers, groups)), requirements=requirements)


def revise_workers(service: Manifest, replicas: int) -> Manifest:
    """Give the workers all but the head's replica, in proportion to the groups' replicas."""
    groups = objects_at(service, *SERVICE, "workerGroupSpecs")
    if not groups:
        return service
    shares = _shares_of_workers(max(replicas - 1, 0), [_count_of_workers(group) for group in groups])
    revised = [{**group, "replicas": share} for group, share in zip(groups, shares, strict=True)]
    return manifest_with_value(service, revised, *SERVICE, "workerGroupSpecs")


def _shares_of_workers(workers: int, weights: Sequence[int]) -> list[int]:
    """Divide by weights, halves rounded up; the last takes the rest, which rounding can make negative."""
    if sum(weights) <= 0:
        weights = [1] * len(weights)
    shares = [floor(workers * weight / sum(weights) + 0.5) for weight in weights[:-1]]
    return [*shares, workers - sum(shares)]


def is_cluster_healthy(observed: Manifest) -> bool:
    """Say whether the head is ready, all was provisioned, and no replica failed."""
    status = mapping_at(observed, "status")
    return (
        has_condition(status, "HeadPodReady")
        and has_condition(status, "RayClusterProvisioned")
        and not has_condition(status, "RayClusterReplicaFailure")
    )


def is_job_healthy(observed: Manifest) -> bool:
    """Say whether the job runs, or is complete and succeeded."""
    deployment = text_at(observed, "status", "jobDeploymentStatus")
    if deployment == "Complete":
        return text_at(observed, "status", "jobStatus") == "SUCCEEDED"
    return deployment == "Running"


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("ray.io/v1", "RayCluster"): Interpretation(
        components=lambda cluster: cluster_components(mapping_at(cluster, *CLUSTER)),
        aggregate=aggregated_cluster,
        health=is_cluster_healthy,
    ),
    ("ray.io/v1", "RayJob"): Interpretation(
        components=lambda job: cluster_components(mapping_at(job, *JOB)),
        aggregate=aggregated_job,
        health=is_job_healthy,
        dependencies=lambda job: cluster_dependencies(job, JOB),
        finish=lambda job: finish_of_status_word(text_at(job, "status", "jobStatus"), FINISHES),
    ),
    ("ray.io/v1", "RayService"): Interpretation(
        replicas=service_replicas,
        revise=revise_workers,
        aggregate=aggregated_service,
        health=lambda observed: has_condition(mapping_at(observed, "status"), "Ready"),
        dependencies=lambda service: cluster_dependencies(service, SERVICE),
    ),
}
"""The interpretation of each kind, by apiVersion and kind."""
