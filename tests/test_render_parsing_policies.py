"""Admitted policies become values, field by field."""

from render.parsing import SharedPlacements, parse_propagation_policy
from render.placement import (
    ClusterAffinityTerm,
    ClusterPreferences,
    OverflowAffinity,
    Placement,
    ReplicaDivisionPreference,
    ReplicaScheduling,
    SpreadConstraint,
    SpreadField,
    StaticClusterWeight,
    Toleration,
    WorkloadAffinity,
)
from render.policy import ConflictResolution, Preemption, PropagationPolicy, Suspension
from render.selectors import ClusterAffinity, LabelSelector, Requirement, ResourceSelector

MANIFEST = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "PropagationPolicy",
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "labels": {"propagationpolicy.karmada.io/permanent-id": "6a7f"},
    },
    "spec": {
        "resourceSelectors": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
            {"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "labelSelector": {"matchLabels": {"b": "2"}}},
        ],
        "placement": {
            "clusterAffinities": [
                {
                    "affinityName": "primary",
                    "clusterNames": ["eu-1"],
                    "overflowAffinities": [{"affinityName": "burst", "exclude": ["eu-9"]}],
                },
                {
                    "affinityName": "rest",
                    "fieldSelector": {
                        "matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["eu", "us"]}]
                    },
                    "labelSelector": {},
                },
            ],
            "clusterTolerations": [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 0}],
            "spreadConstraints": [{"spreadByField": "cluster", "maxGroups": 3, "minGroups": 1}],
            "replicaScheduling": {
                "replicaSchedulingType": "Divided",
                "replicaDivisionPreference": "Weighted",
                "weightPreference": {
                    "dynamicWeight": "AvailableReplicas",
                    "staticWeightList": [{"targetCluster": {"clusterNames": ["eu-1"]}, "weight": 2}],
                },
            },
            "workloadAffinity": {"antiAffinity": {"groupByLabelKey": "team"}},
        },
        "priority": 7,
        "preemption": "Always",
        "propagateDeps": True,
        "dependentOverrides": ["eu"],
        "schedulerName": "mine",
        "failover": {"cluster": {"purgeMode": "Directly"}},
        "conflictResolution": "Overwrite",
        "activationPreference": "Lazy",
        "suspension": {"dispatchingOnClusters": {"clusterNames": ["us-1"]}},
        "preserveResourcesOnDeletion": True,
        "schedulePriority": {"priorityClassSource": "KubePriorityClass", "priorityClassName": "high"},
    },
}

POLICY = PropagationPolicy(
    name="web",
    namespace="shop",
    resource_selectors=(
        ResourceSelector(api_version="apps/v1", kind="Deployment", namespace="shop", name="web"),
        ResourceSelector(
            api_version="v1", kind="Secret", namespace="shop", label_selector=LabelSelector(match_labels=(("b", "2"),))
        ),
    ),
    placement=Placement(
        cluster_affinities=(
            ClusterAffinityTerm(
                name="primary",
                affinity=ClusterAffinity(cluster_names=("eu-1",)),
                overflow=(OverflowAffinity(name="burst", affinity=ClusterAffinity(exclude=("eu-9",))),),
            ),
            ClusterAffinityTerm(
                name="rest",
                affinity=ClusterAffinity(
                    label_selector=LabelSelector(),
                    field_selector=(Requirement(key="region", operator="NotIn", values=("eu", "us")),),
                ),
            ),
        ),
        cluster_tolerations=(Toleration(key="gpu", operator="Exists", toleration_seconds=0),),
        spread_constraints=(SpreadConstraint(spread_by_field=SpreadField.CLUSTER, max_groups=3, min_groups=1),),
        replica_scheduling=ReplicaScheduling(
            division_preference=ReplicaDivisionPreference.WEIGHTED,
            weight_preference=ClusterPreferences(
                static_weight_list=(
                    StaticClusterWeight(target_cluster=ClusterAffinity(cluster_names=("eu-1",)), weight=2),
                ),
                dynamic_weight="AvailableReplicas",
            ),
        ),
        workload_affinity=WorkloadAffinity(anti_affinity="team"),
    ),
    priority=7,
    preemption=Preemption.ALWAYS,
    propagate_deps=True,
    dependent_overrides=("eu",),
    scheduler_name="mine",
    failover={"cluster": {"purgeMode": "Directly"}},
    conflict_resolution=ConflictResolution.OVERWRITE,
    activation_preference="Lazy",
    suspension=Suspension(dispatching_on_clusters=("us-1",)),
    preserve_resources_on_deletion=True,
    priority_class_name="high",
    path="policies/web.yaml",
    document=2,
)


def test_every_field_of_a_policy_is_read() -> None:
    assert parse_propagation_policy(MANIFEST, path="policies/web.yaml", document=2) == POLICY


def test_a_policy_that_says_little_gets_the_defaults() -> None:
    minimal = {
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "all"},
        "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}]},
    }
    assert parse_propagation_policy(minimal) == PropagationPolicy(
        name="all", resource_selectors=(ResourceSelector(api_version="v1", kind="ConfigMap"),)
    )


def test_policies_of_one_load_share_equal_placements() -> None:
    placements = SharedPlacements()
    first, second = (parse_propagation_policy(MANIFEST, placements=placements) for _ in range(2))
    assert first.placement is second.placement
