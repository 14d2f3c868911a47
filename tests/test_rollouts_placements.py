"""Changed placements that go out wave by wave, in memory: which clusters have what, commit by commit."""

from typing import Any

from render.model import ObjectRef

from .build import a_cluster, a_config_map, a_policy, on_clusters, weighted
from .rolling import WEB, WEB_REF, RollingFleet, a_control, a_rollout_policy, a_wave, web

CLUSTERS = ("berlin", "oslo", "paris", "rome")
WAVES = (a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1))
ALSO: dict[str, Any] = {"alsoFor": ["Placements"]}


def placed(*names: str, **weights: int) -> dict[str, Any]:
    """A policy that places web in some clusters, or divides its replicas by weights."""
    if weights:
        names = tuple(weights)
        return a_policy("web", selectors=[WEB], placement=on_clusters(*names, replicaScheduling=weighted(**weights)))
    return a_policy("web", selectors=[WEB], placement=on_clusters(*names))


def a_fleet(*names: str, replicas: int = 1, policy: dict[str, Any] = ALSO, **weights: int) -> RollingFleet:
    """A fleet in which web is in some clusters by now, with a rollout policy that asks for waves of placements."""
    files = {"policy": placed(*names, **weights), "web": web(1, replicas=replicas)}
    return RollingFleet.of(CLUSTERS, files, waves=WAVES, **policy)


def stuck(fleet: RollingFleet, *names: str) -> RollingFleet:
    fleet.unwell = set(names)
    return fleet


def where(fleet: RollingFleet) -> list[str]:
    return list(fleet.images())


def binding_of_web(fleet: RollingFleet) -> Any:
    assert fleet.previous is not None
    return fleet.previous.bindings[WEB_REF]


def numbers(fleet: RollingFleet) -> dict[str, int]:
    """The replicas of web that each cluster has by its file, which are those that its binding says."""
    found = {name: fleet.manifest(name)["spec"]["replicas"] for name in fleet.images()}
    assert found == {each.name: each.replicas for each in binding_of_web(fleet).targets}
    return found


def test_a_changed_placement_goes_everywhere_at_once_unless_a_policy_asks_for_waves() -> None:
    fleet = stuck(a_fleet("berlin", policy={}).commit(policy=placed("oslo", "rome")), *CLUSTERS)
    fleet.run()
    assert where(fleet) == ["oslo", "rome"]


def test_clusters_that_are_gained_get_an_object_in_their_wave() -> None:
    fleet = stuck(a_fleet("berlin").commit(policy=placed("berlin", "oslo", "paris", "rome")), "oslo")
    fleet.run()
    assert where(fleet) == ["berlin", "oslo"]
    stuck(fleet, "paris", "rome").run()
    assert len(where(fleet)) == 3
    stuck(fleet).run()
    assert (where(fleet), fleet.state().phase) == ([*CLUSTERS], "Completed")
    assert binding_of_web(fleet).rollout.splits == ()
    assert binding_of_web(fleet).moving is None


def test_clusters_that_are_left_are_left_last() -> None:
    fleet = stuck(a_fleet("berlin", "oslo").commit(policy=placed("paris", "rome")), "paris", "rome")
    fleet.run()
    assert len(where(fleet)) == 3
    stuck(fleet, "rome").run()
    assert {"berlin", "oslo"} <= set(where(fleet))
    stuck(fleet).run()
    assert (where(fleet), fleet.state().phase) == (["paris", "rome"], "Completed")


def test_a_placement_that_only_leaves_clusters_leaves_them_wave_by_wave() -> None:
    fleet = a_fleet("berlin", "oslo", "paris").commit(policy=placed("rome", "paris"))
    found = []
    while fleet.pass_once():
        found.append(where(fleet))
    assert found[-1] == ["paris", "rome"]
    assert ["berlin", "paris", "rome"] in found, "oslo is of the first wave"


def test_replicas_are_freed_when_they_stand_elsewhere() -> None:
    fleet = a_fleet(replicas=6, berlin=1).commit(policy=placed(oslo=1, rome=1))
    stuck(fleet, "rome").run()
    assert numbers(fleet) == {"berlin": 6, "oslo": 3, "rome": 3}
    stuck(fleet).run()
    assert numbers(fleet) == {"oslo": 3, "rome": 3}


def test_edited_weights_raise_first_and_lower_last() -> None:
    fleet = a_fleet(replicas=6, oslo=2, rome=1).commit(policy=placed(oslo=1, rome=2))
    stuck(fleet, "rome").run()
    assert numbers(fleet) == {"oslo": 4, "rome": 4}
    stuck(fleet).run()
    assert numbers(fleet) == {"oslo": 2, "rome": 4}


def test_an_image_goes_out_with_its_placement() -> None:
    fleet = a_fleet(replicas=6, oslo=2, rome=1).commit(policy=placed(oslo=1, rome=2), web=web(2, replicas=6))
    stuck(fleet, "oslo").run()
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "2", "rome": "1"}, {"oslo": 4, "rome": 2})
    stuck(fleet).run()
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "2", "rome": "2"}, {"oslo": 2, "rome": 4})


