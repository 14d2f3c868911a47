"""Agents whose clocks are wrong: timers go by what passes saw, and what they tell never lies in the future."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.agents import AgentWord
from reconciler.record.heard_words import Said, agent_word_after
from render.documents import parse_documents
from render.timing import epoch_text

from .agents import PulledFleet
from .build import a_deployment, a_policy, argosy
from .memory_fleet import MemoryFleet, settle
from .tables import each_row
from .test_agent_passes import observed
from .test_failover import WEB, a_failing_policy, a_fleet

NOW = 1_800_000_000
ROOMY = {"cpu": "8", "memory": "16Gi", "pods": "110"}


class Heard(NamedTuple):
    why: str
    before: AgentWord | None
    time: int
    asked: int
    want: AgentWord


def word(heard: int, asked: int = 0, ahead: int = 0, commit: str = "new") -> AgentWord:
    return AgentWord(commit=commit, heard=epoch_text(heard), asked=asked, ahead=ahead)


RECORDED_AT = NOW - 100
HEARD = [
    Heard("its time lies between two passes", None, NOW - 30, 0, word(NOW - 30)),
    Heard("it is older than what was recorded before it", None, NOW - 600, 0, word(NOW)),
    Heard("it is from the future", None, NOW + 600, 0, word(NOW, ahead=600)),
    Heard("it is older than what it applied", None, NOW - 600, NOW - 40, word(NOW, NOW - 40, -560)),
    Heard("a little older is a slow network", None, NOW - 70, NOW - 40, word(NOW - 70, NOW - 40)),
    Heard(
        "a little less ahead is the same clock", word(1, ahead=620, commit="old"), NOW + 600, 0, word(NOW, ahead=620)
    ),
    Heard("more ahead is more", word(1, ahead=600, commit="old"), NOW + 610, 0, word(NOW, ahead=610)),
    Heard("it was set right", word(1, ahead=600, commit="old"), NOW - 5, 0, word(NOW)),
    Heard("it tells of what it applied before", word(1, 7, -560, "old"), NOW - 30, 7, word(NOW, 7, -560)),
    Heard("it applied something in time", word(1, 7, -560, "old"), NOW - 30, NOW - 40, word(NOW, NOW - 40)),
    Heard("it said nothing new", word(1, 7, -560), NOW - 30, 9, word(1, 7, -560)),
]


@each_row("case", HEARD, ids=lambda case: case.why)
def test_a_word_is_as_old_as_the_look_at_it_unless_its_time_can_be_true(case: Heard) -> None:
    said = Said(commit="new", time=case.time, asked=case.asked)
    assert agent_word_after(case.before, said, epoch_text(NOW), RECORDED_AT) == case.want


def pulled_by(fleet: MemoryFleet, name: str, skew: float) -> None:
    """One pass of a member's agent, whose clock is ahead by so many seconds."""
    fleet.now += skew
    fleet.pull(name)
    fleet.now -= skew


def targets(fleet: MemoryFleet) -> dict[str, int]:
    found = parse_documents(fleet.repository.show("bindings/default/Deployment.apps/web.yaml").encode())[0].value
    return {each["name"]: each.get("replicas", 0) for each in found["spec"]["clusters"]}


def unwell_fleet(folder: Path, skew: float) -> MemoryFleet:
    """A workload that its agent, with a wrong clock, has just told to be unwell in paris; rome would take it."""
    application = {"decisionConditions": {"tolerationSeconds": 300}, "purgeMode": "Directly"}
    files = {"argosy.yaml": a_fleet(), "web.yaml": a_deployment("web"), "policy.yaml": a_failing_policy(application)}
    fleet = MemoryFleet.create(folder / "fleet", {"paris": (1, ROOMY), "rome": (1, ROOMY)}, files, by_agent=True)
    fleet.now = float(fleet.repository.git("log", "-1", "--format=%ct"))
    run(fleet, skew)
    settle(fleet.members["paris"])
    run(fleet, skew, 60)
    live = fleet.members["paris"].objects["deployments.apps", "default", "web"]
    live["status"] = {"observedGeneration": live["metadata"]["generation"], "replicas": 2, "unavailableReplicas": 2}
    run(fleet, skew, 60)
    return fleet


def run(fleet: MemoryFleet, skew: float, seconds: float = 0.0) -> None:
    """One pass, the agents' passes, and one more that takes in what they tell."""
    fleet.now += seconds
    fleet._run_pass(None, _nobody, None)
    for name, ahead in (("paris", skew), ("rome", 0.0)):
        pulled_by(fleet, name, ahead)
    fleet._run_pass(None, _nobody, None)


