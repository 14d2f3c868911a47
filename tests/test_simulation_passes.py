"""The passes of a simulation: what is supposed of clusters, an ideal reschedule, and failover as it is configured."""

from datetime import timedelta
from typing import Any

import pytest

from reconciler.pipeline.following_passes import PassMemory, inputs_of_next_pass
from reconciler.pipeline.stages import render_pass
from reconciler.simulation import answering_fleet
from reconciler.simulation.alterations import (
    ChangedCapacity,
    CordonedClusters,
    LostClusters,
    ScaledObject,
    TaintedCluster,
)
from reconciler.simulation.passes import simulation_of
from render.cluster import DRAIN, Taint

from .build import a_deployment, a_policy, weighted
from .supposed_fleets import (
    DIVIDED,
    NINE,
    WEB_REF,
    a_failing_fleet,
    facts_of,
    inputs_after_first_pass,
    inputs_of_files,
    split,
    supposed,
    timeline,
)
from .test_failover import WEB

PARIS = LostClusters(names=frozenset({"paris"}))


def test_a_pass_after_another_over_the_same_inputs_gives_the_same_tree() -> None:
    inputs = inputs_of_files(a_failing_fleet())
    first = render_pass(inputs)
    assert render_pass(inputs_of_next_pass(inputs, first, PassMemory(), NINE)).tree.root == first.tree.root


def test_a_pass_reads_what_it_does_not_change_from_the_commit_that_all_began_with() -> None:
    inputs = inputs_of_files(a_failing_fleet())
    first = render_pass(inputs)
    stored = PassMemory().previous_from_rendered(first)
    fresh = PassMemory(beneath=stored.tree)
    again = fresh.previous_from_rendered(first)
    assert sorted(again.tree.files(again.tree.root)) == sorted(stored.tree.files(stored.tree.root))


def test_a_lost_cluster_is_left_after_the_toleration_and_an_ideal_reschedule_leaves_it_at_once() -> None:
    found = supposed(a_failing_fleet(), PARIS)
    assert split(found.base) == {"oslo": 2, "paris": 2, "rome": 2}
    assert split(found.ideal) == {"oslo": 3, "rome": 3}
    assert timeline(found) == [
        (0, {"oslo": 2, "paris": 2, "rome": 2}, []),
        (300, {"oslo": 3, "rome": 3}, ["paris"]),
        (302, {"oslo": 3, "rome": 3}, []),
    ]
    assert (found.is_whole, found.next_flip) == (True, None)


def test_without_the_gate_nothing_ever_leaves_a_lost_cluster() -> None:
    found = supposed(a_failing_fleet(settings={"featureGates": {"Failover": False}}), PARIS)
    assert split(found.ideal) == {"oslo": 3, "rome": 3}
    assert timeline(found) == [(0, {"oslo": 2, "paris": 2, "rome": 2}, [])]


def test_what_comes_after_the_horizon_is_said_and_not_looked_at() -> None:
    found = supposed(a_failing_fleet(), PARIS, horizon=timedelta(minutes=4))
    assert timeline(found) == [(0, {"oslo": 2, "paris": 2, "rome": 2}, [])]
    assert found.next_flip is not None
    assert (found.next_flip.at - NINE, found.next_flip.what) == (timedelta(minutes=5), "web leaves paris")


def test_a_mass_failure_evicts_nothing_and_the_ideal_shows_what_one_cluster_would_have_to_take() -> None:
    found = supposed(a_failing_fleet(), LostClusters(names=frozenset({"paris", "rome"})))
    assert split(found.ideal) == {"oslo": 6}
    assert timeline(found) == [(0, {"oslo": 2, "paris": 2, "rome": 2}, [])]


def test_a_cordon_moves_nothing_by_itself() -> None:
    found = supposed(a_failing_fleet(), CordonedClusters(names=frozenset({"paris"})))
    assert timeline(found) == [(0, {"oslo": 2, "paris": 2, "rome": 2}, [])]
    assert split(found.ideal) == {"oslo": 3, "rome": 3}


def test_a_drain_makes_everything_leave() -> None:
    found = supposed(a_failing_fleet(), *(TaintedCluster(name="paris", taint=each) for each in DRAIN))
    assert [each[1] for each in timeline(found)][-1] == {"oslo": 3, "rome": 3}


def test_a_taint_that_is_tolerated_for_a_while_moves_replicas_then() -> None:
    maintained = Taint(key="down", effect="NoExecute")
    # Without the policy that takes this very taint from clusters that are ready.
    found = supposed(a_failing_fleet(down=None), TaintedCluster(name="rome", taint=maintained))
    assert timeline(found)[:2] == [
        (0, {"oslo": 2, "paris": 2, "rome": 2}, []),
        (300, {"oslo": 3, "paris": 3}, ["rome"]),
    ]


