"""Rollouts that ask somebody outside: each row is what sources answer, and the commits that passes make of it.

A commit is told by the version of oslo, paris and rome, and by the phase of the rollout.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from msgspec import Struct, field

from render.documents import parse_documents

from .asked import a_fleet_asking
from .rolling import RollingFleet, a_control, a_wave, web

CLUSTERS = ("oslo", "paris", "rome")
NAMED = {"argosy": parse_documents(a_fleet_asking("https://prometheus.example.com").encode())[0].value}


def errors(**more: Any) -> dict[str, Any]:
    """A check of the rate of errors of a wave, or of each cluster where its query names one."""
    query = more.pop("query", "rate(errors[5m])")
    prometheus = {"address": "https://prometheus.example.com", "query": query, "is": "< 0.01"}
    return {"name": "errors", "prometheus": prometheus, **more}


def waves(check: Mapping[str, Any] | None = None, later: Mapping[str, Any] | None = None, **gate: Any) -> list[Any]:
    """A canary in oslo, and all others, each with a check."""
    canary, rest = ({"gate": {**gate, "checks": [each]}} if each else {} for each in (check, later))
    return [a_wave("canary", "oslo", **canary), a_wave("rest", **rest)]


class Step(Struct, kw_only=True):
    """Something that happens, and the commits of it. ``says`` has what checks answer from then on."""

    commits: Sequence[str]
    says: Mapping[str, bool | None] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)
    unwell: Collection[str] | None = None
    seconds: int = 0
    control: str = ""
    next: str = ""


class Situation(Struct, kw_only=True):
    """A fleet with checks, and what happens to it."""

    why: str
    policy: Mapping[str, Any]
    steps: Sequence[Step]


NEW = {"web": web(2)}
WAITS = "waits for check errors of wave canary"

SITUATIONS = (
    Situation(
        why="a wave is over once its check is met",
        policy={"waves": waves(errors())},
        steps=[
            Step(
                files=NEW, says={"errors": False}, commits=["211 Progressing", "211 Waiting"], next=f"{WAITS} (False)"
            ),
            Step(seconds=3600, commits=[]),
            Step(says={"errors": True}, commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="a source that does not answer holds the wave, and is named",
        policy={"waves": waves(errors())},
        steps=[
            Step(files=NEW, says={"errors": None}, commits=["211 Progressing", "211 Waiting"], next=f"{WAITS} (None)"),
            Step(says={"errors": True}, commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="an answer has to be met for as long as the check says, without a break",
        policy={"waves": waves(errors(**{"for": "10m"}))},
        steps=[
            Step(files=NEW, says={"errors": True}, commits=["211 Progressing", "211 Waiting"]),
            Step(seconds=599, says={"errors": False}, commits=["211 Waiting"], next=f"{WAITS} (False)"),
            Step(seconds=1, says={"errors": True}, commits=["211 Waiting"]),
            Step(seconds=599, commits=[], next="waits until check errors of wave canary is met for long enough"),
            Step(seconds=1, commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="a change that waits begins in the pass whose answers end the one before, which has them by value",
        policy={"waves": waves(later=errors()), "onNewChange": "Wait"},
        steps=[
            Step(
                files=NEW,
                says={"errors": False},
                commits=["211 Progressing", "222 Progressing", "222 Waiting"],
                next="waits for check errors of wave rest (False)",
            ),
            Step(files={"web": web(3)}, commits=["222 Waiting"]),
            Step(says={"errors": True}, commits=["322 Progressing", "333 Progressing", "333 Completed"]),
        ],
    ),
    Situation(
        why="a check before a wave keeps it from beginning",
        policy={"waves": waves(errors(beforeWave=True))},
        steps=[
            Step(files=NEW, says={"errors": False}, commits=["111 Waiting"], next=f"{WAITS} (False)"),
            Step(says={"errors": True}, commits=["211 Progressing", "222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="a check before a later wave is asked once all before it is through",
        policy={"waves": waves(later=errors(beforeWave=True))},
        steps=[
            Step(
                files=NEW,
                says={"errors": False},
                unwell=["oslo"],
                commits=["211 Progressing"],
                next="waits for oslo to come through the gate",
            ),
            Step(unwell=(), commits=["211 Waiting"], next="waits for check errors of wave rest (False)"),
            Step(says={"errors": True}, commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="each cluster passes a check about itself, as it has to be well",
        policy={"waves": waves(later=errors(query="errors{cluster='$(cluster)'}"))},
        steps=[
            Step(
                files=NEW,
                says={"errors": True, "errors rome": False},
                commits=["211 Progressing", "222 Progressing", "222 Progressing"],
                next="waits for rome to come through the gate, and for check errors of rome (False)",
            ),
            Step(says={"errors rome": True}, commits=["222 Completed"]),
        ],
    ),
    Situation(
        why="an answer about a cluster has to be met for as long as the check says",
        policy={"waves": waves(errors(query="$(cluster)", **{"for": "10m"}))},
        steps=[
            Step(files=NEW, says={"errors": True}, commits=["211 Progressing"]),
            Step(seconds=599, commits=[]),
            Step(seconds=1, commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="a check that is met no more keeps others from getting the change",
        policy={"waves": waves(errors()), "maxConcurrent": 1},
        steps=[
            Step(files=NEW, says={"errors": True}, unwell=["rome"], commits=["211 Progressing", "212 Progressing"]),
            Step(says={"errors": False}, unwell=(), commits=["212 Waiting"], next=f"{WAITS} (False)"),
            Step(says={"errors": True}, commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="a cluster that was through and whose check is met no more has its time again",
        policy={"waves": waves(errors(query="$(cluster)"), deadline="10m"), "maxConcurrent": 1},
        steps=[
            Step(files=NEW, says={"errors": True}, unwell=["rome"], commits=["211 Progressing", "212 Progressing"]),
            Step(seconds=3600, says={"errors": False}, unwell=(), commits=["212 Progressing"]),
            Step(
                seconds=599,
                commits=[],
                next="waits for oslo to come through the gate, and for check errors of oslo (False)",
            ),
            Step(seconds=1, commits=["212 Failed"]),
        ],
    ),
    Situation(
        why="a wave whose check is not met in time has failed, and may be tried again",
        policy={"waves": waves(errors(), deadline="10m")},
        steps=[
            Step(files=NEW, says={"errors": False}, commits=["211 Progressing", "211 Waiting"]),
            Step(seconds=599, commits=[]),
            Step(
                seconds=1,
                commits=["211 Failed"],
                next="argosy rollout retry web -n default, argosy rollout abort web -n default, or a newer change, as"
                " oslo failed by check errors of wave canary (False)",
            ),
            Step(says={"errors": True}, commits=["211 Failed"]),
            Step(control="Retry", commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="a wave whose check is not met in time goes back where that is asked for",
        policy={"waves": waves(errors(), deadline="10m"), "onFailure": "Rollback"},
        steps=[
            Step(files=NEW, says={"errors": False}, commits=["211 Progressing", "211 Waiting"]),
            Step(seconds=600, commits=["111 Held"]),
            Step(says={"errors": True}, seconds=3600, commits=[]),
        ],
    ),
    Situation(
        why="a rollout that was aborted asks nobody, and asks again after a retry",
        policy={"waves": waves(errors(), deadline="10m")},
        steps=[
            Step(files=NEW, says={"errors": False}, commits=["211 Progressing", "211 Waiting"]),
            Step(control="Abort", commits=["211 Held"]),
            Step(seconds=3600, says={"errors": True}, commits=[]),
            Step(control="Retry", commits=["222 Progressing", "222 Completed"]),
        ],
    ),
    Situation(
        why="a newer change is asked about anew",
        policy={"waves": waves(errors(**{"for": "10m"}))},
        steps=[
            Step(files=NEW, says={"errors": True}, commits=["211 Progressing", "211 Waiting"]),
            Step(seconds=599, files={"web": web(3)}, commits=["311 Progressing", "311 Waiting"]),
            Step(seconds=599, commits=[]),
            Step(seconds=1, commits=["333 Progressing", "333 Completed"]),
        ],
    ),
    Situation(
        why="the last wave passes its check before the rollout is completed",
        policy={"waves": waves(later=errors())},
        steps=[
            Step(
                files=NEW,
                says={"errors": False},
                commits=["211 Progressing", "222 Progressing", "222 Waiting"],
                next="waits for check errors of wave rest (False)",
            ),
            Step(says={"errors": True}, commits=["222 Completed"]),
        ],
    ),
)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.why)
def test_a_rollout_with_checks(situation: Situation) -> None:
    fleet = RollingFleet.of(CLUSTERS, NAMED, **situation.policy)
    for number, step in enumerate(situation.steps):
        fleet.checks |= step.says
        if step.unwell is not None:
            fleet.unwell = set(step.unwell)
        control = {}
        if step.control:
            at = f"2026-03-01T01:00:{number:02}Z"
            control = {f"control{number}": a_control(f"c{number}", fleet.change, step.control, at=at)}
        found = fleet.commit(**step.files, **control).run(step.seconds)
        assert (number, found) == (number, list(step.commits))
        if step.next:
            assert fleet.state().next_step == step.next


def test_answers_are_in_the_commits_that_went_by_them() -> None:
    fleet = RollingFleet.of(CLUSTERS, NAMED, waves=waves(errors()))
    fleet.checks["errors"] = False
    fleet.commit(web=web(2)).run()
    assert fleet.files_below("facts") == ["_checks.yaml", "_health.yaml"]
    fleet.checks["errors"] = True
    fleet.run()
    fleet.commit(web=web(2, replicas=5)).run()
    assert fleet.files_below("facts") == []