def _nobody(_orphans: Any) -> None:
    raise AssertionError("there are no orphans")


@pytest.mark.parametrize("skew", [-600.0, 600.0, 0.0])
def test_a_timer_runs_from_when_a_pass_first_saw_it(skew: float, tmp_path: Path) -> None:
    """With an agent ten minutes slow, five minutes of toleration were over after twenty seconds."""
    fleet = unwell_fleet(tmp_path, skew)
    assert targets(fleet) == {"paris": 2}
    run(fleet, skew, 300)
    assert targets(fleet) == {"paris": 2}
    run(fleet, skew, 1)
    assert targets(fleet) == {"rome": 2}


@pytest.mark.parametrize(("skew", "said"), [(600.0, "s ahead of"), (-600.0, "s behind")])
def test_a_clock_that_is_wrong_is_said_and_nothing_lies_in_the_future(
    skew: float, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = unwell_fleet(tmp_path, skew)
    value = json.loads(fleet.status(capsys, output="json").out)
    spot = value["clusters"]["paris"]["observation"]
    assert (spot["state"], said in spot["message"], bool(spot["hint"])) == ("ClockWrong", True, True)
    assert "observation" not in value["clusters"]["rome"]
    line = next(
        each for each in fleet.status(capsys).out.splitlines() if each.startswith("paris: ClockWrong: the clock")
    )
    assert said in line
    now = epoch_text(fleet.now)
    times = [each["since"] for each in (*value["unwell"], *value["clusters"].values()) if each.get("since")]
    assert times
    assert [each for each in times if each > now] == []
    known = fleet.repository.git("rev-parse", "argosy/status")
    run(fleet, skew)
    assert fleet.repository.git("rev-parse", "argosy/status") == known, "the same clock is no news"


class Compared(NamedTuple):
    why: str
    server: Callable[[float], float] | None
    mirror: float
    want: str


COMPARED = [
    Compared("ahead of its server", lambda now: now - 600, 0, "600 s ahead of that of its API server"),
    Compared("behind its server", lambda now: now + 600, 0, "600 s behind that of its API server"),
    Compared("behind the commits of its mirror", None, 600, "600 s behind the newest commit of its mirror"),
    Compared("like both", lambda now: now + 30, 30, ""),
]


@pytest.mark.parametrize("case", COMPARED, ids=lambda case: case.why)
def test_an_agent_compares_its_clock_with_its_server_and_its_mirror(
    case: Compared, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(selectors=[WEB], placement={"clusterAffinity": {"clusterNames": ["member1"]}})
    fleet = PulledFleet.rendered(tmp_path, {"policy.yaml": policy, "web.yaml": a_deployment("web")}, "member1")
    mirrored = int(fleet.hub.git("log", "-1", "--format=%ct", "argosy/cluster/member1"))
    fleet.now = float(mirrored - case.mirror)
    fleet.members["member1"].now = case.server(fleet.now) if case.server else None
    for _ in range(2):
        fleet.pull("member1", seconds=1)
    warned = [line for line in fleet.log.getvalue().splitlines() if "the clock here is" in line]
    assert (bool(warned), all(case.want.partition(" ")[2] in line for line in warned)) == (bool(case.want), True)
    annotations = fleet.told("clusters/member1.yaml")["metadata"]["annotations"]
    assert annotations.get("argosy.dev/clock", "").partition(" ")[2] == case.want.partition(" ")[2]
    assert fleet.reconcile(capsys).code == 0
    fleet.source.git("fetch", "-q")
    doctor = argosy(fleet.source, capsys, "doctor")
    assert ("the clock of its agent is" in doctor.out) is bool(case.want)


def test_an_agent_that_is_slow_is_not_taken_for_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its heartbeats were eleven minutes old when they came, and an agent may be silent for ten."""
    files = {"policy.yaml": a_policy(selectors=[WEB]), "web.yaml": a_deployment("web")}
    fleet = PulledFleet.rendered(tmp_path, files, "member1")
    begun = int(fleet.hub.git("log", "-1", "--format=%ct", "argosy/cluster/member1"))
    fleet.now = float(begun - 660)
    fleet.pull("member1", heartbeat=60.0)
    assert fleet.reconcile(capsys).code == 0
    assert observed(fleet, begun + 500).turned == {}
    assert {name: state.ready for name, state in observed(fleet, begun + 900).turned.items()} == {"member1": "Unknown"}
