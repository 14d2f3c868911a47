"""Random lives of fleets whose changes move and scale at once, and go back: each cluster has then what it had before.

The judge knows the replicas that stood before the change, and whether the source has asked for others since. Every pass
is rendered again from what it recorded, and with a scope.
"""

from random import Random
from typing import Any

import pytest

from .build import a_cluster, a_policy, on_clusters, weighted
from .rolling import WEB, RollingFleet, a_control, a_rollout_policy, a_wave, web

CLUSTERS = ("berlin", "oslo", "paris", "rome")
WAVES = (a_wave("canary", "oslo", allowEmpty=True), a_wave("rest", allowEmpty=True))


def a_placement(random: Random, *, is_divided: bool) -> dict[str, Any]:
    names = random.sample(CLUSTERS, random.randrange(1, 5))
    scheduling = {"replicaScheduling": weighted(**{name: random.randrange(1, 4) for name in names})}
    return a_policy("web", selectors=[WEB], placement=on_clusters(*names, **(scheduling if is_divided else {})))


class Life:
    """A fleet with what a judge knows of it: what stood before the change, and whether others are asked for since."""

    def __init__(self, random: Random, *, is_divided: bool) -> None:
        self.random, self.is_divided = random, is_divided
        spec: dict[str, Any] = {"onFailure": "Rollback", "rollback": random.choice(("AtOnce", "ReverseWaves"))}
        spec["gate"] = {"healthyFor": "1m", "deadline": "5m"}
        files = {
            "policy": a_placement(random, is_divided=is_divided),
            "rollout": a_rollout_policy(waves=WAVES, **spec),
            "web": web(1, replicas=7),
            **{name: a_cluster(name) for name in CLUSTERS},
        }
        self.fleet = RollingFleet(files)
        self.fleet.run()
        self.stood: dict[str, int] | None = None
        self.is_touched = False
        self.held = 0
        self.completed = "1"

    def numbers(self) -> dict[str, int]:
        return {name: self.fleet.manifest(name)["spec"]["replicas"] for name in self.fleet.images()}

    def is_over(self) -> bool:
        state = self.fleet.state()
        return state is None or state.is_completed

    def happening(self, version: int) -> None:
        """Change the object, its replicas and its placement, together or not, or let clusters be unwell."""
        random, fleet = self.random, self.fleet
        what = random.choice(("image", "image", "pure", "unwell", "abort", "retry"))
        if what == "unwell":
            fleet.unwell = set(random.sample(CLUSTERS, random.randrange(3)))
        elif what in {"abort", "retry"} and not self.is_over():
            name, state = f"{what}{version}", fleet.state()
            at = f"2026-03-02T00:{version:02}:00Z"
            fleet.commit(**{name: a_control(name, state.change, what.capitalize(), at=at)})
        elif what in {"image", "pure"}:
            self.source_changes(version, is_image=what == "image")

    def source_changes(self, version: int, *, is_image: bool) -> None:
        random, fleet = self.random, self.fleet
        before, spec = fleet.files, fleet.files["web"]["spec"]
        image = spec["template"]["spec"]["containers"][0]["image"].removeprefix("web:")
        replicas = random.choice((spec["replicas"], 3, 12))
        policy = random.choice((before["policy"], a_placement(random, is_divided=self.is_divided)))
        if is_image and (self.is_over() or self.is_touched):
            self.stood, self.is_touched = self.numbers(), False
        asked = web(version if is_image else image, replicas=replicas)
        if not is_image and (replicas != spec["replicas"] or policy != before["policy"]):
            self.is_touched = True
        fleet.commit(web=asked, policy=policy)

    def passes(self, seconds: float) -> None:
        self.fleet.run(seconds)
        state = self.fleet.state()
        if state is not None and state.is_held and state.reason != "RollingBack" and not self.is_touched:
            assert self.numbers() == self.stood, state.next_step
            assert set(self.fleet.images().values()) <= {self.completed}
            self.held += 1
        if self.is_over():
            self.stood, self.is_touched = None, False
            self.completed = next(iter(self.fleet.images().values()))


@pytest.mark.parametrize("is_divided", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 5, 7])
def test_a_rollback_gives_back_what_stood_before_the_change(seed: int, *, is_divided: bool) -> None:
    life = Life(Random(f"{seed} {is_divided}"), is_divided=is_divided)
    life.passes(0)
    for version in range(2, 26):
        life.happening(version)
        life.passes(life.random.choice((0, 61, 301)))
    life.fleet.unwell = set()
    life.source_changes(26, is_image=True)
    for _ in range(8):
        life.passes(61)
    assert life.is_over()
    assert life.held, "nothing went back in this life"
