"""A fleet in memory whose source commits have times of the same clock as its passes."""

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reconciler.console.log import Log

from .backtesting import commit_at
from .build import a_deployment, a_policy
from .memory_fleet import MemoryFleet, settle

NODES = (2, {"cpu": "8", "memory": "16Gi", "pods": "50"})
DEPLOYMENTS = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
POLICY = {"policy.yaml": a_policy("web", selectors=DEPLOYMENTS, placement={})}


def a_dated_fleet(path: Path, files: dict[str, Any] | None = None, *names: str) -> MemoryFleet:
    """A fleet of members, whose first source commit is of a minute before its first pass."""
    fleet = MemoryFleet.create(path, dict.fromkeys(names or ("oslo", "paris"), NODES), {})
    commit_later(fleet, {"web.yaml": a_deployment("web", image="web:1"), **POLICY, **(files or {})}, -60)
    return fleet


def commit_later(fleet: MemoryFleet, files: dict[str, Any], seconds: float = 0, message: str = "edit") -> str:
    """Commit files so many seconds after the last pass."""
    commit_at(fleet.repository, files, datetime.fromtimestamp(fleet.now + seconds, UTC), message)
    return fleet.repository.git("rev-parse", "HEAD")


def run_until_well(fleet: MemoryFleet, seconds: float = 60, later: float = 60) -> None:
    """Let a pass apply what there is so many seconds later, and another see it well some time after that."""
    fleet.run(seconds)
    for member in fleet.members.values():
        settle(member)
    fleet.run(later)


def tips(fleet: MemoryFleet) -> tuple[str, str]:
    """The newest rendered commit, and the newest of the status branch."""
    git = fleet.repository.git
    return git("rev-parse", "argosy/rendered"), git("rev-parse", "argosy/status")


def silent_log(fleet: MemoryFleet) -> Log:
    """A log that nobody reads."""
    return Log(stream=io.StringIO(), repository=str(fleet.repository.path))