def test_scaling_is_not_held_back() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1).commit(policy=placed(oslo=1, rome=1)), "oslo")
    fleet.run()
    assert numbers(fleet) == {"berlin": 6, "oslo": 3}
    fleet.commit(web=web(1, replicas=12)).run()
    assert sum(numbers(fleet).values()) >= 12
    assert "rome" not in numbers(fleet)
    fleet.commit(web=web(1, replicas=4)).run()
    assert "rome" not in numbers(fleet)
    stuck(fleet).run()
    assert numbers(fleet) == {"oslo": 2, "rome": 2}


def test_a_rollback_gives_each_cluster_what_it_had() -> None:
    policy = {"onFailure": "Rollback", "gate": {"deadline": "10m"}, **ALSO}
    fleet = stuck(a_fleet(replicas=6, policy=policy, oslo=2, rome=1), "oslo")
    fleet.commit(policy=placed(oslo=1, rome=1, paris=4), web=web(2, replicas=6)).run()
    assert fleet.images() == {"oslo": "2", "rome": "1"}
    fleet.run(seconds=601)
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "1", "rome": "1"}, {"oslo": 4, "rome": 2})
    assert fleet.state().is_held
    stuck(fleet).run()
    assert numbers(fleet) == {"oslo": 4, "rome": 2}
    fleet.commit(web=web(3, replicas=6)).run()
    assert (set(fleet.images().values()), numbers(fleet)) == ({"3"}, {"oslo": 1, "rome": 1, "paris": 4})


def test_an_abort_keeps_the_placement_that_was_there() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1, policy={"onFailure": "Rollback", **ALSO}), "oslo")
    fleet.commit(policy=placed(oslo=1, rome=1)).run()
    fleet.commit(stop=a_control("stop", fleet.change, "Abort")).run()
    assert numbers(fleet) == {"berlin": 6}


def test_a_newer_placement_takes_the_place_of_one_that_goes_out() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1).commit(policy=placed(oslo=1, rome=1)), "rome")
    fleet.run()
    fleet.commit(policy=placed(paris=1)).run()
    assert sum(numbers(fleet).values()) >= 6
    stuck(fleet).run()
    assert numbers(fleet) == {"paris": 6}


def test_a_newer_placement_waits_where_newer_changes_do() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1, policy={"onNewChange": "Wait", **ALSO}), "rome")
    fleet.commit(policy=placed(oslo=1, rome=1)).run()
    fleet.commit(policy=placed(paris=1)).run()
    assert numbers(fleet) == {"berlin": 6, "oslo": 3, "rome": 3}
    stuck(fleet, "paris").run()
    assert numbers(fleet) == {"oslo": 3, "paris": 6, "rome": 3}
    stuck(fleet).run()
    assert numbers(fleet) == {"paris": 6}


def test_a_placement_that_goes_back_to_what_it_was_takes_back_what_was_given() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1).commit(policy=placed(oslo=1, rome=1)), "oslo")
    fleet.run()
    stuck(fleet).commit(policy=placed(berlin=1)).run()
    assert numbers(fleet) == {"berlin": 6}


def test_a_policy_that_is_deleted_meanwhile_counts_to_the_end() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1).commit(policy=placed(oslo=1, rome=1)), "oslo")
    fleet.run()
    fleet.commit(rollout=None).run()
    assert numbers(fleet) == {"berlin": 6, "oslo": 3}
    stuck(fleet).run()
    assert numbers(fleet) == {"oslo": 3, "rome": 3}


def test_a_policy_that_asks_no_more_lets_what_is_under_way_go_on() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1).commit(policy=placed(oslo=1, rome=1)), "oslo")
    fleet.run()
    fleet.commit(rollout=a_rollout_policy(waves=WAVES)).run()
    assert numbers(fleet) == {"berlin": 6, "oslo": 3}


def test_a_policy_that_begins_to_ask_changes_nothing() -> None:
    fleet = a_fleet("berlin", "oslo", policy={})
    fleet.commit(rollout=a_rollout_policy(waves=WAVES, **ALSO))
    fleet.run()
    assert where(fleet) == ["berlin", "oslo"]
    stuck(fleet, "rome").commit(policy=placed("rome")).run()
    assert where(fleet) == ["berlin", "oslo", "rome"]


def test_a_cluster_that_joins_waits_for_its_wave() -> None:
    fleet = stuck(a_fleet("berlin").commit(policy=placed("oslo", "rome", "vienna")), "oslo")
    fleet.run()
    fleet.commit(vienna=a_cluster("vienna")).run()
    assert where(fleet) == ["berlin", "oslo"]
    stuck(fleet).run()
    assert where(fleet) == ["oslo", "rome", "vienna"]


