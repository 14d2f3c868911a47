"""Shards of an apply side by side, each a process over a clone of its own: together they do what one process does.

Each moves the same status branch, so that most of them are refused at first and put their files on top of the others'.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from reconciler.members.choice import is_in_shard
from render.documents import parse_documents

from .build import AUTHOR, Repository, a_cluster, a_cluster_policy, a_deployment
from .fakes import FakeCluster
from .served import Served, serving_members
from .waiting import SECONDS, running

ROOT = Path(__file__).parent.parent
SHARDS = 4
MEMBERS = tuple(f"eu{number}" for number in range(1, 9))
DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
APPS = ("shop", "web")


class ShardedFleet:
    """A bare repository, a clone to push from, a clone for each shard, and members that are served."""

    def __init__(self, folder: Path, served: Served) -> None:
        self.folder, self.served = folder, served
        self.bare = Repository.create(folder / "fleet.git", bare=True)
        self.work = Repository.create(folder / "work")
        self.work.git("remote", "add", "origin", str(self.bare.path))
        policy = a_cluster_policy("all", selectors=[DEPLOYMENTS], placement={})
        clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in MEMBERS}
        self.push("nginx:1", {**clusters, "policy.yaml": policy})

    def push(self, image: str, files: dict[str, object] | None = None) -> None:
        """Push another image of all apps."""
        apps = {f"{name}.yaml": a_deployment(name, image=image) for name in APPS}
        self.work.commit({**apps, **(files or {})})
        self.work.git("push", "-q", "origin", "HEAD:main")

    def command(self, place: str, *words: str) -> list[str]:
        return [sys.executable, "-m", "reconciler", "-q", "-C", str(self.folder / place), *words]

    @property
    def reach(self) -> tuple[str, str]:
        return "--kubeconfigs", str(self.served.kubeconfigs)

    def reconcile(self, *options: str) -> None:
        command = self.command("work", "reconcile", *options)
        subprocess.run(command, cwd=ROOT, env=self.environment("work"), check=True, timeout=SECONDS)

    def environment(self, place: str) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / place), **AUTHOR}

    def apply(self, *shards: int) -> list[int]:
        """Apply the newest commit by shards side by side, each in a new clone; return how they ended."""
        for shard in shards:
            subprocess.run(
                ["git", "clone", "-q", str(self.bare.path), str(self.folder / f"shard-{shard}")], check=True, timeout=60
            )
        with ExitStack() as stack:
            begun = [
                stack.enter_context(
                    running(
                        self.command(f"shard-{shard}", "apply", *self.reach, "--shard", f"{shard}/{SHARDS}"),
                        seconds=SECONDS,
                        cwd=ROOT,
                        env=self.environment(f"shard-{shard}"),
                    )
                )
                for shard in shards
            ]
            return [process.wait(timeout=SECONDS) for process in begun]

    def counted_pushes(self) -> Path:
        """Write down each push that the repository is asked to take, the first waiting for another; return where."""
        pushes, hook = self.folder / "pushes", self.bare.path / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        is_alone = f'[ "$(wc -l < {pushes})" -lt 2 ] && [ $turn -lt 300 ]'
        hook.write_text(
            f"#!/bin/sh\ncat >> {pushes}\nturn=0\nwhile {is_alone}; do sleep 0.1; turn=$((turn + 1)); done\n"
        )
        hook.chmod(0o755)
        return pushes

    def told(self, path: str, commit: str = "argosy/status") -> Any:
        """Return a file of the status branch as a value."""
        return parse_documents(f"{self.bare.show(path, commit)}\n".encode())[0].value

    def status_commits(self) -> list[str]:
        return self.bare.git("rev-list", "--reverse", "argosy/status").splitlines()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[ShardedFleet]:
    with serving_members([FakeCluster(name=name) for name in MEMBERS], tmp_path / "kubeconfigs") as served:
        yield ShardedFleet(tmp_path, served)


def items_by_cluster(fleet: ShardedFleet, app: str, commit: str) -> dict[str, object]:
    """Return what the status of an app's binding says of each cluster."""
    status = fleet.told(f"bindings/default/Deployment.apps/{app}.yaml", commit)["status"]
    return {each["clusterName"]: each for each in status.get("aggregatedStatus", ())}


def items_by_works(fleet: ShardedFleet, app: str, commit: str) -> dict[str, object]:
    """Return what it has to say, by the Works that the same commit has."""
    paths = [path for path in fleet.bare.files(commit, "works") if path.endswith(f"/{app}.yaml")]
    works = {path.split("/")[1]: fleet.told(path, commit)["status"] for path in paths}
    items: dict[str, object] = {}
    for cluster, status in works.items():
        (entry,) = status["manifestStatuses"]
        reported = {"status": entry["status"]} if "status" in entry else {}
        items[cluster] = {"clusterName": cluster, **reported, "applied": True, "health": entry["health"]}
    return items


def test_four_shards_side_by_side_record_what_one_process_records(fleet: ShardedFleet) -> None:
    """Some of their pushes are refused, and at no commit does a binding say anything else than its Works."""
    assert all(any(is_in_shard(name, shard, SHARDS) for name in MEMBERS) for shard in range(1, SHARDS + 1))
    fleet.reconcile("--bootstrap", *fleet.reach)
    fleet.push("nginx:2")
    fleet.reconcile()
    before = fleet.status_commits()
    pushes = fleet.counted_pushes()
    assert fleet.apply(*range(1, SHARDS + 1)) == [0] * SHARDS
    new = fleet.status_commits()[len(before) :]
    assert 2 * SHARDS <= len(new) < len(pushes.read_text().splitlines())
    for commit, app in product(new, APPS):
        assert items_by_cluster(fleet, app, commit) == items_by_works(fleet, app, commit)
    rendered = fleet.bare.git("rev-parse", "argosy/rendered")
    inventories = [fleet.told(f"inventory/{name}.yaml") for name in MEMBERS]
    assert [(each["converged"], each.get("attempted")) for each in inventories] == [(rendered, None)] * len(MEMBERS)
    fleet.reconcile(*fleet.reach)
    assert fleet.status_commits() == [*before, *new]
    assert fleet.bare.git("fsck", "--no-dangling") == ""
