"""Moves step by step over whole passes of fleets that change at random.

Each commit is compared with what was healthy before it, made again from what it records, and rendered with a scope
(``tests.moving``). Once everything is well again, every move ends.
"""

from random import Random
from typing import Any

import pytest

from .build import a_cluster
from .moving import MovingFleet, a_fleet_of_moves, divided, duplicated, web
from .rolling import WEB_REF, a_rollout_policy, a_wave

NAMES = ("oslo", "paris", "quito", "rome")
DRAINED = {"taints": [{"key": "drained", "effect": "NoExecute"}]}


class RandomFleet:
    """A fleet to which something happens before each pass."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        settings: dict[str, Any] = {
            "surge": self.chance.choice([0, 1, 2, "25%", "100%"]),
            "maxUnavailable": self.chance.choice([0, 0, 1, 2, "25%"]),
        }
        if self.chance.random() < 0.5:
            settings["featureGates"] = {"Failover": True}
        rollout = a_rollout_policy(waves=[a_wave("canary", "rome"), a_wave("rest")])
        files = {"argosy": a_fleet_of_moves(**settings), "policy": self.a_policy(), "web": web(self.a_number())}
        more = {"rollout": rollout} if self.chance.random() < 0.3 else {}
        self.fleet = MovingFleet.begun(NAMES, **files, **more)

    def a_number(self) -> int:
        return self.chance.randint(1, 12)

    def a_policy(self) -> dict[str, Any]:
        names = self.chance.sample(NAMES, self.chance.randint(1, len(NAMES)))
        if self.chance.random() < 0.2:
            return duplicated(*names)
        return divided(**{name: self.chance.randint(1, 3) for name in names})

    def happen(self) -> None:
        """Let something happen."""
        fleet, name = self.fleet, self.chance.choice(NAMES)
        match self.chance.randrange(8):
            case 0 | 1:
                fleet.commit(policy=self.a_policy())
            case 2:
                fleet.commit(web=web(self.a_number(), self.chance.randint(1, 3)))
            case 3:
                fleet.most[name] = self.chance.randint(0, 6)
            case 4:
                fleet.most.pop(name, None)
            case 5:
                (fleet.sick if self.chance.random() < 0.5 else fleet.down).add(name)
            case 6:
                fleet.sick.discard(name)
                fleet.down.discard(name)
            case _:
                drained: dict[str, Any] = DRAINED if self.chance.random() < 0.3 else {}
                fleet.commit(**{name: a_cluster(name, **drained)})


@pytest.mark.parametrize("seed", range(12))
def test_no_commit_takes_health_that_is_needed_and_every_move_ends(seed: int) -> None:
    told = RandomFleet(seed)
    for _ in range(25):
        told.happen()
        told.fleet.pass_once()
    told.fleet.most, told.fleet.sick, told.fleet.down = {}, set(), set()
    told.fleet.commit(**{name: a_cluster(name) for name in NAMES})
    for _ in range(5):
        told.fleet.run_until_quiet(900)
    assert told.fleet.previous is not None
    binding = told.fleet.previous.bindings[WEB_REF]
    assert (binding.moving, told.fleet.note()) == (None, "")
    assert told.fleet.replicas() == {each.name: each.replicas for each in binding.targets}
