"""Moves step by step in clusters that agents apply to: what they report is what replicas wait for."""

import time
from pathlib import Path

import pytest

from .agents import PulledFleet
from .build import argosy
from .memory_fleet import settle
from .moving import a_fleet_of_moves, divided, web

NAMES = ("oslo", "paris")


def replicas_in(pulled: PulledFleet, name: str) -> int | None:
    """The replicas that web asks for in a cluster; None where it has none."""
    found = pulled.members[name].objects.get(("deployments.apps", "default", "web"))
    return None if found is None else int(found["spec"]["replicas"])


def test_replicas_wait_for_what_agents_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"argosy.yaml": a_fleet_of_moves(), "web.yaml": web(6), "policy.yaml": divided(oslo=1)}
    pulled = PulledFleet.create(tmp_path, files, *NAMES)
    pulled.now = time.time()
    pulled.reconcile(capsys, "--bootstrap")
    seen: list[list[int | None]] = []
    for step in range(10):
        if step == 2:
            pulled.source.commit({"policy.yaml": divided(paris=1)})
        pulled.reconcile(capsys)
        for name in NAMES:
            pulled.pull(name, 1)
            settle(pulled.members[name])
            pulled.pull(name, 1)
        found = [replicas_in(pulled, name) for name in NAMES]
        seen += [found] if found not in seen else []
        assert sum(filter(None, found)) >= 6
    assert seen == [[6, None], [6, 2], [4, 4], [2, 6], [None, 6]]
    assert argosy(pulled.source, capsys, "verify", "-n", "9").out.count(": equal\n") == 5
