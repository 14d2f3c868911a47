"""Changed placements that the calendar of argosy.yaml holds back: who has what in a freeze and after it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from render.model import ObjectRef

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters, weighted
from .moving import MovingFleet, a_fleet_of_moves, divided
from .rolling import WEB, WEB_REF, RollingFleet, a_control, a_rollout_policy, a_wave, web
from .test_rebalance import DYNAMIC, _placed, _rebalancer, _requesting, _sized
from .test_rollback_requests import a_request
from .test_rollouts_frozen import CONF, EVERY, HOUR, a_freeze, fleet_file

CLUSTERS = ("berlin", "oslo", "paris", "rome")
FROZEN = fleet_file(a_freeze())


def placed(*names: str, **weights: int) -> dict[str, Any]:
    """A policy that places web in some clusters, or divides its replicas by weights."""
    placement = on_clusters(*names) if names else on_clusters(*weights, replicaScheduling=weighted(**weights))
    return a_policy("web", selectors=[WEB, EVERY], placement=placement)


def a_fleet(argosy: dict[str, Any] = FROZEN, replicas: int = 6, files: Any = (), **weights: int) -> RollingFleet:
    """A fleet with a calendar, in which web is divided by weights."""
    members = {name: a_cluster(name) for name in CLUSTERS}
    rest = {"policy": placed(**weights), "web": web(1, replicas=replicas), **dict(files)}
    fleet = RollingFleet({"argosy": argosy, **members, **rest})
    fleet.run()
    fleet.told.clear()
    return fleet


def binding_of_web(fleet: RollingFleet) -> Any:
    assert fleet.previous is not None
    return fleet.previous.bindings[WEB_REF]


def numbers(fleet: RollingFleet) -> dict[str, int]:
    """The replicas of web that each cluster has by its file, which are those that its binding says."""
    found = {name: fleet.manifest(name)["spec"]["replicas"] for name in fleet.images()}
    assert found == {each.name: each.replicas for each in binding_of_web(fleet).targets}
    return found


def having(fleet: RollingFleet, ref: ObjectRef) -> list[str]:
    assert fleet.previous is not None
    return [name for name in sorted(fleet.previous.tree.clusters) if fleet.manifest(name, ref) is not None]


def test_a_placement_waits_for_the_end_of_a_freeze() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5))
    fleet.run()
    assert numbers(fleet) == {"oslo": 4, "rome": 2}
    assert fleet.state().next_step == (
        "Deployment.apps default/web waits for the end of the freeze (audit) in oslo, paris, rome"
    )
    assert fleet.run(HOUR) == []
    fleet.now += timedelta(hours=24)
    fleet.pass_once()
    assert fleet.latest is not None
    assert fleet.latest.built.rolled.departures.expected == {"rome": {("default", "Deployment.apps", "web.yaml")}}
    fleet.run()
    assert numbers(fleet) == {"oslo": 1, "paris": 5}
    assert (binding_of_web(fleet).moving, binding_of_web(fleet).rollout.splits) == (None, ())
    assert fleet.files_below("rollouts") == []
    assert fleet.run(HOUR) == []


def test_a_placement_goes_on_when_the_freeze_is_taken_away() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5))
    fleet.run()
    fleet.commit(argosy=fleet_file()).run()
    assert numbers(fleet) == {"oslo": 1, "paris": 5}


def test_a_freeze_of_one_cluster_takes_nothing_from_others_that_would_miss_it() -> None:
    fleet = a_fleet(fleet_file(a_freeze(clusters=["rome"])), oslo=2, rome=1)
    fleet.commit(policy=placed(oslo=1, rome=5)).run()
    assert numbers(fleet) == {"oslo": 4, "rome": 2}
    fleet.run(24 * HOUR)
    assert numbers(fleet) == {"oslo": 1, "rome": 5}


def test_a_freeze_of_one_cluster_keeps_what_is_there() -> None:
    fleet = a_fleet(fleet_file(a_freeze(clusters=["rome"])), oslo=2, rome=1)
    fleet.commit(policy=placed(berlin=1, paris=5)).run()
    assert numbers(fleet) == {"berlin": 1, "paris": 5, "rome": 2}
    fleet.run(24 * HOUR)
    assert numbers(fleet) == {"berlin": 1, "paris": 5}


def test_a_freeze_of_a_cluster_that_is_not_concerned_holds_nothing() -> None:
    fleet = a_fleet(fleet_file(a_freeze(clusters=["berlin"])), oslo=2, rome=1)
    fleet.commit(policy=placed(oslo=1, rome=5)).run()
    assert numbers(fleet) == {"oslo": 1, "rome": 5}


def test_scaling_goes_on_while_a_placement_is_held() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5))
    fleet.run()
    fleet.commit(web=web(1, replicas=12)).run()
    assert numbers(fleet) == {"oslo": 8, "rome": 4}
    fleet.run(24 * HOUR)
    assert numbers(fleet) == {"oslo": 2, "paris": 10}


def test_what_fails_meanwhile_is_made_up_for() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5))
    fleet.run()
    fleet.commit(rome=a_cluster("rome", taints=[{"key": "dead", "effect": "NoExecute"}])).run()
    assert numbers(fleet)["oslo"] == 6


def test_an_image_waits_with_its_placement() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5), web=web(2, replicas=6))
    fleet.run()
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "1", "rome": "1"}, {"oslo": 4, "rome": 2})
    fleet.run(24 * HOUR)
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "2", "paris": "2"}, {"oslo": 1, "paris": 5})


def test_a_freeze_holds_the_placement_that_it_comes_with() -> None:
    fleet = a_fleet(fleet_file(), oslo=2, rome=1)
    fleet.commit(argosy=FROZEN, policy=placed(oslo=1, paris=5), web=web(2, replicas=6)).run()
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "1", "rome": "1"}, {"oslo": 4, "rome": 2})
    assert fleet.run(HOUR) == []
    fleet.run(24 * HOUR)
    assert (fleet.images(), numbers(fleet)) == ({"oslo": "2", "paris": "2"}, {"oslo": 1, "paris": 5})


def test_a_freeze_holds_only_the_placement_that_it_comes_with() -> None:
    fleet = a_fleet(fleet_file(), oslo=2, rome=1)
    fleet.commit(argosy=FROZEN, policy=placed(oslo=1, paris=5)).run()
    assert numbers(fleet) == {"oslo": 4, "rome": 2}
    fleet.run(24 * HOUR)
    assert numbers(fleet) == {"oslo": 1, "paris": 5}


def test_a_placement_that_goes_back_in_a_freeze_is_no_change() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5))
    fleet.run()
    fleet.commit(policy=placed(oslo=2, rome=1)).run()
    assert numbers(fleet) == {"oslo": 4, "rome": 2}
    assert fleet.files_below("rollouts") == []
    assert binding_of_web(fleet).moving is None


def test_a_newer_placement_takes_the_place_of_one_that_is_held() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5))
    fleet.run()
    fleet.commit(policy=placed(berlin=1)).run()
    assert numbers(fleet) == {"oslo": 4, "rome": 2}
    fleet.run(24 * HOUR)
    assert numbers(fleet) == {"berlin": 6}


def test_an_emergency_lets_a_placement_out() -> None:
    fleet = a_fleet(oslo=2, rome=1).commit(policy=placed(oslo=1, paris=5))
    fleet.run()
    lane = a_control("now", fleet.change, "Emergency", reason="rome burns")
    lane["spec"]["rollout"] = {"kind": "Fleet", "name": "default"}
    fleet.commit(lane=lane).run()
    assert numbers(fleet) == {"oslo": 1, "paris": 5}


def test_objects_that_have_no_replicas_wait_in_the_same_way() -> None:
    fleet = a_fleet(oslo=1, rome=1, files={"conf": a_config_map("conf")})
    fleet.commit(policy=placed("oslo", "paris")).run()
    assert having(fleet, CONF) == ["oslo", "rome"]
    fleet.run(24 * HOUR)
    assert having(fleet, CONF) == ["oslo", "paris"]


def test_a_placement_with_a_rollout_policy_goes_by_its_waves_after_the_freeze() -> None:
    rollout = a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")])
    fleet = a_fleet(files={"rollout": rollout}, oslo=1, rome=1)
    fleet.commit(policy=placed(oslo=2, paris=1)).run()
    assert numbers(fleet) == {"oslo": 3, "rome": 3}
    assert "the end of the freeze" in fleet.state().next_step
    fleet.unwell = {"oslo"}
    fleet.run(24 * HOUR)
    assert numbers(fleet) == {"oslo": 4, "rome": 3}
    fleet.unwell = set()
    fleet.run()
    assert numbers(fleet) == {"oslo": 4, "paris": 2}


def test_a_placement_in_all_clusters_waits_too() -> None:
    fleet = a_fleet(files={"policy": placed("oslo", "rome")}, oslo=1)
    fleet.commit(policy=a_policy("web", selectors=[WEB, EVERY], placement={})).run()
    assert list(fleet.images()) == ["oslo", "rome"]
    fleet.run(24 * HOUR)
    assert list(fleet.images()) == [*CLUSTERS]


def test_replicas_move_step_by_step_after_a_freeze() -> None:
    frozen = a_fleet_of_moves(rollouts={"freezes": [a_freeze()]})
    fleet = MovingFleet.begun(("oslo", "paris"), argosy=frozen, policy=divided(oslo=1), web=web(1, replicas=6))
    fleet.commit(policy=divided(paris=1))
    fleet.run_until_quiet()
    assert fleet.replicas() == {"oslo": 6}
    fleet.told.clear()
    fleet.run_until_quiet(24 * HOUR)
    assert fleet.told == ["oslo 6, paris 2", "oslo 4, paris 4", "oslo 2, paris 6", "paris 6"]


def test_what_is_held_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet, now = Repository.create(tmp_path / "fleet"), ("--now", "2026-03-01T09:00:00Z")
    names = ("oslo", "paris", "rome")
    fleet.commit(
        {
            **{f"clusters/{name}.yaml": a_cluster(name) for name in names},
            "argosy.yaml": FROZEN,
            "web.yaml": web(1, replicas=6),
            "policy.yaml": placed(oslo=2, rome=1),
        }
    )
    argosy(fleet, capsys, "reconcile", "--bootstrap", *now)
    fleet.commit({"policy.yaml": placed(oslo=1, paris=5)})
    held = "Deployment.apps default/web waits for the end of the freeze (audit) in oslo, paris, rome"
    shown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *now).out
    assert held in shown
    assert "Fleet default holds change" in shown
    assert held in argosy(fleet, capsys, "reconcile", *now).err
    shown = argosy(fleet, capsys, "status").out
    assert "Fleet default holds its placement back; it ends in oslo=1, paris=5\n" in shown
    assert held in shown
    assert held in argosy(fleet, capsys, "explain", "Deployment", "web", "-n", "default", *now).out
    assert held in argosy(fleet, capsys, "rollout", "status", "Fleet default").out
    assert argosy(fleet, capsys, "verify").code == 0


def test_a_freeze_does_not_hold_what_a_rollback_gives_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    before, frozen = ("--now", "2026-03-01T09:00:00Z"), ("--now", "2026-03-02T09:00:00Z")
    policies = [
        a_policy(placement=on_clusters("oslo", "paris", **each, replicaScheduling=DYNAMIC))
        for each in ({}, {"clusterTolerations": [{"key": "a", "operator": "Exists"}]})
    ]
    freeze = a_freeze(until="2026-03-03T00:00:00Z", **{"from": "2026-03-02T00:00:00Z"})
    fleet.commit(
        {
            "argosy.yaml": fleet_file(freeze),
            "oslo.yaml": _sized("oslo", "10"),
            "paris.yaml": _sized("paris", "10"),
            "web.yaml": _requesting(4),
            "policy.yaml": policies[0],
        }
    )
    argosy(fleet, capsys, "render", "--commit", "--bootstrap", *before)
    had = fleet.git("rev-parse", "argosy/rendered")
    fleet.commit({"policy.yaml": policies[1], "oslo.yaml": _sized("oslo", "30"), "again.yaml": _rebalancer("again")})
    argosy(fleet, capsys, "render", "--commit", *before)
    assert sorted(_placed(fleet)) == ["{name: oslo, replicas: 3}", "{name: paris, replicas: 1}"]
    fleet.commit({"policy.yaml": policies[0], "back.yaml": a_request(had)})
    argosy(fleet, capsys, "render", "--commit", *frozen)
    assert sorted(_placed(fleet)) == ["{name: oslo, replicas: 2}", "{name: paris, replicas: 2}"]
    assert argosy(fleet, capsys, "verify").code == 0
