"""Rollouts go on from the last good source while a newer one is refused, by whole passes over members in memory."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from render.documents import parse_documents

from .agents import PulledFleet
from .build import a_policy, on_clusters
from .memory_fleet import settle
from .moving import divided
from .moving import web as six_replicas
from .rolling import WEB, a_rollout_policy, web
from .served_rollouts import EXTRA, NAMES, WAVES, ServedRollouts, served_rollouts
from .test_rollouts_members import sicken
from .waiting import eventually

BROKEN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: [\n"


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[ServedRollouts]:
    with served_rollouts(tmp_path, capsys) as served:
        yield served


def a_broken_file(fleet: ServedRollouts) -> None:
    fleet.repository.commit({"broken.yaml": BROKEN, "web.yaml": web(3)})


def a_removal_of_too_much(fleet: ServedRollouts) -> None:
    fleet.repository.commit({**{f"{name}.yaml": None for name in EXTRA}, "web.yaml": web(3)})


def an_argosy_yaml_that_cannot_be_read(fleet: ServedRollouts) -> None:
    fleet.repository.commit({"argosy.yaml": "kind: Fleet\napiVersion: argosy.dev/v1alpha1\nspec: {removalGuards: 1}\n"})


def a_source_that_was_rewound(fleet: ServedRollouts) -> None:
    fleet.repository.git("reset", "-q", "--hard", "HEAD~1")


class Refusal(NamedTuple):
    why: str
    happens: Callable[[ServedRollouts], None]
    code: int


REFUSALS = [
    Refusal("a broken file", a_broken_file, 3),
    Refusal("a guard that refuses what a commit removes", a_removal_of_too_much, 6),
    Refusal("an argosy.yaml that cannot be read", an_argosy_yaml_that_cannot_be_read, 3),
    Refusal("a source that was rewound", a_source_that_was_rewound, 6),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_waves_go_on_while_the_newest_source_is_refused(case: Refusal, fleet: ServedRollouts) -> None:
    fleet.begin()
    source = fleet.repository.commit({"web.yaml": web(2)})
    fleet.run()
    assert fleet.live() == "211"
    case.happens(fleet)
    seen = []
    for _ in range(4):
        ended = fleet.step()
        seen.append((ended.code, fleet.live(), fleet.state()["phase"]))
    assert seen == [
        (case.code, "221", "Progressing"),
        (case.code, "222", "Progressing"),
        (case.code, "222", "Completed"),
        (case.code, "222", "Completed"),
    ]
    message = fleet.repository.git("log", "-1", "--format=%B", "argosy/rendered")
    assert f"Argosy-Source: {source}" in message
    fleet.repository.git("reset", "-q", "--hard", source)
    said = fleet.verify()
    assert (said.count(": equal\n"), said.count("differs")) == (5, 0), said


def test_a_rollback_and_its_hold_do_not_wait_for_a_better_source(fleet: ServedRollouts) -> None:
    fleet.begin(gate={"deadline": "10m"}, onFailure="Rollback")
    fleet.repository.commit({"web.yaml": web(2)})
    sicken(fleet.members["oslo"])
    fleet.run()
    a_broken_file(fleet)
    assert (fleet.run().code, fleet.live()) == (3, "211")
    later = fleet.run("--now", "2099-01-01T00:00:00Z")
    assert (later.code, fleet.live()) == (3, "111")
    assert "is applied, by which rollouts go on: 3 clusters converged" in later.err
    assert (fleet.state()["phase"], fleet.state()["reason"]) == ("Held", "RolledBack")


def test_clusters_that_pull_are_taken_back_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No member is reached, and agents tell of all of them: there is somebody for whom to go on."""
    placed, gate = a_policy("web", selectors=[WEB], placement=on_clusters()), {"deadline": "1s"}
    rollout = a_rollout_policy(waves=WAVES, gate=gate, onFailure="Rollback")
    files = {"policy.yaml": placed, "web.yaml": web(1), "rollout.yaml": rollout}
    pulled = PulledFleet.create(tmp_path, files, *NAMES)
    pulled.now = time.time()

    def image() -> str:
        text = pulled.hub.show("default/Deployment.apps/web.yaml", "argosy/cluster/oslo")
        return text.split("image: web:")[1].splitlines()[0]

    pulled.reconcile(capsys, "--bootstrap")
    for name in NAMES:
        pulled.pull(name)
    pulled.source.commit({"web.yaml": web(2)})
    assert (pulled.reconcile(capsys).code, image()) == (0, "2")
    refused = pulled.source.commit({"broken.yaml": BROKEN})

    def is_taken_back() -> bool:
        assert pulled.reconcile(capsys).code == 3
        return image() == "1"

    eventually(is_taken_back, "oslo's deadline has passed", pause=0.5)
    assert refused in pulled.hub.show("refusal.yaml", "argosy/status")


