"""The emergency lane: a change that no freeze holds up, and the second person who confirms it afterwards."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec import Struct

from reconciler.pipeline.rollouts.emergency_files import emergencies_of_tree

from .build import Repository, a_cluster, a_policy, argosy, on_clusters
from .rolling import BEGIN, WEB, RollingFleet, a_control, a_rollout_policy, a_wave, web
from .test_rollouts_frozen import a_freeze, a_frozen_fleet, fleet_file

ALICE, BOB = "alice@example.com", "bob@example.com"
FLEET = {"kind": "Fleet", "name": "default"}
HOUR = 3600


def an_emergency(name: str, change: str, verb: str = "Emergency", **more: Any) -> dict[str, Any]:
    """A control about what the calendar of argosy.yaml holds back."""
    return a_control(name, change, verb, rollout=FLEET, reason="orders are lost", **more)


def unconfirmed(fleet: RollingFleet) -> list[str]:
    assert fleet.previous is not None
    return [each.name for each in emergencies_of_tree(fleet.previous.tree)]


def test_an_emergency_lets_out_the_change_that_it_is_about_and_no_other() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze()))
    assert fleet.commit(web=web(2)).run() == ["1111 Waiting"]
    assert fleet.commit(now=an_emergency("now", fleet.change)).run() == ["2222"]
    assert fleet.commit(web=web(3)).run() == ["2222 Waiting"]
    assert unconfirmed(fleet) == ["now"]


def test_an_emergency_lifts_the_freezes_of_a_policy_and_leaves_its_waves() -> None:
    frozen = {"freezes": [{"until": "2026-03-02T00:00:00Z", "reason": "audit"}]}
    waves = [a_wave("canary", "oslo"), a_wave("rest", approval=True)]
    fleet = RollingFleet.of(("oslo", "paris"), {"argosy": fleet_file(a_freeze())}, waves=waves, **frozen)
    assert fleet.commit(web=web(2)).run() == ["11 Waiting"]
    lifted = a_control("now", fleet.change, "Emergency", reason="orders are lost")
    assert fleet.commit(now=lifted).run() == ["21 Progressing", "21 Waiting"]
    assert fleet.state().reason == "ApprovalMissing"


class Row(Struct, kw_only=True):
    why: str
    signers: dict[str, str]
    left: list[str]


CONFIRMATIONS = (
    Row(why="another person confirms it", signers={"now": ALICE, "then": BOB}, left=[]),
    Row(why="the same person is no second one", signers={"now": ALICE, "then": ALICE}, left=["now"]),
    Row(why="nobody knows the second one", signers={"now": ALICE}, left=["now"]),
    Row(why="nobody knows the first one", signers={"then": BOB}, left=["now"]),
)


@pytest.mark.parametrize("row", CONFIRMATIONS, ids=lambda row: row.why)
def test_confirmations(row: Row) -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze()))
    fleet.signers = row.signers
    fleet.commit(web=web(2)).run()
    change = fleet.change
    fleet.commit(now=an_emergency("now", change)).run()
    assert unconfirmed(fleet) == ["now"]
    fleet.commit(then=an_emergency("then", change, "Confirm")).run()
    assert unconfirmed(fleet) == row.left


def test_an_emergency_is_kept_until_it_is_confirmed_though_its_control_is_gone() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze()))
    fleet.signers = {"now": ALICE, "then": BOB}
    fleet.commit(web=web(2)).run()
    change = fleet.change
    fleet.commit(now=an_emergency("now", change)).run()
    fleet.commit(now=None, web=web(1)).run()
    assert unconfirmed(fleet) == ["now"]
    fleet.commit(then=an_emergency("then", change, "Confirm")).run()
    assert unconfirmed(fleet) == []


def test_an_emergency_of_no_change_is_none() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze()))
    fleet.commit(web=web(2), now=an_emergency("now", "0" * 16)).run()
    assert (fleet.images()["oslo"], unconfirmed(fleet)) == ("1", [])


def test_each_pass_names_an_emergency_and_says_when_nobody_confirmed_it() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze(until="2026-04-01T00:00:00Z")))
    fleet.signers = {"now": ALICE}
    fleet.commit(web=web(2)).run()
    change = fleet.change
    fleet.commit(now=an_emergency("now", change)).run()
    begin = f"Fleet default: emergency now lets change {change} out (orders are lost), by {ALICE}"
    assert fleet.last is not None
    assert fleet.last.built.rolled.lines == (
        f"{begin}: a second person confirms it until 2026-03-02T00:00:00Z: argosy rollout confirm default",
    )
    assert fleet.last.built.flip is not None
    assert fleet.last.built.flip.at == BEGIN + timedelta(hours=24)
    assert fleet.run(24 * HOUR) == []
    assert fleet.previous is not None
    (late,) = emergencies_of_tree(fleet.previous.tree)
    assert late.words(24 * HOUR, fleet.now) == (
        f"{begin}: NOBODY HAS CONFIRMED IT since 2026-03-02T00:00:00Z: argosy rollout confirm default"
    )


def test_people_let_a_change_out_and_confirm_it(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    repository, now = Repository.create(tmp_path / "fleet"), ("--now", "2026-03-01T09:00:00Z")
    repository.commit(
        {
            "argosy.yaml": fleet_file(a_freeze(until="2126-03-02T00:00:00Z")),
            **{f"clusters/{name}.yaml": a_cluster(name) for name in ("oslo", "paris")},
            "web.yaml": web(1),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=on_clusters()),
            "rollout.yaml": a_rollout_policy(selectors=[{"apiVersion": "v1", "kind": "Secret"}]),
        }
    )
    argosy(repository, capsys, "reconcile", "--bootstrap", *now)
    repository.commit({"web.yaml": web(2)})
    argosy(repository, capsys, "reconcile", *now)
    assert argosy(repository, capsys, "rollout", "emergency", "default").err == (
        "argosy: an emergency needs a reason\n  hint: say with --reason why it cannot wait\n"
    )
    asked = argosy(repository, capsys, "rollout", "emergency", "default", "--reason", "orders", "--commit")
    assert (asked.code, "is let out in an emergency" in asked.out) == (0, True)
    argosy(repository, capsys, "reconcile", *now)
    assert "image: web:2" in repository.show("clusters/oslo/default/Deployment.apps/web.yaml")
    late = argosy(repository, capsys, "rollout", "status")
    assert (late.code, "NOBODY HAS CONFIRMED IT since 2026-03-02T09:00:00Z" in late.out) == (1, True)
    assert "NOBODY HAS CONFIRMED IT" in argosy(repository, capsys, "status").out
    assert argosy(repository, capsys, "rollout", "confirm", "--commit").code == 0
    assert argosy(repository, capsys, "verify").code == 0
