"""Workloads of several pod templates (the gate MultiplePodTemplatesScheduling), from the source to the trees."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.pipeline.claims import match_options
from reconciler.pipeline.schedules import Schedule, refs_gaining_unproven
from render.binding import Binding, GracefulEvictionTask
from render.cluster_index import ClusterIndex
from render.documents import parse_documents
from render.failover.application import REASON as FAILURE
from render.failover.eviction import Leaving
from render.failover.recovery import state_after_copies_came_back
from render.failover.tasks import HEALTHY
from render.model import ObjectRef, TargetCluster
from render.placement import Placement, ReplicaScheduling, ReplicaSchedulingType, SpreadConstraint, SpreadField
from render.resources import Component
from render.scheduling.options import SchedulingOptions
from render.scheduling.scheduler import Scheduler
from render.settings.feature_gates import FeatureGates
from render.settings.fields import setting_fields
from render.settings.reading import parse_fleet
from tests.build import Repository, a_cluster, a_policy, argosy

PODS = "pods"
ONE_CLUSTER = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
BINDING = "bindings/shop/FlinkDeployment.flink.apache.org/count.yaml"

LATE = BINDING.replace("count", "late")


def a_fleet(*, gate: bool = True, **spec: Any) -> dict[str, Any]:
    gates = {"MultiplePodTemplatesScheduling": gate, **spec.pop("featureGates", {})}
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "spec": {"featureGates": gates, **spec},
    }


def a_flink_deployment(name: str = "count", *, task_managers: int = 3) -> dict[str, Any]:
    """Return a FlinkDeployment whose job manager requests one CPU, and each of its task managers two."""
    return {
        "apiVersion": "flink.apache.org/v1beta1",
        "kind": "FlinkDeployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "jobManager": {"replicas": 1, "resource": {"cpu": 1, "memory": "1Gi"}},
            "taskManager": {"replicas": task_managers, "resource": {"cpu": 2, "memory": "1Gi"}},
        },
    }


def with_cpu(name: str, cpu: str) -> dict[str, Any]:
    summary = {"resourceSummary": {"allocatable": {"cpu": cpu, "memory": "64Gi", PODS: "100"}}}
    return {**a_cluster(name), "status": summary}


def a_flink_policy(**placement: Any) -> dict[str, Any]:
    selector = {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"}
    return a_policy("flink", selectors=[selector], namespace="shop", placement=placement)


def a_repository(tmp_path: Path, files: dict[str, Any]) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(
        {
            "argosy.yaml": a_fleet(),
            "count.yaml": a_flink_deployment(),
            "policy.yaml": a_flink_policy(spreadConstraints=ONE_CLUSTER, replicaScheduling=AGGREGATED),
            "c/lyon.yaml": with_cpu("lyon", "6"),
            "c/paris.yaml": with_cpu("paris", "7"),
            **files,
        }
    )
    return repository


def binding_in(repository: Repository, path: str = BINDING) -> Any:
    return parse_documents(repository.show(path).encode())[0].value


def render(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    ended = argosy(repository, capsys, "render", "--commit", *options)
    assert ended.code in {0, 1}, ended.err
    return ended.out + ended.err


def scheduled(repository: Repository, path: str = BINDING) -> tuple[list[str], str]:
    """Return the clusters of a binding, and the reason of its condition."""
    binding = binding_in(repository, path)
    condition = next(each for each in binding["status"]["conditions"] if each["type"] == "Scheduled")
    return [each["name"] for each in binding["spec"].get("clusters") or ()], condition["reason"]


@pytest.mark.parametrize(("gate", "want"), [(True, (["paris"], "Success")), (False, ([], "SchedulerError"))])
def test_a_workload_of_seven_cpus_fits_a_cluster_with_seven_of_them(
    gate: bool, want: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the gate, it counts as four replicas of two CPUs each, as in Karmada."""
    repository = a_repository(tmp_path, {"argosy.yaml": a_fleet(gate=gate)})
    render(repository, capsys, "--bootstrap")
    assert scheduled(repository) == want


