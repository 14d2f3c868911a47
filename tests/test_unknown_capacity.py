"""A cluster of which no capacity is known gets nothing that is divided by room, and every command says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, weighted
from .test_failover import a_fleet

BY_ROOM = {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}}
DYNAMIC = {
    "replicaScheduling": {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
    }
}
SAID = "no capacity is known of tokyo, so that it gets no new replicas"
HINT = "argosy cluster set tokyo --cpu 64 --memory 256Gi --pods 500"
EVERYTHING = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
KNOWN = {**a_cluster("oslo"), "status": {"resourceSummary": {"allocatable": {"pods": "10"}}}}


@pytest.fixture(params=[BY_ROOM, DYNAMIC], ids=["aggregated", "dynamic"])
def fleet(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet in which oslo has all, and tokyo has just joined."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(
        {
            "argosy.yaml": a_fleet(),
            "clusters/oslo.yaml": KNOWN,
            "web.yaml": a_deployment(replicas=4),
            "policy.yaml": a_policy(placement=request.param),
        }
    )
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


def test_it_is_said_where_somebody_looks(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, nothing said a word: the new cluster stayed empty, and all was well."""
    joined = argosy(fleet, capsys, "cluster", "join", "tokyo", "--commit")
    assert f"{SAID} from PropagationPolicy default/nginx, which divides by room" in joined.err.replace("\n", " ")
    assert HINT in joined.err
    shown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD")
    assert f"CAPACITY UNKNOWN\n  ! {SAID} of Deployment.apps default/nginx, which is divided by room\n" in shown.out
    assert "CAPACITY UNKNOWN" not in argosy(fleet, capsys, "diff", "HEAD", "HEAD").out
    assert "Capacity unknown" in argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "markdown").out
    (found,) = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)["unknownCapacities"]
    assert (found["cluster"], found["divided"]) == ("tokyo", ["Deployment.apps default/nginx"])
    assert SAID in argosy(fleet, capsys, "validate").err + argosy(fleet, capsys, "validate").out
    argosy(fleet, capsys, "reconcile")
    status = argosy(fleet, capsys, "status")
    assert f"tokyo: UnknownCapacity: {SAID}" in status.out
    (recorded,) = json.loads(argosy(fleet, capsys, "status", "-o", "json").out)["unknownCapacities"]
    assert recorded["cluster"] == "tokyo"


def test_it_ends_with_a_declaration(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(fleet, capsys, "cluster", "join", "tokyo", "--commit")
    argosy(fleet, capsys, "cluster", "set", "tokyo", "--pods", "5", "--commit")
    argosy(fleet, capsys, "reconcile")
    for command in (("validate",), ("diff", "HEAD~2", "HEAD"), ("status",)):
        ended = argosy(fleet, capsys, *command)
        assert "no capacity is known" not in ended.out + ended.err


@pytest.mark.parametrize("why", ["cordoned", "weights", "excluded", "reached", "no workload"])
def test_it_is_not_said_of_clusters_that_lack_nothing_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], why: str
) -> None:
    """One that takes nothing anyhow, that nobody asks for room, or that the next pass observes first."""
    repository = Repository.create(tmp_path / "fleet")
    taints: dict[str, Any] = (
        {"taints": [{"key": "argosy.dev/cordon", "effect": "NoSchedule"}]} if why == "cordoned" else {}
    )
    placement: dict[str, Any] = {"replicaScheduling": weighted(oslo=1, tokyo=1)} if why == "weights" else dict(BY_ROOM)
    if why == "excluded":
        placement["clusterAffinity"] = {"exclude": ["tokyo"]}
    reached = {"clusters": [{"name": "tokyo", "context": "tokyo"}]} if why == "reached" else {}
    files = {
        "argosy.yaml": a_fleet(**reached),
        "oslo.yaml": KNOWN,
        "tokyo.yaml": a_cluster("tokyo", **taints),
        "web.yaml": a_config_map("one") if why == "no workload" else a_deployment(replicas=4),
        "policy.yaml": a_policy(placement=placement, selectors=EVERYTHING),
    }
    repository.commit(files)
    ended = argosy(repository, capsys, "validate")
    assert "no capacity is known" not in ended.out + ended.err


