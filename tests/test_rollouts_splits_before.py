"""A rollback gives each cluster the replicas that it had before the change, in memory, commit by commit."""

from typing import Any

from render.model import ObjectRef

from .build import a_cluster, a_policy, on_clusters, weighted
from .moving import MovingFleet, divided
from .rolling import WEB, WEB_REF, RollingFleet, a_control, a_rollout_policy, a_wave, web

CLUSTERS = ("berlin", "oslo", "paris", "rome")
WAVES = (a_wave("canary", "oslo"), a_wave("rest"))
BACK: dict[str, Any] = {"onFailure": "Rollback", "gate": {"deadline": "10m"}}


def placed(*names: str, **weights: int) -> dict[str, Any]:
    """A policy that places web with what it needs in some clusters, or divides its replicas by weights."""
    placement = on_clusters(*names) if names else on_clusters(*weights, replicaScheduling=weighted(**weights))
    return a_policy("web", selectors=[WEB], placement=placement, propagateDeps=True)


def a_fleet(*names: str, replicas: int = 6, policy: dict[str, Any] = BACK, **weights: int) -> RollingFleet:
    """A fleet whose rollout policy goes back after failures, and has no waves of placements."""
    files = {"policy": placed(*names, **weights), "web": web(1, replicas=replicas)}
    return RollingFleet.of(CLUSTERS, files, waves=WAVES, **policy)


def binding_of_web(fleet: RollingFleet) -> Any:
    assert fleet.previous is not None
    return fleet.previous.bindings[WEB_REF]


def numbers(fleet: RollingFleet) -> dict[str, int]:
    """The replicas of web that each cluster has by its file, which are those that its binding says."""
    found = {name: fleet.manifest(name)["spec"]["replicas"] for name in fleet.images()}
    assert found == {each.name: each.replicas for each in binding_of_web(fleet).targets}
    return found


def fail(fleet: RollingFleet, *names: str, **files: Any) -> RollingFleet:
    """Commit files, and let the clusters that are not well by them fail."""
    fleet.unwell = set(names)
    fleet.commit(**files).run()
    fleet.run(seconds=601)
    return fleet


MOVED: dict[str, Any] = {"policy": placed(oslo=1, rome=1, paris=4), "web": web(2, replicas=6)}
SCALED: dict[str, Any] = {"web": web(2, replicas=12)}


def test_a_rollback_gives_back_the_split_that_its_change_moved() -> None:
    fleet = a_fleet(oslo=2, rome=1)
    fleet.unwell = {"oslo"}
    fleet.commit(**MOVED).run()
    assert (fleet.images(), numbers(fleet)) == (
        {"oslo": "2", "paris": "1", "rome": "1"},
        {"oslo": 1, "paris": 4, "rome": 1},
    ), "a placement goes out at once"
    fleet.run(seconds=601)
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "1", "rome": "1"}, {"oslo": 4, "rome": 2})
    assert fleet.state().is_held
    fleet.unwell = set()
    fleet.run(seconds=3600)
    assert numbers(fleet) == {"oslo": 4, "rome": 2}


def test_a_rollback_gives_back_the_number_that_its_change_scaled() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1), "oslo", **SCALED)
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 4, "rome": 2})


def test_a_rollback_gives_back_the_number_of_whole_copies() -> None:
    fleet = fail(a_fleet("oslo", "rome", replicas=2), "oslo", web=web(2, replicas=5), policy=placed("oslo", "paris"))
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "1", "rome": "1"}, {"oslo": 2, "rome": 2})


def test_a_newer_change_after_a_rollback_is_placed_as_the_source_says() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1), "oslo", **MOVED)
    fleet.unwell = set()
    fleet.commit(web=web(3, replicas=6)).run()
    assert (set(fleet.images().values()), numbers(fleet)) == ({"3"}, {"oslo": 1, "paris": 4, "rome": 1})
    binding = binding_of_web(fleet)
    assert (binding.moving, binding.rollout.before_change) == (None, None)


def test_a_newer_change_that_fails_goes_back_to_the_split_of_the_completed_version() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1), "oslo", **MOVED)
    fail(fleet, "oslo", web=web(3, replicas=12))
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 4, "rome": 2})


def test_a_change_that_is_superseded_goes_back_to_the_split_of_the_completed_version() -> None:
    fleet = a_fleet(oslo=2, rome=1)
    fleet.unwell = {"oslo"}
    fleet.commit(**MOVED).run()
    fail(fleet, "oslo", policy=placed(rome=1, oslo=1), web=web(3, replicas=8))
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 4, "rome": 2})