def test_a_binding_lists_the_components_of_its_cluster_and_they_are_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {})
    render(repository, capsys, "--bootstrap")
    spec = binding_in(repository)["spec"]
    components = {each["name"]: each for each in spec["components"]}
    assert {name: each["replicas"] for name, each in components.items()} == {"jobmanager": 1, "taskmanager": 3}
    assert components["taskmanager"]["replicaRequirements"]["resourceRequest"] == {"cpu": "2", "memory": "1Gi"}
    listed = [{"name": "jobmanager", "replicas": 1}, {"name": "taskmanager", "replicas": 3}]
    assert spec["clusters"] == [{"name": "paris", "components": listed}]
    assert "replicas" not in spec
    head = repository.git("rev-parse", "argosy/rendered")
    render(repository, capsys)
    assert repository.git("rev-parse", "argosy/rendered") == head


def test_an_explanation_names_each_component_and_counts_full_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {"c/paris.yaml": with_cpu("paris", "15")})
    explained = argosy(repository, capsys, "explain", "flinkdeployment/count", "-n", "shop").out
    assert "It asks for 4 replicas and goes to paris 4." in explained
    assert explained[explained.index("Components\n") :].splitlines()[1:5] == [
        "  They are not divided: each cluster that is chosen runs all of them.",
        "  COMPONENT     REPLICAS   REQUESTS OF EACH",
        "  jobmanager    1          cpu 1, memory 1Gi",
        "  taskmanager   3          cpu 2, memory 1Gi",
    ]
    assert "  It counts full sets of the components, which go to one cluster together." in explained
    assert "pods 100: 25 of 4, cpu 15: 2 of 7, memory 64Gi: 16 of 4Gi" in explained
    found = json.loads(argosy(repository, capsys, "explain", "flinkdeployment/count", "-n", "shop", "-o", "json").out)
    assert found["components"][0] == {"name": "jobmanager", "replicas": 1, "requests": {"cpu": "1", "memory": "1Gi"}}
    rooms = {each["cluster"]: (each["bySummary"], each["room"]) for each in found["rooms"]}
    assert rooms == {"paris": (2, 2), "lyon": (0, 0)}


def test_a_cluster_has_the_replicas_of_all_components_wherever_they_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {})
    render(repository, capsys, "--bootstrap")
    assert "| [paris](clusters/paris) | 2 | 4 |" in repository.show("README.md")
    wide = argosy(repository, capsys, "render", "-o", "wide").out
    row = next(line.split() for line in wide.splitlines() if "FlinkDeployment" in line)
    assert row[2:4] == ["4", "paris:4"]