def test_nothing_is_said_to_who_joins_where_no_workload_is_divided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(placement=BY_ROOM, selectors=EVERYTHING)
    repository.commit(
        {"argosy.yaml": a_fleet(), "oslo.yaml": KNOWN, "one.yaml": a_config_map("one"), "policy.yaml": policy}
    )
    joined = argosy(repository, capsys, "cluster", "join", "tokyo", "--commit")
    assert joined.code == 0
    assert "capacity" not in joined.err


def test_a_policy_is_warned_of_once_however_many_clusters_are_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, a fleet of a thousand such clusters had a thousand warnings for each policy."""
    repository = Repository.create(tmp_path / "fleet")
    clusters = {f"{name}.yaml": a_cluster(name) for name in ("bergen", "kyoto", "lima", "tokyo")}
    policy = a_policy(placement=BY_ROOM)
    repository.commit({**clusters, "argosy.yaml": a_fleet(), "web.yaml": a_deployment(), "policy.yaml": policy})
    ended = argosy(repository, capsys, "validate")
    said = "no capacity is known of bergen, kyoto, lima and 1 more, so that they get no new replicas by room"
    assert (ended.out + ended.err).count("no capacity is known") == (ended.out + ended.err).count(said) == 1


def test_what_is_the_same_of_many_clusters_is_said_once(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Only documents name each of them."""
    names = ("bergen", "kyoto", "lima", "tokyo")
    fleet.commit({f"clusters/{name}.yaml": a_cluster(name) for name in names})
    shown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD")
    said = "no capacity is known of bergen, kyoto, lima and 1 more, so that they get no new replicas"
    assert f"  ! {said} of Deployment.apps default/nginx, which is divided by room\n" in shown.out
    found = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)["unknownCapacities"]
    assert [each["cluster"] for each in found] == [*names]
    argosy(fleet, capsys, "reconcile")
    status = argosy(fleet, capsys, "status").out
    assert f"bergen, kyoto, lima and 1 more: UnknownCapacity: {said}" in status
    idle = argosy(fleet, capsys, "rebalance", "deploy/nginx", "-n", "default").out
    assert f"{said} of Deployment.apps default/nginx: declare it" in idle
    for text in (shown.out, status, idle):
        assert text.count("no capacity is known") == 1


def test_a_rebalance_that_moves_nothing_says_why(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, it said "No difference" and nothing else."""
    argosy(fleet, capsys, "cluster", "join", "tokyo", "--commit")
    argosy(fleet, capsys, "reconcile")
    name, namespace = "Deployment.apps default/nginx", ("-n", "default")
    idle = argosy(fleet, capsys, "rebalance", "deploy/nginx", *namespace)
    assert f"{name} stays as it is: decided afresh, its replicas are where they are already (oslo 4)\n" in idle.out
    assert f"no capacity is known of tokyo, so that it gets no new replicas of {name}: declare it" in idle.out
    fleet.git("clean", "-fdq")
    fleet.commit({"policy.yaml": a_policy(placement={})})
    argosy(fleet, capsys, "reconcile")
    copied = argosy(fleet, capsys, "rebalance", "deploy/nginx", *namespace)
    assert f"{name} stays as it is: its replicas are not divided, so that every pass decides it afresh\n" in copied.out


def test_nothing_is_said_of_what_asks_for_no_replicas(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"web.yaml": a_deployment(replicas=0), "clusters/tokyo.yaml": a_cluster("tokyo")})
    document = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)
    assert "unknownCapacities" not in document
    assert "CAPACITY UNKNOWN" not in argosy(fleet, capsys, "diff", "HEAD~1", "HEAD").out
