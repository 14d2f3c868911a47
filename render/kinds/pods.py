"""Bare pods."""

from collections.abc import Mapping
from typing import Any

from render.interpretation.fields import mapping_at, objects_at, text_at
from render.interpretation.finishing import COMPLETE, FAILED, finish_of_status_word
from render.interpretation.operations import Interpretation, Items, Replicas
from render.interpretation.progress import LiveState, Progress, has_condition, status_of
from render.interpretation.references import pod_dependencies
from render.interpretation.requirements import pod_requirements
from render.interpretation.retention import EACH, Retained
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest
from render.resources import DependentObject

from .kind import NO_DELIVERY_RULES, NO_LIVE_RULES, NO_TEMPLATE_RULES, BuiltInKind

PHASES = ("Failed", "Pending", "Running", "Succeeded")
WRITTEN_BY_MEMBERS = (
    ("nodeName",),
    ("serviceAccountName",),
    ("volumes",),
    ("containers", EACH, "volumeMounts"),
    ("initContainers", EACH, "volumeMounts"),
)
_ENDING = ("Never", "OnFailure")
CONTAINER_STATUSES = ("containerStatuses", "initContainerStatuses")


def pod_replicas(pod: Manifest) -> Replicas:
    """Return one replica with its own needs."""
    return Replicas(replicas=1, requirements=pod_requirements(mapping_at(pod, "spec")))


def pod_own_dependencies(pod: Manifest) -> set[DependentObject]:
    """Return the objects the pod refers to."""
    return pod_dependencies(mapping_at(pod, "spec"), text_at(pod, "metadata", "namespace"))


def aggregated_pod(template: Manifest, items: Items) -> Any:
    """Take the worst phase - a pod not reported yet is pending - and chain the container states."""
    if items is None:
        return template.get("status")
    phases = {text_at(item, "status", "phase") if item.get("status") is not None else "Pending" for item in items}
    status: dict[str, Any] = {"phase": next((phase for phase in PHASES if phase in phases), "")}
    for field in CONTAINER_STATUSES:
        status[field] = [
            _container_status(container)
            for _, member in statuses_by_cluster(items)
            for container in objects_at(member, field)
        ]
    return {field: value for field, value in status.items() if value}


def _container_status(container: Mapping[str, Any]) -> dict[str, Any]:
    """Return a container's readiness and state; the API requires the rest, which cannot be added up."""
    blank = {"name": "", "image": "", "imageID": "", "restartCount": 0, "lastState": {}}
    return {**blank, "ready": container.get("ready") is True, "state": mapping_at(container, "state")}


def is_pod_healthy(observed: Manifest) -> bool:
    """Say whether the pod succeeded, or runs and is ready."""
    phase = text_at(observed, "status", "phase")
    if phase != "Running":
        return phase == "Succeeded"
    return any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in objects_at(observed, "status", "conditions")
    )


def pod_finish(pod: Manifest) -> str | None:
    """Return how a Pod ended that is not restarted for ever; empty while it runs."""
    if text_at(pod, "spec", "restartPolicy") not in _ENDING:
        return None
    return finish_of_status_word(text_at(pod, "status", "phase"), {"Succeeded": COMPLETE, "Failed": FAILED})


def pod_progress(live: Manifest) -> LiveState | None:
    """Return how far a pod is."""
    # To kstatus a failed pod is current, for it changes no more.
    phase = status_of(live).get("phase")
    if phase == "Failed":
        return LiveState(Progress.FAILED, "PodFailed", str(status_of(live).get("message") or "it ended in failure"))
    if phase == "Succeeded" or (phase == "Running" and has_condition(live, "Ready", "True")):
        return None
    return LiveState(Progress.IN_PROGRESS, "PodNotReady", f"its phase is {phase or 'unknown'}")


KINDS = (
    BuiltInKind(
        group="",
        kind="Pod",
        version="v1",
        is_namespaced=True,
        pod_spec=("spec",),
        has_edited_containers=True,
        is_recreatable=True,
        progress=pod_progress,
        short_names=("po",),
        interpretation=Interpretation(
            replicas=pod_replicas,
            aggregate=aggregated_pod,
            dependencies=pod_own_dependencies,
            health=is_pod_healthy,
            finish=pod_finish,
        ),
        retained=tuple(Retained(path=("spec", *path), is_fixed=True, is_exact=True) for path in WRITTEN_BY_MEMBERS),
        has_no=f"{NO_TEMPLATE_RULES} is_scaled counts stage takes_others_along maps is_transient",
    ),
    BuiltInKind(
        group="",
        kind="PodTemplate",
        version="v1",
        is_namespaced=True,
        pod_spec=("template", "spec"),
        has_no=f"{NO_LIVE_RULES} {NO_TEMPLATE_RULES} {NO_DELIVERY_RULES} has_edited_containers is_scaled counts",
    ),
)
"""Pods, and pods that nothing runs yet."""
