"""The agent that goes on: it applies what its mirror gets, stays while Git is away, says so once, and ends in time."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reconciler.console.log import Log
from reconciler.run.agent_run import AgentRun, Rhythm

from .agents import PulledFleet
from .build import a_config_map, a_policy, on_clusters
from .waiting import eventually, joined

pytestmark = pytest.mark.waits

QUICK = Rhythm(interval=0.2, drift=1.0, grace=5.0)
MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
SIGNALS = (signal.SIGTERM, signal.SIGINT)


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[PulledFleet]:
    policy = a_policy(selectors=MAPS, placement=on_clusters("member1"))
    made = PulledFleet.create(tmp_path, {"policy.yaml": policy, "one.yaml": a_config_map("one")}, "member1")
    assert made.reconcile(capsys, "--bootstrap").code == 0
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)


def ran(fleet: PulledFleet, meanwhile: Callable[[], None], number: signal.Signals = signal.SIGTERM) -> int:
    """Run the agent of member1, do something meanwhile from another thread, and end it by a signal."""
    failures: list[BaseException] = []

    def act() -> None:
        try:
            meanwhile()
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)
        finally:
            os.kill(os.getpid(), number)

    thread = threading.Thread(target=act)
    thread.start()
    code = AgentRun(fleet.agent(), QUICK, Log(stream=fleet.log)).run()
    joined(thread)
    if failures:
        raise failures[0]
    return code


def holds(fleet: PulledFleet, name: str) -> bool:
    return ("configmaps.", "default", name) in fleet.members["member1"].objects


def test_it_applies_what_comes_and_heals_what_drifts(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> None:
    def meanwhile() -> None:
        eventually(lambda: holds(fleet, "one"), "the first object")
        fleet.source.commit({"two.yaml": a_config_map("two")})
        fleet.reconcile(capsys)
        eventually(lambda: holds(fleet, "two"), "the second object")
        del fleet.members["member1"].objects["configmaps.", "default", "one"]
        eventually(lambda: holds(fleet, "one"), "the first object again")

    assert ran(fleet, meanwhile) == 0


def test_that_git_is_away_and_back_is_said_once_each(fleet: PulledFleet) -> None:
    def said(words: str) -> int:
        return fleet.log.getvalue().count(words)

    def meanwhile() -> None:
        eventually(lambda: "argosy/agent/member1" in fleet.hub.git("branch", "--list", "argosy/agent/*"), "a report")
        fleet.away()
        eventually(lambda: said("Git is away"), "that Git is away")
        del fleet.members["member1"].objects["configmaps.", "default", "one"]
        eventually(lambda: holds(fleet, "one"), "what drifted while Git was away")
        fleet.back()
        eventually(lambda: said("Git is back"), "that Git is back")

    assert ran(fleet, meanwhile, signal.SIGINT) == 130
    assert (said("Git is away"), said("Git is back")) == (1, 1)
