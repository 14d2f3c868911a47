"""Kubeflow training jobs: PyTorch, TensorFlow and MPI."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from render.interpretation.fields import count_at, error_of_wrong_type, mapping_at, objects_at, text_at
from render.interpretation.finishing import COMPLETE, FAILED, finish_of_true_condition
from render.interpretation.operations import Interpretation, Items
from render.interpretation.references import pod_dependencies
from render.interpretation.requirements import pod_requirements
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest
from render.resources import Component, DependentObject

from .common import conditions_with_member_names, has_condition, reported_fields, true_condition

COUNTERS = ("active", "succeeded", "failed")
MPI_REPORTED = ("completionTime", "conditions", "lastReconcileTime", "replicaStatuses", "startTime")
PYTORCH, TENSORFLOW, MPI = "pytorchReplicaSpecs", "tfReplicaSpecs", "mpiReplicaSpecs"
ROLES: Mapping[str, Sequence[str]] = {
    PYTORCH: ("Master", "Worker"),
    TENSORFLOW: ("PS", "Worker", "Chief", "Master", "Evaluator"),
}


def role_components(job: Manifest, specs: str) -> Iterator[Component]:
    """Yield a component per role, with 1 replica where it names no number."""
    roles = mapping_at(job, "spec", specs)
    for role in ROLES[specs]:
        if roles.get(role) is not None:
            yield _component_of_role(mapping_at(roles, role), name=role.lower(), default=1)


def mpi_components(job: Manifest) -> Iterator[Component]:
    """Yield a component per role by its own name, with 0 workers where no number is named."""
    for role in sorted(mapping_at(job, "spec", MPI)):
        yield _component_of_role(mapping_at(job, "spec", MPI, role), name=role, default=0 if role == "Worker" else 1)


def _component_of_role(spec: Mapping[str, Any], *, name: str, default: int) -> Component:
    return Component(
        name=name,
        replicas=_number_or_default(spec.get("replicas"), default),
        requirements=pod_requirements(mapping_at(spec, "template", "spec")),
    )


def _number_or_default(value: Any, default: int) -> int:
    """Read a number, which may be written as text; no text is the default."""
    if value is None or value == "":
        return default
    if isinstance(value, bool) or not str(value).removeprefix("-").isdecimal():
        raise error_of_wrong_type(value, "a number", ("replicas",))
    return int(value)


def role_dependencies(job: Manifest, specs: str) -> set[DependentObject]:
    """Return the objects the pods of all roles refer to."""
    namespace = text_at(job, "metadata", "namespace")
    templates = [mapping_at(spec, "template", "spec") for spec in mapping_at(job, "spec", specs).values()]
    return set().union(*(pod_dependencies(template, namespace) for template in templates))


def is_job_healthy(observed: Manifest) -> bool:
    """Say whether the job has conditions at all, and has not failed."""
    status = mapping_at(observed, "status")
    return status.get("conditions") is not None and not has_condition(status, "Failed")


def is_mpi_job_healthy(observed: Manifest) -> bool:
    """Say whether the job has any condition, and has not failed."""
    return bool(objects_at(observed, "status", "conditions")) and is_job_healthy(observed)


def aggregated_pytorch_job(_template: Manifest, items: Items) -> Any:
    """Add up the replicas; created, running, failed or succeeded as the members' conditions say."""
    started, completed = (
        _picked_time_of_members(items, "startTime", min),
        _picked_time_of_members(items, "completionTime", max),
    )
    conditions = []
    if any(has_condition(status, "Created") for _, status in statuses_by_cluster(items)):
        conditions.append(_true_job_condition("Created", "the job is created", started))
    failed, succeeded = _failed_members(items), _have_all_succeeded(items)
    running = [condition for _, condition in conditions_with_member_names(items) if condition.get("type") == "Running"]
    if running:
        times = {field: running[-1].get(field) for field in ("lastUpdateTime", "lastTransitionTime")}
        conditions.append(
            {
                **_true_job_condition("Running", "the job is running", ""),
                "status": "False" if failed or succeeded else "True",
                **{field: time for field, time in times.items() if time},
            }
        )
    if failed:
        conditions.append(_true_job_condition("Failed", f"the job failed in {', '.join(failed)}", completed))
    elif succeeded:
        conditions.append(_true_job_condition("Succeeded", "the job succeeded in every cluster", completed))
    return _job_status_of_members(items, conditions)


def _true_job_condition(kind: str, message: str, since: str) -> dict[str, str]:
    times = {"lastTransitionTime": since, "lastUpdateTime": since} if since else {}
    return {**true_condition(kind, f"PyTorchJob{kind}", message), **times}


