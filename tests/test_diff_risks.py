"""``argosy diff`` says in one line how risky a change is: its reach, what moves, and what of it would not go back."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.diff import comparison

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from .stories import settings

NOW = ("--now", "2026-03-01T08:00:00Z")
DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
CLAIMS = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
NAMES = ("bern", "lima", "oslo")


def divided(**weights: int) -> dict[str, Any]:
    placement = on_clusters(*weights, replicaScheduling=weighted(**weights))
    return a_policy("web", selectors=[DEPLOYMENTS], placement=placement)


def a_claim(size: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {**CLAIMS, "metadata": {"name": "data", "namespace": "default"}, "spec": spec}


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Three clusters; six replicas in two of them, a claim in one, and settings everywhere."""
    repository = Repository.create(tmp_path)
    repository.commit(
        {
            "clusters.yaml": [a_cluster(name) for name in NAMES],
            "web.yaml": divided(bern=1, oslo=1),
            "data.yaml": a_policy("data", selectors=[CLAIMS], placement=on_clusters("bern")),
            "maps.yaml": a_policy("maps", selectors=[MAPS], placement={}),
            "deployment.yaml": a_deployment("web", replicas=6),
            "claim.yaml": a_claim("1Gi"),
            "map.yaml": a_config_map("conf", mode="slow"),
        }
    )
    assert argosy(repository, capsys, "reconcile", "--bootstrap", *NOW).code == 0
    return repository


def risk_line(fleet: Repository, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    lines = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW, *options).out.splitlines()
    return next((each for each in lines if each.startswith("risk: ")), "")


def risk(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW, "-o", "json").out)["risk"]


def test_every_form_tells_the_reach_of_a_change(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"web.yaml": divided(bern=2, lima=1)})
    line = "risk: touches 3 of 3 clusters, moves 3 of 6 replicas"
    shown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW).out.splitlines()
    assert shown[1:3] == [line, ""]
    assert risk_line(fleet, capsys, "--stat") == line
    markdown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW, "-o", "markdown").out
    assert markdown.split("\n\n")[1].splitlines()[1] == "**Risk**: touches 3 of 3 clusters, moves 3 of 6 replicas"
    assert risk(fleet, capsys) == {
        "clusters": 3,
        "members": 3,
        "moved": 3,
        "alone": {"before": 0, "after": 0},
        "lost": 0,
        "gained": 0,
        "oneWay": [],
        "freezes": [],
    }


def test_what_both_sides_have_is_read_once(
    fleet: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objects that differ and the parts that cannot go back are found in the same files."""
    read = []

    def contents(*arguments: Any) -> Any:
        read.append(arguments)
        return contents_of_changed_files(*arguments)

    contents_of_changed_files = comparison._contents_of_changed_files
    monkeypatch.setattr(comparison, "_contents_of_changed_files", contents)
    fleet.commit({"claim.yaml": a_claim("2Gi"), "map.yaml": a_config_map("conf", mode="fast")})
    assert "cannot go back (PersistentVolumeClaim default/data)" in risk_line(fleet, capsys)
    assert len(read) == 1


def test_what_touches_no_cluster_has_no_risk(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"notes.txt": "nothing"})
    assert risk_line(fleet, capsys) == ""
    fleet.commit({"argosy.yaml": settings(validation="Warn")})
    assert risk_line(fleet, capsys) == ""


def test_a_workload_that_ends_in_one_cluster_alone_is_counted(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The loss of that cluster takes all of its replicas; it did not before."""
    fleet.commit({"web.yaml": divided(bern=1)})
    said = "risk: touches 2 of 3 clusters, moves 3 of 6 replicas, workloads in one cluster alone: 0 -> 1"
    assert risk_line(fleet, capsys) == said
    fleet.commit({"web.yaml": divided(bern=1, oslo=1)})
    assert risk_line(fleet, capsys).endswith("workloads in one cluster alone: 1 -> 0")


def test_what_does_not_survive_a_loss_any_more_is_counted(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "ClusterResiliencePolicy",
        "metadata": {"name": "web"},
        "spec": {
            "resourceSelectors": [DEPLOYMENTS],
            "survive": [{"loss": "cluster", "minReplicas": 1, "when": "AtOnce"}],
        },
    }
    fleet.commit({"resilience.yaml": policy})
    assert argosy(fleet, capsys, "reconcile", *NOW).code == 0
    fleet.commit({"web.yaml": divided(bern=1)})
    assert ", 1 object survives a loss no more" in risk_line(fleet, capsys)
    assert (risk(fleet, capsys)["lost"], risk(fleet, capsys)["gained"]) == (1, 0)
    assert argosy(fleet, capsys, "reconcile", *NOW).code == 0
    fleet.commit({"web.yaml": divided(bern=1, oslo=1)})
    assert risk_line(fleet, capsys).endswith(", 1 object survives a loss anew")
    assert (risk(fleet, capsys)["lost"], risk(fleet, capsys)["gained"]) == (0, 1)


def test_what_cannot_go_back_is_named(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"claim.yaml": a_claim("2Gi"), "map.yaml": {**a_config_map("conf", mode="slow"), "immutable": True}})
    assert risk_line(fleet, capsys) == (
        "risk: touches 3 of 3 clusters, 2 parts of it cannot go back"
        " (ConfigMap default/conf, PersistentVolumeClaim default/data)"
    )
    assert risk(fleet, capsys)["oneWay"] == [
        {
            "object": "ConfigMap default/conf",
            "reason": "it is immutable from then on, so that its server refuses what was before",
        },
        {"object": "PersistentVolumeClaim default/data", "reason": "a claim that has grown stays as large"},
    ]
    fleet.commit({"claim.yaml": a_claim("3Gi"), "map.yaml": a_config_map("conf", mode="slow")})
    assert [each["object"] for each in risk(fleet, capsys)["oneWay"]] == ["PersistentVolumeClaim default/data"]


