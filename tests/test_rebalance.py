"""WorkloadRebalancer: workloads that are scheduled afresh once, each time that one is new to them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from tests.test_failover import a_fleet

DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
BINDING = "bindings/default/Deployment.apps/nginx.yaml"


OTHER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}


def _sized(name: str, cpu: str) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
    cluster = a_cluster(name)
    return {**cluster, "status": {"resourceSummary": {"allocatable": amounts, "allocated": {"cpu": "0"}}}}


def _requesting(replicas: int) -> dict[str, Any]:
    deployment = a_deployment(replicas=replicas)
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    return deployment


def _rebalancer(name: str, **metadata: str) -> dict[str, Any]:
    return {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": name, **metadata},
        "spec": {
            "workloads": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx", "namespace": "default"}]
        },
    }


def _placed(repository: Repository) -> list[str]:
    """Return the lines of the binding's clusters."""
    return [line.strip("- ") for line in repository.show(BINDING).splitlines() if line.startswith("  - {name")]


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet whose lyon was as small as paris when nginx was placed, and is large now."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(placement=on_clusters("lyon", "paris", replicaScheduling=DYNAMIC))
    repository.commit(
        {
            "a.yaml": _requesting(4),
            "p.yaml": policy,
            "c/paris.yaml": _sized("paris", "10"),
            "c/lyon.yaml": _sized("lyon", "10"),
        }
    )
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    repository.commit({"c/lyon.yaml": _sized("lyon", "30")})
    assert argosy(repository, capsys, "render", "--commit").code == 0
    assert _placed(repository) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]
    return repository