def aggregated_tensorflow_job(template: Manifest, items: Items) -> Any:
    """Add up the replicas; one failed member fails the job, all succeeded ones make it succeed."""
    if not items:
        return template.get("status")
    conditions = []
    if failed := _failed_members(items):
        conditions.append(true_condition("Failed", "TFJobFailed", "the job failed", failed))
    elif _have_all_succeeded(items):
        conditions.append(true_condition("Succeeded", "Completed", "the job succeeded in every cluster"))
    return _job_status_of_members(items, conditions)


def aggregated_mpi_job(template: Manifest, items: Items) -> Any:
    """Take a lone member's status as it is; add up several, and of each type of condition take the newest."""
    if not items:
        return template.get("status")
    if len(items) == 1:
        return items[0].get("status")
    newest: dict[str, Mapping[str, Any]] = {}
    for _, condition in conditions_with_member_names(items):
        kind = text_at(condition, "type")
        if _time_of_last_update(condition) > (_time_of_last_update(newest[kind]) if kind in newest else ""):
            newest[kind] = condition
    status = {
        "completionTime": _picked_time_of_members(items, "completionTime", max),
        "conditions": list(newest.values()),
        "lastReconcileTime": _picked_time_of_members(items, "lastReconcileTime", max),
        "replicaStatuses": _summed_replica_statuses(items),
        "startTime": _picked_time_of_members(items, "startTime", min),
    }
    return {field: value for field, value in status.items() if value}


def _time_of_last_update(condition: Mapping[str, Any]) -> str:
    """Return the time of a condition's last update, or of its last change where it has none."""
    field = "lastTransitionTime" if condition.get("lastUpdateTime") is None else "lastUpdateTime"
    return text_at(condition, field)


def _job_status_of_members(items: Items, conditions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    replicas = {
        role: {counter: count for counter, count in counters.items() if count}
        for role, counters in _summed_replica_statuses(items).items()
    }
    status = {
        "conditions": conditions,
        "replicaStatuses": {role: counters for role, counters in replicas.items() if counters},
        "startTime": _picked_time_of_members(items, "startTime", min),
        "lastReconcileTime": _picked_time_of_members(items, "lastReconcileTime", max),
        "completionTime": _picked_time_of_members(items, "completionTime", max)
        if items and _have_all_succeeded(items)
        else "",
    }
    return {field: value for field, value in status.items() if value}


def _summed_replica_statuses(items: Items) -> dict[str, dict[str, int]]:
    """Add up the counters of each role."""
    roles: dict[str, dict[str, int]] = {}
    for _, status in statuses_by_cluster(items):
        for role, replicas in mapping_at(status, "replicaStatuses").items():
            sums = roles.setdefault(role, dict.fromkeys(COUNTERS, 0))
            for counter in COUNTERS:
                sums[counter] += count_at(replicas, counter)
    return roles


def _failed_members(items: Items) -> list[str]:
    return [member for member, status in statuses_by_cluster(items) if has_condition(status, "Failed")]


def _have_all_succeeded(items: Items) -> bool:
    return bool(items) and sum(has_condition(status, "Succeeded") for _, status in statuses_by_cluster(items)) == len(
        items or ()
    )


def _picked_time_of_members(items: Items, field: str, pick: Any) -> str:
    """Return the earliest or latest of the times that members have; empty when none has one."""
    return str(pick(filter(None, (text_at(status, field) for _, status in statuses_by_cluster(items))), default=""))


def job_finish(job: Manifest) -> str:
    """Return how a job ended; empty while it runs."""
    return finish_of_true_condition(mapping_at(job, "status"), {"Succeeded": COMPLETE, "Failed": FAILED})


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("kubeflow.org/v1", "PyTorchJob"): Interpretation(
        components=lambda job: role_components(job, PYTORCH),
        aggregate=aggregated_pytorch_job,
        health=is_job_healthy,
        finish=job_finish,
        dependencies=lambda job: role_dependencies(job, PYTORCH),
    ),
    ("kubeflow.org/v1", "TFJob"): Interpretation(
        components=lambda job: role_components(job, TENSORFLOW),
        aggregate=aggregated_tensorflow_job,
        health=is_job_healthy,
        finish=job_finish,
        dependencies=lambda job: role_dependencies(job, TENSORFLOW),
    ),
    ("kubeflow.org/v2beta1", "MPIJob"): Interpretation(
        components=mpi_components,
        aggregate=aggregated_mpi_job,
        reflect=lambda observed: reported_fields(observed, MPI_REPORTED),
        health=is_mpi_job_healthy,
        finish=job_finish,
    ),
}
"""The interpretation of each kind, by apiVersion and kind."""
