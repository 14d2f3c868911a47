"""Objects that run to completion: a Job that has begun keeps its division, and one that is over moves nowhere."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reconciler.ledger.health import ObservedHealth
from reconciler.pipeline.eviction_notes import RUN_BEGUN, RUN_OVER
from reconciler.record.runs import runs_of_completing_objects
from render.binding import Binding
from render.interpreter import Interpreter
from render.model import ObjectRef, TargetCluster, Template
from render.runs import ReportedRun

from .build import a_cluster, a_policy, argosy, on_clusters, weighted
from .clusters import Member, remove_namespaces
from .memory_fleet import MemoryFleet
from .tables import each_row

ROOM = (1, {"cpu": "8", "memory": "16Gi", "pods": "110"})
BATCH = {"apiVersion": "batch/v1", "kind": "Job", "name": "sums"}
PATH = "/apis/batch/v1/namespaces/default/jobs/sums"
BINDING = "bindings/default/Job.batch/sums.yaml"
COMPLETE = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
RUNNING = {"active": 1, "startTime": "2027-01-01T00:00:00Z"}
HALVES = weighted(oslo=1, rome=1, bonn=1)


def a_job(*, parallelism: int = 2, completions: int | None = 7, **spec: Any) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "sums", "image": "registry.example.com/sums:1"}]}
    whole = {"completions": completions} if completions is not None else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sums", "namespace": "default"},
        "spec": {"parallelism": parallelism, **whole, "template": {"spec": pod}, **spec},
    }


def divided(*names: str, scheduling: dict[str, Any] = HALVES) -> dict[str, Any]:
    return a_policy("sums", selectors=[BATCH], placement=on_clusters(*names, replicaScheduling=scheduling))


def a_fleet(path: Path, job: dict[str, Any], policy: dict[str, Any], **files: Any) -> MemoryFleet:
    names = dict.fromkeys(("bonn", "oslo", "rome"), ROOM)
    fleet = MemoryFleet.create(path / "fleet", names, {"sums.yaml": job, "policy.yaml": policy, **files})
    fleet.run()
    return fleet


def report(fleet: MemoryFleet, only: tuple[str, ...] | None = None, **status: Any) -> None:
    """Give the Jobs of members a status, and let a pass over all or some record it."""
    for name, found in status.items():
        fleet.members[name].objects["jobs.batch", "default", "sums"]["status"] = found
    fleet.run(60, only=only)


def rendered(fleet: MemoryFleet) -> dict[str, tuple[int, int]]:
    """The parallelism and completions in the tree of each cluster that has the Job."""
    place = "default/Job.batch/sums.yaml"
    files = fleet.repository.files("argosy/rendered")
    found = {path.split("/")[1]: path for path in files if path.startswith("clusters/") and path.endswith(place)}
    specs = {name: fleet.recorded(path, "argosy/rendered")["spec"] for name, path in sorted(found.items())}
    return {name: (spec["parallelism"], spec.get("completions", 0)) for name, spec in specs.items()}


def notes(fleet: MemoryFleet) -> list[str]:
    conditions = fleet.recorded(BINDING, "argosy/rendered")["status"]["conditions"]
    return [each["reason"] for each in conditions if each["type"] == "Evicted"]


WIDE = {"clusterAffinity": {"labelSelector": {"matchLabels": {"batch": "yes"}}}, "replicaScheduling": HALVES}


def by_label(fleet_names: tuple[str, ...]) -> dict[str, Any]:
    return {f"clusters/{name}.yaml": a_cluster(name, labels={"batch": "yes"}) for name in fleet_names}


def test_a_job_that_has_begun_keeps_its_division_where_weights_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_fleet(tmp_path, a_job(parallelism=2), divided("oslo", "rome"))
    assert rendered(fleet) == {"oslo": (1, 4), "rome": (1, 3)}
    report(fleet, oslo=RUNNING, rome=RUNNING)
    fleet.repository.commit({"policy.yaml": divided("oslo", "rome", "bonn", scheduling=weighted(bonn=9, oslo=1))})
    reports = fleet.run(60)
    assert rendered(fleet) == {"oslo": (1, 4), "rome": (1, 3)}
    assert notes(fleet) == [RUN_BEGUN]
    rendering = argosy(fleet.repository, capsys, "render")
    assert rendering.code == 0
    told = "Job.batch default/sums has begun in oslo, rome, and keeps its division there"
    assert f"warning: {told}: it would run a second time elsewhere" in rendering.err.splitlines()
    results = [result for each in reports if each.applied for result in each.applied.results]
    assert [each for each in results if each.reason == "Immutable"] == []
    assert fleet.recorded("facts/_health.yaml", "argosy/rendered")["runs"] == [
        {
            "object": {"group": "batch", "kind": "Job", "namespace": "default", "name": "sums"},
            "clusters": [{"cluster": "oslo"}, {"cluster": "rome"}],
        }
    ]


def recorded_runs(**status_by_cluster: Any) -> dict[str, str]:
    """The runs of a Job by what is recorded of it in clusters, where oslo reported its end before, and rome none."""
    applied = [{"type": "Applied", "status": "True"}]
    works = {
        name: {"status": {"conditions": applied, "manifestStatuses": [{"status": status}]}}
        for name, status in status_by_cluster.items()
    }
    return runs_by_works(works)


def runs_by_works(work_by_cluster: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The same by the Works themselves."""
    ref = ObjectRef("batch", "Job", "default", "sums")
    targets = tuple(TargetCluster(name, 1) for name in work_by_cluster)
    works = {f"works/{name}/default/Job.batch/sums.yaml": work for name, work in work_by_cluster.items()}
    before = ObservedHealth(runs={ref: (ReportedRun(cluster="oslo", finish="Complete"), ReportedRun(cluster="rome"))})
    recorded: Any = SimpleNamespace(health=lambda: before, manifest=works.get)
    bindings = {ref: Binding(ref=ref, api_version="batch/v1", targets=targets)}
    runs = runs_of_completing_objects(recorded, bindings, {ref: Template(ref=ref, manifest=a_job())}, Interpreter())
    return {each.cluster: each.finish for each in runs[ref]}


