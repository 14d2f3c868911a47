"""OpenKruise: clone sets, stateful sets, daemon sets, united deployments, broadcast and cron jobs, sidecar sets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from render.interpretation.fields import (
    count_at,
    list_at,
    manifest_with_value,
    mapping_at,
    objects_at,
    text_at,
    value_at,
)
from render.interpretation.finishing import COMPLETE, FAILED, finish_of_true_condition
from render.interpretation.operations import Interpretation, Items, Replicas
from render.interpretation.references import container_references, dependent_objects_of
from render.interpretation.requirements import pod_requirements
from render.interpretation.statuses import statuses_by_cluster, sums_of_counters
from render.kinds.workloads import template_dependencies
from render.model import Manifest
from render.resources import DependentObject

from .common import (
    PARALLELISM,
    conditions_with_member_names,
    last_text_of_each_field,
    observed_generation,
    parallelism_or_one,
    reported_fields,
    reported_fields_with_generations,
    required_number_at,
    required_status,
    revise_parallelism,
    true_condition,
)

REPLICA_FIELD = ("spec", "replicas")
CLONE_COUNTERS = (
    "replicas",
    "readyReplicas",
    "updatedReplicas",
    "availableReplicas",
    "updatedReadyReplicas",
    "expectedUpdatedReplicas",
)
CLONE_WORDS = ("updateRevision", "currentRevision", "labelSelector")
STATEFUL_COUNTERS = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "updatedReadyReplicas",
)
STATEFUL_WORDS = ("updateRevision", "currentRevision")
DAEMON_COUNTERS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
)
UNITED_COUNTERS = ("replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas")
FINISHED = ("Complete", "Failed")
JOB_COUNTERS = ("active", "succeeded", "failed", "desired")
JOB_REPORTED = (*JOB_COUNTERS, "completionTime", "conditions", "phase", "startTime")
SIDECAR_COUNTERS = ("matchedPods", "updatedPods", "readyPods")


def workload_replicas(workload: Manifest) -> Replicas:
    """Return spec.replicas, which must be there, and the needs of a pod of spec.template."""
    requirements = pod_requirements(mapping_at(workload, "spec", "template", "spec"))
    return Replicas(replicas=int(required_number_at(workload, *REPLICA_FIELD)), requirements=requirements)


def revise_replicas(workload: Manifest, replicas: int) -> Manifest:
    """Set spec.replicas, even where there was none."""
    return manifest_with_value(workload, replicas, *REPLICA_FIELD)


def is_rollout_complete(observed: Manifest) -> bool:
    """Say whether the workload was observed, every replica updated, every updated one available."""
    status = required_status(observed)
    if status.get("observedGeneration") != value_at(observed, "metadata", "generation"):
        return False
    if value_at(observed, *REPLICA_FIELD) is not None and required_number_at(
        status, "updatedReplicas"
    ) < required_number_at(observed, *REPLICA_FIELD):
        return False
    return required_number_at(status, "availableReplicas") >= required_number_at(status, "updatedReplicas")


def is_united_deployment_complete(observed: Manifest) -> bool:
    """Say whether the rollout of every subset is complete; one without a status is not."""
    return observed.get("status") is not None and is_rollout_complete(observed)


def is_daemon_set_available(observed: Manifest) -> bool:
    """Say whether the daemon set was observed, every node updated, every updated one available."""
    status = required_status(observed)
    if status.get("observedGeneration") != value_at(observed, "metadata", "generation"):
        return False
    if required_number_at(status, "updatedNumberScheduled") < required_number_at(status, "desiredNumberScheduled"):
        return False
    return required_number_at(status, "numberAvailable") >= required_number_at(status, "updatedNumberScheduled")


def aggregation_operation(counters: Sequence[str], words: Sequence[str] = ()) -> Callable[[Manifest, Items], Any]:
    """Return the aggregation of statuses: sums, last values, and the generation every member has observed."""

    def aggregated_workload_status(template: Manifest, items: Items) -> Any:
        return {
            **mapping_at(template, "status"),
            **sums_of_counters(items, counters),
            **last_text_of_each_field(items, words),
            "observedGeneration": observed_generation(template, items),
        }

    return aggregated_workload_status


def aggregated_daemon_set(template: Manifest, items: Items) -> Any:
    """Add up; the hash is a number while there is none."""
    status = aggregation_operation(DAEMON_COUNTERS, ["daemonSetHash"])(template, items)
    return status if status["daemonSetHash"] else {**status, "daemonSetHash": 0}


def aggregated_united_deployment(template: Manifest, items: Items) -> Any:
    """Add up; of conditions of one type the last counts."""
    status = aggregation_operation(UNITED_COUNTERS)(template, items)
    by_type = {text_at(condition, "type"): condition for _, condition in conditions_with_member_names(items)}
    return {**status, "conditions": list(by_type.values())} if by_type else status


def _scaled_interpretation(counters: Sequence[str], words: Sequence[str], **special: Any) -> Interpretation:
    functions: dict[str, Any] = {
        "replicas": workload_replicas,
        "revise": revise_replicas,
        "replica_field": REPLICA_FIELD,
        "aggregate": aggregation_operation(counters, words),
        "reflect": lambda observed: reported_fields_with_generations(
            observed, (*counters, *words, "observedGeneration")
        ),
        "health": is_rollout_complete,
        "dependencies": template_dependencies,
    }
    return Interpretation(**{**functions, **special})


def broadcast_job_replicas(job: Manifest) -> Replicas:
    """Return spec.parallelism, or 1."""
    requirements = pod_requirements(mapping_at(job, "spec", "template", "spec"))
    return Replicas(replicas=parallelism_or_one(job), requirements=requirements)


def retain_pod_labels(desired: Manifest, observed: Manifest) -> Manifest:
    """Keep the pod labels the member's controller wrote."""
    labels = value_at(observed, "spec", "template", "metadata", "labels")
    return desired if labels is None else manifest_with_value(desired, labels, "spec", "template", "metadata", "labels")