def test_turning_the_gate_on_moves_nothing_that_has_a_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cluster that runs the set has room for it; Karmada would ask for room for a second one."""
    files = {"argosy.yaml": a_fleet(gate=False), "c/lyon.yaml": with_cpu("lyon", "9")}
    repository = a_repository(tmp_path, files)
    render(repository, capsys, "--bootstrap")
    assert scheduled(repository)[0] == ["lyon"]
    repository.commit({"argosy.yaml": a_fleet(), "c/rome.yaml": with_cpu("rome", "90")})
    told = argosy(repository, capsys, "diff", "HEAD~1").out
    assert ("1 setting changes" in told, "FlinkDeployment" in told) == (True, False)
    render(repository, capsys)
    assert scheduled(repository) == (["lyon"], "Success")
    tolerant = a_flink_policy(
        spreadConstraints=ONE_CLUSTER,
        replicaScheduling=AGGREGATED,
        clusterTolerations=[{"key": "night", "operator": "Exists"}],
    )
    repository.commit({"policy.yaml": tolerant})
    render(repository, capsys)
    assert scheduled(repository) == (["lyon"], "Success")


def test_a_set_takes_the_room_of_all_components_from_what_comes_after_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(
        tmp_path, {"late.yaml": a_flink_deployment("late"), "c/paris.yaml": with_cpu("paris", "13")}
    )
    render(repository, capsys, "--bootstrap")
    assert scheduled(repository) == (["paris"], "Success")
    assert scheduled(repository, LATE) == ([], "SchedulerError")


def test_a_set_that_counted_as_replicas_before_gives_back_no_room_it_still_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {"argosy.yaml": a_fleet(gate=False), "c/paris.yaml": with_cpu("paris", "13")})
    render(repository, capsys, "--bootstrap")
    repository.commit({"argosy.yaml": a_fleet(), "late.yaml": a_flink_deployment("late")})
    render(repository, capsys)
    assert scheduled(repository) == (["paris"], "Success")
    assert scheduled(repository, LATE) == ([], "SchedulerError")


def test_without_a_constraint_of_one_cluster_every_cluster_runs_all_components(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {"policy.yaml": a_flink_policy(replicaScheduling=AGGREGATED)})
    render(repository, capsys, "--bootstrap")
    assert binding_in(repository)["spec"]["clusters"] == [{"name": "lyon"}, {"name": "paris"}]
    trees = [repository.show(f"clusters/{name}/shop/{BINDING.split('/', 2)[2]}") for name in ("lyon", "paris")]
    assert trees[0] == trees[1]


def a_quota(cpu: str) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"overall": {"cpu": cpu}},
    }


@pytest.mark.parametrize(("cpu", "want"), [("7", (["paris"], "Success")), ("6", ([], "QuotaExceeded"))])
def test_a_quota_counts_what_each_component_requests(
    cpu: str, want: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {"quota.yaml": a_quota(cpu)})
    said = render(repository, capsys, "--bootstrap")
    assert scheduled(repository) == want
    assert ("requested sum 7, limit 6" in said) is (cpu == "6")


def test_components_that_grow_within_a_quota_count_for_what_comes_after_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {"quota.yaml": a_quota("14"), "c/paris.yaml": with_cpu("paris", "90")})
    render(repository, capsys, "--bootstrap")
    repository.commit({"count.yaml": a_flink_deployment(task_managers=4), "late.yaml": a_flink_deployment("late")})
    said = render(repository, capsys)
    assert (scheduled(repository), scheduled(repository, LATE)) == ((["paris"], "Success"), ([], "QuotaExceeded"))
    assert "requested sum 16, limit 14" in said
    assert binding_in(repository)["spec"]["clusters"][0]["components"][1] == {"name": "taskmanager", "replicas": 4}


def test_components_that_would_grow_beyond_a_quota_stay_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their numbers cannot be written into an object, so all of it waits, until the quota or the template changes."""
    repository = a_repository(tmp_path, {"quota.yaml": a_quota("8"), "c/paris.yaml": with_cpu("paris", "90")})
    render(repository, capsys, "--bootstrap")
    tree = f"clusters/paris/{BINDING.partition('/')[2]}"
    before, components = repository.show(tree), binding_in(repository)["spec"]["components"]
    repository.commit({"count.yaml": a_flink_deployment(task_managers=4)})
    for _ in range(2):  # and it stays so
        said = render(repository, capsys)
        assert scheduled(repository) == (["paris"], "QuotaExceeded")
        assert (repository.show(tree), binding_in(repository)["spec"]["components"]) == (before, components)
    assert "requested sum 9, limit 8" in said
    explained = argosy(repository, capsys, "explain", "flinkdeployment/count", "-n", "shop").out
    kept = explained.partition("Kept as an earlier commit had it\n")[2]
    assert "QuotaExceeded   FederatedResourceQuota(shop/shop) exceeded for resource cpu: requested sum 9" in kept
    assert argosy(repository, capsys, "verify").code == 0
    repository.commit({"count.yaml": a_flink_deployment()})
    render(repository, capsys)
    assert (scheduled(repository), repository.show(tree)) == ((["paris"], "Success"), before)
    repository.commit({"quota.yaml": a_quota("9"), "count.yaml": a_flink_deployment(task_managers=4)})
    render(repository, capsys)
    assert scheduled(repository) == (["paris"], "Success")
    assert repository.show(tree) != before
    repository.commit({"quota.yaml": a_quota("1"), "count.yaml": a_flink_deployment(task_managers=2)})
    render(repository, capsys)
    assert (scheduled(repository)[1], binding_in(repository)["spec"]["components"][1]["replicas"]) == ("Success", 2)


RACK = "racks.example.com"
TWO_PARTS = """
function GetComponents(object)
  local parts = {}
  for index, part in ipairs(object.spec.parts) do
    parts[index] = {name = part.name, replicas = part.replicas,
                    replicaRequirements = {resourceRequest = {cpu = part.cpu}}}
  end
  return parts
end
"""
REVISED = """
function ReviseReplica(object, replicas)
  object.spec.replicas = replicas
  return object
end
"""


def a_rack(*parts: tuple[str, int, str]) -> dict[str, Any]:
    listed = [{"name": name, "replicas": replicas, "cpu": cpu} for name, replicas, cpu in parts]
    spec = {"replicas": 5, "parts": listed}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Rack",
        "metadata": {"name": "r", "namespace": "shop"},
        "spec": spec,
    }