ODD = [
    {"conditions": "Complete"},
    {"conditions": ["Complete"]},
    "Complete",
]


@pytest.mark.parametrize("status", ODD, ids=str)
def test_a_status_that_no_job_has_takes_nothing_back_and_ends_no_pass(status: Any) -> None:
    """A member, or its agent, may report anything; what the others report is recorded all the same."""
    assert recorded_runs(oslo=status, rome=COMPLETE) == {"oslo": "Complete", "rome": "Complete"}
    assert recorded_runs(oslo=RUNNING, rome=status) == {"oslo": "", "rome": ""}
    assert recorded_runs(oslo=None, rome=None) == {"oslo": "Complete", "rome": ""}


@pytest.mark.parametrize("work", [{"metadata": {}}, {"status": None}], ids=["none", "null"])
def test_a_work_without_a_status_takes_nothing_back_and_ends_no_pass(work: dict[str, Any]) -> None:
    """An agent may push one, for a Work needs no status to be taken from its branch."""
    over = {
        "status": {"conditions": [{"type": "Applied", "status": "True"}], "manifestStatuses": [{"status": COMPLETE}]}
    }
    assert runs_by_works({"oslo": work, "rome": over}) == {"oslo": "Complete", "rome": "Complete"}


def test_a_job_that_is_over_moves_nowhere_and_comes_back_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy("sums", selectors=[BATCH], placement=WIDE)
    fleet = a_fleet(tmp_path, a_job(), policy, **by_label(("oslo", "rome")))
    before = rendered(fleet)
    assert before == {"oslo": (1, 4), "rome": (1, 3)}
    report(fleet, oslo=COMPLETE, rome=COMPLETE)
    fleet.repository.commit({"clusters/rome.yaml": a_cluster("rome")})
    fleet.run(60)
    assert (rendered(fleet), notes(fleet)) == (before, [RUN_OVER])
    assert argosy(fleet.repository, capsys, "verify").code == 0
    assert argosy(fleet.repository, capsys, "render").code == 0, "that it stays is no problem"
    assert "| Success | 1 |" in fleet.repository.show("README.md", "argosy/rendered")
    fleet.repository.commit({"clusters/rome.yaml": a_cluster("rome", labels={"batch": "yes"})})
    fleet.run(60)
    assert (rendered(fleet), notes(fleet)) == (before, [])
    tip = fleet.repository.git("rev-parse", "argosy/rendered")
    fleet.run(60)
    assert fleet.repository.git("rev-parse", "argosy/rendered") == tip


