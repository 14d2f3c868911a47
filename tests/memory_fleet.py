"""A fleet whose members are in memory: real repository, real passes, a clock of the test's own."""

import io
import os
import time
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.mirrors import update_mirrors
from reconciler.branches.publication import maintain_repository, publication_of
from reconciler.branches.reading import (
    ObservedInputs,
    checked_source,
    read_again_with_facts,
    read_loaded,
    read_previous,
)
from reconciler.commands.status import StatusOptions, show_status
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.deliver.orphans import Agree, refuse_orphans
from reconciler.deliver.results import ClusterReport
from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.options import DeliveryOptions
from reconciler.members.visits import MemberReach
from reconciler.observe.members import ObserveOptions
from reconciler.passes.agent_pass import Agent, AgentOptions, AgentPass, run_agent_pass
from reconciler.passes.applying import ApplyRun, Delivery
from reconciler.passes.observation import Observation, observe_members
from reconciler.passes.record_of_pass import PassRecord
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import commit_outcome, run_pass
from reconciler.repository import open_repository, open_repository_for_branches
from reconciler.source.scopes.kind_scopes import kinds_to_observe, kinds_to_scale
from reconciler.status.branches import Pacing
from render.documents import parse_documents

from .applying import client_of
from .build import AUTHOR, Ended, Repository, a_cluster
from .clusters import Member
from .fakes import FakeCluster

DOWN = Failure(kind=FailureKind.UNREACHABLE, message="member is down")


class Way(StrEnum):
    """A way in which a test's objects reach a member: a pass or an agent, into memory or into a real API server."""

    MEMORY = "in memory"
    MEMORY_AGENT = "in memory, by its agent"
    REAL = "real"
    REAL_AGENT = "real, by its agent"

    @property
    def by_agent(self) -> bool:
        return self.endswith("agent")

    @property
    def is_real(self) -> bool:
        return self.startswith("real")


WAYS = [pytest.param(way, marks=[pytest.mark.cluster] if way.is_real else [], id=way) for way in Way]
REAL_WAYS = [pytest.param(way, id=way) for way in Way if way.is_real]