def a_customization() -> dict[str, Any]:
    scripts = {"componentResource": {"luaScript": TWO_PARTS}, "replicaRevision": {"luaScript": REVISED}}
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "racks"},
        "spec": {"target": {"apiVersion": "example.com/v1", "kind": "Rack"}, "customizations": scripts},
    }


def a_rack_policy() -> dict[str, Any]:
    selector = {"apiVersion": "example.com/v1", "kind": "Rack"}
    placement = {"spreadConstraints": ONE_CLUSTER, "replicaScheduling": AGGREGATED}
    return a_policy("racks", selectors=[selector], namespace="shop", placement=placement)


def test_a_script_names_components_and_its_number_of_replicas_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Karmada would have the script write 0, for a target that runs components has no replicas."""
    files = {"rack.yaml": a_rack(("hot", 2, "3"), ("cold", 1, "1")), "racks.yaml": a_customization()}
    repository = a_repository(tmp_path, {**files, "rack-policy.yaml": a_rack_policy()})
    render(repository, capsys, "--bootstrap")
    binding = binding_in(repository, "bindings/shop/Rack.example.com/r.yaml")
    listed = [{"name": "hot", "replicas": 2}, {"name": "cold", "replicas": 1}]
    assert binding["spec"]["clusters"] == [{"name": "paris", "components": listed}]
    rack = parse_documents(repository.show("clusters/paris/shop/Rack.example.com/r.yaml").encode())[0].value
    assert rack["spec"]["replicas"] == 5


FAULTS = [
    ([("", 1, "1")], "a component has no name"),
    ([("a", 1, "1"), ("a", 2, "1")], "two components are called 'a'"),
    ([("a", -1, "1")], "the component 'a' has -1 replicas"),
    ([("a" * 33, 1, "1")], f"the component '{'a' * 33}' has a name of more than 32 characters"),
]


@pytest.mark.parametrize(("parts", "want"), FAULTS)
def test_components_that_no_binding_could_hold_are_an_error(
    parts: list[tuple[str, int, str]], want: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"rack.yaml": a_rack(*parts), "racks.yaml": a_customization()}
    repository = a_repository(tmp_path, {**files, "rack-policy.yaml": a_rack_policy()})
    said = render(repository, capsys, "--bootstrap")
    assert f"Rack.example.com shop/r: InterpretComponent: {want}" in said


def a_webhook() -> dict[str, Any]:
    rule = {
        "operations": ["InterpretComponent"],
        "apiGroups": ["example.com"],
        "apiVersions": ["v1"],
        "kinds": ["Rack"],
    }
    hook = {
        "name": "racks.example.com",
        "clientConfig": {"url": "https://interpreter.example.com/racks"},
        "rules": [rule],
        "interpreterContextVersions": ["v1alpha1"],
    }
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterWebhookConfiguration",
        "metadata": {"name": "racks"},
        "webhooks": [hook],
    }


def test_a_webhook_is_asked_for_components_only_with_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"rack.yaml": a_rack(("hot", 1, "1")), "racks.yaml": a_webhook(), "rack-policy.yaml": a_rack_policy()}
    repository = a_repository(tmp_path, {**files})
    assert "InterpretComponent" in render(repository, capsys, "--bootstrap")
    repository.commit({"argosy.yaml": a_fleet(gate=False)})
    assert "InterpretComponent" not in argosy(repository, capsys, "render", "--commit", "--bootstrap").err


def test_what_is_asked_for_nothing_without_the_gate_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"racks.yaml": a_customization(), "hook.yaml": a_webhook(), "argosy.yaml": a_fleet(gate=False)}
    repository = a_repository(tmp_path, files)
    told = argosy(repository, capsys, "validate").out
    without = "is asked for nothing while featureGates.MultiplePodTemplatesScheduling is false in argosy.yaml"
    assert [line for line in told.splitlines() if without in line] == [
        f"warning: hook.yaml:19: webhooks[0].rules[0].operations[0]: {without}",
        f"warning: racks.yaml:8: spec.customizations.componentResource.luaScript: {without}",
    ]
    repository.commit({"argosy.yaml": a_fleet()})
    assert without not in argosy(repository, capsys, "validate").out


GATES: list[tuple[str, bool, str]] = [
    ("PropagateDeps", False, "a policy says with propagateDeps whether objects go along that a workload depends on"),
    ("PropagateDeps", True, ""),
    ("PriorityBasedScheduling", False, "objects of a pass are always scheduled by their schedulePriority"),
    ("PriorityBasedScheduling", True, ""),
    ("SchedulingOvercommitProtection", True, ""),
    (
        "SchedulingOvercommitProtection",
        False,
        (
            "reserveCapacity says whether what was just placed lowers the capacity that is left"
            "\n  hint: write reserveCapacity"
        ),
    ),
    (
        "ResourceQuotaEstimate",
        True,
        (
            "ResourceQuotas of the members do not count where room does\n"
            "  hint: a FederatedResourceQuota limits what a namespace requests"
        ),
    ),
    ("ResourceQuotaEstimate", False, ""),
    (
        "MultiClusterService",
        True,
        "it needs a network between clusters, which Argosy does not build\n  hint: leave it out",
    ),
    ("MultiClusterService", False, ""),
    *(
        (name, value, "it is about the processes of Karmada\n  hint: leave it out")
        for name in ("ControllerPriorityQueue", "ContextualLogging", "LoggingAlphaOptions", "LoggingBetaOptions")
        for value in (True, False)
    ),
    *(
        (name, value, "")
        for name in (
            "Failover",
            "GracefulEviction",
            "StatefulFailoverInjection",
            "FederatedQuotaEnforcement",
            "MultiplePodTemplatesScheduling",
            "CustomizedClusterResourceModeling",
            "PropagationPolicyPreemption",
            "WorkloadAffinity",
        )
        for value in (True, False)
    ),
]


@pytest.mark.parametrize(("name", "value", "want"), GATES)
def test_a_gate_is_acted_on_or_it_is_said_what_happens_instead(
    name: str, value: bool, want: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"featureGates": {name: value}}}
    repository.commit({"argosy.yaml": settings, "c.yaml": a_cluster("lyon")})
    ended = argosy(repository, capsys, "validate")
    assert ended.code == 0, ended.err
    warning = f"warning: argosy.yaml:5: spec.featureGates.{name}: decides nothing: {want}\n" if want else ""
    assert (warning in ended.out, "decides nothing" in ended.out) == (True, bool(want))


def test_overcommit_is_protected_from_where_capacity_is_reserved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = {"SchedulingOvercommitProtection": True}
    repository = a_repository(tmp_path, {"argosy.yaml": a_fleet(featureGates=gates, reserveCapacity=False)})
    assert "SchedulingOvercommitProtection: decides nothing" in argosy(repository, capsys, "validate").out
    repository.commit({"argosy.yaml": a_fleet(featureGates=gates, compatibility="Karmada", reserveCapacity=True)})
    assert "SchedulingOvercommitProtection" not in argosy(repository, capsys, "validate").out


def test_every_gate_of_karmada_is_known() -> None:
    names = [field.setting.name for field in setting_fields(FeatureGates)]
    assert sorted(names) == sorted({name for name, _, _ in GATES})
    assert len(names) == 17


SWITCHED = [
    ("WorkloadAffinity", "honours_workload_affinity"),
    ("CustomizedClusterResourceModeling", "uses_resource_models"),
    ("Failover", "evicts_over_time"),
]


@pytest.mark.parametrize(("gate", "option"), SWITCHED)
@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("spec", [{}, {"compatibility": "Karmada"}])
def test_a_gate_switches_the_rule_that_it_is_about(gate: str, option: str, value: bool, spec: dict[str, Any]) -> None:
    settings = parse_fleet({"metadata": {}, "spec": {**spec, "featureGates": {gate: value}}})
    assert getattr(SchedulingOptions.of(settings), option) is value


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({}, True),
        ({"compatibility": "Karmada"}, False),
        ({"featureGates": {"PropagationPolicyPreemption": False}}, False),
        ({"compatibility": "Karmada", "featureGates": {"PropagationPolicyPreemption": True}}, True),
    ],
)
def test_preemption_follows_its_gate(spec: dict[str, Any], want: bool) -> None:
    assert match_options(parse_fleet({"metadata": {}, "spec": spec})).allows_preemption is want


def test_what_no_policy_selects_any_more_is_not_said_to_have_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A released binding keeps its components, also while the gate is off again."""
    repository = a_repository(tmp_path, {})
    render(repository, capsys, "--bootstrap")
    for gate in (True, False):
        repository.commit({"argosy.yaml": a_fleet(gate=gate), **({"policy.yaml": None} if gate else {})})
        said = render(repository, capsys)
        assert "is released: no policy selects it, so paris keeps it as it is" in said
        assert "though its template" not in said