def test_what_an_object_needs_stays_in_clusters_until_it_is_left() -> None:
    needs = a_policy("web", selectors=[WEB], placement=on_clusters("berlin"), propagateDeps=True)
    deployment = web(1)
    deployment["spec"]["template"]["spec"]["volumes"] = [{"name": "c", "configMap": {"name": "conf"}}]
    files = {"policy": needs, "web": deployment, "conf": a_config_map("conf")}
    fleet = RollingFleet.of(CLUSTERS, files, waves=WAVES, **ALSO)
    needs = a_policy("web", selectors=[WEB], placement=on_clusters("oslo", "rome"), propagateDeps=True)
    stuck(fleet, "oslo").commit(policy=needs).run()
    conf = ObjectRef("", "ConfigMap", "default", "conf")
    assert where(fleet) == ["berlin", "oslo"]
    assert fleet.manifest("berlin", conf)
    stuck(fleet).run()
    assert fleet.previous is not None
    assert sorted(fleet.previous.tree.clusters) == ["oslo", "rome"]
    assert fleet.manifest("rome", conf)


def test_replicas_of_a_cluster_that_fails_are_made_up_for_where_the_object_is() -> None:
    fleet = stuck(a_fleet(replicas=6, berlin=1, rome=1).commit(policy=placed(oslo=1, paris=5)), "oslo")
    fleet.run()
    assert numbers(fleet) == {"berlin": 3, "oslo": 1, "rome": 3}
    taint = {"key": "disk", "value": "gone", "effect": "NoExecute"}
    fleet.commit(berlin=a_cluster("berlin", taints=[taint])).run()
    there = numbers(fleet)
    assert "paris" not in there
    assert there["oslo"] + there["rome"] >= 6
    stuck(fleet).run()
    assert numbers(fleet) == {"oslo": 1, "paris": 5}


def test_a_cluster_that_cannot_be_reached_is_waited_for_before_others_give_up_what_they_have() -> None:
    fleet = a_fleet(replicas=6, berlin=1)
    fleet.down = {"rome"}
    fleet.commit(policy=placed(oslo=1, rome=1)).run()
    assert numbers(fleet)["berlin"] == 6
    assert fleet.state().next_step == (
        "waits for rome to be reached and come through the gate: until then no cluster gives up what it has"
    )
    fleet.down = set()
    fleet.run()
    assert (numbers(fleet), fleet.state().phase) == ({"oslo": 3, "rome": 3}, "Completed")


def test_a_pass_says_which_clusters_are_left_last() -> None:
    fleet = stuck(a_fleet("berlin").commit(policy=placed("oslo", "rome")), "oslo")
    fleet.run()
    then = "berlin is left when all that gain are through"
    assert fleet.state().next_step == f"waits for oslo to come through the gate; {then}"


def departures(fleet: RollingFleet) -> tuple[list[str], list[str]]:
    """The clusters in which guards judge that web leaves by a commit, and those in which it was judged before."""
    assert fleet.last is not None
    return sorted(fleet.last.built.begun_removals), sorted(fleet.last.built.removals_judged_before)


def test_guards_judge_what_is_left_once_before_the_first_wave() -> None:
    fleet = a_fleet("berlin", "paris").commit(policy=placed("oslo", "rome"))
    seen = []
    while fleet.pass_once():
        seen.append((where(fleet), *departures(fleet)))
    assert seen[0][1:] == (["berlin", "paris"], [])
    assert [begun for _, begun, _ in seen[1:] if begun] == []
    assert sorted(name for _, _, ended in seen for name in ended) == ["berlin", "paris"]


def test_a_cluster_that_is_left_keeps_an_object_while_others_change_there() -> None:
    both = [WEB, {"apiVersion": "v1", "kind": "ConfigMap"}]
    waves = (a_wave("first", "berlin"), a_wave("rest", maxConcurrent=1))
    files = {
        "policy": placed("berlin"),
        "conf": a_config_map("conf", v="1"),
        "configured": a_policy("conf", selectors=both[1:], placement=on_clusters()),
    }
    fleet = RollingFleet.of(CLUSTERS, files, waves=waves, selectors=both, **ALSO)
    stuck(fleet, "rome").commit(policy=placed("rome"), conf=a_config_map("conf", v="2"), web=web(2)).run()
    conf = fleet.manifest("berlin", ObjectRef("", "ConfigMap", "default", "conf"))
    assert (conf["data"], fleet.images()) == ({"v": "2"}, {"berlin": "1", "rome": "2"})
    stuck(fleet).run()
    assert (where(fleet), fleet.state().phase) == (["rome"], "Completed")


def test_what_is_scaled_to_nothing_stays_while_its_placement_goes_out() -> None:
    def idle(replicas: int) -> dict[str, Any]:
        found = web(1, replicas=replicas)
        found["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "fast"}
        return found

    fleet = RollingFleet.of(CLUSTERS, {"policy": placed(oslo=2, rome=1), "web": idle(6)}, waves=WAVES, **ALSO)
    fleet.unwell = {"oslo"}
    fleet.commit(policy=placed(oslo=1, paris=1, rome=1), web=idle(0)).run()
    assert {name: fleet.manifest(name)["spec"]["replicas"] for name in fleet.images()} == {"oslo": 0, "rome": 0}
