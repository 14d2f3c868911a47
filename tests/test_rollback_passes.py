"""A rollback carried out by whole passes: killed before any effect, with rollouts and moves, and on real servers."""

import copy
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from .clusters import Member, members_of_a_fleet
from .killed_effects import dies_before_effect
from .memory_fleet import MemoryFleet, settle
from .rolling import WEB, a_rollout_policy, a_wave, web
from .test_rebalance import DYNAMIC
from .test_rollback import shares
from .test_rollouts_kills import without_metadata

EVERY = 1 if os.environ.get("ARGOSY_KILLS") else 7
NAMES = ("oslo", "paris", "rome")
NODES = (1, {"cpu": "16", "memory": "64Gi", "pods": "110"})
BINDING = "bindings/default/Deployment.apps/web.yaml"


def sized(version: int, replicas: int) -> dict[str, Any]:
    """The Deployment web in a version that its image shows, of pods that ask for a CPU."""
    made = a_deployment("web", image=f"web:{version}", replicas=replicas)
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    return made


def placed_on(*names: str) -> dict[str, Any]:
    return a_policy("web", selectors=[WEB], placement=on_clusters(*names, replicaScheduling=DYNAMIC))


def a_fleet_that_moved(folder: Path) -> MemoryFleet:
    """Web was divided over oslo and paris, is in rome with another image, and oslo has got larger since."""
    fleet = MemoryFleet.create(
        folder, dict.fromkeys(NAMES, NODES), {"web.yaml": sized(1, 6), "policy.yaml": placed_on("oslo", "paris")}
    )
    run(fleet)
    fleet.repository.commit({"web.yaml": sized(2, 6), "policy.yaml": placed_on("rome")}, "Move")
    run(fleet)
    assert shares(fleet.repository, BINDING) == {"rome": 6}
    return fleet


def run(fleet: MemoryFleet, seconds: float = 60.0) -> None:
    """One pass, after which members do what they are told."""
    fleet.run(seconds)
    for member in fleet.members.values():
        settle(member)


def twin_of(fleet: MemoryFleet, folder: Path) -> MemoryFleet:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(fleet.repository.path, folder)
    return MemoryFleet(Repository(folder), copy.deepcopy(fleet.members), now=fleet.now)


def live(fleet: MemoryFleet) -> Any:
    """Return the objects of members, but for the lease of who deletes, which has the time of this machine."""
    objects = {name: without_metadata(member.objects) for name, member in fleet.members.items()}
    return {
        name: {key: each for key, each in found.items() if not key[0].startswith("leases.")}
        for name, found in objects.items()
    }


def images(fleet: MemoryFleet) -> dict[str, tuple[str, int]]:
    """Return the image and the replicas of web in each member that has it."""
    found = {}
    for name, member in fleet.members.items():
        for (plural, _, object_name), each in member.objects.items():
            if (plural, object_name) == ("deployments.apps", "web"):
                container = each["spec"]["template"]["spec"]["containers"][0]
                found[name] = (container["image"], each["spec"]["replicas"])
    return found


def test_a_pass_that_dies_before_any_effect_is_done_again_by_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_fleet_that_moved(tmp_path / "fleet")
    assert argosy(fleet.repository, capsys, "rollback", "--commit").code == 0
    start = twin_of(fleet, tmp_path / "start")
    run(fleet)
    assert images(fleet) == {"oslo": ("web:1", 3), "paris": ("web:1", 3)}
    tip = fleet.repository.git("rev-parse", "argosy/rendered")
    effect, killed, is_dead = 1, 0, True
    while is_dead:
        twin = twin_of(start, tmp_path / "twin")
        twin.now += 60
        is_dead = dies_before_effect(effect, twin.run, twin.members.values(), tmp_path)
        killed += is_dead
        if is_dead:
            twin.run()
        for member in twin.members.values():
            settle(member)
        assert twin.repository.git("rev-parse", "argosy/rendered") == tip, f"before effect {effect}"
        assert live(twin) == live(fleet), f"before effect {effect}"
        effect += EVERY
    assert killed > 20 // EVERY
    run(fleet)
    assert fleet.repository.git("rev-parse", "argosy/rendered") == tip
    assert argosy(fleet.repository, capsys, "verify", "argosy/rendered").code == 0