def a_set(*targets: str, **fields: Any) -> Binding:
    return Binding(
        ref=ObjectRef("flink.apache.org", "FlinkDeployment", "shop", "count"),
        api_version="flink.apache.org/v1beta1",
        components=(Component(name="taskmanager", replicas=3), Component(name="jobmanager", replicas=1)),
        targets=tuple(TargetCluster(name) for name in targets),
        **fields,
    )


def test_a_copy_that_is_healthy_again_takes_the_place_of_one_that_is_not_yet() -> None:
    """Components have no replicas to give back: they go whole, as those of a duplicated workload do."""
    one = SpreadConstraint(spread_by_field=SpreadField.CLUSTER, min_groups=1, max_groups=1)
    divided = ReplicaScheduling(type=ReplicaSchedulingType.DIVIDED)
    placement = Placement(spread_constraints=(one,), replica_scheduling=divided)
    task = GracefulEvictionTask(from_cluster="lyon", reason=FAILURE, producer="x")
    state = Leaving((TargetCluster("paris"),), (task,))
    back = state_after_copies_came_back(
        state, a_set("paris", placement=placement), {"lyon": HEALTHY, "paris": "Unhealthy"}, ()
    )
    assert back.state == Leaving((TargetCluster("lyon"),), ())


def test_a_set_that_goes_to_a_cluster_nobody_has_seen_well_is_noticed() -> None:
    unproven = frozenset({"rome"})
    before, after = (a_set("lyon", unproven=unproven), a_set("rome", unproven=unproven))
    schedule = Schedule(bindings=(after,), decisions={}, scheduler=Scheduler(ClusterIndex(())))
    assert refs_gaining_unproven([before], schedule, {before.ref}) == {before.ref}


