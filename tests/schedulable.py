"""Clusters with room, placements and bindings in one line each, for everything that schedules."""

from collections.abc import Iterable, Mapping
from typing import Any

from render.binding import Binding
from render.cluster import Cluster, ResourceSummary
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, TargetCluster
from render.parsing.placements import parse_placement
from render.placement import Placement
from render.resources import ReplicaRequirements
from render.scheduling.decisions import SchedulingDecision
from render.scheduling.options import SchedulingOptions
from render.scheduling.scheduler import Scheduler

DEPLOYMENT = frozenset({("apps/v1", "Deployment"), ("v1", "ConfigMap")})
ASCENDING, DESCENDING = "4858ca61-3ff8-4095-8267-f3d059d8074c", "d43fdeeb-d750-4e2b-bee3-64eb94534f4c"
"""UIDs whose ties go to the smaller and to the greater name."""

DYNAMIC: dict[str, Any] = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
AGGREGATED: dict[str, Any] = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
EQUAL: dict[str, Any] = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
DUPLICATED: dict[str, Any] = {"replicaSchedulingType": "Duplicated"}


def static(**weights: int) -> dict[str, Any]:
    """Static weights by cluster name."""
    listed = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in weights.items()]
    return {**EQUAL, "weightPreference": {"staticWeightList": listed}}


def a_cluster(name: str, room: int | None = None, **fields: Any) -> Cluster:
    """A cluster that serves Deployments and has observed room for so many pods (None: nothing is known)."""
    summary = None if room is None else ResourceSummary(allocatable={"pods": str(room)})
    return Cluster(**{"name": name, "api_enablements": DEPLOYMENT, "resource_summary": summary, **fields})


def with_room(**room: int) -> ClusterIndex:
    """Clusters by name with observed room for so many pods."""
    return ClusterIndex(a_cluster(name, pods) for name, pods in room.items())


def a_placement(scheduling: Mapping[str, Any] | None = None, **rules: Any) -> Placement:
    """A placement from plain rules and a replicaScheduling."""
    return parse_placement({**rules, **({} if scheduling is None else {"replicaScheduling": scheduling})})


def targets(**replicas: int) -> tuple[TargetCluster, ...]:
    """Target clusters in the given order."""
    return tuple(TargetCluster(name, count) for name, count in replicas.items())


def a_binding(replicas: int, rules: Placement, held: Iterable[TargetCluster] = (), **fields: Any) -> Binding:
    """A Deployment's binding, with no requirements beyond pods; ``held`` was placed by the same rules."""
    held = tuple(held)
    name = fields.pop("name", "web")
    return Binding(
        **{
            "ref": ObjectRef("apps", "Deployment", "shop", name),
            "api_version": "apps/v1",
            "replicas": replicas,
            "requirements": ReplicaRequirements(),
            "placement": rules,
            "targets": held,
            "applied_placement": rules if held else None,
            **fields,
        }
    )


def scheduled(binding: Binding, index: ClusterIndex, options: SchedulingOptions | None = None) -> SchedulingDecision:
    """Return the decision about one binding; by default as Karmada would have it."""
    return Scheduler(index, options or SchedulingOptions.karmada()).schedule(binding)


def replicas_of(decision: SchedulingDecision) -> dict[str, int]:
    """The replicas of a decision by cluster, in its order."""
    return {target.name: target.replicas for target in decision.targets}