def test_bytes_go_back_wave_by_wave_and_numbers_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rollout policy holds back changes of bytes, and a split is none."""
    waves = [a_wave("canary", "oslo", gate={"healthyFor": "5m"}), a_wave("rest")]
    files = {
        "web.yaml": sized(1, 6),
        "policy.yaml": placed_on("oslo", "paris"),
        "rollout.yaml": a_rollout_policy(waves=waves),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", dict.fromkeys(("oslo", "paris"), NODES), files)
    run(fleet)
    run(fleet, 600)
    assert images(fleet) == {"oslo": ("web:1", 3), "paris": ("web:1", 3)}
    taint = a_cluster("paris", taints=[{"key": "broken", "effect": "NoExecute"}])
    fleet.repository.commit({"web.yaml": sized(2, 6), "clusters/paris.yaml": taint}, "Leave paris")
    for _ in range(4):
        run(fleet, 600)
    fleet.repository.commit({"clusters/paris.yaml": a_cluster("paris", syncMode="Push")}, "Paris is back")
    run(fleet, 600)
    assert images(fleet) == {"oslo": ("web:2", 6)}
    to = fleet.repository.git("log", "--format=%H", "--reverse", "argosy/rendered").split()[0]
    assert argosy(fleet.repository, capsys, "rollback", "deploy/web", "--to", to, "--commit").code == 0
    run(fleet)
    assert images(fleet) == {"oslo": ("web:1", 3), "paris": ("web:2", 3)}
    for _ in range(3):
        run(fleet, 600)
    assert images(fleet) == {"oslo": ("web:1", 3), "paris": ("web:1", 3)}
    assert argosy(fleet.repository, capsys, "verify", "argosy/rendered").code == 0


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[dict[str, Member], Path]]:
    """Three API servers, and a folder with their kubeconfigs."""
    with members_of_a_fleet(NAMES) as (members, folder):
        yield {member.name: member for member in members}, folder / "kubeconfigs"


@pytest.mark.cluster
def test_servers_have_again_what_they_had(
    servers: tuple[dict[str, Member], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A drain that is taken back leaves replicas where they went; a rollback does not."""
    members, kubeconfigs = servers
    repository = Repository.create(tmp_path / "fleet")
    placement = {"replicaScheduling": weighted(oslo=1, paris=1, rome=1)}
    repository.commit(
        {
            **{f"clusters/{name}.yaml": a_cluster(name) for name in NAMES},
            "web.yaml": web(1, replicas=6),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=placement),
        },
        "Begin",
    )

    def pass_() -> dict[str, int]:
        ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--kubeconfigs", str(kubeconfigs))
        assert ended.code == 0, ended.err
        found = {name: each.read("/apis/apps/v1/namespaces/default/deployments/web") for name, each in members.items()}
        return {name: each["spec"]["replicas"] for name, each in found.items() if each}

    assert pass_() == {"oslo": 2, "paris": 2, "rome": 2}
    to = repository.git("rev-parse", "argosy/rendered")
    taint = a_cluster("paris", taints=[{"key": "broken", "effect": "NoExecute"}])
    repository.commit({"clusters/paris.yaml": taint, "web.yaml": web(2, replicas=6)}, "Leave paris")
    assert pass_() == {"oslo": 3, "rome": 3}
    repository.git("revert", "--no-edit", "HEAD")
    assert pass_() == {"oslo": 3, "rome": 3}
    ended = argosy(repository, capsys, "rollback", "deploy/web", "--to", to, "--commit", "-o", "json")
    assert (json.loads(ended.out)["unrestored"], ended.code) == ([], 0)
    assert pass_() == {"oslo": 2, "paris": 2, "rome": 2}
    assert repository.git("diff", to, "argosy/rendered", "--", "clusters") == ""
    assert pass_() == {"oslo": 2, "paris": 2, "rome": 2}