def aggregated_broadcast_job(_template: Manifest, items: Items) -> Any:
    """Add up; one failed member fails the job, all complete complete it."""
    status: dict[str, Any] = {**sums_of_counters(items, JOB_COUNTERS), **last_text_of_each_field(items, ["phase"])}
    failed, complete = _failed_and_complete_members(items)
    if failed:
        return {**status, "conditions": [true_condition("Failed", "JobFailed", "the job failed", failed)]}
    if items and complete == len(items):
        condition = true_condition("Completed", "Completed", "the job is complete in every cluster")
        return {**status, "conditions": [condition]}
    return status


def _failed_and_complete_members(items: Items) -> tuple[list[str], int]:
    """Return the failed members and the number of complete ones.

    A member that has not finished counts like the one before it: Karmada's rule.
    """
    failed, complete, finish = [], 0, ""
    for member, status in statuses_by_cluster(items):
        for condition in objects_at(status, "conditions"):
            if condition.get("type") in FINISHED and condition.get("status") == "True":
                finish = text_at(condition, "type")
        if finish == "Failed":
            failed.append(member)
        complete += finish == "Complete"
    return failed, complete


def reflect_broadcast_job(observed: Manifest) -> Any:
    """Report counters, conditions, phase and times."""
    return reported_fields(observed, JOB_REPORTED)


def is_broadcast_job_healthy(observed: Manifest) -> bool:
    """Say whether there is something to do, nothing failed, and something runs or is done."""
    status = mapping_at(observed, "status")
    desired, failed, succeeded, active = (status.get(field) for field in ("desired", "failed", "succeeded", "active"))
    return desired != 0 and failed == 0 and not (succeeded == 0 and active == 0)


def cron_job_dependencies(cron_job: Manifest) -> Any:
    """Return the objects the pods of either job template refer to."""
    for template in ("jobTemplate", "broadcastJobTemplate"):
        job = mapping_at(cron_job, "spec", "template", template)
        if job:
            return template_dependencies({"metadata": cron_job["metadata"], "spec": mapping_at(job, "spec")})
    return ()


