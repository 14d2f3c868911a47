"""Passes of a rollout that die before any one of their effects: the next pass goes on as if that had never happened.

``ARGOSY_KILLS`` set to anything has them die before each effect, instead of before every eleventh.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from .killed_effects import dies_before_effect
from .rolling import a_wave, web
from .test_rollouts_members import Members

EVERY = 1 if os.environ.get("ARGOSY_KILLS") else 11
WAVES = [a_wave("canary", "oslo", gate={"healthyFor": "5m", "deadline": "10m"}), a_wave("rest", maxConcurrent=1)]
NAMES = ("oslo", "paris", "rome")


class Turn(Struct, frozen=True):
    """A pass so many seconds after the one before, and what happened meanwhile."""

    seconds: int = 60
    version: int = 0
    unwell: Sequence[str] | None = None

    def begins(self, members: Members) -> None:
        """Let it happen, up to the pass itself."""
        if self.version:
            members.repository.commit({"web.yaml": web(self.version)})
        members.unwell = members.unwell if self.unwell is None else set(self.unwell)
        members.fleet.now += self.seconds
        members.sicken()


STORIES: dict[str, tuple[list[Turn], list[str]]] = {
    "a change that goes out": (
        [Turn(0, 2), Turn(), Turn(240), Turn(), Turn(), Turn(), Turn()],
        ["111", "211", "212", "222", "222"],
    ),
    "a change that is superseded, and one that goes back": (
        [Turn(0, 2), Turn(300), Turn(0, 3, ["oslo"]), Turn(), Turn(600), Turn(unwell=[]), Turn()],
        ["111", "211", "212", "312", "111"],
    ),
}


def outcome(members: Members) -> tuple[str, Any]:
    """All rendered commits there are, and what members have, but for what a server says of its own."""
    live = {name: without_metadata(member.objects) for name, member in members.fleet.members.items()}
    return members.repository.git("rev-list", "argosy/rendered"), live


def without_metadata(objects: dict[Any, dict[str, Any]]) -> Any:
    return {key: {name: value for name, value in each.items() if name != "metadata"} for key, each in objects.items()}


def dies(members: Members, number: int, folder: Path) -> bool:
    """Let a pass die before an effect; one that has fewer comes to its end."""
    return dies_before_effect(number, members.fleet.run, members.fleet.members.values(), folder)


def run_after(members: Members, *, is_dead: bool) -> None:
    """Run the pass that is left to do, if any, and let members settle."""
    if is_dead:
        members.run()
    else:
        members.settle()


@pytest.mark.parametrize(("turns", "commits"), STORIES.values(), ids=STORIES)
def test_a_pass_that_dies_before_any_effect_is_done_again_by_the_next(
    turns: list[Turn], commits: list[str], tmp_path: Path
) -> None:
    members = Members(tmp_path, *NAMES, waves=WAVES, onFailure="Rollback")
    killed = 0
    for number, turn in enumerate(turns):
        turn.begins(members)
        start = members.twin(tmp_path / "start")
        members.run()
        effect, is_dead = 1 + number % EVERY, True
        while is_dead:
            twin = start.twin(tmp_path / "twin")
            is_dead = dies(twin, effect, tmp_path)
            killed += is_dead
            run_after(twin, is_dead=is_dead)
            assert outcome(twin) == outcome(members), f"turn {number}, before effect {effect}"
            shutil.rmtree(twin.repository.path)
            effect += EVERY
        shutil.rmtree(start.repository.path)
    assert members.commits() == commits
    assert killed > 100 // EVERY


@pytest.mark.parametrize(("turns", "commits"), STORIES.values(), ids=STORIES)
def test_passes_that_die_again_and_again_leave_the_same_commits(
    turns: list[Turn], commits: list[str], tmp_path: Path
) -> None:
    """Each pass dies before later and later effects, until there is nothing left that it dies before."""
    members = Members(tmp_path, *NAMES, waves=WAVES, onFailure="Rollback")
    twin = members.twin(tmp_path / "twin")
    for number, turn in enumerate(turns):
        for each in (members, twin):
            turn.begins(each)
        members.run()
        effect = 1 + number % 5
        while dies(twin, effect, tmp_path):
            effect += 9
        twin.settle()
        assert outcome(twin) == outcome(members), f"turn {number}"
    assert twin.commits() == commits
