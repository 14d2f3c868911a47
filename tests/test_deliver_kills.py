"""A pass killed at random moments, again and again: nothing is lost, nothing of others is touched, it converges."""

import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.holder import LeaseHolder
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import Action

from .applying import QUICK, Cluster, planned
from .build import a_config_map, a_deployment
from .clusters import Member
from .conftest import REQUIRED
from .waiting import running

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parent.parent
KILLS = int(os.environ.get("ARGOSY_KILLS") or (50 if REQUIRED else 3))
"""``ARGOSY_KILLS`` asks for more; ``python -m tests.bench kills`` kills whole passes over several members."""


def a_tree(space: str, turn: int) -> list[dict[str, Any]]:
    """A tree of which every other turn changes, adds and removes objects."""
    names = [f"always-{number}" for number in range(10)] + [f"turn-{turn % 2}-{number}" for number in range(15)]
    tree = [a_config_map(name, namespace=space, turn=str(turn)) for name in names]
    return [*tree, a_deployment("web", namespace=space, image=f"nginx:{turn}")]


def killed_after(seconds: float, state: Path) -> None:
    """Run a pass and kill it so long after it has begun."""
    command = [sys.executable, "-m", "tests.killed_pass", str(state)]
    with running(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=seconds)


def test_a_pass_killed_anywhere_loses_nothing(real_cluster: Cluster, tmp_path: Path) -> None:
    member, space = real_cluster.server, real_cluster.space
    assert isinstance(member, Member)
    theirs = real_cluster.create("configmaps", a_config_map("theirs", namespace=space, a="1"))
    seed = int(time.time())
    moments, state = random.Random(seed), tmp_path / "state.json"
    for turn in range(KILLS):
        told = {"name": member.name, "kubeconfig": str(member.kubeconfig), "space": space}
        trees = {"wanted": a_tree(space, turn), "held": [*a_tree(space, turn), *a_tree(space, turn + 1)]}
        state.write_text(json.dumps(told | trees))
        killed_after(moments.uniform(0.0, 0.6), state)

    last = tuple(a_tree(space, KILLS))
    options = real_cluster.options(applyset=ApplySet(name="argosy", namespace=space), allowed_removals=1000)
    inventory = real_cluster.inventory(*last, *a_tree(space, KILLS + 1))
    client = real_cluster.client()
    _, plan = planned(real_cluster, client, last, inventory, options)
    how = type(QUICK)(holder=LeaseHolder(name="the last pass", folder=tmp_path / "passes"), lease_seconds=0.0)
    applied = apply_plan(client, plan, how)
    assert applied.outcome is ApplyOutcome.CONVERGED, (seed, applied)
    again = real_cluster.client()
    _, plan = planned(real_cluster, again, last, inventory, options)
    assert apply_plan(again, plan, how).count(Action.UNCHANGED) == len(last), seed
    assert again.writes == []
    names = {item["metadata"]["name"] for item in real_cluster.server.read(real_cluster.path("configmaps"))["items"]}
    wanted = {item["metadata"]["name"] for item in last if item["kind"] == "ConfigMap"}
    assert names == wanted | {"theirs", "argosy", "kube-root-ca.crt"}, seed
    assert real_cluster.read("configmaps", "theirs") == theirs
