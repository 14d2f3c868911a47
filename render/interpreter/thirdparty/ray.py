"""Ray: clusters, jobs on them and services on them - a head and groups of workers each."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor
from typing import Any

from msgspec.structs import replace

from render.interpreter.fields import mapping_at, objects_at, text_at, with_value
from render.interpreter.operations import Interpretation, Replicas
from render.interpreter.references import pod_dependencies
from render.interpreter.requirements import pod_requirements
from render.model import Manifest
from render.quantity import parse_quantity
from render.resources import Component, DependentObject, ReplicaRequirements

from .common import has_condition, number_at
from .ray_status import aggregated_cluster, aggregated_job, aggregated_service

Path = tuple[str, ...]
CLUSTER: Path = ("spec",)
JOB: Path = ("spec", "rayClusterSpec")
SERVICE: Path = ("spec", "rayClusterConfig")


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
