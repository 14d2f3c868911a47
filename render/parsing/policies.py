"""Propagation policies, of a namespace and of the fleet, and ClusterTaintPolicies from admitted objects."""

from render.model import Manifest
from render.policy import (
    ClusterTaintPolicy,
    ConflictResolution,
    MatchCondition,
    Preemption,
    PropagationPolicy,
    Suspension,
)

from .clusters import parse_taint
from .placements import SharedPlacements
from .selectors import parse_cluster_affinity, parse_resource_selectors


def parse_propagation_policy(
    manifest: Manifest, *, path: str = "", document: int = 0, placements: SharedPlacements | None = None
) -> PropagationPolicy:
    """Return the value of an admitted policy of either kind.

    With ``placements`` of a load, policies with equal placements share one value.
    """
    metadata, spec = manifest["metadata"], manifest["spec"]
    return PropagationPolicy(
        name=metadata["name"],
        namespace=metadata.get("namespace") or "",
        resource_selectors=parse_resource_selectors(spec["resourceSelectors"]),
        placement=(placements or SharedPlacements()).of(spec.get("placement") or {}),
        priority=spec.get("priority") or 0,
        preemption=Preemption(spec.get("preemption") or "Never"),
        propagate_deps=spec.get("propagateDeps") or False,
        dependent_overrides=tuple(spec.get("dependentOverrides") or ()),
        scheduler_name=spec.get("schedulerName") or "default-scheduler",
        failover=spec.get("failover"),
        conflict_resolution=ConflictResolution(spec.get("conflictResolution") or "Abort"),
        activation_preference=spec.get("activationPreference") or "",
        suspension=parse_suspension(spec.get("suspension")),
        preserve_resources_on_deletion=spec.get("preserveResourcesOnDeletion") or False,
        priority_class_name=(spec.get("schedulePriority") or {}).get("priorityClassName"),
        is_terminating=bool(metadata.get("deletionTimestamp")),
        path=path,
        document=document,
    )


def parse_suspension(plain: Manifest | None) -> Suspension | None:
    """Return the suspension of a policy or a binding; the ``scheduling`` of bindings is not part of it."""
    if plain is None or set(plain) == {"scheduling"}:
        return None
    clusters = plain.get("dispatchingOnClusters") or {}
    return Suspension(
        dispatching=plain.get("dispatching") or False,
        dispatching_on_clusters=tuple(clusters.get("clusterNames") or ()),
    )


def parse_cluster_taint_policy(manifest: Manifest, *, path: str = "", document: int = 0) -> ClusterTaintPolicy:
    """Return the value of an admitted ClusterTaintPolicy."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    targets = spec.get("targetClusters")
    return ClusterTaintPolicy(
        name=metadata["name"],
        created=metadata.get("creationTimestamp") or "",
        targets=None if targets is None else parse_cluster_affinity(targets),
        add_on=tuple(map(_parse_match_condition, spec.get("addOnConditions") or ())),
        remove_on=tuple(map(_parse_match_condition, spec.get("removeOnConditions") or ())),
        taints=tuple(map(parse_taint, spec.get("taints") or ())),
        path=path,
        document=document,
    )


def _parse_match_condition(plain: Manifest) -> MatchCondition:
    return MatchCondition(
        condition_type=plain["conditionType"],
        operator=plain["operator"],
        status_values=tuple(plain.get("statusValues") or ()),
    )
