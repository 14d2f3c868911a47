"""Passes over members in memory: what the status branch says after each, and that it says nothing twice."""

from pathlib import Path

import pytest

from reconciler.ledger.cluster import ClusterRecord
from reconciler.members.exchange import Answer, Failure, Request
from render.documents import emit

from .build import Repository, a_deployment, a_policy, argosy, on_clusters
from .memory_fleet import DOWN, MemoryFleet, add_node, add_pod, put, settle

DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
NGINX_WORK = "works/member1/default/Deployment.apps/nginx.yaml"


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """Three members with 3, 2 and 1 nodes; a Deployment divided by what they can hold."""
    template = a_deployment(replicas=12)
    template["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    names = {"member1": (3, ROOMY), "member2": (2, ROOMY), "member3": (1, ROOMY)}
    placement = on_clusters(*names, replicaScheduling=DYNAMIC)
    files = {"nginx.yaml": template, "policy.yaml": a_policy(placement=placement)}
    return MemoryFleet.create(tmp_path / "fleet", names, files)


def placed(fleet: MemoryFleet) -> dict[str, int]:
    binding = fleet.recorded("bindings/default/Deployment.apps/nginx.yaml", "argosy/rendered")
    return {each["name"]: each.get("replicas", 0) for each in binding["spec"]["clusters"]}


def ready(fleet: MemoryFleet, name: str) -> dict[str, str]:
    conditions = fleet.recorded(f"clusters/{name}.yaml")["status"]["conditions"]
    found: dict[str, str] = next(each for each in conditions if each["type"] == "Ready")
    return found


def test_the_first_pass_divides_by_what_it_saw_and_makes_two_status_commits(fleet: MemoryFleet) -> None:
    fleet.run()
    assert placed(fleet) == {"member1": 6, "member2": 4, "member3": 2}
    assert [subject.split()[0] for subject in fleet.status_commits()] == ["Attempt", "Apply"]
    assert fleet.recorded("facts/member1.yaml")["status"]["resourceSummary"]["allocatable"] == {
        "cpu": "24",
        "memory": "96Gi",
        "pods": "330",
    }


def test_the_history_tells_what_became_of_the_fleet(fleet: MemoryFleet) -> None:
    fleet.run()
    for member in fleet.members.values():
        settle(member)
    fleet.run(60)
    del fleet.members["member1"].objects["nodes.", "", "node-2"]
    fleet.run(60)
    fleet.down = {"member2"}
    fleet.run(10)
    fleet.run(30)
    fleet.repository.commit({"nginx.yaml": a_deployment(replicas=24)})
    fleet.run(60)
    fleet.down = set()
    fleet.run(60)
    first, second = fleet.repository.git("log", "--reverse", "--format=%h", "--abbrev=12", "argosy/rendered").split()
    assert fleet.status_commits() == [
        f"Attempt {first}",
        f"Apply {first}: 3 clusters ready, facts of 3 clusters, 3 objects of 3 clusters",
        f"Apply {first}: 3 objects of 3 clusters",
        f"Apply {first}: facts of member1",
        f"Apply {first}: member2 Unreachable",
        f"Apply {first}: member2 not ready, facts of member2",
        f"Attempt {second}",
        f"Apply {second}: 2 objects of member1 and member3",
        f"Apply {second}: member2 ready, facts of member2, 1 object of member2",
    ]
    newest = fleet.repository.git("log", "-1", "--skip=1", "--format=%b", "argosy/status")
    assert newest.splitlines()[:3] == ["member1: 1 object", "member3: 1 object", ""]


def test_passes_that_see_nothing_new_commit_nothing(fleet: MemoryFleet) -> None:
    fleet.run()
    for member in fleet.members.values():
        settle(member)
    fleet.run(60)
    before = fleet.repository.git("rev-parse", "argosy/status", "argosy/rendered")
    for _ in range(4):
        fleet.run(700)
    assert fleet.repository.git("rev-parse", "argosy/status", "argosy/rendered") == before


def test_what_is_seen_of_the_members_moves_no_replica_that_has_a_place(fleet: MemoryFleet) -> None:
    fleet.run()
    before = placed(fleet), fleet.repository.git("rev-parse", "argosy/rendered")
    for number in range(3):
        add_pod(fleet.members["member1"], f"other-{number}", node="node-0", cpu="2900m")
        fleet.run(700)
        summary = fleet.recorded("facts/member1.yaml")["status"]["resourceSummary"]
        assert summary["allocated"]["pods"] == str(number + 1)
    assert (placed(fleet), fleet.repository.git("rev-parse", "argosy/rendered")) == before


def test_a_cluster_that_filled_up_gets_nothing_new(fleet: MemoryFleet) -> None:
    fleet.run()
    for node in ("node-0", "node-1", "node-2"):
        add_pod(fleet.members["member1"], f"other-on-{node}", node=node, cpu="8")
    fleet.run(60)
    more = a_deployment("late", replicas=6)
    more["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "late"}]
    policy = a_policy("late", selectors=selectors, placement=on_clusters(*fleet.members, replicaScheduling=DYNAMIC))
    fleet.repository.commit({"late.yaml": more, "late-policy.yaml": policy})
    fleet.run(60)
    clusters = fleet.recorded("bindings/default/Deployment.apps/late.yaml", "argosy/rendered")["spec"]["clusters"]
    assert {each["name"]: each["replicas"] for each in clusters} == {"member2": 4, "member3": 2}


def test_a_hiccup_leaves_a_cluster_ready_and_a_dead_one_is_tainted_after_half_a_minute(fleet: MemoryFleet) -> None:
    fleet.run()
    since = ready(fleet, "member2")["lastTransitionTime"]
    fleet.down = {"member2"}
    fleet.run(10)
    assert ready(fleet, "member2")["status"] == "True"
    fleet.run(29)
    assert ready(fleet, "member2") == {**ready(fleet, "member2"), "status": "True", "lastTransitionTime": since}
    fleet.run(1)
    assert ready(fleet, "member2") == {
        "type": "Ready",
        "status": "False",
        "reason": "ClusterNotReachable",
        "message": "cluster is not reachable",
        "lastTransitionTime": "2027-01-15T08:00:40Z",
    }
    assert fleet.recorded("facts/member2.yaml")["status"]["conditions"] == [
        {"type": "Ready", "status": "False", "reason": "ClusterNotReachable"}
    ]
    fleet.down = set()
    fleet.run(60)
    assert (ready(fleet, "member2")["status"], ready(fleet, "member2")["lastTransitionTime"]) == (
        "True",
        "2027-01-15T08:01:40Z",
    )


def test_a_cluster_that_is_not_ready_gets_nothing_new_and_keeps_what_it_has(fleet: MemoryFleet) -> None:
    fleet.run()
    before = placed(fleet)
    fleet.down = {"member1"}
    fleet.run(10)
    fleet.run(60)
    late = a_deployment("late", replicas=3)
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "late"}]
    fleet.repository.commit(
        {"late.yaml": late, "late-policy.yaml": a_policy("late", selectors=selectors, placement=on_clusters("member1"))}
    )
    fleet.run(60)
    binding = fleet.recorded("bindings/default/Deployment.apps/late.yaml", "argosy/rendered")
    condition = binding["status"]["conditions"][0]
    assert (placed(fleet), condition["reason"]) == (before, "NoClusterFit")
    assert "untolerated taint {cluster.karmada.io/not-ready:NoSchedule}" in condition["message"]


