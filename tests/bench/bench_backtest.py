"""A backtest of 90 days over 1,000 bindings with 2,000 recorded changes: the whole command, with failover proposed.

Nobody runs 2,000 passes for it. One pass renders the fleet; what passes would have committed from then on is written by
this benchmark: an image that changes changes the manifests of its clusters and nothing else, and facts of clusters move
nothing. That this is so is proved first: with nothing proposed, every commit has to come out as it stands.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.ledger.facts import ClusterFacts
from reconciler.repository import NewCommit, open_repository
from reconciler.repository import Repository as OpenRepository
from reconciler.repository.commits import CommitText, encode_commit
from reconciler.repository.trailers import trailers_of_rendered_commit
from render.documents import emit
from render.gitobjects import TreeEntry, git_object_id, parse_tree
from render.timing import instant_text
from render.tree import TreeStore, build_nested_tree
from tests.backtesting import commit_at
from tests.build import Repository, a_cluster, a_deployment, a_policy
from tests.simulation import BEGIN, DOWN

from .figures import SECONDS, Figure, figure

_GROUP = 5
_APPS_OF_POLICY = 50
FLEET: dict[str, Any] = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "default"},
    "spec": {"reserveCapacity": False},
}
PROPOSED = {**FLEET, "spec": {**FLEET["spec"], "featureGates": {"Failover": True}}}


class Branch(Struct):
    """A branch whose commits are written without any pass."""

    ref: str
    tip: str
    tree: bytes


class History(Struct, kw_only=True):
    """Commits in the making on several branches, stored all at once."""

    repository: OpenRepository
    store: TreeStore = field(default_factory=TreeStore)
    blobs: dict[bytes, bytes] = field(default_factory=dict)
    commits: list[NewCommit] = field(default_factory=list)

    def branch(self, name: str) -> Branch:
        ref = f"refs/heads/{name}"
        tip = self.repository.tip(ref) or ""
        return Branch(ref, tip, self.repository.commit_info(tip).tree if tip else self.store.add(b""))

    def commit(self, branch: Branch, files: Mapping[str, bytes], at: datetime, message: str, **trailers: Any) -> str:
        """Put a commit on a branch that changes some files."""
        ids: dict[tuple[str, ...], TreeEntry | bytes | None] = {}
        for path, content in files.items():
            id_ = git_object_id("blob", content)
            self.blobs[id_], ids[tuple(path.split("/"))] = content, id_
        branch.tree = build_nested_tree(ids, self.store, self.entries(branch.tree), self.entries) or branch.tree
        text = CommitText(message=message, trailers=trailers, author=self.repository.author, time=int(at.timestamp()))
        made = encode_commit(branch.tree, [branch.tip] if branch.tip else [], text)
        self.commits.append(made)
        branch.tip = made.id
        return made.id

    def entries(self, tree: bytes) -> dict[str, TreeEntry]:
        content = self.store.trees.get(tree)
        found = self.repository.read_trees([tree])[tree] if content is None else parse_tree(content)
        return {entry.text: entry for entry in found}

    def write(self, *branches: Branch) -> None:
        """Store everything and move the branches."""
        self.repository.store(blobs=self.blobs, trees=self.store.trees, commits=self.commits)
        for each in branches:
            self.repository.git.run("update-ref", each.ref, each.tip)


def status_of(cpu: int, *, is_ready: bool, at: datetime) -> dict[str, Any]:
    """The status of a cluster of some capacity."""
    ready = {"type": "Ready", "status": "True" if is_ready else "False", "reason": "ClusterReady"}
    if not is_ready:
        ready["reason"] = "ClusterNotReachable"
    return {
        "kubernetesVersion": "v1.34.0",
        "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}],
        "conditions": [{**ready, "lastTransitionTime": instant_text(at)}],
        "resourceSummary": {"allocatable": {"cpu": str(cpu), "pods": "5000"}, "allocated": {"cpu": "1", "pods": "10"}},
    }


def observed(name: str, status: dict[str, Any], at: datetime) -> dict[str, bytes]:
    """The files of the status branch that record a look at a cluster."""
    record = ClusterRecord(state=ClusterState(name=name, status=status))
    facts = ClusterFacts(name=name, status=status, observed_at=instant_text(at))
    return {ClusterRecord.at(name): record.content(), ClusterFacts.at(name): facts.content()}


def workload(app: int, image: str) -> dict[str, Any]:
    """A workload of a team."""
    made = a_deployment(f"app{app:04}", replicas=6, image=image)
    made["metadata"]["labels"]["team"] = str(app // _APPS_OF_POLICY)
    return made


def source_of(clusters: int, bindings: int) -> dict[str, Any]:
    """A fleet in groups of five clusters; each policy places fifty workloads in one of them."""
    files: dict[str, Any] = {"argosy.yaml": FLEET, "down.yaml": DOWN}
    for number in range(clusters):
        files[f"clusters/c{number:03}.yaml"] = a_cluster(f"c{number:03}", labels={"group": str(number // _GROUP)})
    for number in range(bindings):
        files[f"apps/app{number:04}.yaml"] = workload(number, "app:0")
    for team in range(-(-bindings // _APPS_OF_POLICY)):
        affinity = {"labelSelector": {"matchLabels": {"group": str(team % max(1, clusters // _GROUP))}}}
        tolerated = {"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        placement = {
            "clusterAffinity": affinity,
            "clusterTolerations": [tolerated],
            "replicaScheduling": {
                "replicaSchedulingType": "Divided",
                "replicaDivisionPreference": "Weighted",
            },
        }
        labels = {"matchLabels": {"team": str(team)}}
        selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", "labelSelector": labels}]
        policy = a_policy(f"team-{team}", selectors=selectors, placement=placement, failover={"cluster": {}})
        files[f"policies/team-{team}.yaml"] = policy
    return files


def fabricate(folder: Path, given: argparse.Namespace) -> Repository:
    """A repository with so many recorded changes in 90 days: images, capacities and outages of clusters."""
    made = Repository.create(folder / "fleet")
    commit_at(made, source_of(given.clusters, given.bindings), BEGIN)
    names = [f"c{number:03}" for number in range(given.clusters)]
    with open_repository(str(made.path)) as repository:
        history = History(repository=repository)
        status = history.branch("argosy/status")
        files = [observed(name, status_of(64, is_ready=True, at=BEGIN), BEGIN) for name in names]
        history.commit(status, {path: content for each in files for path, content in each.items()}, BEGIN, "See all")
        history.write(status)
    run(made.path, "-q", "reconcile", "--bootstrap", "--now", instant_text(BEGIN + timedelta(minutes=1)))
    with open_repository(str(made.path)) as repository:
        fleet = LivedFleet(history=History(repository=repository), rng=random.Random(given.seed), names=names)
        fleet.live(given)
    made.git("reset", "-q", "--hard")
    return made


class LivedFleet(Struct, kw_only=True):
    """A fleet whose changes are written down; ``unrendered`` are the facts since the last rendered commit."""

    history: History
    rng: random.Random
    names: list[str]
    back: set[str] = field(default_factory=set)
    turned: dict[str, datetime] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    unrendered: dict[str, bytes] = field(default_factory=dict)
    cpus: dict[str, int] = field(default_factory=dict)

    def live(self, given: argparse.Namespace) -> None:
        source, rendered, status = map(self.history.branch, ("main", "argosy/rendered", "argosy/status"))
        spacing = timedelta(days=90) / given.changes
        for number in range(1, given.changes + 1):
            at = BEGIN + timedelta(hours=1) + number * spacing
            kind = self.rng.random()
            if kind < given.edits:
                app = self.rng.randrange(given.bindings)
                commit = self.history.commit(source, workload_file(app, f"app:{number}"), at, f"Image {number}")
                self.render(rendered, commit, app, b"app:%d" % number, at)
            else:
                self.observe(status, at, is_outage=kind > 1 - given.outages)
        self.history.write(source, rendered, status)

    def render(self, rendered: Branch, commit: str, app: int, image: bytes, at: datetime) -> None:
        """Commit what a pass renders of another image."""
        files, self.unrendered = self.unrendered, {}
        clusters = self.history.entries(rendered.tree)["clusters"]
        for name in self.history.entries(clusters.id):
            path = f"clusters/{name}/default/Deployment.apps/app{app:04}.yaml"
            content = _content(self.history, rendered.tree, path)
            if content is not None:
                files[path] = re.sub(rb"(image: \"?)app:[0-9]+", rb"\g<1>" + image, content)
        trailers = trailers_of_rendered_commit(source=commit, previous=rendered.tip, branch="main")
        self.history.commit(rendered, files, at, f"Render {commit[:12]}", **trailers)

    def observe(self, status: Branch, at: datetime, *, is_outage: bool) -> None:
        """Commit another look at a cluster: one that was down is up again."""
        self.back = set(self.down)
        name = self.down.pop() if self.down else self.rng.choice(self.names)
        if is_outage:
            self.down.add(name)
        self.cpus[name] = self.cpus.get(name, 64) + self.rng.choice((-1, 1))
        if is_outage or name in self.back:
            self.turned[name] = at
        look = status_of(self.cpus[name], is_ready=name not in self.down, at=self.turned.get(name, BEGIN))
        self.history.commit(status, observed(name, look, at), at, f"See {name}")
        facts = ClusterFacts(name=name, status=look, observed_at=instant_text(at))
        self.unrendered[ClusterFacts.at(name)] = facts.rendered_content()


def workload_file(app: int, image: str) -> dict[str, bytes]:
    """The file of a workload with an image, by its path."""
    return {f"apps/app{app:04}.yaml": emit(workload(app, image))}


def _content(history: History, tree: bytes, path: str) -> bytes | None:
    for name in path.split("/"):
        found = history.entries(tree).get(name)
        if found is None:
            return None
        tree = found.id
    return history.blobs.get(tree) or history.repository.read_blobs([tree])[tree]


class Taken(Struct, frozen=True, kw_only=True):
    """The cost of a command: seconds, seconds of CPU, and MiB of memory."""

    seconds: float
    cpu: float
    memory: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s ({self.cpu:.1f} s of CPU), {self.memory:.0f} MiB"


def run(path: Path, *words: str) -> tuple[str, float, str]:
    """Run a command; return what it prints, its seconds, and in words what it took."""
    out, taken = measured(path, *words)
    return out, taken.seconds, str(taken)


def measured(path: Path, *words: str) -> tuple[str, Taken]:
    """Run a command; return what it prints, and what it took."""
    began = time.monotonic()
    command = [sys.executable, "-m", "reconciler", "-C", str(path), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = process.stdout.read() if process.stdout else ""
    _, code, usage = os.wait4(process.pid, 0)
    if code:
        raise SystemExit(f"argosy {' '.join(words)} ended with {code}")
    seconds, cpu = time.monotonic() - began, usage.ru_utime + usage.ru_stime
    return out, Taken(seconds=seconds, cpu=cpu, memory=usage.ru_maxrss / 1024)


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield what comes out otherwise than it stands, and the seconds of a proposal."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench backtest")
    parser.add_argument("--clusters", type=int, default=50)
    parser.add_argument("--bindings", type=int, default=1000)
    parser.add_argument("--changes", type=int, default=2000)
    parser.add_argument("--edits", type=float, default=0.5, help="the part of changes that are edits of the source")
    parser.add_argument("--outages", type=float, default=0.02, help="the part of changes that are outages")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = fabricate(folder, given)
        proposed = folder / "proposed.yaml"
        proposed.write_text(json.dumps(PROPOSED))
        since = ("backtest", "--since", instant_text(BEGIN + timedelta(minutes=30)), "-o", "json")
        scenario = f"backtest, {given.changes} changes of 90 days, {given.bindings} bindings"
        out, _, took = run(made.path, *since)
        told = json.loads(out)
        count = told["grain"]["renderedCommits"]
        others, remark = count - told["identical"], f"of {count}; {took}"
        yield figure(scenario, "commits that do not come out as they stand", others, "", remark=remark)
        out, seconds, took = run(made.path, *since, "--fleet", str(proposed))
        told = json.loads(out)
        remark = f"{took}; {told['replayed']}, {told['grain']}"
        yield figure(scenario, "failover proposed", seconds, SECONDS, remark=remark)