def aggregated_cron_job(_template: Manifest, items: Items) -> Any:
    """Chain the active jobs; the last type and time win."""
    active = [job for _, status in statuses_by_cluster(items) for job in list_at(status, "active")]
    status = {"active": active, **last_text_of_each_field(items, ["type", "lastScheduleTime"])}
    return {field: value for field, value in status.items() if value or field == "type"}


def sidecar_replicas(_sidecars: Manifest) -> Replicas:
    """Return 0: sidecars ride on other pods."""
    return Replicas(replicas=0)


def sidecar_dependencies(sidecars: Manifest) -> set[DependentObject]:
    """Return the objects the containers and volumes refer to."""
    references = [
        reference for each in objects_at(sidecars, "spec", "containers") for reference in container_references(each)
    ]
    for volume in objects_at(sidecars, "spec", "volumes"):
        references.append(("ConfigMap", text_at(volume, "configMap", "name")))
        references.append(("Secret", text_at(volume, "secret", "secretName")))
        for source in objects_at(volume, "projected", "sources"):
            references.append(("ConfigMap", text_at(source, "configMap", "name")))
            references.append(("Secret", text_at(source, "secret", "name")))
    return dependent_objects_of(references, text_at(sidecars, "metadata", "namespace"))


def reflect_sidecar_set(observed: Manifest) -> Any:
    """Report the counters."""
    if observed.get("status") is None:
        return {}
    status = mapping_at(observed, "status")
    return {counter: status.get(counter) or 0 for counter in SIDECAR_COUNTERS}


def are_sidecars_updated(observed: Manifest) -> bool:
    """Say whether every matched pod is updated."""
    if observed.get("status") is None:
        return False
    status = mapping_at(observed, "status")
    return count_at(status, "matchedPods") == 0 or status.get("updatedPods") == status.get("matchedPods")


_FINISHES = {"Complete": COMPLETE, "Completed": COMPLETE, "Failed": FAILED}
KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("apps.kruise.io/v1alpha1", "CloneSet"): _scaled_interpretation(CLONE_COUNTERS, CLONE_WORDS),
    ("apps.kruise.io/v1beta1", "StatefulSet"): _scaled_interpretation(STATEFUL_COUNTERS, STATEFUL_WORDS),
    ("apps.kruise.io/v1alpha1", "UnitedDeployment"): _scaled_interpretation(
        UNITED_COUNTERS,
        (),
        aggregate=aggregated_united_deployment,
        health=is_united_deployment_complete,
        reflect=lambda observed: reported_fields_with_generations(
            observed, (*UNITED_COUNTERS, "conditions", "observedGeneration")
        ),
    ),
    ("apps.kruise.io/v1alpha1", "DaemonSet"): Interpretation(
        aggregate=aggregated_daemon_set,
        reflect=lambda observed: reported_fields_with_generations(
            observed, (*DAEMON_COUNTERS, "daemonSetHash", "observedGeneration")
        ),
        health=is_daemon_set_available,
        dependencies=template_dependencies,
    ),
    ("apps.kruise.io/v1alpha1", "BroadcastJob"): Interpretation(
        replicas=broadcast_job_replicas,
        revise=revise_parallelism,
        replica_field=PARALLELISM,
        retain=retain_pod_labels,
        aggregate=aggregated_broadcast_job,
        reflect=reflect_broadcast_job,
        health=is_broadcast_job_healthy,
        finish=lambda job: finish_of_true_condition(mapping_at(job, "status"), _FINISHES),
        dependencies=template_dependencies,
    ),
    ("apps.kruise.io/v1alpha1", "AdvancedCronJob"): Interpretation(
        aggregate=aggregated_cron_job, dependencies=cron_job_dependencies
    ),
    ("apps.kruise.io/v1alpha1", "SidecarSet"): Interpretation(
        replicas=sidecar_replicas,
        retain=lambda desired, _observed: desired,
        aggregate=lambda _template, items: sums_of_counters(items, SIDECAR_COUNTERS),
        reflect=reflect_sidecar_set,
        health=are_sidecars_updated,
        dependencies=sidecar_dependencies,
    ),
}
"""The interpretation of each kind, by apiVersion and kind."""
