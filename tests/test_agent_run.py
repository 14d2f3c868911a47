"""The agent that goes on: it applies what its mirror gets, stays while Git is away, says so once, and ends in time."""

import errno
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reconciler.console.log import Log
from reconciler.passes.agent_pass import Agent
from reconciler.run.agent_run import AgentRun, Rhythm

from .agents import PulledFleet
from .build import a_config_map, a_policy, on_clusters
from .memory_fleet import DOWN
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


def ran(
    fleet: PulledFleet,
    meanwhile: Callable[[], None],
    number: signal.Signals = signal.SIGTERM,
    opened: Callable[[], Agent] | None = None,
) -> int:
    """Run the agent of member1, do something meanwhile from another thread, and end it by a signal."""
    failures: list[BaseException] = []
    is_over = threading.Event()

    def act() -> None:
        try:
            meanwhile()
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)
        finally:
            # One that ended by itself handles no signal any more.
            if not is_over.is_set():
                os.kill(os.getpid(), number)

    @contextmanager
    def entered() -> Iterator[Agent]:
        agent = (opened or fleet.agent)()
        with agent.repository:
            yield agent

    thread = threading.Thread(target=act)
    thread.start()
    try:
        code = AgentRun(entered, QUICK, Log(stream=fleet.log)).run()
    finally:
        is_over.set()
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


def test_a_mirror_that_is_none_is_told_as_that_and_not_as_git_that_is_away(fleet: PulledFleet) -> None:
    mirror = fleet.hub.git("rev-parse", "argosy/cluster/member1")
    source = fleet.hub.git("rev-parse", "main")

    def told() -> str:
        return fleet.log.getvalue()

    def meanwhile() -> None:
        eventually(lambda: "warning" in told(), "that the mirror is none")
        fleet.hub.git("update-ref", "refs/heads/argosy/cluster/member1", mirror)
        eventually(lambda: "well again" in told(), "that it is one now")

    fleet.hub.git("update-ref", "refs/heads/argosy/cluster/member1", source)
    assert ran(fleet, meanwhile) == 0
    applied = fleet.hub.git("rev-parse", "argosy/rendered")[:12]
    assert [line for line in told().splitlines() if line.startswith(("warning", "the last"))] == [
        f"warning: .argosy in mirror commit {source[:12]} is not the settings of 'member1''s agent",
        f"the last pass went well again; applied {applied}",
    ]


def test_a_full_disk_and_a_cluster_that_is_down_end_nothing_and_each_is_told_in_its_own_words(
    fleet: PulledFleet,
) -> None:
    full: list[OSError] = []

    def opened() -> Agent:
        if full:
            raise full[0]
        return fleet.agent()

    def meanwhile() -> None:
        eventually(lambda: holds(fleet, "one"), "the first object")
        full.append(OSError(errno.ENOSPC, "", "/cache/pack"))
        eventually(lambda: "space" in fleet.log.getvalue(), "that the disk is full")
        full.clear()
        eventually(lambda: "well again" in fleet.log.getvalue(), "that it is over")
        member, fleet.members["member1"] = fleet.members["member1"], DOWN
        eventually(lambda: fleet.log.getvalue().count("down") > 1, "passes over a cluster that is down")
        fleet.members["member1"] = member
        eventually(lambda: fleet.log.getvalue().count("well again") > 1, "that this is over")

    assert ran(fleet, meanwhile, opened=opened) == 0
    applied = fleet.hub.git("rev-parse", "argosy/rendered")[:12]
    down = "member1: Unreachable: member is down"
    assert [line for line in fleet.log.getvalue().splitlines() if line != down] == [
        f"agent of member1: argosy/cluster/member1 of {fleet.hub.path.as_uri()}",
        "member1: ConfigMap default/one: created (Missing)",
        "warning: /cache/pack: no space left on device",
        f"the last pass went well again; applied {applied}",
        "warning: no cluster could be used",
        "  hint: the lines above say what each answered",
        f"the last pass went well again; applied {applied}",
        "stopping: SIGTERM",
    ]


def test_between_passes_it_has_nothing_of_its_store_open_and_makes_one_that_was_lost_again(
    fleet: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    store = fleet.folder / "cache-member1"

    def meanwhile() -> None:
        eventually(lambda: holds(fleet, "one"), "the first object")
        eventually(lambda: str(store) not in Path("/proc/self/maps").read_text(), "that its packs are let go")
        shutil.rmtree(store.rename(fleet.folder / "lost"))
        fleet.source.commit({"two.yaml": a_config_map("two")})
        fleet.reconcile(capsys)
        eventually(lambda: holds(fleet, "two"), "the second object")

    assert ran(fleet, meanwhile) == 0