def test_only_what_has_not_begun_is_placed_anew(tmp_path: Path) -> None:
    """A member that is down never got its share, which another one takes; the one that began keeps its completions."""
    names = dict.fromkeys(("bonn", "oslo", "rome"), ROOM)
    files = {"sums.yaml": a_job(), "policy.yaml": divided("oslo", "rome")}
    fleet = MemoryFleet.create(tmp_path / "fleet", names, files)
    fleet.run(only={"bonn", "oslo"})
    assert rendered(fleet) == {"oslo": (1, 4), "rome": (1, 3)}
    report(fleet, only=("bonn", "oslo"), oslo=RUNNING)
    fleet.repository.commit({"policy.yaml": divided("bonn", "oslo")})
    fleet.run(60)
    assert rendered(fleet) == {"bonn": (1, 3), "oslo": (1, 4)}
    report(fleet, bonn=RUNNING)
    fleet.repository.commit({"policy.yaml": divided("bonn", "oslo", scheduling=weighted(bonn=1, oslo=5))})
    fleet.run(60)
    assert rendered(fleet) == {"bonn": (1, 3), "oslo": (1, 4)}


def test_a_job_that_has_not_begun_is_divided_anew(tmp_path: Path) -> None:
    names = dict.fromkeys(("oslo", "rome"), ROOM)
    fleet = MemoryFleet.create(tmp_path / "fleet", names, {"sums.yaml": a_job(), "policy.yaml": divided("oslo")})
    fleet.run(only={"rome"})
    fleet.repository.commit({"policy.yaml": divided("rome")})
    fleet.run(60)
    assert (rendered(fleet), notes(fleet)) == ({"rome": (2, 7)}, [])


def test_more_pods_at_once_change_no_completions(tmp_path: Path) -> None:
    """Parallelism may change while a Job runs; it is divided as the Job is, and completions stay."""
    fleet = a_fleet(tmp_path, a_job(parallelism=2), divided("oslo", "rome"))
    report(fleet, oslo=RUNNING, rome=RUNNING)
    fleet.repository.commit({"sums.yaml": a_job(parallelism=3)})
    fleet.run(60)
    assert rendered(fleet) == {"oslo": (2, 4), "rome": (1, 3)}


def test_no_pods_at_once_change_no_completions(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path, a_job(parallelism=2), divided("oslo", "rome"))
    report(fleet, oslo=RUNNING, rome=RUNNING)
    for parallelism, each in ((0, 0), (4, 2)):
        fleet.repository.commit({"sums.yaml": a_job(parallelism=parallelism)})
        fleet.run(60)
        assert rendered(fleet) == {"oslo": (each, 4), "rome": (each, 3)}


def test_a_job_in_one_of_many_clusters_runs_once(tmp_path: Path) -> None:
    """Nothing is divided here, but the Job would leave the cluster that it ran in for another one."""
    one = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}
    placement = {**one, "clusterAffinity": WIDE["clusterAffinity"]}
    policy = a_policy("sums", selectors=[BATCH], placement=placement)
    fleet = a_fleet(tmp_path, a_job(), policy, **by_label(("bonn", "oslo")))
    (name,) = before = rendered(fleet)
    report(fleet, None, **{name: COMPLETE})
    fleet.repository.commit({f"clusters/{name}.yaml": a_cluster(name)})
    fleet.run(60)
    assert (rendered(fleet), notes(fleet)) == (before, [RUN_OVER])


def test_karmadas_way_divides_anew(tmp_path: Path) -> None:
    compatible = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "default"},
        "spec": {"compatibility": "Karmada"},
    }
    fleet = a_fleet(tmp_path, a_job(), divided("oslo", "rome"), **{"argosy.yaml": compatible})
    report(fleet, oslo=COMPLETE, rome=COMPLETE)
    fleet.repository.commit({"policy.yaml": divided("oslo", "rome", scheduling=weighted(oslo=1))})
    fleet.run(60)
    assert rendered(fleet) == {"oslo": (2, 7)}


