"""Agents in tests: a hub that passes render to, and an agent with a cluster in memory that pulls from it."""

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from reconciler.console.log import Log
from reconciler.members.exchange import Client, Failure
from reconciler.passes.agent_pass import Agent, AgentOptions, AgentPass, run_agent_pass
from reconciler.repository import open_repository_for_branches
from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, argosy, copied
from .fakes import FakeCluster


@dataclass
class PulledFleet:
    """A clone that people work in, the hub they push to, and the clusters that pull from it, by name."""

    source: Repository
    hub: Repository
    folder: Path
    members: dict[str, Any] = field(default_factory=dict)
    now: float = 1_800_000_000.0
    log: io.StringIO = field(default_factory=io.StringIO)

    @classmethod
    def create(cls, folder: Path, files: Mapping[str, Any], *pulling: str) -> "PulledFleet":
        hub, source = Repository.create(folder / "hub.git", bare=True), Repository.create(folder / "source")
        clusters = {f"clusters/{name}.yaml": a_cluster(name, syncMode="Pull") for name in pulling}
        source.commit({**clusters, **files})
        source.git("remote", "add", "origin", str(hub.path))
        source.git("push", "-q", "-u", "origin", "main")
        source.git("fetch", "-q")
        return cls(source, hub, folder, {name: FakeCluster(name=name) for name in pulling})

    @classmethod
    def rendered(cls, folder: Path, files: Mapping[str, Any], *pulling: str) -> "PulledFleet":
        """A fleet after its first pass, to be copied."""
        made = cls.create(folder, files, *pulling)
        assert run(["-q", "-C", str(made.source.path), "reconcile", "--bootstrap"]) == 0
        return made

    def copied(self, folder: Path) -> "PulledFleet":
        """The same commits in another folder, and clusters that have pulled nothing yet."""
        hub, source = copied(folder, self.hub, self.source)
        return PulledFleet(source, hub, folder, {name: FakeCluster(name=name) for name in self.members})

    def reconcile(self, capsys: pytest.CaptureFixture[str], *options: str) -> Ended:
        """A pass over the fleet, which pushes first what is committed."""
        self.source.git("push", "-q")
        return argosy(self.source, capsys, "reconcile", *options)

    def agent(self, name: str = "member1", **options: Any) -> Agent:
        """The agent of a cluster, with a store of its own below the folder."""
        environment = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / f"cache-{name}")}
        environment |= {"PATH": os.environ["PATH"], **options.pop("environment", {})}
        repository = open_repository_for_branches(self.hub.path.as_uri(), f"agent {name}", environment=environment)

        def opened(cluster: str, _deadline: float) -> Client | Failure:
            found: Client | Failure = self.members[cluster]
            return found

        return Agent(
            repository=repository,
            options=AgentOptions(cluster=name, **options),
            open_client=opened,
            clock=lambda: self.now,
        )

    def pull(self, name: str = "member1", seconds: float = 0.0, **options: Any) -> AgentPass:
        """One pass of a cluster's agent, so many seconds after what happened last."""
        self.now += seconds
        return run_agent_pass(self.agent(name, **options), Log(stream=self.log))

    def told(self, path: str, name: str = "member1") -> Any:
        """A file that an agent pushed, as a value."""
        text = self.hub.show(path, f"argosy/agent/{name}") + "\n"
        return parse_documents(text.encode())[0].value

    def commits(self, branch: str) -> list[str]:
        """The subjects of a branch of the hub, oldest first."""
        return self.hub.git("log", "--reverse", "--format=%s", branch).splitlines()

    def away(self) -> "PulledFleet":
        """The same fleet while its hub is not there."""
        self.hub.path.rename(self.folder / "away.git")
        return self

    def back(self) -> "PulledFleet":
        (self.folder / "away.git").rename(self.hub.path)
        return self
