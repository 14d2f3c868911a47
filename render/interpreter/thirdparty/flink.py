"""Flink deployments."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from render.interpretation.fields import mapping_at, text_at, value_at
from render.interpretation.operations import Interpretation, InterpreterError, Items, Replicas
from render.interpretation.requirements import node_claim_of_pod
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest
from render.quantity import parse_quantity
from render.resources import Component, ReplicaRequirements

from .common import reported_fields, required_number_at

MANAGERS = ("jobManager", "taskManager")
SLOTS = "taskmanager.numberOfTaskSlots"
WORDS = ("error", "jobManagerDeploymentStatus", "lifecycleState")
REPORTED = (
    *WORDS,
    "clusterInfo",
    "jobStatus",
    "observedGeneration",
    "reconciliationStatus",
    "taskManager",
)
ALWAYS_HEALTHY = {"RUNNING", "FINISHED", "FAILED", "CANCELED", "SUSPENDED", "CANCELLING", "FAILING", "RESTARTING"}
STARTING = {"CREATED", "INITIALIZING", "RECONCILING"}
IMAGE_ERRORS = ("ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff")


def deployment_replicas(deployment: Manifest) -> Replicas:
    """Return job and task managers together; one needs the larger of each resource."""
    spec = mapping_at(deployment, "spec")
    requests = [_resource_request_of_manager(spec, manager) for manager in MANAGERS]
    largest = {
        name: max((request[name] for request in requests if name in request), key=parse_quantity)
        for name in ("cpu", "memory")
        if any(name in request for request in requests)
    }
    pod = mapping_at(spec, "podTemplate", "spec")
    return Replicas(
        replicas=_count_of_job_managers(spec) + _count_of_task_managers(spec),
        requirements=ReplicaRequirements(
            node_claim=node_claim_of_pod(pod),
            resource_request=largest,
            namespace=text_at(deployment, "metadata", "namespace"),
            priority_class_name=text_at(pod, "priorityClassName"),
        ),
    )


def deployment_components(deployment: Manifest) -> Iterator[Component]:
    """Yield job managers and task managers."""
    spec = mapping_at(deployment, "spec")
    pod = mapping_at(spec, "podTemplate", "spec")
    for manager, replicas in zip(MANAGERS, (_count_of_job_managers(spec), _count_of_task_managers(spec)), strict=True):
        requirements = ReplicaRequirements(
            node_claim=node_claim_of_pod(pod),
            resource_request=_resource_request_of_manager(spec, manager),
            priority_class_name=text_at(pod, "priorityClassName"),
        )
        yield Component(name=manager.lower(), replicas=replicas, requirements=requirements)


def _count_of_job_managers(spec: Mapping[str, Any]) -> int:
    return (
        1
        if value_at(spec, "jobManager", "replicas") is None
        else int(required_number_at(spec, "jobManager", "replicas"))
    )


def _count_of_task_managers(spec: Mapping[str, Any]) -> int:
    """Return the declared number, else as many as the job's parallelism fills with its slots, else 1."""
    if value_at(spec, "taskManager", "replicas") is not None:
        return int(required_number_at(spec, "taskManager", "replicas"))
    parallelism, slots = value_at(spec, "job", "parallelism"), mapping_at(spec, "flinkConfiguration").get(SLOTS)
    if parallelism is None or slots is None:
        return 1
    each = Fraction(str(slots)) if str(slots).replace(".", "", 1).isdecimal() else Fraction(0)
    return -int(-Fraction(required_number_at(spec, "job", "parallelism")) // each) if each else 1


def _resource_request_of_manager(spec: Mapping[str, Any], manager: str) -> dict[str, str]:
    resource = mapping_at(spec, manager, "resource")
    request = {name: str(resource[name]) for name in ("cpu", "memory") if resource.get(name) is not None}
    for name, quantity in request.items():
        try:
            parse_quantity(quantity)
        except ValueError as error:
            raise InterpreterError(f"spec.{manager}.resource.{name}: {error}") from error
    return request


def aggregated_deployment(template: Manifest, items: Items) -> Any:
    """Take the last member's word for everything."""
    status = mapping_at(template, "status")
    if not items:
        return {**status, **dict.fromkeys(WORDS, ""), "observedGeneration": 0}
    for _, member in statuses_by_cluster(items):
        others = {field: value for field, value in status.items() if field not in REPORTED}
        status = {**others, **reported_fields({"status": member}, REPORTED)}
    return status


def reflect_deployment(observed: Manifest) -> Any:
    """Report the fields of the status that are known."""
    return reported_fields(observed, REPORTED)


def is_deployment_healthy(observed: Manifest) -> bool:
    """Say whether the job is past its start; a starting one is healthy only if its image fails: Karmada's rule."""
    status = mapping_at(observed, "status")
    state = text_at(status, "jobStatus", "state")
    if not state:
        return status.get("jobManagerDeploymentStatus") == "READY" and status.get("lifecycleState") == "STABLE"
    if state in STARTING:
        return any(error in text_at(status, "error") for error in IMAGE_ERRORS)
    return state in ALWAYS_HEALTHY


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("flink.apache.org/v1beta1", "FlinkDeployment"): Interpretation(
        replicas=deployment_replicas,
        components=deployment_components,
        aggregate=aggregated_deployment,
        reflect=reflect_deployment,
        health=is_deployment_healthy,
    )
}
"""The interpretation of each kind, by apiVersion and kind."""