def test_a_rebalancer_is_answered_once(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"r.yaml": _rebalancer("first")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]
    assert "argosy.dev/rebalanced-by: first\n" in fleet.show(BINDING)
    fleet.commit({"c/lyon.yaml": _sized("lyon", "10")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]
    assert argosy(fleet, capsys, "verify", "argosy/rendered~1").code == 0


def test_a_rebalancer_of_another_time_asks_again(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"r.yaml": _rebalancer("first", creationTimestamp="2026-03-01T08:00:00Z")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    fleet.commit({"c/lyon.yaml": _sized("lyon", "10")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    fleet.commit({"r.yaml": _rebalancer("first", creationTimestamp="2026-03-02T08:00:00Z")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]
    assert "argosy.dev/rebalanced-by: first@2026-03-02T08:00:00Z\n" in fleet.show(BINDING)


def test_a_rebalancer_that_left_is_forgotten(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"r.yaml": _rebalancer("first")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    fleet.commit({"r.yaml": None})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]
    assert "rebalanced-by" not in fleet.show(BINDING)


def test_a_rebalancer_that_names_nothing_is_warned_of(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    rebalancer = _rebalancer("lost")
    rebalancer["spec"]["workloads"][0]["name"] = "ngnix"
    fleet.write({"r.yaml": {**rebalancer, "spec": {**rebalancer["spec"], "ttlSecondsAfterFinished": 60}}})
    ended = argosy(fleet, capsys, "validate")
    assert ended.out == (
        "warning: r.yaml:6: spec.ttlSecondsAfterFinished: deletes nothing by itself: a file stays until somebody"
        " deletes it\n  hint: argosy status says when its time is over\n"
        "warning: r.yaml:8: spec.workloads[0]: there is no Deployment default/ngnix in the source, so nothing is"
        " rescheduled\n  hint: did you mean 'nginx'?\n"
        "0 problems, 2 warnings: 1 template, 1 propagation policy, 0 override policies, 2 clusters in 5 files\n"
    )


def test_the_command_shows_what_moves_and_commits_a_rebalancer(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(fleet, capsys, "rebalance", "deploy/nginx", "--commit")
    assert ended.code == 0
    assert "lyon" in ended.out
    assert ended.outcome.endswith("rebalancers/rebalance-1.yaml committed\n")
    assert fleet.git("log", "-1", "--format=%s") == "Rebalance Deployment.apps default/nginx"
    assert fleet.git("show", "--format=", "--name-only", "HEAD") == "rebalancers/rebalance-1.yaml"
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]


def test_the_command_writes_without_committing_and_finds_a_free_name(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    other = _rebalancer("rebalance-1")
    other["spec"]["workloads"][0]["name"] = "gone"
    fleet.commit({"rebalancers/rebalance-1.yaml": other})
    ended = argosy(fleet, capsys, "rebalance", "deploy/nginx", "-n", "default")
    assert ended.outcome.endswith("rebalancers/rebalance-2.yaml written\n")
    assert fleet.git("status", "--short") == "?? rebalancers/rebalance-2.yaml"


def test_where_nothing_moves_it_says_why_and_writes_nothing(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """It wrote a file all the same, and named the commit and the pass that would carry nothing out."""
    assert argosy(fleet, capsys, "rebalance", "deploy/nginx", "--commit").code == 0
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    before = fleet.git("rev-parse", "HEAD")
    for words in ((), ("--commit",)):
        ended = argosy(fleet, capsys, "rebalance", "deploy/nginx", *words)
        assert (ended.code, ended.err, ended.out.splitlines()[1:]) == (
            0,
            "",
            [
                (
                    "Deployment.apps default/nginx stays as it is: decided afresh, its replicas are where they are"
                    " already (lyon 3, paris 1)"
                ),
                "nothing moves, by what is recorded of the clusters, so that no rebalancer was written",
            ],
        )
    document = json.loads(argosy(fleet, capsys, "rebalance", "deploy/nginx", "--commit", "-o", "json").out)
    assert (document["files"], document["commit"], document["next"]) == ([], None, [])
    assert (fleet.git("status", "--short"), fleet.git("rev-parse", "HEAD")) == ("", before)


def test_the_command_refuses_what_is_not_there(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(fleet, capsys, "rebalance", "deploy/ngnix")
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean" in ended.err
    assert fleet.git("status", "--short") == ""


def test_what_would_end_in_no_cluster_is_not_rebalanced_unless_it_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Karmada does it, a label that a member loses drives nothing out: only to schedule it afresh would."""
    fleet = Repository.create(tmp_path / "fleet")
    settings = a_fleet(rescheduling="Karmada", failover={"lastCopy": "Evict"})
    affinity = {"labelSelector": {"matchLabels": {"tier": "web"}}}
    policy = a_policy(placement={"clusterAffinity": affinity, "replicaScheduling": weighted(paris=1)})
    member = a_cluster("paris", labels={"tier": "web"})
    fleet.commit({"argosy.yaml": settings, "web.yaml": [a_deployment(), policy], "c.yaml": member})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"c.yaml": a_cluster("paris")})
    refused = argosy(fleet, capsys, "rebalance", "deploy/nginx", "--commit")
    assert (refused.code, refused.out, fleet.git("status", "--short")) == (6, "", "")
    assert refused.err.endswith(
        "this leaves objects without any cluster; nothing was changed\n"
        "  Deployment.apps default/nginx: leaves paris, and no cluster takes it\n"
        "  hint: let their policies select a cluster that takes them, or pass --allow-unplaced\n"
    )
    fleet.commit(
        {
            "other.yaml": a_deployment("other"),
            "all.yaml": a_policy("all", selectors=[OTHER], placement=on_clusters("paris")),
        }
    )
    for words in (("deploy/nginx",), ("deploy/nginx", "deploy/other"), ("deploy/nginx", "-o", "json")):
        again = argosy(fleet, capsys, "rebalance", *words, "--commit")
        assert (again.code, again.out, fleet.git("status", "--short")) == (6, "", ""), words
        assert "Deployment.apps default/nginx: leaves paris, and no cluster takes it\n" in again.err, words
        assert "default/other" not in again.err, words
    allowed = argosy(fleet, capsys, "rebalance", "deploy/nginx", "--allow-unplaced")
    assert (allowed.code, fleet.git("status", "--short")) == (0, "?? rebalancers/")
    said = "ENDS IN NO CLUSTER\n  ! Deployment.apps default/nginx: leaves paris, and no cluster takes it\n"
    assert said in allowed.out


def test_nothing_stays_written_where_the_moves_cannot_be_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "new")
    repository.commit({"a.yaml": a_deployment(), "p.yaml": a_policy(placement=on_clusters("paris"))})
    repository.commit({"c.yaml": a_cluster("paris")})
    (repository.path / ".git" / "refs" / "heads" / "argosy").mkdir(parents=True)
    repository.git("update-ref", "refs/heads/argosy/rendered", "HEAD")
    assert argosy(repository, capsys, "rebalance", "deploy/nginx", "--commit").code != 0
    assert repository.git("status", "--short") == ""
