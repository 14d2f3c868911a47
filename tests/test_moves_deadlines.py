"""Deadlines of moves that go step by step: a move without a step for too long is a problem, and takes nothing away."""

from pathlib import Path
from typing import Any

import pytest

from reconciler.pipeline.readme import binding_state
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.timing import instant_text

from .build import Repository, a_cluster, a_policy, argosy, as_bytes, on_clusters, weighted
from .moving import MovingFleet, a_fleet_of_moves, divided, duplicated, web
from .rolling import BEGIN, WEB, WEB_REF, a_rollout_policy
from .sources import source_of
from .tables import each_row

MINUTE = 60
STOPPED = "its deadline has passed without a step, and nothing is taken away"


def a_fleet(deadline: str | None = "30m", **files: Any) -> MovingFleet:
    """A fleet with web in oslo, of which nothing gets ready in paris."""
    spec = {} if deadline is None else {"moveDeadline": deadline}
    rest = {"argosy": a_fleet_of_moves(**spec), "policy": divided(oslo=1), "web": web(6), **files}
    fleet = MovingFleet.begun(("oslo", "paris", "rome"), **rest)
    fleet.most = {"paris": 0}
    return fleet


def begin_to_move(fleet: MovingFleet, policy: Any = None) -> MovingFleet:
    """Have it move to paris, as far as that goes."""
    fleet.commit(policy=policy or divided(paris=1))
    fleet.run_until_quiet()
    return fleet


def binding_of_web(fleet: MovingFleet) -> Any:
    assert fleet.previous is not None
    return fleet.previous.bindings[WEB_REF]


def flip(fleet: MovingFleet) -> str:
    assert fleet.latest is not None
    found = fleet.latest.built.flip
    return "" if found is None else instant_text(found.at)


def test_a_move_without_a_step_for_too_long_is_a_problem_and_takes_nothing_away() -> None:
    fleet = begin_to_move(a_fleet())
    assert fleet.replicas() == {"oslo": 6, "paris": 2}
    since = binding_of_web(fleet).moving.since
    assert since > instant_text(BEGIN)
    fleet.run_until_quiet(29 * MINUTE)
    assert (binding_of_web(fleet).moving.since, STOPPED in fleet.note()) == (since, False)
    commits = len(fleet.told)
    fleet.run_until_quiet(2 * MINUTE)
    assert len(fleet.told) == commits + 1
    assert STOPPED in fleet.note()
    assert binding_state(binding_of_web(fleet)) == "MoveStopped"
    assert fleet.replicas() == {"oslo": 6, "paris": 2}
    assert flip(fleet) == ""
    fleet.run_until_quiet(600 * MINUTE)
    assert len(fleet.told) == commits + 1, "nothing is written while it stays so"


def test_the_controller_looks_again_when_the_deadline_passes() -> None:
    fleet = begin_to_move(a_fleet())
    fleet.pass_once()
    before = binding_of_web(fleet).moving.since
    assert flip(fleet)[:13] == before[:13]
    assert flip(fleet) > before


def test_a_move_that_has_stopped_goes_on_once_its_successors_are_ready() -> None:
    fleet = begin_to_move(a_fleet())
    fleet.run_until_quiet(31 * MINUTE)
    fleet.most = {}
    for _ in range(2):
        fleet.run_until_quiet(1)
    assert (fleet.replicas(), fleet.note()) == ({"paris": 6}, "")
    assert binding_state(binding_of_web(fleet)) == "Success"


def test_each_step_has_the_whole_time() -> None:
    fleet = begin_to_move(a_fleet())
    fleet.run_until_quiet(20 * MINUTE)
    fleet.most = {"paris": 2}
    for _ in range(2):
        fleet.run_until_quiet(1)
    assert fleet.replicas() == {"oslo": 4, "paris": 4}
    fleet.run_until_quiet(20 * MINUTE)
    assert STOPPED not in fleet.note()
    fleet.run_until_quiet(11 * MINUTE)
    assert STOPPED in fleet.note()


