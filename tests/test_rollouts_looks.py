"""Passes that come rarely, by whole runs of ``argosy reconcile``: clusters are looked at before a gate opens."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from render.timing import instant_text

from .rolling import a_rollout_policy, a_wave, web
from .served_rollouts import NAMES, ServedRollouts, served_rollouts
from .test_rollouts_members import sicken

GATE = {"healthyFor": "5m", "maxStatusAge": "5m"}
WAVES = [a_wave("canary", "oslo"), a_wave("rest")]


class RarePasses:
    """A fleet of whose passes one comes every half hour by its clock."""

    def __init__(self, fleet: ServedRollouts) -> None:
        self.fleet = fleet
        self.now = datetime.now(UTC).replace(microsecond=0)

    def run(self, minutes: float = 30.0, *words: str) -> tuple[str, str]:
        """One pass so many minutes later: what is rendered for members then, and the phase of the rollout."""
        self.now += timedelta(minutes=minutes)
        ended = self.fleet.run("--now", instant_text(self.now), *words)
        assert ended.code == 0, ended
        self.said = ended.out + ended.err
        return self.fleet.rendered(), str(self.fleet.state()["phase"])

    def release(self, version: int) -> None:
        """Commit a version, have oslo get it, and let two passes see it well there."""
        self.fleet.repository.commit({"web.yaml": web(version)})
        assert self.run(0)[0] == f"{version}11"
        self.fleet.settle()
        assert self.run(0)[0] == f"{version}11"

    @property
    def looks(self) -> Path:
        """The file in which this machine keeps when it looked last."""
        return self.fleet.repository.path / ".git" / "argosy" / "looks.json"

    def next_step(self) -> str:
        return str(self.fleet.state()["nextStep"])


@pytest.fixture
def rare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[RarePasses]:
    with served_rollouts(tmp_path, capsys) as fleet:
        fleet.begin(waves=WAVES, gate=GATE)
        yield RarePasses(fleet)


def test_a_member_that_broke_after_the_last_look_keeps_its_gate_shut(rare: RarePasses) -> None:
    rare.release(2)
    sicken(rare.fleet.members["oslo"])
    assert rare.run() == ("211", "Progressing")
    assert "looking at oslo first" in rare.said
    assert rare.run() == ("211", "Progressing")
    rare.fleet.settle()
    assert rare.run() == ("222", "Progressing")
    assert "differs" not in rare.fleet.verify()


def test_one_that_is_still_well_opens_it_in_the_same_pass(rare: RarePasses) -> None:
    rare.release(2)
    assert rare.run() == ("222", "Progressing")
    rare.fleet.settle()
    assert rare.run(0) == ("222", "Progressing")
    assert rare.run() == ("222", "Completed")
    assert "differs" not in rare.fleet.verify()


def test_without_the_field_no_look_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served_rollouts(tmp_path, capsys) as fleet:
        fleet.begin(waves=WAVES, gate={"healthyFor": "5m"})
        rare = RarePasses(fleet)
        rare.release(2)
        sicken(fleet.members["oslo"])
        assert rare.run() == ("222", "Progressing")
        assert "first" not in rare.said
        assert not rare.looks.exists()


def test_a_machine_that_has_lost_what_it_knew_looks_again(rare: RarePasses) -> None:
    rare.release(2)
    sicken(rare.fleet.members["oslo"])
    rare.looks.unlink()
    assert rare.run(5) == ("211", "Progressing")
    assert "looking at oslo first" in rare.said


def test_a_look_that_finds_everything_as_it_was_commits_nothing(rare: RarePasses) -> None:
    rare.release(2)
    sicken(rare.fleet.members["oslo"])
    rare.run()
    before = [rare.fleet.repository.git("rev-parse", f"argosy/{name}") for name in ("rendered", "status")]
    known = json.loads(rare.looks.read_text())
    for _ in range(2):
        rare.run()
    assert [rare.fleet.repository.git("rev-parse", f"argosy/{name}") for name in ("rendered", "status")] == before
    assert json.loads(rare.looks.read_text()) != known, "and the time of the look is known"


def test_a_pass_over_a_fleet_at_rest_is_a_look(rare: RarePasses) -> None:
    """It asks members for digests alone, and is over where these are as before."""
    rare.fleet.repository.commit({"web.yaml": web(2)})
    sicken(rare.fleet.members["oslo"])
    for _ in range(4):
        rare.run(0)
    known = rare.looks.read_text()
    for _ in range(3):
        assert rare.run(4) == ("211", "Progressing")
        assert "looking at" not in rare.said
        assert rare.looks.read_text() != known
        known = rare.looks.read_text()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"branches": {"argosy/status": {"times": 3}}}', "\0"])
def test_a_damaged_record_of_looks_is_none(rare: RarePasses, content: str) -> None:
    rare.release(2)
    sicken(rare.fleet.members["oslo"])
    rare.looks.write_text(content)
    assert rare.run(5) == ("211", "Progressing")
    assert "looking at oslo first" in rare.said


def test_what_cannot_be_looked_at_is_too_old_by_value(rare: RarePasses) -> None:
    """A pass over another member alone does not reach oslo."""
    rare.release(2)
    for _ in range(2):
        assert rare.run(30, "--cluster", "rome") == ("211", "Waiting")
    assert rare.next_step() == "waits for a look at oslo: the last one is too old for the gate"
    assert "differs" not in rare.fleet.verify()
    status = json.loads(rare.fleet.rollout("status", "web", "-o", "json").out)
    oslo: Any = next(each for each in status["clusters"] if each["cluster"] == "oslo")
    assert (oslo["state"], oslo["statusTooOld"]) == ("underWay", True)
    assert "under way (status too old)" in rare.fleet.rollout("status", "web").out
    assert rare.run() == ("222", "Progressing")


def test_another_record_of_health_than_the_one_that_looks_led_to_is_of_unknown_age(rare: RarePasses) -> None:
    rare.release(2)
    rare.fleet.repository.git("update-ref", "refs/heads/argosy/status", "argosy/status~1")
    sicken(rare.fleet.members["oslo"])
    assert rare.run(5) == ("211", "Progressing")


def test_a_clock_that_was_ahead_has_seen_nothing(rare: RarePasses) -> None:
    rare.release(2)
    known = json.loads(rare.looks.read_text())
    for branch in known["branches"].values():
        branch["times"] = dict.fromkeys(NAMES, instant_text(rare.now + timedelta(days=1)))
    rare.looks.write_text(json.dumps(known))
    sicken(rare.fleet.members["oslo"])
    assert rare.run(5) == ("211", "Progressing")
    assert "looking at oslo first" in rare.said


def test_a_plan_asks_for_looks_whose_policy_was_edited_meanwhile(rare: RarePasses) -> None:
    rare.release(2)
    rare.fleet.repository.commit({"rollout.yaml": a_rollout_policy(waves=WAVES, gate={"healthyFor": "5m"})})
    sicken(rare.fleet.members["oslo"])
    assert rare.run() == ("211", "Progressing")
    assert "looking at oslo first" in rare.said


def test_a_look_comes_first_while_the_newest_source_is_refused(rare: RarePasses) -> None:
    rare.release(2)
    sicken(rare.fleet.members["oslo"])
    broken = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy"}
    rare.fleet.repository.commit({"broken.yaml": broken})
    rare.now += timedelta(minutes=30)
    assert rare.fleet.run("--now", instant_text(rare.now)).code == 3
    assert rare.fleet.rendered() == "211"


def test_a_look_that_comes_first_takes_no_other_look_away(rare: RarePasses) -> None:
    """The look changes what is recorded, and so does what the same pass applies afterwards."""
    rare.release(2)
    others = json.loads(rare.looks.read_text())["branches"]["argosy/status"]["times"]
    sicken(rare.fleet.members["oslo"])
    rare.fleet.repository.commit({"web.yaml": web(3)})
    rare.run(30, "--cluster", "oslo")
    assert "looking at oslo first" in rare.said
    known = json.loads(rare.looks.read_text())["branches"]["argosy/status"]["times"]
    assert known.pop("oslo") == instant_text(rare.now)
    assert known == {name: at for name, at in others.items() if name != "oslo"} != {}
