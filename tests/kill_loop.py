"""Two controllers over one fleet that are killed again and again while somebody pushes every second.

One runs over the bare repository itself, and the other over its address, from a clone of its own. Now the controller
alone is killed, now its passes with it. At the end all must be as if nothing had happened: each member holds what the
newest commit says, nothing was committed twice or out of order, and ``git fsck`` finds nothing.
"""

import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from .build import Repository, a_cluster, a_config_map, a_policy, on_clusters
from .clusters import Member
from .controllers import Controller, controller, rendered_source
from .processes import kill_all
from .waiting import eventually

_OPTIONS = ("--bootstrap", "--drift", "5s")
_NAMES = 12
_MOST_SECONDS = 1800.0
_OURS = re.compile(r"m[0-9]+")


@dataclass(kw_only=True)
class KillLoop:
    """The fleet, its members, the controllers, and what was done so far."""

    folder: Path
    members: Sequence[Member]
    space: str
    draw: random.Random
    wanted: dict[str, str] = field(default_factory=dict)
    pushes: int = 0
    kills: int = 0
    bare: Repository = field(init=False)
    work: Repository = field(init=False)
    running: list[tuple[Controller, ExitStack]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bare = Repository.create(self.folder / "fleet.git", bare=True)
        self.work = Repository.create(self.folder / "work")
        self.work.git("remote", "add", "origin", str(self.bare.path))
        (self.folder / "kubeconfigs").mkdir()
        names = [member.name for member in self.members]
        for member in self.members:
            shutil.copy(member.kubeconfig, self.folder / "kubeconfigs" / f"{member.name}.yaml")
        every = [{"apiVersion": "v1", "kind": "ConfigMap"}]
        policy = a_policy("all", selectors=every, namespace=self.space, placement=on_clusters(*names))
        self.work.commit({**{f"{name}.yaml": a_cluster(name) for name in names}, "policy.yaml": policy})
        self.push()

    def push(self) -> str:
        """Change an object, or add or remove one, and push that."""
        name, self.pushes = f"m{self.draw.randrange(_NAMES)}", self.pushes + 1
        path = self.work.path / f"{name}.yaml"
        if name in self.wanted and self.draw.random() < 0.2 and len(self.wanted) > 2:
            del self.wanted[name]
            path.unlink()
            commit = self.work.commit({}, f"remove {name}")
        else:
            self.wanted[name] = str(self.pushes)
            made = a_config_map(name, namespace=self.space, turn=str(self.pushes))
            commit = self.work.commit({f"{name}.yaml": made}, f"turn {self.pushes}")
        self.work.git("push", "-q", "origin", "HEAD:main")
        return commit

    def begin(self, number: int) -> tuple[Controller, ExitStack]:
        """Begin a controller: one over the repository, one over its address."""
        where = str(self.bare.path) if number == 0 else f"file://{self.bare.path}"
        home, stack = self.folder / f"runner-{number}", ExitStack()
        home.mkdir(exist_ok=True)
        options = (*_OPTIONS, "--kubeconfigs", str(self.folder / "kubeconfigs"), "--poll", "500ms")
        return stack.enter_context(controller(home, where, *options, seconds=_MOST_SECONDS)), stack

    def run(self, seconds: float) -> None:
        """Push every second and kill a controller every two or so, for so long; then let both come to rest."""
        self.running = [self.begin(0), self.begin(1)]
        end = time.monotonic() + seconds
        push_at, kill_at = time.monotonic() + 1, time.monotonic() + 3
        while time.monotonic() < end:
            eventually(partial(_is_past, min(push_at, kill_at)), "the next push or kill", pause=0.05)
            if push_at <= time.monotonic():
                self.push()
                push_at += 1
            if kill_at <= time.monotonic():
                self.kill(self.draw.randrange(2))
                kill_at = time.monotonic() + self.draw.uniform(0.5, 3)
        commit = self.push()
        eventually(lambda: rendered_source(self.bare.path) == commit, "the newest commit rendered", pause=0.2)
        eventually(lambda: not list(self.differences()), "the newest commit in all members", pause=0.2)

    def kill(self, number: int) -> None:
        """Kill a controller, half the times with its passes, and begin another in its place."""
        argosy, stack = self.running[number]
        if self.draw.random() < 0.5:
            kill_all(argosy.process.pid)
        else:
            argosy.process.kill()
        argosy.process.wait(timeout=30)
        stack.close()
        self.kills += 1
        self.running[number] = self.begin(number)

    def close(self) -> list[int]:
        """End both, and return their exit codes."""
        codes = [argosy.ended() for argosy, _ in self.running]
        for _, stack in self.running:
            stack.close()
        return codes

    def differences(self) -> Iterator[str]:
        """Yield how members are other than the newest commit says."""
        for member in self.members:
            listed = member.read(f"/api/v1/namespaces/{self.space}/configmaps") or {"items": []}
            live = {each["metadata"]["name"]: each.get("data", {}).get("turn") for each in listed["items"]}
            live = {name: turn for name, turn in live.items() if _OURS.fullmatch(name)}
            if live != self.wanted:
                yield f"{member.name} holds {live}, not {self.wanted}"

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the branches."""
        rendered = _commits(self.bare, "argosy/rendered")
        order = {commit: place for place, commit in enumerate(self.bare.git("rev-list", "--reverse", "main").split())}
        places = [order[each["source"]] for each in rendered]
        if any(later < earlier for earlier, later in pairwise(places)):
            yield "an older source was rendered over a newer one"
        trees = [each["tree"] for each in rendered]
        if any(earlier == later for earlier, later in pairwise(trees)):
            yield "a tree was committed twice"
        for branch in ("argosy/rendered", "argosy/status"):
            if any(" " in each["parents"] for each in _commits(self.bare, branch)):
                yield f"{branch} is not linear"
        checked = subprocess.run(
            ["git", "-C", str(self.bare.path), "fsck", "--full", "--strict", "--no-dangling"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if checked.returncode or checked.stdout or checked.stderr:
            yield f"git fsck: {checked.returncode} {checked.stdout}{checked.stderr}"


def _is_past(moment: float) -> bool:
    return time.monotonic() >= moment


def _commits(bare: Repository, branch: str) -> list[dict[str, Any]]:
    form = "%T%x09%P%x09%(trailers:key=Argosy-Source,valueonly,separator=)%x09end"
    lines = bare.git("log", "--reverse", f"--format={form}", branch).splitlines()
    return [dict(zip(("tree", "parents", "source", "end"), line.split("\t"), strict=True)) for line in lines]
