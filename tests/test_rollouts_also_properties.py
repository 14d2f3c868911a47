"""Random lives of fleets in which objects come, change and go by waves and in groups: every pass is made again alike.

Whatever happened, once every cluster is well and nobody changes anything, all have the newest and nothing else.
"""

from random import Random
from typing import Any

import pytest

from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from render.model import ObjectRef

from .build import a_cluster, a_config_map, a_deployment, a_policy, on_clusters
from .rolling import RollingFleet, a_rollout_policy, a_wave

CLUSTERS = ("oslo", "paris", "rome")
JOINING = "berlin"
NAMES = ("api", "web")
SELECTED = ({"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"})
WAVES = (a_wave("canary", "oslo", allowEmpty=True), a_wave("rest", maxConcurrent=1))
CONF = ObjectRef("", "ConfigMap", "default", "conf")


def deployment(name: str, version: int, random: Random) -> dict[str, Any]:
    found = a_deployment(name, image=f"{name}:{version}", replicas=random.choice((2, 4)))
    if random.random() < 0.5:
        found["spec"]["template"]["spec"]["volumes"] = [{"name": "conf", "configMap": {"name": "conf"}}]
    return found


def something_happens(fleet: RollingFleet, random: Random, version: int) -> None:
    """Change, add or remove objects and clusters, or let clusters be unwell or silent."""
    name = random.choice(NAMES)
    happening = random.choice(("change", "change", "remove", "conf", "join", "leave", "unwell", "down", "time"))
    if happening == "change":
        fleet.commit(**{name: deployment(name, version, random)})
    elif happening == "remove":
        fleet.commit(**{random.choice((*NAMES, "conf")): None})
    elif happening == "conf":
        fleet.commit(conf=a_config_map("conf", v=str(version)))
    elif happening == "join":
        fleet.commit(**{JOINING: a_cluster(JOINING)})
    elif happening == "leave":
        fleet.commit(**{JOINING: None})
    elif happening == "unwell":
        fleet.unwell = set(random.sample(CLUSTERS, random.randrange(3)))
    elif happening == "down":
        fleet.down = set(random.sample(CLUSTERS, random.randrange(2)))
    else:
        fleet.run(seconds=120)


def held_of(fleet: RollingFleet, cluster: str) -> dict[str, Any]:
    """The versions of the objects that a cluster has, by the names of their files."""
    assert fleet.previous is not None
    found = {}
    for name in (*NAMES, "conf"):
        ref = CONF if name == "conf" else ObjectRef("apps", "Deployment", "default", name)
        manifest = fleet.manifest(cluster, ref) if cluster in fleet.previous.tree.clusters else None
        if manifest is not None:
            found[name] = manifest.get("data") or manifest["spec"]
    return found


@pytest.mark.parametrize("action", ["Supersede", "Wait", "Coalesce"])
@pytest.mark.parametrize("by", ["Change", "Object"])
@pytest.mark.parametrize("seed", range(1))
def test_whatever_happens_all_clusters_come_to_the_newest(seed: int, by: str, action: str) -> None:
    random = Random(f"{seed} {by} {action}")
    also = random.choice((["FirstDeliveries", "Removals"], ["FirstDeliveries"], ["Removals"]))
    spec: dict[str, Any] = {"alsoFor": also, "group": {"by": by}, "onNewChange": action, "gate": {"healthyFor": "1m"}}
    placed = a_policy("web", selectors=SELECTED, placement=on_clusters())
    files = {
        "policy": placed,
        "rollout": a_rollout_policy(selectors=SELECTED, waves=WAVES, **spec),
        **{name: deployment(name, 1, random) for name in NAMES},
        "conf": a_config_map("conf", v="1"),
        **{name: a_cluster(name) for name in CLUSTERS},
    }
    fleet = RollingFleet(files)
    for version in range(2, 12):
        fleet.run(seconds=random.choice((0, 61)))
        something_happens(fleet, random, version)
    fleet.unwell, fleet.down = set(), set()
    for _ in range(24):
        fleet.run(seconds=61)
    wanted = {
        name: fleet.files[name].get("data") or fleet.files[name]["spec"]
        for name in (*NAMES, "conf")
        if name in fleet.files
    }
    members = [name for name in (*CLUSTERS, JOINING) if name in fleet.files]
    for cluster in members:
        found = held_of(fleet, cluster)
        assert found.keys() == wanted.keys(), cluster
        for name, spec_there in found.items():
            images = [each["image"] for each in spec_there["template"]["spec"]["containers"]] if name != "conf" else []
            asked = [each["image"] for each in wanted[name]["template"]["spec"]["containers"]] if images else []
            assert (images, spec_there if name == "conf" else None) == (asked, wanted[name] if name == "conf" else None)
    assert fleet.previous is not None
    states = rollout_states_of_tree(fleet.previous.tree).values()
    assert [state.next_step for state in states if not state.is_completed] == []
