"""Bindings survive being written and read, in Karmada's own shape."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from render.binding import Binding, BindingSnapshot, Condition, GracefulEvictionTask
from render.model import ObjectRef, TargetCluster
from render.object_rollout import ClustersAtVersion, ObjectRollout
from render.parsing import SharedPlacements, binding_manifest, parse_binding, plain_placement
from render.placement import (
    ClusterAffinityTerm,
    ClusterPreferences,
    OverflowAffinity,
    Placement,
    ReplicaDivisionPreference,
    ReplicaScheduling,
    ReplicaSchedulingType,
    SpreadConstraint,
    SpreadField,
    StaticClusterWeight,
    Toleration,
    WorkloadAffinity,
)
from render.policy import ConflictResolution, Suspension
from render.resources import Component, NodeClaim, ReplicaRequirements
from render.selectors import ClusterAffinity, LabelSelector, Requirement

BINDING = Binding(
    ref=ObjectRef("apps", "Deployment", "shop", "web"),
    api_version="apps/v1",
    uid="4f1c",
    policy="PropagationPolicy shop/web",
    replicas=5,
    requirements=ReplicaRequirements(resource_request={"cpu": "500m"}, namespace="shop"),
    placement=Placement(
        cluster_affinity=ClusterAffinity(),
        replica_scheduling=ReplicaScheduling(division_preference=ReplicaDivisionPreference.AGGREGATED),
    ),
    targets=(TargetCluster("eu", 3), TargetCluster("us", 2), TargetCluster("spare", 0)),
    required_by=(BindingSnapshot(namespace="shop", name="api-deployment", clusters=(TargetCluster("eu"),)),),
    scheduler_name="default-scheduler",
    conflict_resolution=ConflictResolution.OVERWRITE,
    suspension=Suspension(dispatching_on_clusters=("us",)),
    applied_placement=Placement(cluster_affinity=ClusterAffinity()),
    observed_affinity="primary",
    last_scheduled_at="2026-01-02T03:04:05Z",
    conditions=(Condition(type="Scheduled", status="True", reason="Success", message="scheduled"),),
)

MANIFEST: dict[str, Any] = {
    "apiVersion": "work.karmada.io/v1alpha2",
    "kind": "ResourceBinding",
    "metadata": {
        "name": "web-deployment",
        "namespace": "shop",
        "annotations": {
            "propagationpolicy.karmada.io/namespace": "shop",
            "propagationpolicy.karmada.io/name": "web",
            "policy.karmada.io/applied-placement": '{"clusterAffinity":{}}',
        },
    },
    "spec": {
        "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "uid": "4f1c"},
        "replicaRequirements": {"resourceRequest": {"cpu": "500m"}, "namespace": "shop"},
        "replicas": 5,
        "clusters": [{"name": "eu", "replicas": 3}, {"name": "us", "replicas": 2}, {"name": "spare"}],
        "requiredBy": [{"namespace": "shop", "name": "api-deployment", "clusters": [{"name": "eu"}]}],
        "schedulerName": "default-scheduler",
        "placement": {
            "clusterAffinity": {},
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        },
        "conflictResolution": "Overwrite",
        "suspension": {"dispatching": False, "dispatchingOnClusters": {"clusterNames": ["us"]}},
    },
    "status": {
        "schedulerObservingAffinityName": "primary",
        "lastScheduledTime": "2026-01-02T03:04:05Z",
        "conditions": [{"type": "Scheduled", "status": "True", "reason": "Success", "message": "scheduled"}],
    },
}


def test_a_binding_is_written_as_karmada_holds_it() -> None:
    assert binding_manifest(BINDING) == MANIFEST


def test_the_binding_karmada_holds_is_read() -> None:
    assert parse_binding(MANIFEST) == BINDING


def test_a_cluster_scoped_template_gets_a_cluster_resource_binding() -> None:
    ref = ObjectRef("rbac.authorization.k8s.io", "ClusterRole", "", "system:reader")
    found = Binding(ref=ref, api_version="rbac.authorization.k8s.io/v1", policy="ClusterPropagationPolicy roles")
    assert binding_manifest(found) == {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ClusterResourceBinding",
        "metadata": {
            "name": "system.reader-clusterrole",
            "annotations": {"clusterpropagationpolicy.karmada.io/name": "roles"},
        },
        "spec": {
            "resource": {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "system:reader"}
        },
    }


def test_an_applied_placement_that_cannot_be_read_is_no_change() -> None:
    broken = json.loads(json.dumps(MANIFEST))
    broken["metadata"]["annotations"]["policy.karmada.io/applied-placement"] = "{oops"
    assert parse_binding(broken).applied_placement == BINDING.placement


def test_a_placement_is_one_value_however_often_a_load_meets_it() -> None:
    placements = SharedPlacements()
    first = parse_binding(MANIFEST, placements=placements)
    reordered = {"replicaScheduling": MANIFEST["spec"]["placement"]["replicaScheduling"], "clusterAffinity": {}}
    assert first.placement is placements.of(reordered)
    assert first.applied_placement is placements.of_text('{ "clusterAffinity" : {} }')


names = st.sampled_from(["eu", "us", "member-1", "a.b/c", "größe", "yes"])
few = st.integers(min_value=0, max_value=3)


def several(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=2).map(tuple)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


requirements = st.builds(Requirement, key=names, operator=st.sampled_from(["In", "Exists"]), values=several(names))
label_selectors = st.builds(
    LabelSelector,
    match_labels=st.dictionaries(names, names, max_size=2).map(lambda labels: tuple(sorted(labels.items()))),
    match_expressions=several(requirements),
)
affinities = st.builds(
    ClusterAffinity,
    label_selector=maybe(label_selectors),
    field_selector=maybe(several(requirements)),
    cluster_names=several(names),
    exclude=several(names),
)
terms = st.builds(
    ClusterAffinityTerm,
    name=names,
    affinity=affinities,
    overflow=several(st.builds(OverflowAffinity, name=names, affinity=affinities)).map(lambda found: found or None),
)
schedulings = st.builds(
    ReplicaScheduling,
    type=st.sampled_from(ReplicaSchedulingType),
    division_preference=maybe(st.sampled_from(ReplicaDivisionPreference)),
    weight_preference=maybe(
        st.builds(
            ClusterPreferences,
            static_weight_list=several(
                st.builds(StaticClusterWeight, target_cluster=affinities, weight=st.integers(1, 9))
            ),
            dynamic_weight=st.sampled_from(["", "AvailableReplicas"]),
        )
    ),
)
tolerations = st.builds(
    Toleration,
    key=names,
    operator=st.sampled_from(["", "Exists"]),
    value=st.just("") | names,
    effect=st.sampled_from(["", "NoExecute"]),
    toleration_seconds=maybe(few),
)
spreads = st.builds(
    SpreadConstraint,
    spread_by_field=maybe(st.sampled_from(SpreadField)),
    spread_by_label=st.just("") | names,
    max_groups=few,
    min_groups=few,
)
placements = st.builds(
    Placement,
    cluster_affinity=maybe(affinities),
    cluster_affinities=several(terms),
    cluster_tolerations=several(tolerations),
    spread_constraints=several(spreads),
    replica_scheduling=maybe(schedulings),
    workload_affinity=maybe(st.builds(WorkloadAffinity, affinity=st.just("") | names, anti_affinity=names)),
)
needs = st.builds(
    ReplicaRequirements,
    node_claim=maybe(
        st.builds(
            NodeClaim,
            node_selector=st.dictionaries(names, names, max_size=1),
            tolerations=several(st.just({"operator": "Exists"})),
            hard_node_affinity=maybe(st.sampled_from([{}, {"nodeSelectorTerms": []}])),
        )
    ),
    resource_request=st.dictionaries(names, st.sampled_from(["1", "500m"]), max_size=2),
    namespace=st.just("") | names,
    priority_class_name=st.just("") | names,
)
targets = several(st.builds(TargetCluster, names, few))
bindings = st.builds(
    Binding,
    ref=st.builds(ObjectRef, st.just("apps"), names, st.just("") | names, names),
    api_version=st.just("apps/v1"),
    uid=st.just("") | names,
    policy=st.sampled_from(["", "PropagationPolicy shop/web", "ClusterPropagationPolicy web"]),
    replicas=few,
    requirements=maybe(needs),
    components=several(st.builds(Component, name=names, replicas=few, requirements=maybe(needs))),
    placement=maybe(placements),
    targets=targets,
    required_by=several(st.builds(BindingSnapshot, namespace=st.just("") | names, name=names, clusters=targets)),
    eviction_tasks=several(
        st.builds(
            GracefulEvictionTask,
            from_cluster=names,
            purge_mode=st.sampled_from(["", "Directly"]),
            replicas=maybe(few),
            reason=st.just("") | names,
            producer=st.just("") | names,
            suppress_deletion=maybe(st.booleans()),
        )
    ),
    propagate_deps=st.booleans(),
    scheduler_name=st.just("") | names,
    failover=st.sampled_from([None, {"cluster": {"purgeMode": "Directly"}}]),
    conflict_resolution=st.sampled_from(ConflictResolution),
    preserve_resources_on_deletion=st.booleans(),
    suspension=maybe(st.builds(Suspension, dispatching=st.booleans(), dispatching_on_clusters=several(names))),
    scheduling_suspended=st.booleans(),
    priority=st.integers(-2, 2),
    affinity_group=st.just("") | names,
    anti_affinity_group=st.just("") | names,
    reschedule_triggered_at=st.sampled_from(["", "2026-01-02T03:04:05Z"]),
    applied_placement=maybe(placements),
    observed_affinity=st.just("") | names,
    last_scheduled_at=st.sampled_from(["", "2026-01-02T03:04:05Z"]),
    template_digest=st.just("") | names,
    rollout=maybe(
        st.builds(
            ObjectRollout,
            policy=names,
            target=names,
            completed=names,
            clusters=several(st.builds(ClustersAtVersion, version=names, names=st.just(("eu", "us")))),
        )
    ),
    conditions=several(
        st.builds(
            Condition,
            type=names,
            status=names,
            reason=names,
            message=st.just("") | names,
            since=st.sampled_from(["", "4f1c"]),
            clusters=st.sampled_from([(), ("eu", "us")]),
        )
    ),
)


@settings(max_examples=60)
@given(bindings)
def test_a_binding_written_and_read_is_the_same(found: Binding) -> None:
    assert parse_binding(json.loads(json.dumps(binding_manifest(found)))) == found


def normalized(value: Any) -> Any:
    """Return a value as Go's ``omitempty`` leaves it; empty objects stay, for they may be behind pointers."""
    if isinstance(value, dict):
        return {key: normalized(each) for key, each in value.items() if each not in ([], "", 0, False, None)}
    return [normalized(each) for each in value] if isinstance(value, list) else value


@given(placements)
def test_what_is_empty_is_never_written(found: Placement) -> None:
    plain = plain_placement(found)
    assert plain == normalized(plain) or any(each.toleration_seconds == 0 for each in found.cluster_tolerations)