def test_a_retry_is_placed_as_the_source_says() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1), "oslo", **MOVED)
    fleet.unwell = set()
    fleet.commit(again=a_control("again", fleet.change, "Retry", at="2026-03-02T00:00:00Z")).run()
    assert (set(fleet.images().values()), numbers(fleet)) == ({"2"}, {"oslo": 1, "paris": 4, "rome": 1})


def test_an_abort_gives_back_the_split() -> None:
    fleet = a_fleet(oslo=2, rome=1)
    fleet.unwell = {"oslo"}
    fleet.commit(**MOVED).run()
    fleet.commit(stop=a_control("stop", fleet.change, "Abort")).run()
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 4, "rome": 2})


def test_reverse_waves_give_back_the_split_when_all_are_back() -> None:
    fleet = a_fleet(oslo=2, rome=1, policy={**BACK, "rollback": "ReverseWaves"})
    fail(fleet, "paris", **MOVED)
    assert (fleet.images()["oslo"], numbers(fleet)) == ("2", {"oslo": 1, "paris": 4, "rome": 1})
    fleet.unwell = set()
    fleet.run(seconds=60)
    fleet.run(seconds=601)
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 4, "rome": 2})
    assert fleet.state().reason == "RolledBack"
    fleet.run(seconds=3600)
    assert numbers(fleet) == {"oslo": 4, "rome": 2}


def test_what_is_scaled_meanwhile_keeps_its_replicas() -> None:
    fleet = a_fleet(oslo=2, rome=1)
    fleet.unwell = {"oslo"}
    fleet.commit(**MOVED).run()
    fail(fleet, "oslo", web=web(2, replicas=12))
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 2, "paris": 8, "rome": 2})
    assert "Deployment.apps default/web keeps its replicas: it was scaled or placed anew" in str(
        fleet.state().unrestored
    )


def test_what_is_scaled_after_the_rollback_is_as_the_source_says() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1), "oslo", **MOVED)
    fleet.commit(web=web(2, replicas=12)).run()
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 2, "paris": 8, "rome": 2})
    assert "keeps its replicas" in str(fleet.state().unrestored)
    fleet.commit(web=web(2, replicas=6)).run()
    assert numbers(fleet) == {"oslo": 4, "rome": 2}, "nothing else is asked for than by the change"


def test_what_is_scaled_after_a_change_that_scaled_nothing_is_no_part_of_it() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1), "oslo", web=web(2, replicas=6))
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 4, "rome": 2})
    fleet.commit(web=web(2, replicas=12)).run()
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 8, "rome": 4})
    assert binding_of_web(fleet).rollout.before_change is None


def test_what_is_scaled_under_way_stays_so_where_the_change_scaled_nothing() -> None:
    fleet = a_fleet(oslo=2, rome=1)
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2, replicas=6)).run()
    fleet.commit(web=web(2, replicas=12)).run()
    fleet.run(seconds=601)
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 8, "rome": 4})


def test_what_is_placed_otherwise_meanwhile_stays_so() -> None:
    fleet = a_fleet(oslo=2, rome=1)
    fleet.unwell = {"oslo"}
    fleet.commit(**MOVED).run()
    fail(fleet, "oslo", policy=placed(oslo=1, berlin=1))
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"berlin": 3, "oslo": 3})
    assert "keeps its replicas" in str(fleet.state().unrestored)


def test_a_cluster_that_is_gone_is_named_and_others_have_its_replicas() -> None:
    fleet = a_fleet(oslo=1, rome=2, berlin=3)
    fleet.unwell = {"oslo"}
    fleet.commit(policy=placed(oslo=1, paris=5), web=web(2, replicas=6)).run()
    fail(fleet, "oslo", rome=None)
    assert numbers(fleet) == {"berlin": 5, "oslo": 1}
    assert "Deployment.apps default/web has its former replicas without rome" in str(fleet.state().unrestored)


def test_a_cluster_that_is_drained_gets_nothing_back() -> None:
    fleet = a_fleet(oslo=1, rome=2)
    fleet.unwell = {"oslo"}
    fleet.commit(policy=placed(oslo=1, paris=5), web=web(2, replicas=6)).run()
    fail(fleet, "oslo", rome=a_cluster("rome", taints=[{"key": "a", "effect": "NoSchedule"}]))
    assert numbers(fleet) == {"oslo": 6}
    assert "without rome" in str(fleet.state().unrestored)
    fleet.commit(rome=a_cluster("rome")).run()
    assert numbers(fleet) == {"oslo": 2, "rome": 4}
    assert fleet.state().unrestored == ()