def test_a_job_with_indexes_runs_each_of_them_once(tmp_path: Path) -> None:
    """A part of it would count its own indexes from 0, so one cluster runs the whole: that of most weight, or room."""
    job = a_job(parallelism=2, completions=6, completionMode="Indexed")
    fleet = a_fleet(tmp_path, job, divided("bonn", "oslo", "rome", scheduling=weighted(bonn=1, oslo=2, rome=1)))
    assert rendered(fleet) == {"oslo": (2, 6)}
    dynamic = {**HALVES, "weightPreference": {"dynamicWeight": "AvailableReplicas"}}
    fleet.repository.commit({"policy.yaml": divided("bonn", "oslo", "rome", scheduling=dynamic)})
    fleet.run(60)
    assert rendered(fleet) == {"oslo": (2, 6)}


def test_a_job_whose_mode_is_no_text_is_left_out_and_no_bug(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server would refuse it, which names the field: the Job cannot be divided, and that is no bug of Argosy."""
    fleet = a_fleet(tmp_path, a_job(completionMode=5), divided("oslo", "rome"))
    assert rendered(fleet) == {}
    rendering = argosy(fleet.repository, capsys, "render")
    assert (rendering.code, rendering.err.splitlines()) == (
        1,
        [
            "warning: sums.yaml:7: spec.completionMode: left out: must be a string, not a number",
            "  hint: put it in quotes",
            "warning: no object goes anywhere",
        ],
    )


@pytest.mark.parametrize(("free", "want"), [("8", {"rome": (2, 6)}), ("1", {})])
def test_a_job_with_indexes_needs_room_for_all_of_it(tmp_path: Path, free: str, want: dict[str, Any]) -> None:
    job = a_job(parallelism=2, completions=6, completionMode="Indexed")
    job["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    dynamic = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
    rooms = {"oslo": (1, {**ROOM[1], "cpu": "1"}), "rome": (1, {**ROOM[1], "cpu": free})}
    files = {"sums.yaml": job, "policy.yaml": divided("oslo", "rome", scheduling=dynamic)}
    fleet = MemoryFleet.create(tmp_path / "fleet", rooms, files)
    fleet.run()
    assert rendered(fleet) == want
    if not want:
        (condition,) = fleet.recorded(BINDING, "argosy/rendered")["status"]["conditions"]
        assert condition["message"] == (
            "failed to assign replicas: No cluster has room for all 2 replicas, which are not to be divided."
        )


def test_what_is_over_is_not_evicted(tmp_path: Path) -> None:
    """Failover would let a Job that is over run again elsewhere; one that goes on in a lost cluster does run again."""
    fleet = a_fleet(
        tmp_path,
        a_job(),
        {**divided("bonn", "oslo", "rome", scheduling=weighted(oslo=1, rome=1))},
        **{
            "argosy.yaml": {
                "apiVersion": "argosy.dev/v1alpha1",
                "kind": "Fleet",
                "metadata": {"name": "default"},
                "spec": {"featureGates": {"Failover": True}},
            }
        },
    )
    assert rendered(fleet) == {"oslo": (1, 4), "rome": (1, 3)}
    report(fleet, oslo=COMPLETE, rome=COMPLETE)
    away = {"key": "away", "effect": "NoExecute"}
    fleet.repository.commit({"clusters/rome.yaml": a_cluster("rome", taints=[away])})
    for _ in range(3):
        fleet.run(600)
    assert rendered(fleet) == {"oslo": (1, 4), "rome": (1, 3)}


def test_what_is_evicted_while_it_runs_is_placed_anew(tmp_path: Path) -> None:
    gates = {"featureGates": {"Failover": True}}
    argosy_yaml = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "default"},
        "spec": gates,
    }
    policy = divided("bonn", "oslo", "rome", scheduling=weighted(oslo=1, rome=1))
    fleet = a_fleet(tmp_path, a_job(), policy, **{"argosy.yaml": argosy_yaml})
    report(fleet, oslo=RUNNING, rome=RUNNING)
    away = {"key": "away", "effect": "NoExecute"}
    fleet.repository.commit({"clusters/rome.yaml": a_cluster("rome", taints=[away])})
    for _ in range(3):
        fleet.run(600)
    assert rendered(fleet)["oslo"] == (1, 4)
    assert rendered(fleet)["bonn"] == (1, 3)


ENDS = [
    ("batch/v1", "Job", {}, {"conditions": [{"type": "Failed", "status": "True"}]}, "Failed"),
    ("batch/v1", "Job", {}, RUNNING, ""),
    ("v1", "Pod", {"restartPolicy": "Never"}, {"phase": "Succeeded"}, "Complete"),
    ("v1", "Pod", {"restartPolicy": "OnFailure"}, {"phase": "Running"}, ""),
    ("v1", "Pod", {}, {"phase": "Succeeded"}, None),
    ("apps/v1", "Deployment", {}, {}, None),
    (
        "apps.kruise.io/v1alpha1",
        "BroadcastJob",
        {},
        {"conditions": [{"type": "Complete", "status": "True"}]},
        "Complete",
    ),
    ("argoproj.io/v1alpha1", "Workflow", {}, {"phase": "Error"}, "Failed"),
    ("batch.volcano.sh/v1alpha1", "Job", {}, {"state": {"phase": "Completed"}}, "Complete"),
    ("kubeflow.org/v1", "TFJob", {}, {"conditions": [{"type": "Succeeded", "status": "True"}]}, "Complete"),
    ("kubeflow.org/v1", "PyTorchJob", {}, {"conditions": [{"type": "Running", "status": "True"}]}, ""),
    ("kubeflow.org/v2beta1", "MPIJob", {}, {"conditions": [{"type": "Failed", "status": "True"}]}, "Failed"),
    ("ray.io/v1", "RayJob", {}, {"jobStatus": "SUCCEEDED"}, "Complete"),
    ("ray.io/v1", "RayService", {}, {}, None),
    (
        "sparkoperator.k8s.io/v1beta2",
        "SparkApplication",
        {},
        {"applicationState": {"state": "COMPLETED"}},
        "Complete",
    ),
]


@each_row(("version", "kind", "spec", "status", "want"), ENDS)
def test_an_end_is_read_of_every_kind_that_has_one(
    version: str, kind: str, spec: Any, status: Any, want: str | None
) -> None:
    assert Interpreter().ending_of_run({"apiVersion": version, "kind": kind, "spec": spec, "status": status}) == want


@pytest.mark.cluster
def test_a_server_is_asked_for_no_change_of_a_job_that_has_begun(members: tuple[Member, ...], tmp_path: Path) -> None:
    """Servers refuse other completions of a Job that is there, for ever after; these were divided anew before."""
    names = ("oslo", "rome")
    fleet = MemoryFleet.create(
        tmp_path / "fleet",
        dict.fromkeys(names, (0, {})),
        {
            "sums.yaml": {**a_job(), "metadata": {"name": "sums", "namespace": "sums"}},
            "policy.yaml": in_sums(oslo=1, rome=1),
        },
    )
    fleet.members = dict(zip(names, members, strict=False))
    try:
        fleet.run()
        found = [each.read("/apis/batch/v1/namespaces/sums/jobs/sums")["spec"]["completions"] for each in members[:2]]
        assert sorted(found) == [3, 4]
        fleet.run(60)
        fleet.repository.commit({"policy.yaml": in_sums(oslo=1, rome=6)})
        reports = fleet.run(60)
        assert [(each.applied.outcome, each.failure) for each in reports if each.applied] == [("Converged", None)] * 2
        after = [each.read("/apis/batch/v1/namespaces/sums/jobs/sums")["spec"]["completions"] for each in members[:2]]
        assert after == found
    finally:
        remove_namespaces(members[:2], "sums", "argosy-system")


def in_sums(**weights: int) -> dict[str, Any]:
    placement = on_clusters("oslo", "rome", replicaScheduling=weighted(**weights))
    return a_policy("sums", selectors=[BATCH], namespace="sums", placement=placement)