def test_a_binding_of_a_control_plane_that_counts_components_asks_for_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise the first pass would schedule the object anew, by its replicas."""
    template = a_flink_deployment()
    resource = {key: template[key] for key in ("apiVersion", "kind")} | template["metadata"]
    listed = [{"name": "jobmanager", "replicas": 1}, {"name": "taskmanager", "replicas": 3}]
    binding = {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"name": "count-flinkdeployment", "namespace": "shop"},
        "spec": {"resource": resource, "components": listed, "clusters": [{"name": "paris", "components": listed}]},
    }
    files = {"bindings/count.yaml": binding, "c/rome.yaml": with_cpu("rome", "90")}
    repository = a_repository(tmp_path, {**files, "argosy.yaml": a_fleet(gate=False)})
    told = "count for nothing while featureGates.MultiplePodTemplatesScheduling is false in argosy.yaml"
    assert f"spec.components: {told}" in argosy(repository, capsys, "validate").out
    repository.commit({"argosy.yaml": a_fleet()})
    assert told not in argosy(repository, capsys, "validate").out
    render(repository, capsys, "--bootstrap")
    assert scheduled(repository) == (["paris"], "Success")


READ = """
function GetReplicas(object)
  return object.spec.replicas, nil
end
"""


def test_a_policy_that_divides_what_counts_by_components_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of a kind whose replicas other scripts read and write: without the gate these are asked."""
    customization = a_customization()
    customization["spec"]["customizations"]["replicaResource"] = {"luaScript": READ}
    selector = {"apiVersion": "example.com/v1", "kind": "Rack"}
    policy = a_policy("racks", selectors=[selector], namespace="shop", placement={"replicaScheduling": AGGREGATED})
    files = {"rack.yaml": a_rack(("hot", 2, "3")), "racks.yaml": customization, "rack-policy.yaml": policy}
    repository = a_repository(tmp_path, files)
    told = argosy(repository, capsys, "validate").out
    words = (
        "it divides, but Rack.example.com counts by its components, which nothing divides: every cluster gets all of"
    )
    assert f"{words} Rack.example.com shop/r" in told
    assert "counts by its components" in argosy(repository, capsys, "explain", "rack/r", "-n", "shop").out
    repository.commit({"argosy.yaml": a_fleet(gate=False)})
    assert "it divides, but" not in argosy(repository, capsys, "validate").out
