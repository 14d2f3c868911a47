"""Rollouts go on from the last good source while a newer one is refused, by whole passes over members in memory."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import parse_documents

from .agents import PulledFleet
from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .memory_fleet import add_node, settle
from .rolling import WEB, a_rollout_policy, a_wave, web
from .served import serving_members
from .test_rollouts_members import sicken
from .waiting import eventually

NAMES = ("oslo", "paris", "rome")
WAVES = [a_wave("canary", "oslo"), a_wave("second", "paris"), a_wave("rest")]
EXTRA = [f"c{number:02}" for number in range(12)]
BROKEN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: [\n"


class Fleet:
    """Members in memory behind real HTTP; each has version 1 of the Deployment web, and twelve ConfigMaps."""

    def __init__(self, folder: Path, kubeconfigs: Path, members: dict[str, FakeCluster], capsys: Any) -> None:
        self.repository, self.members, self._out = Repository.create(folder), members, capsys
        head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
        placed = a_policy("web", selectors=[WEB, {"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters())
        self.repository.commit(
            {
                "argosy.yaml": {**head, "spec": {"kubeconfigs": str(kubeconfigs)}},
                "policy.yaml": placed,
                "web.yaml": web(1),
                **{f"{name}.yaml": a_config_map(name, color="red") for name in EXTRA},
                **{f"clusters/{name}.yaml": a_cluster(name) for name in NAMES},
            }
        )

    def begin(self, **policy: Any) -> None:
        """Have every member well with version 1."""
        self.repository.commit({"rollout.yaml": a_rollout_policy(**{"waves": WAVES, **policy})})
        assert self.run("--bootstrap").code == 0
        self.settle()
        self.run()
        self.run()

    def settle(self, *names: str) -> None:
        for name in names or NAMES:
            settle(self.members[name])

    def run(self, *words: str) -> Ended:
        return argosy(self.repository, self._out, "reconcile", *words)

    def step(self) -> Ended:
        """Let members settle, and one pass go by that sees them so; its end."""
        self.settle()
        return self.run()

    def verify(self) -> str:
        return argosy(self.repository, self._out, "verify", "-n", "20").out

    def live(self) -> str:
        """The version of web in each member, as one digit for each of the names."""
        found = (self.members[name].objects["deployments.apps", "default", "web"] for name in NAMES)
        images = (each["spec"]["template"]["spec"]["containers"][0]["image"] for each in found)
        return "".join(image.removeprefix("web:") for image in images)

    def state(self) -> Any:
        text = self.repository.show("rollouts/default/web.yaml", "argosy/rendered")
        return parse_documents((text + "\n").encode())[0].value


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    members = {name: FakeCluster(name=name) for name in NAMES}
    for member in members.values():
        add_node(member, "node", cpu="4", memory="8Gi", pods="110")
    with serving_members(members.values(), tmp_path / "kubeconfigs") as served:
        yield Fleet(tmp_path / "fleet", served.kubeconfigs, members, capsys)


def a_broken_file(fleet: Fleet) -> None:
    fleet.repository.commit({"broken.yaml": BROKEN, "web.yaml": web(3)})


def a_removal_of_too_much(fleet: Fleet) -> None:
    fleet.repository.commit({**{f"{name}.yaml": None for name in EXTRA}, "web.yaml": web(3)})


def an_argosy_yaml_that_cannot_be_read(fleet: Fleet) -> None:
    fleet.repository.commit({"argosy.yaml": "kind: Fleet\napiVersion: argosy.dev/v1alpha1\nspec: {removalGuards: 1}\n"})


def a_source_that_was_rewound(fleet: Fleet) -> None:
    fleet.repository.git("reset", "-q", "--hard", "HEAD~1")


class Refusal(NamedTuple):
    why: str
    happens: Callable[[Fleet], None]
    code: int


REFUSALS = [
    Refusal("a broken file", a_broken_file, 3),
    Refusal("a guard that refuses what a commit removes", a_removal_of_too_much, 6),
    Refusal("an argosy.yaml that cannot be read", an_argosy_yaml_that_cannot_be_read, 3),
    Refusal("a source that was rewound", a_source_that_was_rewound, 6),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_waves_go_on_while_the_newest_source_is_refused(case: Refusal, fleet: Fleet) -> None:
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


def test_a_rollback_and_its_hold_do_not_wait_for_a_better_source(fleet: Fleet) -> None:
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


def test_the_answer_of_a_pass_has_the_step_and_the_refusal(fleet: Fleet) -> None:
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


def test_without_a_rollout_under_way_a_refused_source_changes_no_branch(fleet: Fleet) -> None:
    fleet.begin()
    a_broken_file(fleet)
    before = fleet.repository.git("rev-parse", "argosy/rendered")
    fleet.run()
    ended = fleet.step()
    assert (ended.code, fleet.repository.git("rev-parse", "argosy/rendered")) == (3, before)
    assert f"the last good commit {before[:12]} stays applied: 3 clusters converged" in ended.err


def test_a_source_that_is_mended_goes_out_after_what_went_on_meanwhile(fleet: Fleet) -> None:
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