def test_nothing_is_given_back_where_nothing_can_be() -> None:
    fleet = a_fleet(rome=1)
    fleet.unwell = {"oslo"}
    fleet.commit(policy=placed(oslo=1), web=web(2, replicas=6)).run()
    fail(fleet, "oslo", rome=None)
    assert numbers(fleet) == {"oslo": 6}
    assert "cannot have its former replicas: rome" in str(fleet.state().unrestored)


def test_what_an_object_needs_goes_back_with_it() -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}
    env = [{"configMapRef": {"name": "settings"}}]

    def needing(version: int) -> dict[str, Any]:
        found = web(version, replicas=6)
        found["spec"]["template"]["spec"]["containers"][0]["envFrom"] = env
        return found

    fleet = a_fleet(oslo=2, rome=1).commit(settings=settings, web=needing(1), policy=placed(oslo=2, rome=1))
    fleet.run()
    fail(fleet, "oslo", web=needing(2), policy=placed(oslo=1, paris=4))
    ref = ObjectRef("", "ConfigMap", "default", "settings")
    assert numbers(fleet) == {"oslo": 4, "rome": 2}
    assert all(fleet.manifest(name, ref) is not None for name in ("oslo", "rome"))
    assert fleet.files_below("clusters/paris") == []


def test_replicas_go_back_step_by_step_where_moves_do() -> None:
    rollout = a_rollout_policy(waves=WAVES, **{**BACK, "gate": {"healthyFor": "5m", "deadline": "10m"}})
    fleet = MovingFleet.begun(("oslo", "rome"), policy=divided(oslo=1, rome=5), web=web(1, replicas=6), rollout=rollout)
    fleet.commit(policy=divided(oslo=5, rome=1), web=web(2, replicas=6))
    fleet.run_until_quiet()
    assert fleet.replicas() == {"oslo": 5, "rome": 1}
    fleet.most = {"rome": 0}
    for seconds in (301, 601, 1):
        fleet.run_until_quiet(seconds)
    assert fleet.told[-1] == "oslo 5, rome 3", "what is not ready in rome lets nothing go"
    fleet.most = {}
    for seconds in (1, 1):
        fleet.run_until_quiet(seconds)
    assert fleet.told[-1] == "oslo 1, rome 5"
    assert binding_of_web(fleet).moving is not None
    fleet.run_until_quiet(3600)
    assert fleet.told[-1] == "oslo 1, rome 5"


def test_what_is_placed_anew_by_a_request_stays_so() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1), "oslo", **MOVED)
    again = {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": "again"},
        "spec": {"workloads": [{**WEB, "namespace": "default"}]},
    }
    fleet.commit(again=again).run()
    assert numbers(fleet) == {"oslo": 1, "paris": 4, "rome": 1}
    assert "keeps its replicas" in str(fleet.state().unrestored)
    fleet.commit(again=None).run()
    assert numbers(fleet) == {"oslo": 1, "paris": 4, "rome": 1}


def test_the_record_is_dropped_when_the_change_is_through() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(**MOVED)
    fleet.run()
    assert fleet.state().is_completed
    assert binding_of_web(fleet).rollout.before_change is None


def test_a_change_of_the_image_alone_records_nothing() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(web=web(2, replicas=6))
    fleet.unwell = {"oslo"}
    fleet.run()
    assert binding_of_web(fleet).rollout.before_change is None


def test_scaling_with_waves_of_placements_goes_back_too() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1, policy={**BACK, "alsoFor": ["Placements"]}), "oslo", **SCALED)
    assert numbers(fleet) == {"oslo": 4, "rome": 2}


def test_a_policy_that_only_pauses_keeps_the_replicas_of_now() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1, policy={"gate": {"deadline": "10m"}}), "oslo", **MOVED)
    assert numbers(fleet) == {"oslo": 1, "paris": 4, "rome": 1}


def test_a_rollback_follows_a_policy_that_was_edited_meanwhile() -> None:
    fleet = fail(a_fleet(oslo=2, rome=1, policy={"gate": {"deadline": "10m"}}), "oslo", **MOVED)
    fleet.commit(rollout=a_rollout_policy(waves=WAVES, **BACK)).run()
    assert (set(fleet.images().values()), numbers(fleet)) == ({"1"}, {"oslo": 4, "rome": 2})
