"""First deliveries that go out wave by wave, in memory: which clusters have a new object, commit by commit."""

from typing import Any

from msgspec.structs import replace

from .build import a_cluster, a_cluster_policy, a_config_map, a_policy, on_clusters, weighted
from .rolling import WEB, WEB_REF, RollingFleet, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome")
WAVES = (a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1))
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
ALSO: dict[str, Any] = {"alsoFor": ["FirstDeliveries"]}


def a_fleet(**policy: Any) -> RollingFleet:
    """A fleet in which web is not there yet, with a rollout policy that asks for it."""
    fleet = RollingFleet.of(CLUSTERS, {"web": None, "conf": a_config_map("conf")}, waves=WAVES, **policy)
    fleet.told.clear()
    return fleet


def where(fleet: RollingFleet) -> list[str]:
    return list(fleet.images())


def stuck(fleet: RollingFleet, *names: str) -> RollingFleet:
    fleet.unwell = set(names)
    return fleet


def binding_of_web(fleet: RollingFleet) -> Any:
    assert fleet.previous is not None
    return fleet.previous.bindings[WEB_REF]


def test_a_new_object_goes_everywhere_at_once_unless_a_policy_asks_for_waves() -> None:
    fleet = stuck(a_fleet(), *CLUSTERS).commit(web=web(1))
    fleet.run()
    assert where(fleet) == list(CLUSTERS)


def test_a_new_object_goes_out_wave_by_wave_where_a_policy_asks_for_it() -> None:
    fleet = a_fleet(**ALSO).commit(web=web(1))
    assert fleet.run() == ["1 Progressing", "11 Progressing", "111 Progressing", "111 Completed"]
    assert binding_of_web(fleet).kept == ()
    assert fleet.files_below("versions") == [f"default/Deployment.apps/web/{binding_of_web(fleet).rollout.target}.yaml"]


def test_a_binding_says_where_an_object_is_not_yet() -> None:
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(web=web(1, replicas=3))
    fleet.run()
    binding = binding_of_web(fleet)
    assert (sorted(binding.undispatched_clusters), binding.placed_replicas) == (["paris", "rome"], {"oslo": 3})
    assert binding.why_not_delivered("rome") == "RolloutPolicy default/web has not let it out there yet"
    assert not [each for each in binding.conditions if each.status != "True"], "nobody suspended anything"


def test_the_first_pass_of_a_fleet_holds_its_objects_back_as_well() -> None:
    files = {
        "policy": a_policy("web", selectors=[WEB], placement=on_clusters()),
        "web": web(1),
        "rollout": a_rollout_policy(waves=WAVES, **ALSO),
        **{name: a_cluster(name) for name in CLUSTERS},
    }
    fleet = stuck(RollingFleet(files), "oslo")
    assert fleet.run() == ["1 Progressing"]


def test_a_newer_version_takes_the_place_of_one_that_is_not_everywhere_yet() -> None:
    fleet = stuck(a_fleet(**ALSO), "rome").commit(web=web(1))
    assert fleet.run() == ["1 Progressing", "11 Progressing"]
    assert stuck(fleet, "oslo").commit(web=web(2)).run() == ["21 Progressing"]
    assert stuck(fleet).run() == ["22 Progressing", "222 Progressing", "222 Completed"]


def test_a_rollback_takes_a_new_object_away_again() -> None:
    fleet = a_fleet(onFailure="Rollback", gate={"deadline": "10m"}, **ALSO).commit(web=web(1))
    assert stuck(fleet, "oslo").run() == ["1 Progressing"]
    assert fleet.run(seconds=601) == [" Held"]
    assert stuck(fleet).run() == []
    assert fleet.commit(web=web(2)).run()[-1] == "222 Completed"


def test_a_cluster_that_joins_waits_for_its_wave() -> None:
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(web=web(1))
    fleet.run()
    fleet.commit(berlin=a_cluster("berlin")).run()
    assert where(fleet) == ["oslo"]
    stuck(fleet).run()
    assert where(fleet) == ["berlin", *CLUSTERS]


def test_scaling_works_at_once_where_the_object_is() -> None:
    placed = a_policy(
        "web", selectors=[WEB], placement=on_clusters(replicaScheduling=weighted(oslo=1, paris=1, rome=1))
    )
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(policy=placed, web=web(1, replicas=3))
    fleet.run()
    fleet.commit(web=web(1, replicas=6)).run()
    assert (where(fleet), fleet.manifest("oslo")["spec"]["replicas"]) == (["oslo"], 2)


def test_an_object_that_is_removed_before_it_was_everywhere_is_gone() -> None:
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(web=web(1))
    fleet.run()
    fleet.commit(web=None).run()
    assert (where(fleet), fleet.state(), fleet.files_below("versions")) == ([], None, [])


def test_a_policy_that_is_deleted_meanwhile_counts_to_the_end() -> None:
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(web=web(1))
    fleet.run()
    assert fleet.commit(rollout=None).run() == []
    assert stuck(fleet).run() == ["11 Progressing", "111 Progressing", "111"]


def test_a_policy_that_asks_no_more_lets_what_is_under_way_go_on() -> None:
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(web=web(1))
    fleet.run()
    fleet.commit(rollout=a_rollout_policy(waves=WAVES)).run()
    assert where(fleet) == ["oslo"]


def test_an_object_that_found_no_place_before_is_new_when_it_finds_one() -> None:
    nowhere = a_policy("web", selectors=[WEB], placement=on_clusters("nowhere"))
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(policy=nowhere, web=web(1))
    fleet.run()
    assert where(fleet) == []
    fleet.commit(policy=a_policy("web", selectors=[WEB], placement=on_clusters())).run()
    assert where(fleet) == ["oslo"]


def test_a_new_object_waits_for_the_change_under_way_where_newer_ones_do() -> None:
    both = [WEB, CONFIG_MAP]
    files = {"policy": a_policy("web", selectors=both, placement=on_clusters())}
    spec: dict[str, Any] = {"selectors": both, "onNewChange": "Wait", **ALSO}
    fleet = RollingFleet.of(CLUSTERS, files, waves=WAVES, **spec)
    stuck(fleet, "oslo").commit(web=web(2)).run()
    fleet.commit(conf=a_config_map("conf")).run()
    conf = replace(WEB_REF, group="", kind="ConfigMap", name="conf")
    assert [name for name in CLUSTERS if fleet.manifest(name, conf)] == []
    stuck(fleet).run()
    assert fleet.state().is_completed


def test_a_namespace_that_waits_is_there_all_the_same_for_what_is_in_it() -> None:
    kinds = [{"apiVersion": "v1", "kind": "Namespace"}]
    rollout = a_rollout_policy(selectors=kinds, waves=WAVES, **ALSO)
    rollout |= {"kind": "ClusterRolloutPolicy", "metadata": {"name": "spaces"}}
    files = {
        "rollout": rollout,
        "spaces": a_cluster_policy("spaces", selectors=kinds, placement=on_clusters()),
        "space": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        "configured": a_policy("conf", selectors=[CONFIG_MAP], namespace="shop", placement=on_clusters()),
        "conf": a_config_map("conf", namespace="shop"),
    }
    fleet = stuck(a_fleet().commit(**files), "oslo")
    fleet.run()
    assert fleet.previous is not None
    for tree_id in fleet.previous.tree.clusters.values():
        assert fleet.previous.tree.trees.entry(tree_id, ("_cluster", "Namespace", "shop.yaml")) is not None
