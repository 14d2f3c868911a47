"""The binding a policy makes of a template, and what it keeps of the previous one."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from render.binding import Binding, BindingSnapshot, Condition, GracefulEvictionTask
from render.interpreter import Interpreter
from render.matching.bindings import Workload, binding_before_scheduling, interpreted_workload
from render.matching.match import Match, NoPolicyReason
from render.model import ObjectRef, TargetCluster, Template
from render.placement import Placement, WorkloadAffinity
from render.policy import ConflictResolution, PropagationPolicy, Suspension
from render.resources import ReplicaRequirements

from .build import a_config_map, a_deployment

REF = ObjectRef("apps", "Deployment", "shop", "web")
REQUIREMENTS = ReplicaRequirements(resource_request={"cpu": "100m"})
WORKLOAD = Workload(replicas=3, requirements=REQUIREMENTS)
PLACEMENT = Placement(workload_affinity=WorkloadAffinity(affinity="app", anti_affinity="tier"))
POLICY = PropagationPolicy(
    name="p",
    namespace="shop",
    placement=PLACEMENT,
    propagate_deps=True,
    conflict_resolution=ConflictResolution.OVERWRITE,
    preserve_resources_on_deletion=True,
    suspension=Suspension(dispatching=True),
    failover={"application": {}},
)


def a_template(ref: ObjectRef = REF, **metadata: Any) -> Template:
    return Template(ref=ref, manifest={"apiVersion": "apps/v1", "kind": ref.kind, "metadata": metadata})


def previous(**fields: Any) -> Binding:
    """A binding that has been scheduled, made by another policy."""
    return Binding(
        **{
            "ref": REF,
            "api_version": "apps/v1",
            "policy": "PropagationPolicy shop/old",
            "replicas": 9,
            "placement": Placement(),
            "targets": (TargetCluster("m1", 9),),
            "required_by": (BindingSnapshot(namespace="shop", name="api"),),
            "eviction_tasks": (GracefulEvictionTask(from_cluster="m2"),),
            "scheduling_suspended": True,
            "suspension": Suspension(dispatching_on_clusters=("m1",)),
            "reschedule_triggered_at": "2025-01-01T00:00:00Z",
            "applied_placement": Placement(),
            "observed_affinity": "main",
            "last_scheduled_at": "2025-01-02T00:00:00Z",
            "conditions": (Condition(type="Scheduled", status="True"),),
            **fields,
        }
    )


def test_a_new_binding_says_what_the_policy_says() -> None:
    template = a_template(uid="u1", labels={"app": "web"})
    assert binding_before_scheduling(template, Match(policy=POLICY, priority=7), WORKLOAD) == Binding(
        ref=REF,
        api_version="apps/v1",
        uid="u1",
        policy="PropagationPolicy shop/p",
        replicas=3,
        requirements=REQUIREMENTS,
        placement=PLACEMENT,
        propagate_deps=True,
        scheduler_name="default-scheduler",
        conflict_resolution=ConflictResolution.OVERWRITE,
        preserve_resources_on_deletion=True,
        suspension=Suspension(dispatching=True),
        failover={"application": {}},
        priority=7,
        affinity_group="app=web",
    )


def test_an_earlier_one_keeps_where_it_is_and_what_was_decided() -> None:
    before = previous()
    made = binding_before_scheduling(a_template(), Match(policy=replace(POLICY, suspension=None)), WORKLOAD, before)
    assert made is not None
    assert made.policy == "PropagationPolicy shop/p"
    assert (made.replicas, made.placement, made.suspension) == (3, PLACEMENT, None)
    kept = (
        "targets",
        "required_by",
        "eviction_tasks",
        "scheduling_suspended",
        "reschedule_triggered_at",
        "applied_placement",
        "observed_affinity",
        "last_scheduled_at",
        "conditions",
    )
    assert {name: getattr(made, name) for name in kept} == {name: getattr(before, name) for name in kept}


def test_a_cluster_scoped_binding_has_no_priority_and_keeps_how_it_brings_dependencies() -> None:
    ref = ObjectRef("rbac.authorization.k8s.io", "ClusterRole", "", "view")
    match = Match(policy=replace(POLICY, namespace=""), priority=7)
    made = binding_before_scheduling(a_template(ref, labels={"app": "web"}), match, Workload(), previous(ref=ref))
    assert made is not None
    assert (made.priority, made.affinity_group, made.propagate_deps) == (0, "", False)


def test_another_object_of_the_same_name_starts_from_nothing() -> None:
    match = Match(policy=POLICY)
    made = binding_before_scheduling(a_template(uid="new"), match, WORKLOAD, previous(uid="old"))
    assert made == binding_before_scheduling(a_template(uid="new"), match, WORKLOAD)
    kept = binding_before_scheduling(a_template(), match, WORKLOAD, previous(uid="old"))
    assert kept is not None
    assert kept.targets == (TargetCluster("m1", 9),)


def test_without_a_policy_a_binding_is_released_and_nothing_else_changes() -> None:
    before = previous()
    none = Match(reason=NoPolicyReason.NO_POLICY)
    assert binding_before_scheduling(a_template(), none, WORKLOAD, before) == replace(before, policy="")
    assert binding_before_scheduling(a_template(), none, WORKLOAD) is None


def test_while_a_policy_waits_its_binding_stays() -> None:
    waiting = Match(reason=NoPolicyReason.WAITING_FOR_OVERRIDES, is_selected=True)
    assert binding_before_scheduling(a_template(), waiting, WORKLOAD, previous()) == previous()


def test_a_lazy_policy_waits_for_the_template() -> None:
    match = Match(policy=replace(POLICY, activation_preference="Lazy"))
    before = previous()
    assert binding_before_scheduling(a_template(), match, WORKLOAD, is_changed=False) is None
    assert binding_before_scheduling(a_template(), match, WORKLOAD, before, is_changed=False) == before
    made = binding_before_scheduling(a_template(), match, WORKLOAD, before)
    assert made is not None
    assert made.policy == "PropagationPolicy shop/p"


def test_an_interpreter_says_what_a_workload_is() -> None:
    def of(manifest: dict[str, Any]) -> Workload:
        template = Template(ref=ObjectRef.of(manifest), manifest=manifest)
        return interpreted_workload(template, Interpreter.of(()))

    assert of(a_deployment(replicas=4)) == Workload(replicas=4)
    assert of(a_config_map("settings")) == Workload()


def test_components_count_only_where_they_are_divided() -> None:
    pod = {"replicas": 2, "minAvailable": 2, "template": {"spec": {"containers": [{"name": "c"}]}}}
    manifest = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "shop"},
        "spec": {"tasks": [{"name": "driver", **pod}, {"name": "worker", **pod}]},
    }
    template = Template(ref=ObjectRef.of(manifest), manifest=manifest)
    apart = interpreted_workload(template, Interpreter.of(()), divides_components=True)
    assert [(each.name, each.replicas) for each in apart.components] == [("driver", 2), ("worker", 2)]
    assert (apart.replicas, interpreted_workload(template, Interpreter.of(())).components) == (0, ())


def test_without_workload_affinity_there_are_no_groups() -> None:
    made = binding_before_scheduling(
        a_template(labels={"app": "x"}), Match(policy=replace(POLICY, placement=Placement())), WORKLOAD
    )
    assert made is not None
    assert (made.affinity_group, made.anti_affinity_group) == ("", "")


@given(st.dictionaries(st.sampled_from(("app", "tier")), st.sampled_from("xy")))
def test_a_group_is_the_label_and_missing_without_it(labels: dict[str, str]) -> None:
    made = binding_before_scheduling(a_template(labels=labels), Match(policy=POLICY), WORKLOAD)
    assert made is not None
    assert made.affinity_group == (f"app={labels['app']}" if "app" in labels else "")
    assert made.anti_affinity_group == (f"tier={labels['tier']}" if "tier" in labels else "")
