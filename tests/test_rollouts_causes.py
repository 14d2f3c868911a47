"""Changes that no template or policy makes: clusters get other labels, and rules of overrides apply to others then."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .build import a_cluster, argosy
from .rolling import WEB, RollingFleet, a_control, a_rollout_policy, a_wave, web
from .served_rollouts import served_rollouts
from .test_rollouts import CANARY, CLUSTERS

GOLD = {"tier": "gold"}


def gold_override(image: str = "web:9", **affinity: Any) -> dict[str, Any]:
    """Clusters with a label, or of an affinity, have another image."""
    replaced = {"path": "/spec/template/spec/containers/0/image", "operator": "replace", "value": image}
    rule = {
        "targetCluster": affinity or {"labelSelector": {"matchLabels": GOLD}},
        "overriders": {"plaintext": [replaced]},
    }
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "gold", "namespace": "default"},
        "spec": {"resourceSelectors": [WEB], "overrideRules": [rule]},
    }


def gold(*names: str, **spec: Any) -> dict[str, Any]:
    """Files of clusters that have the label."""
    return {name: a_cluster(name, labels=GOLD, **spec) for name in names}


def a_fleet(files: Mapping[str, Any] | None = None, **policy: Any) -> RollingFleet:
    policy = {"waves": CANARY, **policy}
    return RollingFleet.of(CLUSTERS, {"gold": gold_override(), **(files or {})}, **policy)


def test_labels_by_which_an_override_applies_go_out_by_waves() -> None:
    fleet = a_fleet()
    fleet.unwell = {"oslo"}
    assert fleet.commit(**gold("oslo", "rome")).run() == ["9111 Progressing"]
    fleet.unwell = set()
    assert fleet.run() == ["9191 Progressing", "9191 Completed"]
    assert fleet.run(3600) == []
    assert len(fleet.files_below("versions")) == 1


def test_labels_that_no_override_asks_for_are_no_change() -> None:
    fleet = a_fleet()
    assert fleet.commit(rome=a_cluster("rome", labels={"stage": "canary"})).run() == []
    assert fleet.commit(rome=a_cluster("rome", labels={"stage": "canary", **GOLD})).run()[-1] == "1191 Completed"


@pytest.mark.parametrize("attribute", ["region", "provider"])
def test_the_region_and_provider_of_a_cluster_are_causes_as_well(attribute: str) -> None:
    asked = {"matchExpressions": [{"key": attribute, "operator": "In", "values": ["north"]}]}
    fleet = a_fleet({"gold": gold_override(fieldSelector=asked)})
    fleet.unwell = {"oslo"}
    spec: dict[str, Any] = {attribute: "north"}
    assert fleet.commit(**{name: a_cluster(name, **spec) for name in ("oslo", "rome")}).run() == ["9111 Progressing"]
    fleet.unwell = set()
    assert fleet.run() == ["9191 Progressing", "9191 Completed"]


def test_a_label_that_goes_away_again_ends_its_rollout() -> None:
    fleet = a_fleet()
    fleet.unwell = {"oslo"}
    fleet.commit(**gold("oslo", "rome")).run()
    assert fleet.commit(oslo=a_cluster("oslo"), rome=a_cluster("rome")).run()[-1].startswith("1111")
    assert fleet.images() == dict.fromkeys(CLUSTERS, "1")


def test_a_cluster_that_is_relabelled_before_its_wave_keeps_what_it_has_until_then() -> None:
    fleet = a_fleet()
    fleet.unwell = {"oslo"}
    assert fleet.commit(web=web(2)).run() == ["2111 Progressing"]
    assert "2191" not in "".join(fleet.commit(**gold("rome")).run())
    assert fleet.images()["rome"] == "1"
    fleet.unwell = set()
    assert fleet.run() == ["2292 Progressing", "2292 Completed"]


def test_a_cluster_that_has_the_change_and_is_relabelled_begins_anew() -> None:
    fleet = a_fleet(gate={"healthyFor": "10m"})
    fleet.commit(web=web(2)).run()
    fleet.unwell = {"oslo"}
    before = fleet.change
    assert fleet.commit(**gold("oslo")).run() == ["9111 Progressing"]
    assert fleet.change != before
    assert fleet.run(600) == []
    fleet.unwell = set()
    assert fleet.run(600) == []
    assert fleet.run(600) == ["9222 Progressing"]
    assert fleet.run(600) == ["9222 Completed"]
    assert len(fleet.files_below("versions")) == 1


def test_a_relabelled_cluster_that_fails_goes_back_to_what_its_labels_were() -> None:
    fleet = a_fleet(gate={"deadline": "10m"}, onFailure="Rollback")
    fleet.unwell = {"oslo"}
    assert fleet.commit(**gold("oslo", "rome")).run() == ["9111 Progressing"]
    assert fleet.run(600) == ["1111 Held"]
    assert fleet.run(3600) == []
    held = fleet.change
    fleet.unwell = set()
    retry = a_control("again", held, "Retry", at="2026-03-01T05:00:00Z")
    assert fleet.commit(again=retry).run()[-1] == "9191 Completed"


def test_replicas_go_on_while_labels_wait() -> None:
    fleet = a_fleet()
    fleet.unwell = {"oslo"}
    fleet.commit(**gold("oslo", "rome")).run()
    assert fleet.commit(web=web(1, replicas=7)).run() == ["9111 Progressing"]
    assert {fleet.manifest(name)["spec"]["replicas"] for name in CLUSTERS} == {7}


def test_a_cluster_that_joins_with_a_label_gets_what_the_label_says() -> None:
    fleet = a_fleet()
    assert fleet.commit(**gold("berlin")).run()[-1].startswith("91111")


def test_a_policy_that_comes_with_the_labels_holds_nothing_back() -> None:
    fleet = RollingFleet.of(CLUSTERS, {"gold": gold_override()}, waves=CANARY)
    fleet.commit(rollout=None).run()
    fleet.commit(rollout=a_rollout_policy(waves=[a_wave("canary", "oslo")]), **gold("oslo", "rome"))
    assert fleet.run()[-1].startswith("9191")


def test_each_step_of_new_labels_is_made_again_from_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served_rollouts(tmp_path, capsys) as fleet:
        fleet.repository.commit({"gold.yaml": gold_override()})
        fleet.begin()
        labelled = {f"clusters/{name}.yaml": each for name, each in gold("oslo", "rome").items()}
        fleet.repository.commit(labelled)
        seen = []
        for _ in range(4):
            fleet.run()
            seen.append((fleet.live(), fleet.state()["phase"]))
            fleet.settle()
        assert seen == [("911", "Progressing"), ("919", "Progressing"), ("919", "Completed"), ("919", "Completed")]
        said = fleet.verify()
        assert (said.count(": equal\n"), said.count("differs")) == (4, 0), said


def test_a_difference_shows_the_plan_for_new_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served_rollouts(tmp_path, capsys) as fleet:
        fleet.repository.commit({"gold.yaml": gold_override()})
        fleet.begin()
        fleet.repository.commit({f"clusters/{name}.yaml": each for name, each in gold("oslo", "rome").items()})
        said = argosy(fleet.repository, capsys, "diff", "HEAD~1").out
    assert "canary" in said, said
