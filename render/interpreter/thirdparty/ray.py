"""Ray: clusters, jobs on them and services on them - a head and groups of workers each; their statuses added up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor
from typing import Any

from msgspec.structs import replace

from render.interpreter.fields import count_at, mapping_at, objects_at, text_at, value_at, with_value
from render.interpreter.lua.kube_library import resource_add
from render.interpreter.operations import Interpretation, Items, Replicas
from render.interpreter.references import pod_dependencies
from render.interpreter.requirements import pod_requirements
from render.interpreter.statuses import collected, summed
from render.model import Manifest
from render.quantity import parse_quantity
from render.resources import Component, DependentObject, ReplicaRequirements

from .common import conditions_of, has_condition, number_at

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


def cluster_components(cluster: Mapping[str, Any]) -> Iterator[Component]:
    """Yield the head and a component per worker group."""
    yield Component(name="ray-head", replicas=1, requirements=_needs(mapping_at(cluster, "headGroupSpec")))
    for index, group in enumerate(objects_at(cluster, "workerGroupSpecs"), 1):
        yield Component(
            name=text_at(group, "groupName") or f"worker-{index}", replicas=_workers(group), requirements=_needs(group)
        )


def _needs(group: Mapping[str, Any]) -> ReplicaRequirements | None:
    return pod_requirements(mapping_at(group, "template", "spec"))


def _workers(group: Mapping[str, Any]) -> int:
    return 0 if group.get("replicas") is None else int(number_at(group, "replicas"))


def cluster_dependencies(manifest: Manifest, cluster: Path) -> set[DependentObject]:
    """Return the objects the pods of head, workers and submitter refer to."""
    namespace = text_at(manifest, "metadata", "namespace")
    groups = [mapping_at(manifest, *cluster, "headGroupSpec"), *objects_at(manifest, *cluster, "workerGroupSpecs")]
    templates = [mapping_at(group, "template", "spec") for group in groups]
    templates.append(mapping_at(manifest, "spec", "submitterPodTemplate", "spec"))
    return set().union(*(pod_dependencies(template, namespace) for template in templates))


def service_replicas(service: Manifest) -> Replicas:
    """Return head and workers together; one needs the largest cpu and memory of them all."""
    cluster = mapping_at(service, *SERVICE)
    groups = objects_at(cluster, "workerGroupSpecs")
    head = _needs(mapping_at(cluster, "headGroupSpec"))
    needs = [needed for needed in (head, *map(_needs, groups)) if needed is not None]
    largest = {
        name: max(amounts, key=parse_quantity)
        for name in ("cpu", "memory")
        if (amounts := [needed.resource_request[name] for needed in needs if name in needed.resource_request])
    }
    requirements = None
    if needs:
        base = head or ReplicaRequirements()
        requirements = replace(base, resource_request={**base.resource_request, **largest})
    return Replicas(replicas=1 + sum(map(_workers, groups)), requirements=requirements)


def revise_workers(service: Manifest, replicas: int) -> Manifest:
    """Give the workers all but the head's replica, in proportion to the groups' replicas."""
    groups = objects_at(service, *SERVICE, "workerGroupSpecs")
    if not groups:
        return service
    shares = _shares(max(replicas - 1, 0), [_workers(group) for group in groups])
    revised = [{**group, "replicas": share} for group, share in zip(groups, shares, strict=True)]
    return with_value(service, revised, *SERVICE, "workerGroupSpecs")


def _shares(workers: int, weights: Sequence[int]) -> list[int]:
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