def test_without_a_deadline_a_move_waits_for_ever_and_records_no_time() -> None:
    fleet = begin_to_move(a_fleet(None))
    fleet.run_until_quiet(6000 * MINUTE)
    assert (binding_of_web(fleet).moving.since, STOPPED in fleet.note(), flip(fleet)) == ("", False, "")


def test_a_deadline_that_is_set_later_begins_then() -> None:
    fleet = begin_to_move(a_fleet(None))
    fleet.run_until_quiet(60 * MINUTE)
    fleet.commit(argosy=a_fleet_of_moves(moveDeadline="30m"))
    fleet.run_until_quiet(1)
    assert STOPPED not in fleet.note()
    fleet.run_until_quiet(31 * MINUTE)
    assert STOPPED in fleet.note()
    fleet.commit(argosy=a_fleet_of_moves())
    fleet.run_until_quiet(1)
    assert STOPPED not in fleet.note()


def test_a_rollout_policy_has_a_deadline_of_its_own() -> None:
    fleet = begin_to_move(a_fleet(None, rollout=a_rollout_policy(moveDeadline="10m")))
    fleet.run_until_quiet(11 * MINUTE)
    assert STOPPED in fleet.note()


def test_whole_copies_have_a_deadline_too() -> None:
    fleet = begin_to_move(a_fleet(policy=duplicated("oslo")), duplicated("paris"))
    assert fleet.replicas() == {"oslo": 6, "paris": 6}
    commits = len(fleet.told)
    fleet.run_until_quiet(29 * MINUTE)
    assert len(fleet.told) == commits
    fleet.run_until_quiet(2 * MINUTE)
    assert STOPPED in fleet.note()
    assert fleet.replicas() == {"oslo": 6, "paris": 6}


FAULTS = (
    ("no time", "soon", "is no time in whole seconds"),
    ("half a second", "0.5s", "is no time in whole seconds"),
    ("no time at all", "0s", "is over before any replica can be ready"),
)


@each_row("why, text, fault", FAULTS)
def test_a_deadline_that_is_none_is_a_problem(why: str, text: str, fault: str) -> None:
    for name, content in (
        ("argosy.yaml", a_fleet_of_moves(moveDeadline=text)),
        ("rollout.yaml", a_rollout_policy(waves=[], moveDeadline=text)),
    ):
        source = source_of({name: as_bytes(content).decode()})
        problems = [str(each) for each in load_source(source.files, SourceReading(source.read)).problems]
        found = [each for each in problems if "spec.moveDeadline" in each]
        assert found, (why, problems)
        assert name == "rollout.yaml" or fault in found[0]


def test_what_has_stopped_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    placements = [
        a_policy("web", selectors=[WEB], placement=on_clusters(name, replicaScheduling=weighted(**{name: 1})))
        for name in ("oslo", "paris")
    ]
    fleet.commit(
        {
            "argosy.yaml": a_fleet_of_moves(moveDeadline="30m"),
            **{f"{name}.yaml": a_cluster(name) for name in ("oslo", "paris")},
            "web.yaml": web(6),
            "policy.yaml": placements[0],
        }
    )
    argosy(fleet, capsys, "render", "--commit", "--bootstrap", "--now", "2026-03-01T09:00:00Z")
    fleet.commit({"policy.yaml": placements[1]})
    said = argosy(fleet, capsys, "render", "--commit", "--now", "2026-03-01T09:10:00Z").err
    assert "moves step by step, and waits for paris" in said
    assert "MoveStopped" not in argosy(fleet, capsys, "status").out
    said = argosy(fleet, capsys, "render", "--commit", "--now", "2026-03-01T09:41:00Z").err
    assert "Deployment.apps default/web has stopped on its way, and waits for paris" in said
    shown = argosy(fleet, capsys, "status").out
    assert "Deployment.apps default/web   MoveStopped   moves step by step: " in shown
    assert STOPPED in shown
    now = ("--now", "2026-03-01T09:42:00Z")
    assert STOPPED in argosy(fleet, capsys, "explain", "Deployment", "web", "-n", "default", *now).out
    for revision in ("argosy/rendered", "argosy/rendered~1"):
        assert argosy(fleet, capsys, "verify", revision).code == 0
