"""Random lives of fleets whose placements change by waves: every pass is made again alike, and nothing is given away.

At no commit do clusters together have fewer replicas than are asked for, and none loses any by a placement before those
that get more have them. Once every cluster is well all have what is decided.
"""

from datetime import timedelta
from random import Random
from typing import Any

import pytest

from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from render.binding import Binding

from .build import a_cluster, a_policy, on_clusters, weighted
from .rolling import WEB, WEB_REF, RollingFleet, a_control, a_rollout_policy, a_wave, web

CLUSTERS = ("berlin", "oslo", "paris", "rome")
JOINING = "vienna"
WAVES = (a_wave("canary", "oslo", allowEmpty=True), a_wave("next", "paris", "rome", maxConcurrent=1, allowEmpty=True))


def a_placement(random: Random, *, is_divided: bool) -> dict[str, Any]:
    names = random.sample((*CLUSTERS, JOINING), random.randrange(1, 5))
    if JOINING in names and len(names) == 1:
        names.append("oslo")
    scheduling = {"replicaScheduling": weighted(**{name: random.randrange(1, 4) for name in names})}
    return a_policy("web", selectors=[WEB], placement=on_clusters(*names, **(scheduling if is_divided else {})))


def something_happens(fleet: RollingFleet, random: Random, version: int, *, is_divided: bool) -> None:
    """Change the placement, the object or its replicas, or let clusters come, go, be unwell or silent."""
    happening = random.choice(("place", "place", "place", "image", "scale", "members", "unwell", "down", "abort"))
    spec, state = fleet.files["web"]["spec"], fleet.state()
    image = spec["template"]["spec"]["containers"][0]["image"].removeprefix("web:")
    files: dict[str, Any] = {
        "place": {"policy": a_placement(random, is_divided=is_divided)},
        "image": {"web": web(version, replicas=spec["replicas"])},
        "scale": {"web": web(image, replicas=random.choice((3, 7, 12)))},
        "members": {JOINING: None if JOINING in fleet.files else a_cluster(JOINING)},
    }
    if happening == "abort" and state is not None and not state.is_completed:
        files["abort"] = {f"stop{version}": a_control(f"stop{version}", fleet.change, "Abort")}
    fleet.commit(**files.get(happening, {}))
    if happening == "unwell":
        fleet.unwell = set(random.sample(CLUSTERS, random.randrange(3)))
    elif happening == "down":
        fleet.down = set(random.sample(CLUSTERS, random.randrange(2)))


def binding_of_web(fleet: RollingFleet) -> Binding:
    assert fleet.previous is not None
    binding = fleet.previous.bindings[WEB_REF]
    assert isinstance(binding, Binding)
    return binding


def check_commit(fleet: RollingFleet, before: Binding, *, is_divided: bool) -> None:
    """Check what a commit gave and took."""
    after = binding_of_web(fleet)
    had = {each.name: each.replicas for each in before.targets}
    have = {each.name: each.replicas for each in after.targets}
    final = {each.name: each.replicas for each in after.final_targets}
    files = {name: fleet.manifest(name)["spec"]["replicas"] for name in fleet.images() if name in fleet.files}
    assert files == {name: number for name, number in have.items() if name in fleet.files}
    if is_divided:
        assert sum(have.values()) >= sum(final.values())
    lost = {name for name in had if have.get(name, 0) < had[name] and name in fleet.files}
    state = fleet.state()
    if not lost or after.replicas != before.replicas or (state and state.is_held):
        return
    splits = after.rollout.splits if after.rollout else ()
    goal = {each.version: {one.name: one.replicas for one in each.targets} for each in splits}
    asked = goal.get(after.rollout.target, final) if after.rollout else final  # others wait for the end of that one
    assert all(have.get(name, -1) >= number for name, number in asked.items()), (had, have, asked)


def passes(fleet: RollingFleet, seconds: float, *, is_divided: bool) -> None:
    """Let time go by, and passes run until one writes nothing."""
    fleet.now += timedelta(seconds=seconds)
    fleet.settle()
    for _ in range(20):
        before = binding_of_web(fleet)
        if not fleet.pass_once():
            return
        check_commit(fleet, before, is_divided=is_divided)
    raise AssertionError(f"passes go on and on: {fleet.told[-5:]}")


@pytest.mark.parametrize("action", ["Supersede", "Wait", "Coalesce"])
@pytest.mark.parametrize("is_divided", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_nothing_is_lost_and_all_is_placed_in_the_end(
    seed: int, action: str, *, is_divided: bool
) -> None:
    random = Random(f"{seed} {action} {is_divided}")
    spec: dict[str, Any] = {"alsoFor": ["Placements"], "onNewChange": action, "gate": {"healthyFor": "1m"}}
    spec |= {"onFailure": "Rollback", "rollback": random.choice(("AtOnce", "ReverseWaves"))}
    files = {
        "policy": a_placement(random, is_divided=is_divided),
        "rollout": a_rollout_policy(waves=WAVES, **spec),
        "web": web(1, replicas=7),
        **{name: a_cluster(name) for name in CLUSTERS},
    }
    fleet = RollingFleet(files)
    fleet.run()
    for version in range(2, 16):
        passes(fleet, random.choice((0, 61)), is_divided=is_divided)
        something_happens(fleet, random, version, is_divided=is_divided)
    fleet.unwell, fleet.down = set(), set()
    fleet.commit(web=web("last", replicas=7))
    for _ in range(24):
        passes(fleet, 61, is_divided=is_divided)
    binding = binding_of_web(fleet)
    assert fleet.previous is not None
    states = rollout_states_of_tree(fleet.previous.tree).values()
    assert [state.next_step for state in states if not state.is_completed] == []
    assert binding.moving is None
    assert binding.rollout is None or binding.rollout.splits == ()
    assert {image for name, image in fleet.images().items() if name in fleet.files} == {"last"}