def test_the_answer_of_a_pass_has_the_step_and_the_refusal(fleet: ServedRollouts) -> None:
    fleet.begin()
    fleet.repository.commit({"web.yaml": web(2)})
    fleet.run()
    a_broken_file(fleet)
    before = fleet.repository.git("rev-parse", "argosy/rendered")
    fleet.settle()
    told = json.loads(fleet.run("-o", "json").out)
    rendered = fleet.repository.git("rev-parse", "argosy/rendered")
    assert (told["previous"], told["rendered"], told["changed"]) == (before, rendered, True)
    assert (told["refused"]["code"], told["refused"]["source"]) == (3, fleet.repository.git("rev-parse", "HEAD"))
    assert {name: each["state"] for name, each in told["clusters"].items()} == dict.fromkeys(NAMES, "Converged")


def test_without_a_rollout_under_way_a_refused_source_changes_no_branch(fleet: ServedRollouts) -> None:
    fleet.begin()
    a_broken_file(fleet)
    before = fleet.repository.git("rev-parse", "argosy/rendered")
    fleet.run()
    ended = fleet.step()
    assert (ended.code, fleet.repository.git("rev-parse", "argosy/rendered")) == (3, before)
    assert f"the last good commit {before[:12]} stays applied: 3 clusters converged" in ended.err


def test_a_source_that_is_mended_goes_out_after_what_went_on_meanwhile(fleet: ServedRollouts) -> None:
    fleet.begin()
    fleet.repository.commit({"web.yaml": web(2)})
    fleet.run()
    a_broken_file(fleet)
    fleet.step()
    assert fleet.live() == "221"
    fleet.repository.commit({"broken.yaml": None})
    assert (fleet.run().code, fleet.live()) == (0, "321")
    for expected in ("331", "333", "333"):
        fleet.step()
        assert fleet.live() == expected
    assert fleet.state()["phase"] == "Completed"


def test_replicas_that_move_step_by_step_go_on_while_the_newest_source_is_refused(fleet: ServedRollouts) -> None:
    settings = parse_documents(fleet.repository.show("argosy.yaml", "HEAD").encode())[0].value
    settings["spec"] |= {"moves": "MakeBeforeBreak", "surge": 3}
    fleet.repository.commit({"argosy.yaml": settings, "web.yaml": six_replicas(6), "policy.yaml": divided(oslo=1)})
    assert fleet.run("--bootstrap").code == 0
    fleet.settle("oslo")
    fleet.run()
    fleet.repository.commit({"policy.yaml": divided(paris=1)})
    assert fleet.run().code == 0
    fleet.repository.commit({"broken.yaml": BROKEN})
    for _ in range(4):
        for name in ("oslo", "paris"):
            settle(fleet.members[name])
        assert fleet.run().code == 3
    found = (fleet.members[name].objects.get(("deployments.apps", "default", "web")) for name in ("oslo", "paris"))
    assert [each and each["spec"]["replicas"] for each in found] == [None, 6]
