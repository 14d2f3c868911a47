"""Argo Workflows."""

from collections.abc import Iterable, Mapping
from typing import Any

from render.interpretation.fields import manifest_with_value, mapping_at, objects_at, text_at, value_at
from render.interpretation.finishing import COMPLETE, FAILED, finish_of_status_word
from render.interpretation.operations import Interpretation, Replicas
from render.interpretation.references import Reference, dependent_objects_of
from render.interpretation.requirements import node_claim_of_pod
from render.model import Manifest
from render.resources import DependentObject, ReplicaRequirements

from .common import PARALLELISM, parallelism_or_one, revise_parallelism

FINISHES = {"Succeeded": COMPLETE, "Failed": FAILED, "Error": FAILED}


def workflow_replicas(workflow: Manifest) -> Replicas:
    """Return spec.parallelism, or 1, and the nodes the pods may land on."""
    claim = node_claim_of_pod(mapping_at(workflow, "spec"))
    requirements = None if claim is None else ReplicaRequirements(node_claim=claim)
    return Replicas(replicas=parallelism_or_one(workflow), requirements=requirements)


def retain_progress(desired: Manifest, observed: Manifest) -> Manifest:
    """Keep a member's suspension of the workflow, and the status its controller works with."""
    suspend = value_at(observed, "spec", "suspend")
    if suspend is not None:
        desired = manifest_with_value(desired, suspend, "spec", "suspend")
    return desired if observed.get("status") is None else {**desired, "status": observed["status"]}


def is_workflow_healthy(observed: Manifest) -> bool:
    """Say whether the workflow has begun and not failed."""
    return text_at(observed, "status", "phase") not in {"", "Error", "Failed"}


def workflow_dependencies(workflow: Manifest) -> set[DependentObject]:
    """Return the service accounts, claims, secrets and config maps of the workflow."""
    return dependent_objects_of(
        _references_of_workflow(mapping_at(workflow, "spec")), text_at(workflow, "metadata", "namespace")
    )


def _references_of_workflow(spec: Mapping[str, Any]) -> Iterable[Reference]:
    yield "ServiceAccount", text_at(spec, "executor", "serviceAccountName")
    yield "ServiceAccount", text_at(spec, "serviceAccountName")
    for claim in objects_at(spec, "volumeClaimTemplates"):
        yield "PersistentVolumeClaim", text_at(claim, "metadata", "name")
    for secret in objects_at(spec, "imagePullSecrets"):
        yield "Secret", text_at(secret, "name")
    for volume in objects_at(spec, "volumes"):
        yield "ConfigMap", text_at(volume, "configMap", "name")
        yield "Secret", text_at(volume, "secret", "name")  # Karmada's rule reads this field, not secretName.
        yield "PersistentVolumeClaim", text_at(volume, "persistentVolumeClaim", "claimName")
        for source in objects_at(volume, "projected", "sources"):
            yield "ConfigMap", text_at(source, "configMap", "name")
            yield "Secret", text_at(source, "secret", "name")


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("argoproj.io/v1alpha1", "Workflow"): Interpretation(
        replicas=workflow_replicas,
        revise=revise_parallelism,
        replica_field=PARALLELISM,
        retain=retain_progress,
        health=is_workflow_healthy,
        finish=lambda workflow: finish_of_status_word(text_at(workflow, "status", "phase"), FINISHES),
        dependencies=workflow_dependencies,
    )
}
"""The interpretation of each kind, by apiVersion and kind."""