FREEZE = {"from": "2026-02-01T00:00:00Z", "until": "2026-04-01T00:00:00Z", "reason": "audit"}


@pytest.mark.parametrize(
    ("why", "freeze", "is_said"),
    [
        ("it covers everything", {}, True),
        ("it is over", {"until": "2026-02-02T00:00:00Z"}, False),
        ("it is to come", {"from": "2026-03-02T00:00:00Z"}, False),
        ("another kind", {"kinds": ["Secret"]}, False),
        ("another cluster", {"clusters": ["lima"]}, False),
        ("a cluster that is touched", {"clusters": ["oslo"]}, True),
    ],
)
def test_a_freeze_in_force_is_said(
    why: str, freeze: dict[str, Any], is_said: bool, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({"argosy.yaml": settings(rollouts={"freezes": [{**FREEZE, **freeze}]})})
    assert argosy(fleet, capsys, "reconcile", *NOW).code == 0
    fleet.commit({"deployment.yaml": a_deployment("web", replicas=6, image="nginx:2")})
    said = "the freeze until 2026-04-01T00:00:00Z (audit) is in force"
    assert (said in risk_line(fleet, capsys)) == is_said, why
    freezes = [{"until": "2026-04-01T00:00:00Z", "reason": "audit"}] if is_said else []
    assert risk(fleet, capsys)["freezes"] == freezes, why


def test_a_freeze_of_what_changes_elsewhere_is_not_said(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """It is about Deployments in lima; there, a ConfigMap changes alone."""
    frozen = {**FREEZE, "kinds": ["Deployment.apps"], "clusters": ["lima"]}
    fleet.commit({"argosy.yaml": settings(rollouts={"freezes": [frozen]})})
    assert argosy(fleet, capsys, "reconcile", *NOW).code == 0
    fleet.commit(
        {"deployment.yaml": a_deployment("web", replicas=6, image="nginx:2"), "map.yaml": a_config_map("conf")}
    )
    assert risk_line(fleet, capsys) == "risk: touches 3 of 3 clusters"
    assert risk(fleet, capsys)["freezes"] == []


def test_the_risk_is_one_line_whatever_the_reason_of_a_freeze_is(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({"argosy.yaml": settings(rollouts={"freezes": [{**FREEZE, "reason": "audit\nrisk: none"}]})})
    assert argosy(fleet, capsys, "reconcile", *NOW).code == 0
    fleet.commit({"deployment.yaml": a_deployment("web", replicas=6, image="nginx:2")})
    said = "the freeze until 2026-04-01T00:00:00Z (audit risk: none) is in force"
    assert risk_line(fleet, capsys) == f"risk: touches 2 of 3 clusters, {said}"


def test_a_freeze_of_a_rollout_policy_is_said(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policy = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RolloutPolicy",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"resourceSelectors": [DEPLOYMENTS], "freezes": [FREEZE]},
    }
    fleet.commit({"rollout.yaml": policy})
    assert argosy(fleet, capsys, "reconcile", *NOW).code == 0
    fleet.commit({"deployment.yaml": a_deployment("web", replicas=6, image="nginx:2")})
    assert risk_line(fleet, capsys).endswith("the freeze until 2026-04-01T00:00:00Z (audit) is in force")
    fleet.commit({"map.yaml": a_config_map("conf", mode="fast")})
    assert "freeze" not in risk_line(fleet, capsys)
