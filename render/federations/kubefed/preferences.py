"""Replica scheduling preferences: the division of a federated workload, and what its controller writes into it."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from msgspec import Struct

from render.federations.decoding import WrongShape
from render.federations.observation import Observed, observed_division
from render.federations.planner import ANY_CLUSTER, PlannedWorkload, Preference, replica_plan_of_workload
from render.model import Manifest

from .federated_objects import patch_operations_by_cluster
from .placement import RegisteredClusters, placement_of

REPLICAS_PATH = "/spec/replicas"
SERVED_KINDS = {"FederatedDeployment": "Deployment", "FederatedReplicaSet": "ReplicaSet"}


class Divided(Struct, frozen=True, kw_only=True):
    """The replicas by cluster, None where nothing is divided; ``status`` is ok, recheck or error.

    ``federated`` is the object that would be written, None where it stays as it is.
    """

    status: str
    message: str = ""
    replicas: Mapping[str, int] | None = None
    federated: dict[str, Any] | None = None


def preferences_by_cluster(clusters: Mapping[str, Mapping[str, Any] | None] | None) -> dict[str, Preference]:
    """Return the preferences of a map ``cluster or *: {minReplicas, maxReplicas, weight}``."""
    return {
        name: Preference(
            min_replicas=each.get("minReplicas") or 0,
            max_replicas=each.get("maxReplicas"),
            weight=each.get("weight") or 0,
        )
        for name, wish in (clusters or {}).items()
        for each in (wish or {},)
    }


class PreferenceInputs(Struct, frozen=True, kw_only=True):
    """The inputs of a pass of KubeFed's controller: the preference, what it is for, and the clusters that are ready.

    ``members`` are ``{object, pods}`` by cluster, the live workload with its pods.
    """

    preference: Manifest
    federated: Manifest | None
    federated_namespace: Manifest | None
    federation: RegisteredClusters
    members: Mapping[str, Mapping[str, Any]]


def division_of_preference(inputs: PreferenceInputs, *, kind: str) -> Divided:
    """Divide one workload as a pass of KubeFed's controller for a kind does."""
    spec, federated = inputs.preference.get("spec") or {}, inputs.federated
    clusters, target = tuple(inputs.federation.labels_by_cluster), spec.get("targetKind", "")
    if not clusters:
        return Divided(status="ok", replicas=None if federated is None else {})
    if SERVED_KINDS.get(target) != kind:
        # A kind that there is no controller for is looked at again and again; one of another controller is its own.
        is_known, is_chosen = target in SERVED_KINDS, spec.get("intersectWithClusterSelector")
        replicas = (
            None
            if federated is None or is_chosen
            else replicas_by_cluster_as_written(inputs.preference, clusters, observed_division({}, ()))
        )
        return Divided(status="ok" if is_known else "recheck", replicas=replicas)
    if federated is None:
        return Divided(status="ok")
    try:
        return _divided_workload(inputs, federated, clusters)
    except WrongShape as error:
        return Divided(status="error", message=str(error))


def _divided_workload(inputs: PreferenceInputs, federated: Manifest, clusters: Sequence[str]) -> Divided:
    """Divide a workload that there is; WrongShape where KubeFed cannot read what it has to."""
    if (inputs.preference.get("spec") or {}).get("intersectWithClusterSelector"):
        clusters = _clusters_of_both_selectors(inputs, federated)
    if not clusters:
        return Divided(status="ok", replicas={})
    seen = observed_division(inputs.members, clusters)
    replicas = replicas_by_cluster_as_written(inputs.preference, clusters, seen)
    placement_of(federated)  # a placement that cannot be read is an error, whether it is written anew or not
    written = federated_object_with_replicas(federated, replicas)
    return Divided(
        status="recheck" if seen.is_unsettled else "ok",
        replicas=replicas,
        federated=None if written == federated else written,
    )


def replicas_by_cluster_as_written(preference: Manifest, clusters: Sequence[str], seen: Observed) -> dict[str, int]:
    """Return the replicas of each cluster as the controller writes them, clusters that get none included."""
    spec, metadata = preference.get("spec") or {}, preference.get("metadata") or {}
    workload = PlannedWorkload(
        replicas=spec.get("totalReplicas") or 0,
        key=f"{metadata.get('namespace', '')}/{metadata.get('name', '')}",
        current=seen.current,
        capacity=seen.capacity,
        is_rebalanced=bool(spec.get("rebalance")),
    )
    preferences = preferences_by_cluster(spec.get("clusters")) or {ANY_CLUSTER: Preference(weight=1)}
    totals = replica_plan_of_workload(workload, preferences, clusters).total_replicas_by_cluster
    return totals | {name: 0 for name in seen.current if name not in totals}


def federated_object_with_replicas(federated: Manifest, replicas: Mapping[str, int]) -> dict[str, Any]:
    """Return a federated object with its clusters listed and their replicas overridden.

    An override of the replicas that is there keeps its operation; the entry of a cluster that leaves stays, even empty.
    WrongShape where its overrides cannot be read.
    """
    overrides = {name: list(operations) for name, operations in _written_overrides(federated).items()}
    for name in overrides.keys() - replicas.keys():
        overrides[name] = [each for each in overrides[name] if each.get("path") != REPLICAS_PATH]
    for name, count in replicas.items():
        operations = overrides.setdefault(name, [])
        place = next((index for index, each in enumerate(operations) if each.get("path") == REPLICAS_PATH), None)
        if place is None:
            operations.append({"path": REPLICAS_PATH, "value": count})
        else:
            operations[place] = {**operations[place], "value": count}
    written = deepcopy(dict(federated))
    spec = written.setdefault("spec", {})
    spec.setdefault("placement", {})["clusters"] = [{"name": name} for name in sorted(replicas)]
    spec["overrides"] = [{"clusterName": name, "clusterOverrides": overrides[name]} for name in sorted(overrides)]
    return written


def _written_overrides(federated: Manifest) -> dict[str, list[dict[str, Any]]]:
    patch_operations_by_cluster(federated)
    spec = federated.get("spec") or {}
    return {each.get("clusterName") or "": each.get("clusterOverrides") or [] for each in spec.get("overrides") or ()}


def _clusters_of_both_selectors(inputs: PreferenceInputs, federated: Manifest) -> tuple[str, ...]:
    """Return the clusters that selectors choose.

    WrongShape without a FederatedNamespace: this controller asks for it also where it serves a single namespace.
    """
    if inputs.federated_namespace is None:
        raise WrongShape("the namespace has no FederatedNamespace")
    chosen = inputs.federation.registered_clusters_selected_for(federated, inputs.federated_namespace)
    return tuple(name for name in inputs.federation.labels_by_cluster if name in chosen)