def test_a_node_that_left_lowers_what_is_allocatable_at_once(fleet: MemoryFleet) -> None:
    fleet.run()
    del fleet.members["member1"].objects["nodes.", "", "node-2"]
    fleet.run(5)
    assert fleet.recorded("facts/member1.yaml")["status"]["resourceSummary"]["allocatable"]["cpu"] == "16"
    assert fleet.recorded("clusters/member1.yaml")["status"]["nodeSummary"] == {"totalNum": 2, "readyNum": 2}
    add_node(fleet.members["member1"], "node-2", **ROOMY)
    fleet.run(5)
    assert fleet.recorded("facts/member1.yaml")["status"]["resourceSummary"]["allocatable"]["cpu"] == "24"


def test_progress_is_recorded_once_when_it_is_made(fleet: MemoryFleet) -> None:
    fleet.run()
    work = fleet.recorded(NGINX_WORK)
    health = next(each for each in work["status"]["conditions"] if each["type"] == "Healthy")
    assert (health["status"], work["status"]["manifestStatuses"][0]["health"]) == ("False", "Unhealthy")
    live = fleet.members["member1"].objects["deployments.apps", "default", "nginx"]
    commits = len(fleet.status_commits())
    for number in range(1, 4):
        live["metadata"]["generation"] = 1
        live["status"] = {"replicas": 6, "updatedReplicas": 6, "readyReplicas": number, "observedGeneration": 1}
        fleet.run(5)
    # The first of these is news: its controller has seen it. The counting up that follows is not.
    assert len(fleet.status_commits()) == commits + 1
    for member in fleet.members.values():
        settle(member)
    fleet.run(5)
    assert len(fleet.status_commits()) == commits + 2
    binding = fleet.recorded("bindings/default/Deployment.apps/nginx.yaml")
    assert binding["templateStatus"] == {
        "availableReplicas": 12,
        "readyReplicas": 12,
        "replicas": 12,
        "updatedReplicas": 12,
    }
    assert [each["health"] for each in binding["status"]["aggregatedStatus"]] == ["Healthy"] * 3


