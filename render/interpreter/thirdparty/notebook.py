"""Kubeflow notebooks."""

from collections.abc import Mapping
from typing import Any

from render.interpretation.fields import count_at, list_at, mapping_at, text_at
from render.interpretation.operations import Interpretation, Items, Replicas
from render.interpretation.requirements import pod_requirements
from render.interpretation.statuses import statuses_by_cluster, sums_of_counters
from render.model import Manifest

from .common import true_condition

FAILURES = {"Error", "OOMKilled", "ContainerCannotRun"}


def notebook_replicas(notebook: Manifest) -> Replicas:
    """Return one replica with the needs of its template."""
    return Replicas(replicas=1, requirements=pod_requirements(mapping_at(notebook, "spec", "template", "spec")))


def aggregated_notebook(template: Manifest, items: Items) -> Any:
    """Take the status of a lone member as it is; of several, the last that does not run, else the latest start."""
    if items and len(items) == 1:
        return items[0].get("status")
    status: dict[str, Any] = {**mapping_at(template, "status"), **sums_of_counters(items, ["readyReplicas"])}
    states = [(member, mapping_at(each, "containerState")) for member, each in statuses_by_cluster(items)]
    failed = [(member, state) for member, state in states if not _is_container_running(state)]
    if failed:
        condition = true_condition("Failed", "NotebookFailed", "the notebook failed", [member for member, _ in failed])
        state = failed[-1][1] or {"waiting": {"reason": "Unschedulable"}}
        return {**status, "containerState": state, "conditions": [condition]}
    if not states:
        return status
    _, latest = max(states, key=lambda entry: text_at(entry[1], "running", "startedAt"))
    is_ready = len(states) == len(items or ())
    conditions = [true_condition("Ready", "Ready", "every notebook runs")] if is_ready else []
    return {**status, "containerState": latest, "conditions": conditions}


def _is_container_running(state: Mapping[str, Any]) -> bool:
    return state.get("running") is not None and state.get("waiting") is None and state.get("terminated") is None


def reflect_notebook(observed: Manifest) -> Any:
    """Report conditions, the container's state and the ready replicas."""
    if observed.get("status") is None:
        return {}
    status = mapping_at(observed, "status")
    return {
        "conditions": list_at(status, "conditions"),
        "containerState": mapping_at(status, "containerState"),
        "readyReplicas": count_at(status, "readyReplicas"),
    }


def is_notebook_healthy(observed: Manifest) -> bool:
    """Say whether the container runs, is being made, or ended well."""
    state = mapping_at(observed, "status", "containerState")
    if state.get("running") is not None:
        return True
    if state.get("waiting") is not None:
        return text_at(state, "waiting", "reason") == "ContainerCreating"
    ended = mapping_at(state, "terminated")
    return "terminated" in state and text_at(ended, "reason") not in FAILURES and count_at(ended, "exitCode") == 0


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("kubeflow.org/v1", "Notebook"): Interpretation(
        replicas=notebook_replicas,
        aggregate=aggregated_notebook,
        reflect=reflect_notebook,
        health=is_notebook_healthy,
    )
}
"""The interpretation of each kind, by apiVersion and kind."""