@dataclass
class MemoryFleet:
    """Members by name; ``down`` are those that do not answer; ``now`` is the time of the next pass.

    ``said`` are the lines of all passes, ``opened`` the members that were asked and the seconds they were given.
    ``by_agent``: each member is applied to by an agent of its own, between two passes that do all but that.
    """

    repository: Repository
    members: dict[str, Any] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    down_failure: Failure = DOWN
    now: float = 1_800_000_000.0
    seen: Observation | None = None
    said: list[str] = field(default_factory=list)
    opened: list[tuple[str, float]] = field(default_factory=list)
    by_agent: bool = False

    @classmethod
    def create(
        cls, path: Path, names: Mapping[str, Any], files: Mapping[str, Any], *, by_agent: bool = False
    ) -> "MemoryFleet":
        """A fleet with members of so many nodes of so much: name -> (count, allocatable); None pulls for itself."""
        repository = Repository.create(path)
        clusters = {
            f"clusters/{name}.yaml": a_cluster(name, syncMode="Push" if nodes and not by_agent else "Pull")
            for name, nodes in names.items()
        }
        repository.commit({**clusters, **files})
        fleet = cls(repository, by_agent=by_agent)
        for name, nodes in names.items():
            fleet.members[name] = FakeCluster(name=name)
            for number in range(nodes[0] if nodes else 0):
                add_node(fleet.members[name], f"node-{number}", **nodes[1])
        return fleet

    def open(self, name: str, deadline: float) -> Client | Failure:
        self.opened.append((name, deadline - time.monotonic()))
        member = self.members[name]
        if isinstance(member, Member):
            return client_of(member)
        return self.down_failure if name in self.down else member

    def run(
        self,
        seconds: float = 0.0,
        options: DeliveryOptions | None = None,
        agree: Agree = refuse_orphans,
        only: Container[str] | None = None,
        **how: Any,
    ) -> tuple[ClusterReport, ...]:
        """One pass over all, or ``only`` some, so many seconds after the last; ``how`` is for its ``Delivery``."""
        self.now += seconds
        reports = self._run_pass(options, agree, only, **how)
        if not self.by_agent:
            return reports
        assert not how, "an agent has no such options"
        pulled = [self.pull(name, options) for name in self.members if only is None or name in only]
        self._run_pass(options, agree, only)
        return tuple(ended.report for ended in pulled if ended.report)

    def pull(self, name: str, options: DeliveryOptions | None = None, *, accepts_rewind: bool = False) -> AgentPass:
        """One pass of a member's agent, over a clone of its own."""
        environment = {"PATH": os.environ["PATH"], **AUTHOR}
        environment["XDG_CACHE_HOME"] = str(self.repository.path.parent / f"cache-{name}")
        chosen = AgentOptions(cluster=name, delivery=options or DeliveryOptions(), accepts_rewind=accepts_rewind)
        with open_repository_for_branches(
            self.repository.path.as_uri(), f"agent {name}", environment=environment
        ) as branches:
            agent = Agent(repository=branches, options=chosen, open_client=self.open, clock=lambda: self.now)
            return run_agent_pass(agent, Log(stream=io.StringIO(), level=ERRORS_ONLY))

    def _run_pass(
        self, options: DeliveryOptions | None, agree: Agree, only: Container[str] | None, **how: Any
    ) -> tuple[ClusterReport, ...]:
        log = Log(stream=io.StringIO(), level=ERRORS_ONLY)
        with open_repository(str(self.repository.path)) as repository:
            commit = repository.resolve("HEAD")
            source = checked_source(commit, read_loaded(repository, commit, facts=None))
            fleet, members = source.desired.fleet, source.desired.clusters
            context = FleetContext(
                publication=publication_of(repository, fleet),
                fleet=fleet,
                members=members,
                kinds=kinds_to_observe(source.desired),
                scaled_kinds=kinds_to_scale(source.desired),
            )
            reach = MemberReach.of(options or DeliveryOptions(), self.open)
            observing = ObserveOptions(reach=reach.within(60.0))
            chosen = tuple(member for member in members if only is None or member.name in only)
            observation = self.seen = observe_members(context, chosen, observing, lambda: self.now)
            source = read_again_with_facts(repository, source, observation.facts)
            tip = context.publication.current_tip(fleet.rendered_branch)
            previous = read_previous(repository, tip) if tip else None
            observed = ObservedInputs(facts=observation.facts, health=observation.health)
            inputs = RenderInputs(observed=observed, now=datetime.fromtimestamp(self.now, UTC))
            outcome = run_pass(repository, source, previous, inputs, log)
            commit = commit_outcome(outcome, context.publication, fleet.rendered_branch) or str(tip)
            if self.by_agent:  # a mirror's commit has the time of this machine, by which an agent would be silent
                update_mirrors(outcome.folders_at(commit), context.publication)
            run = ApplyRun(
                context=context,
                commit=commit,
                delivery=Delivery(
                    members=tuple(member for member in chosen if member.sync_mode != "Pull"),
                    options=options or DeliveryOptions(),
                    **how,
                ),
                agree=agree,
                reach=reach,
                record=PassRecord(observation=observation, desired=source.desired),
                say=self.said.append,
                clock=lambda: self.now,
            )
            reports = run.reports()
            maintain_repository(repository, log)
            return reports

    def status(
        self, capsys: pytest.CaptureFixture[str], subject: str = "", *, output: str = "table", later: float = 0.0
    ) -> Ended:
        """The answer of ``argosy status``, so many seconds after the last pass."""
        log, options = (
            Log(stream=io.StringIO(), repository=str(self.repository.path)),
            StatusOptions(subject=subject, output=output),
        )
        capsys.readouterr()
        code = show_status(log, options, Pacing(clock=lambda: self.now + later))
        return Ended(code, capsys.readouterr().out, "")

    def status_commits(self) -> list[str]:
        """The subjects of the status branch, oldest first."""
        return self.repository.git("log", "--reverse", "--format=%s", "argosy/status").splitlines()

    def recorded(self, path: str, revision: str = "argosy/status") -> Any:
        """A file of the status branch as a value."""
        return parse_documents((self.repository.show(path, revision) + "\n").encode())[0].value


def add_node(member: FakeCluster, name: str, **allocatable: str) -> None:
    """Give a member a node that is ready."""
    status = {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
    put(member, "nodes.", "", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})


def add_pod(member: FakeCluster, name: str, *, node: str = "", phase: str = "Running", **requests: str) -> None:
    """Give a member a pod of somebody else's, on a node or waiting for one."""
    spec: dict[str, Any] = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    spec |= {"nodeName": node} if node else {}
    metadata = {"name": name, "namespace": "default"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}
    put(member, "pods.", "default", pod)


def put(member: FakeCluster, plural: str, namespace: str, manifest: dict[str, Any]) -> None:
    """Store an object as it is, as its controller would."""
    manifest["metadata"].setdefault("uid", f"uid-of-{manifest['metadata']['name']}")
    member.objects[plural, namespace, manifest["metadata"]["name"]] = manifest


def settle(member: FakeCluster) -> None:
    """Let every Deployment of a member become as it should be."""
    for (plural, _, _), live in member.objects.items():
        if plural == "deployments.apps":
            live["metadata"]["generation"] = live["metadata"].get("generation", 1)
            wanted = live["spec"].get("replicas", 1)
            counters = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
            live["status"] = {**dict.fromkeys(counters, wanted), "observedGeneration": live["metadata"]["generation"]}
