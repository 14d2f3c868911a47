"""``argosy cluster uncordon`` and the end of a taint: what comes back, and what has to be asked for."""

import json
from pathlib import Path

import pytest

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy
from .test_cluster_drain import DEPLOYMENTS, DIVIDED, MAPS, run_steps

LEFT = (
    "Deployment.apps default/web stays where it is: the end of a taint moves no replicas; argosy rebalance moves it\n"
)
CALL = "argosy rebalance deployment/web"
TAINT = "upgrade=now:NoExecute"
ENDS = {
    "a drain": (("drain", "paris"), ("uncordon", "paris")),
    "a taint": (("taint", "paris", TAINT), ("taint", "paris", "upgrade-")),
}


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A Deployment is divided between paris and rome, and both have a ConfigMap."""
    made = Repository.create(tmp_path / "fleet")
    divided = a_policy("web", selectors=[DEPLOYMENTS], placement={"replicaScheduling": DIVIDED})
    policies = [divided, a_policy("maps", selectors=[MAPS], placement={})]
    made.commit({"paris.yaml": a_cluster("paris"), "rome.yaml": a_cluster("rome"), "policies.yaml": policies})
    made.commit({"web.yaml": a_deployment("web", replicas=4), "map.yaml": a_config_map("settings")})
    made.commit(
        {
            "argosy.yaml": {
                "apiVersion": "argosy.dev/v1alpha1",
                "kind": "Fleet",
                "metadata": {"name": "default"},
                "spec": {"removalGuard": {"whole": 100, "count": 100}},
            }
        }
    )
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


def emptied(fleet: Repository, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert argosy(fleet, capsys, "cluster", *words, "--commit").code == 0
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert fleet.files(under="clusters/paris") == []


@pytest.mark.parametrize("why", ENDS)
def test_what_comes_back_is_shown_and_what_stays_elsewhere_is_named(
    why: str, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    begin, end = ENDS[why]
    emptied(fleet, capsys, begin)
    ended = argosy(fleet, capsys, "cluster", *end, "--commit")
    assert (ended.code, "OBJECTS\n  + ConfigMap default/settings in paris\n" in ended.outcome) == (0, True), ended
    assert LEFT in f"{ended.outcome}\n"
    assert [step.strip() for step in ended.steps] == ["argosy reconcile", f"{CALL} -n default"]
    run_steps(fleet, capsys, ["argosy reconcile"])
    assert not [each for each in fleet.files(under="clusters/paris") if "Deployment" in each]
    said = argosy(fleet, capsys, "explain", "deploy/web", "--cluster", "paris").out
    assert f"paris was refused when this was decided (TaintToleration), and is no more; {CALL} -n default would" in said
    document = json.loads(argosy(fleet, capsys, "explain", "deploy/web", "-o", "json").out)
    assert [each.split(" ")[0] for each in document["refusedBefore"]] == ["paris"]
    run_steps(fleet, capsys, [f"{CALL} -n default --commit", "argosy reconcile"])
    assert "replicas: 2\n" in fleet.show("clusters/paris/default/Deployment.apps/web.yaml")
    assert "was refused when" not in argosy(fleet, capsys, "explain", "deploy/web").out


def test_where_nothing_left_nothing_is_to_be_asked_for(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(fleet, capsys, "cluster", "cordon", "paris", "--commit").code == 0
    assert argosy(fleet, capsys, "reconcile").code == 0
    ended = argosy(fleet, capsys, "cluster", "uncordon", "paris")
    assert (ended.code, ended.outcome) == (0, "cluster/paris uncordoned\n")
    assert (LEFT in ended.out, [step for step in ended.steps if "rebalance" in step]) == (False, [])


def test_a_cluster_that_is_refused_still_is_not_told_of(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    emptied(fleet, capsys, ("drain", "paris"))
    assert "was refused when" not in argosy(fleet, capsys, "explain", "deploy/web", "--cluster", "paris").out


def test_another_taint_by_which_things_stay_away_is_named(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(fleet, capsys, "cluster", "taint", "paris", TAINT, "--commit").code == 0
    emptied(fleet, capsys, ("drain", "paris"))
    ended = argosy(fleet, capsys, "cluster", "uncordon", "paris")
    assert ended.outcome == (
        "cluster/paris uncordoned\n\nparis has upgrade=now:NoExecute still, by the source and what is recorded: what"
        " does not tolerate that comes back once a pass finds it gone\n"
    )
    assert [step for step in ended.steps if "rebalance" in step] == []