def test_more_replicas_are_divided_as_the_policy_says() -> None:
    found = supposed(a_failing_fleet(), ScaledObject(ref=WEB_REF, replicas=12))
    assert split(found.base) == {"oslo": 2, "paris": 2, "rome": 2}
    assert timeline(found) == [(0, {"oslo": 4, "paris": 4, "rome": 4}, [])]
    assert split(found.ideal) == {"oslo": 4, "paris": 4, "rome": 4}


def _sized_fleet(replicas: int) -> dict[str, Any]:
    web = a_deployment("web", replicas=replicas)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    policy = a_policy("web", selectors=[WEB], placement={"replicaScheduling": DIVIDED})
    return a_failing_fleet(web=web, policy=policy)


def test_less_capacity_moves_nothing_by_itself_and_limits_what_is_placed_anew() -> None:
    facts = {name: facts_of(name, cpu="10", pods="110") for name in ("oslo", "paris", "rome")}
    found = supposed(_sized_fleet(12), ChangedCapacity(name="paris", resources={"cpu": "2"}), facts=facts)
    assert timeline(found) == [(0, {"oslo": 4, "paris": 4, "rome": 4}, [])]
    assert split(found.ideal)["paris"] < 4
    assert sum(split(found.ideal).values()) == 12


def test_alterations_are_combined() -> None:
    facts = {name: facts_of(name, cpu="10", pods="110") for name in ("oslo", "paris", "rome")}
    found = supposed(
        _sized_fleet(12),
        CordonedClusters(names=frozenset({"oslo"})),
        ScaledObject(ref=WEB_REF, replicas=18),
        ChangedCapacity(name="rome", resources={"cpu": "5"}),
        facts=facts,
    )
    (_, last, _) = timeline(found)[-1]
    assert sum(last.values()) == 18
    assert last["rome"] < min(last["oslo"], last["paris"])
    assert "oslo" not in split(found.ideal)


def test_capacity_that_only_the_source_declares_is_changed_there() -> None:
    files = _sized_fleet(12)
    for name in ("oslo", "paris", "rome"):
        summary = {"allocatable": {"cpu": "10", "pods": "110"}}
        files[name] = {**files[name], "status": {"resourceSummary": summary}}
    found = supposed(files, ChangedCapacity(name="paris", resources={"cpu": "1"}), facts={})
    assert split(found.base)["paris"] == 4
    assert split(found.ideal)["paris"] < 4


def test_a_cluster_that_is_unready_already_keeps_the_time_since_when_it_is() -> None:
    following, memory = inputs_after_first_pass(inputs_of_files(a_failing_fleet()))
    first = simulation_of(following, [PARIS], NINE)
    altered_inputs = first.configured[0].inputs
    later = simulation_of(altered_inputs, [PARIS], NINE + timedelta(minutes=2))
    changed = later.configured[0].inputs.failover.health.conditions["paris"]
    assert [each.since for each in changed] == ["2026-03-01T09:00:00Z"]
    assert memory is not None


def test_passes_that_look_at_a_part_come_to_what_those_over_everything_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first pass nothing but what is under way, due or seen otherwise is looked at again."""
    files = a_failing_fleet(names=("oslo", "paris", "rome", "turin"))
    for number in range(12):
        name = f"app-{number}"
        selector = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        weights = dict.fromkeys((("oslo", "rome"), ("rome", "turin"), ("oslo", "turin"))[number % 3], 1)
        toleration = {"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30 * number}
        placement = {"clusterTolerations": [toleration], "replicaScheduling": weighted(**weights)}
        policy = a_policy(name, selectors=[selector], placement=placement, failover={"cluster": {}})
        files |= {name: a_deployment(name, replicas=4), f"{name}-policy": policy}
    for lost in ("oslo", "paris", "turin"):
        alteration = LostClusters(names=frozenset({lost}))
        found = supposed(files, alteration)
        looked_at = [len(each.inputs.scope.refs) if each.inputs.scope else 13 for each in found.configured]
        with monkeypatch.context() as whole:
            whole.setattr(answering_fleet, "scope_of_next_pass", lambda *_passes: None)
            expected = supposed(files, alteration)
        assert min(looked_at) < 13
        assert [(each.at, each.rendered.tree.root, each.bindings) for each in found.configured] == [
            (each.at, each.rendered.tree.root, each.bindings) for each in expected.configured
        ]