def test_an_object_that_cannot_be_applied_says_so_until_it_can(
    fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.run()
    fleet.repository.commit({"nginx.yaml": {**a_deployment(replicas=12), "metadata": {"name": "nginx", "labels": {}}}})

    def refuses(request: Request) -> Answer | Failure | None:
        if request.method == "PATCH" and request.path.endswith("/deployments/nginx"):
            return Failure(kind=DOWN.kind.FORBIDDEN, message="deployments are closed", status=403)
        return None

    fleet.members["member3"].faults.append(refuses)
    fleet.run(60)
    binding = fleet.recorded("bindings/default/Deployment.apps/nginx.yaml")
    conditions = {each["type"]: (each["status"], each["reason"]) for each in binding["status"]["conditions"]}
    assert conditions["FullyApplied"] == ("False", "FullyAppliedFailed")
    assert binding["status"]["aggregatedStatus"][2] == {
        "clusterName": "member3",
        "appliedMessage": "Forbidden: deployments are closed",
        "health": "Unknown",
    }
    ended = argosy(fleet.repository, capsys, "status", "deploy/nginx")
    assert (ended.code, ended.out.splitlines()[-1]) == (
        1,
        "member3: AppliedFailed: Forbidden: deployments are closed",
    )
    fleet.members["member3"].faults.clear()
    fleet.run(60)
    after = fleet.recorded("bindings/default/Deployment.apps/nginx.yaml")["status"]["conditions"]
    assert {each["type"]: each["status"] for each in after}["FullyApplied"] == "True"


def test_what_left_a_cluster_is_no_longer_told_of(fleet: MemoryFleet) -> None:
    fleet.run()
    fleet.repository.commit({"policy.yaml": a_policy(placement=on_clusters("member1"))})
    fleet.run(60)
    told = [path for path in fleet.repository.files("argosy/status") if path.startswith("works/")]
    assert told == [NGINX_WORK]


def test_the_front_page_is_the_fleet_at_a_glance(fleet: MemoryFleet) -> None:
    fleet.run()
    settle(fleet.members["member1"])
    settle(fleet.members["member2"])
    fleet.run(60)
    commit = fleet.repository.git("rev-parse", "argosy/rendered")[:12]
    assert fleet.repository.show("README.md", "argosy/status").splitlines()[5:] == [
        "| cluster | ready | version | converged | objects | unhealthy | since | |",
        "|---|---|---|---|---:|---:|---|---|",
        f"| [member1](clusters/member1.yaml) | True | v0.0.0 | {commit} | 1 | 0 | 2027-01-15T08:00:00Z |  |",
        f"| [member2](clusters/member2.yaml) | True | v0.0.0 | {commit} | 1 | 0 | 2027-01-15T08:00:00Z |  |",
        f"| [member3](clusters/member3.yaml) | True | v0.0.0 | {commit} | 1 | 1 | 2027-01-15T08:00:00Z |  |",
        "",
        "| not as it should be | cluster | reason | since |",
        "|---|---|---|---|",
        "| Deployment.apps default/nginx | member3 | ReplicasMissing | 2027-01-15T08:00:00Z |",
    ]


AGENT_WORK = {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": "x"}, "status": {}}


def agent_file(kind: str, name: str) -> bytes:
    return emit({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "status": {}})


def push_as_agent(repository: Repository, cluster: str, files: dict[str, bytes]) -> None:
    """Let an agent write its branch, from a work tree of its own."""
    folder = repository.path.parent / f"agent-{cluster}"
    repository.git("worktree", "add", "-q", "--detach", str(folder))
    agent = Repository(folder)
    agent.git("checkout", "-q", "--orphan", f"argosy/agent/{cluster}")
    agent.git("rm", "-rfq", ".")
    agent.commit(files)
    repository.git("worktree", "remove", "--force", str(folder))


def test_an_agent_tells_of_its_own_cluster_and_of_no_other(tmp_path: Path) -> None:
    fleet = MemoryFleet.create(tmp_path / "fleet", {"member1": (1, ROOMY), "puller": None}, {})
    fleet.run()
    own = agent_file("Cluster", "puller")
    forged = {
        "clusters/member1.yaml": agent_file("Cluster", "member1"),
        "facts/puller.yaml": agent_file("ClusterFacts", "member1"),
        "inventory/member1.yaml": b"cluster: member1\nconverged: ''\nclusterUID: ''\n",
        "works/member1/default/Deployment.apps/nginx.yaml": emit(AGENT_WORK),
    }
    work = "works/puller/default/Deployment.apps/nginx.yaml"
    push_as_agent(fleet.repository, "puller", {**forged, "clusters/puller.yaml": own, work: emit(AGENT_WORK)})
    push_as_agent(fleet.repository, "member1", {"clusters/member1.yaml": agent_file("Cluster", "member1")})
    before = fleet.repository.show("clusters/member1.yaml", "argosy/status")
    fleet.run(60)
    assert fleet.seen is not None
    assert fleet.seen.agents.ignored == (
        "argosy/agent/member1: 'member1' is no member that pulls",
        *(f"argosy/agent/puller: {path} is not this cluster's to say" for path in sorted(forged)),
    )
    assert fleet.repository.show("clusters/member1.yaml", "argosy/status") == before
    recorded = fleet.repository.show("clusters/puller.yaml", "argosy/status")
    assert recorded == ClusterRecord.read("", own).content().decode().strip()
    assert [path for path in fleet.repository.files("argosy/status") if "puller" in path] == [
        "clusters/puller.yaml",
        work,
    ]


def test_an_agent_that_stopped_telling_leaves_its_cluster_unknown(tmp_path: Path) -> None:
    fleet = MemoryFleet.create(tmp_path / "fleet", {"puller": None}, {})
    ready_condition = {"type": "Ready", "status": "True", "lastTransitionTime": "2027-01-15T08:00:00Z"}
    cluster = {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "puller", "annotations": {"argosy.dev/heartbeat": "2027-01-15T08:00:00Z"}},
        "status": {"conditions": [ready_condition]},
    }
    push_as_agent(fleet.repository, "puller", {"clusters/puller.yaml": emit(cluster)})
    fleet.run(600)
    assert ready(fleet, "puller")["status"] == "True"
    fleet.run(1)
    assert (ready(fleet, "puller")["status"], ready(fleet, "puller")["lastTransitionTime"]) == (
        "Unknown",
        "2027-01-15T08:10:01Z",
    )


def test_a_failing_workload_is_told_with_its_container_and_the_newest_warning(fleet: MemoryFleet) -> None:
    fleet.run()
    member = fleet.members["member1"]
    deployment = member.objects["deployments.apps", "default", "nginx"]
    owner = [{"kind": "Deployment", "uid": deployment["metadata"]["uid"]}]
    metadata = {"name": "nginx-1", "namespace": "default", "labels": {"app": "nginx"}, "ownerReferences": owner}
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting"}}
    last = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    containers = [{"name": "nginx", "state": state, "lastState": last}]
    pod = {"metadata": metadata, "spec": {"containers": []}, "status": {"containerStatuses": containers}}
    put(member, "pods.", "default", {"apiVersion": "v1", "kind": "Pod", **pod})
    event = {
        "type": "Warning",
        "reason": "FailedCreate",
        "message": "exceeded quota",
        "lastTimestamp": "2027-01-15T07:59:00Z",
        "involvedObject": {"kind": "Deployment", "name": "nginx", "uid": deployment["metadata"]["uid"]},
    }
    put(member, "events.", "default", {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1"}, **event})
    fleet.run(60)
    work = fleet.recorded(NGINX_WORK)
    assert work["findings"] == [
        {
            "about": "Pod nginx-1",
            "container": "nginx",
            "reason": "CrashLoopBackOff",
            "message": "back-off 5m0s restarting; last exit code 137 (OOMKilled)",
        },
        {"about": "Deployment nginx", "reason": "FailedCreate", "message": "exceeded quota"},
    ]
    tip = fleet.repository.git("rev-parse", "argosy/status")
    state["waiting"]["message"] = "back-off 2m30s restarting"
    fleet.run(60)
    assert fleet.repository.git("rev-parse", "argosy/status") == tip
