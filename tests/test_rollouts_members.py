"""Rollouts over members in memory, by real passes on a real repository, whose commits are made again."""

import copy
import json
import multiprocessing
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconciler.passes.applying import ApplyRun

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .memory_fleet import MemoryFleet, settle
from .rolling import WEB, a_rollout_policy, a_wave, web
from .waiting import SECONDS

NODES = (1, {"cpu": "8", "pods": "20"})
STATE = "rollouts/default/web.yaml"


def sicken(member: FakeCluster) -> None:
    """Let no pod of a member's Deployments be ready, whatever they are told."""
    for (plural, _, _), live in member.objects.items():
        if plural == "deployments.apps":
            live["status"] = {"replicas": 2, "updatedReplicas": 0, "observedGeneration": 1}


class Members:
    """Members with the Deployment web, of which all but the ``unwell`` ones do what they are told."""

    def __init__(self, folder: Path, *names: str, **rollout: Any) -> None:
        placed = a_policy("web", selectors=[WEB], placement=on_clusters())
        files = {"web.yaml": web(1), "policy.yaml": placed, "rollout.yaml": a_rollout_policy(**rollout)}
        self.fleet = MemoryFleet.create(folder / "fleet", dict.fromkeys(names, NODES), files)
        self.repository = self.fleet.repository
        self.unwell: set[str] = set()
        for _ in range(3):
            self.run()

    def run(self, seconds: float = 0.0) -> None:
        """One pass, before which those that are unwell lose their pods, and after which all others are as told."""
        self.sicken()
        self.fleet.run(seconds)
        self.settle()

    def sicken(self) -> None:
        """Let those that are unwell lose their pods."""
        for name in self.unwell & self.fleet.members.keys():
            sicken(self.fleet.members[name])

    def settle(self) -> None:
        """Let those that are well become as they were told."""
        for name in self.fleet.members.keys() - self.unwell:
            settle(self.fleet.members[name])

    def twin(self, folder: Path) -> "Members":
        """The same members once more, with a copy of their repository."""
        found = copy.copy(self)
        found.repository = Repository(Path(shutil.copytree(self.repository.path, folder)))
        found.fleet = replace(self.fleet, repository=found.repository, members=copy.deepcopy(self.fleet.members))
        return found

    def kill_pass_before_apply(self) -> None:
        """Begin a pass in a process of its own, which dies once it has committed what it rendered."""

        def die(_: ApplyRun) -> None:
            os._exit(9)

        def begin() -> None:
            ApplyRun.reports = die  # type: ignore[assignment, method-assign]
            self.fleet.run()

        process = multiprocessing.get_context("fork").Process(target=begin)
        process.start()
        process.join(SECONDS)
        assert process.exitcode == 9

    def commits(self) -> list[str]:
        """The images of each rendered commit, oldest first, as one digit for each cluster."""
        ids = self.repository.git("rev-list", "--reverse", "argosy/rendered").split()
        return ["".join(self._versions_in_commit(commit)) for commit in ids]

    def _versions_in_commit(self, commit: str) -> list[str]:
        found = self.repository.contents(commit, under="clusters")
        texts = (found[path] for path in sorted(found) if path.endswith("Deployment.apps/web.yaml"))
        return [text.split("image: web:")[1].splitlines()[0] for text in texts]


def test_each_commit_is_made_again_from_what_it_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waves = [a_wave("canary", "oslo", gate={"healthyFor": "5m"}), a_wave("rest")]
    members = Members(tmp_path, "oslo", "paris", "rome", waves=waves)
    members.repository.commit({"web.yaml": web(2)})
    for seconds in (0, 0, 0, 299, 1, 0, 0, 0):
        members.run(seconds)
    assert members.commits() == ["111", "211", "222", "222"]
    tip = members.repository.git("rev-parse", "argosy/rendered")
    members.run(3600)
    assert members.repository.git("rev-parse", "argosy/rendered") == tip
    assert argosy(members.repository, capsys, "verify", "-n", "9").out.count(": equal\n") == 4


def test_passes_that_are_killed_before_they_apply_leave_the_same_commits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waves = [a_wave("canary", "oslo", gate={"healthyFor": "5m"}), a_wave("rest")]
    members = Members(tmp_path, "oslo", "paris", "rome", waves=waves)
    members.repository.commit({"web.yaml": web(2)})
    twin = members.twin(tmp_path / "twin")
    for seconds in (0, 60, 60, 240, 60, 60, 60):
        members.run(seconds)
        twin.fleet.now += seconds
        twin.kill_pass_before_apply()
        assert twin.commits() == members.commits()
        twin.run()
    assert members.commits() == ["111", "211", "222", "222"]
    trees = [each.repository.git("log", "--format=%T", "argosy/rendered").split() for each in (members, twin)]
    assert trees[0] == trees[1]
    assert argosy(twin.repository, capsys, "verify", "-n", "9").out.count(": equal\n") == 4


def test_what_a_status_said_before_a_write_is_no_health_of_what_was_written(tmp_path: Path) -> None:
    """A Service tells of no generation: the address that it has is that of the version before."""

    def balancer(port: int) -> dict[str, Any]:
        spec = {"type": "LoadBalancer", "ports": [{"port": port}]}
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": spec,
        }

    selectors = [{"apiVersion": "v1", "kind": "Service", "name": "web"}]
    rollout = a_rollout_policy(selectors=selectors, waves=[a_wave("canary", "oslo"), a_wave("rest")])
    placed = a_policy("web", selectors=selectors, placement=on_clusters())
    files = {"service.yaml": balancer(1), "policy.yaml": placed, "rollout.yaml": rollout}
    fleet = MemoryFleet.create(tmp_path / "fleet", dict.fromkeys(("oslo", "paris"), NODES), files)
    fleet.run()
    services = [fleet.members[name].objects["services.", "default", "web"] for name in ("oslo", "paris")]
    for service in services:
        service["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    fleet.run()
    fleet.repository.commit({"service.yaml": balancer(2)})
    ports = []
    for _ in range(4):
        fleet.run()
        live = [fleet.members[name].objects["services.", "default", "web"] for name in ("oslo", "paris")]
        ports.append("".join(str(service["spec"]["ports"][0]["port"]) for service in live))
    assert ports == ["21", "21", "22", "22"]


def test_a_cluster_that_gets_another_name_stays_at_its_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {"matchLabels": {"stage": "canary"}}
    waves = [a_wave("canary", clusterAffinity={"labelSelector": labels}), a_wave("rest")]
    members = Members(tmp_path, "oslo", "paris", waves=waves)
    members.repository.commit({"clusters/oslo.yaml": a_cluster("oslo", labels={"stage": "canary"})})
    members.run()
    members.unwell = {"oslo"}
    members.repository.commit({"web.yaml": web(2)})
    members.run()
    members.run()
    renamed = a_cluster("bergen", labels={"stage": "canary"})
    renamed["metadata"]["annotations"] = {"argosy.dev/renamed-from": "oslo"}
    members.repository.git("rm", "-q", "clusters/oslo.yaml")
    members.repository.commit({"clusters/bergen.yaml": renamed})
    members.fleet.members["bergen"] = members.fleet.members.pop("oslo")
    members.unwell = {"bergen"}
    members.run()
    members.run()
    state = members.fleet.recorded(STATE, "argosy/rendered")
    assert [each["cluster"] for each in state["given"]] == ["bergen"]
    assert members.commits()[-1] == "21"
    members.unwell = set()
    for _ in range(5):
        members.run()
    assert members.commits()[-1] == "22"
    assert members.fleet.recorded(STATE, "argosy/rendered")["phase"] == "Completed"
    assert argosy(members.repository, capsys, "verify", "-n", "20").code == 0


def test_waiting_for_what_is_rolled_out_ends_with_the_last_wave_or_with_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = Members(tmp_path, "oslo", "paris", waves=[a_wave("canary", "oslo", gate={"deadline": "5m"}), a_wave("r")])

    def waited(*subject: str, wish: str = "rolled-out") -> tuple[int, str]:
        ended = argosy(members.repository, capsys, "wait", *subject, "--for", wish, "--timeout", "1s")
        return ended.code, ended.out.strip() or ended.err.partition("\n")[0]

    assert waited() == (0, "the fleet is rolled out")
    members.unwell = {"oslo"}
    members.repository.commit({"web.yaml": web(2)})
    members.run()
    assert waited(wish="applied") == (0, "the fleet is applied")
    for subject in ((), ("deployment/web",), ("cluster/oslo",), ("cluster/paris",)):
        assert waited(*subject)[0] == 1, subject
    document = json.loads(
        argosy(members.repository, capsys, "wait", "--for", "rolled-out", "--timeout", "1s", "-o", "json").out
    )
    (missing,) = document["missing"]
    waits = "waits for oslo to come through the gate"
    assert {name: missing[name] for name in ("text", "reason", "message")} == {
        "text": f"RolloutPolicy default/web is Progressing: {waits}",
        "reason": "ClustersUnderWay",
        "message": waits,
    }
    members.run(301)
    change = members.fleet.recorded(STATE, "argosy/rendered")["change"]
    failed = f"argosy: RolloutPolicy default/web is Failed (TooManyFailures) with change {change}"
    assert [waited(*subject) for subject in ((), ("deployment/web",), ("cluster/paris",))] == [(1, failed)] * 3
    members.unwell = set()
    members.repository.commit({"web.yaml": web(3)})
    for _ in range(4):
        members.run(10)
    assert waited("deployment/web") == (0, "deployment/web is rolled out")
    assert waited("cluster/paris") == (0, "cluster/paris is rolled out")


def test_clusters_that_a_rollout_passes_over_are_named_until_they_are_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = Members(tmp_path, "oslo", "paris", "rome", "tokyo", waves=[a_wave("canary", "oslo"), a_wave("rest")])
    suspended = {"dispatchingOnClusters": {"clusterNames": ["rome"]}}
    placed = a_policy("web", selectors=[WEB], placement=on_clusters(), suspension=suspended)
    members.fleet.down = {"paris"}
    members.repository.commit({"policy.yaml": placed})
    members.run()
    members.repository.commit({"web.yaml": web(2)})
    for _ in range(5):
        members.run(60)

    def said(*words: str) -> str:
        return argosy(members.repository, capsys, *words).out

    passed_over = "paris (silent), rome (suspended)"
    assert f"\nRolloutPolicy default/web: Completed without {passed_over}\n" in said("status")
    assert f"\nRolloutPolicy default/web: not asked: {passed_over}\n" in said("rollout", "status")
    rows = [" ".join(line.split()[:4]) for line in said("rollout", "status", "web").splitlines()[-3:-1]]
    assert rows == ["rest paris waits (silent)", "rest rome waits (suspended)"]
    clusters = json.loads(said("rollout", "status", "-o", "json"))["clusters"]
    found = {each["cluster"]: (each["wave"], each["state"], each.get("unasked")) for each in clusters}
    assert found == {
        "oslo": ("canary", "through", None),
        "paris": ("rest", "waits", "Silent"),
        "rome": ("rest", "waits", "Suspended"),
        "tokyo": ("rest", "through", None),
    }
    members.fleet.down = set()
    members.repository.commit({"policy.yaml": a_policy("web", selectors=[WEB], placement=on_clusters())})
    for _ in range(3):
        members.run(60)
    assert "Completed without" not in said("status")


def test_an_object_is_delivered_and_removed_wave_by_wave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1)]
    also = ["FirstDeliveries", "Removals"]
    members = Members(tmp_path, "oslo", "paris", "rome", waves=waves, alsoFor=also)
    for _ in range(4):
        members.run()
    assert members.commits() == ["1", "11", "111", "111"], "the last one says that all are through"
    members.repository.commit({"web.yaml": None})
    members.run()
    assert members.commits()[4:] == ["11"]
    for name in ("paris", "rome"):
        assert any(key[0] == "deployments.apps" for key in members.fleet.members[name].objects)
    for _ in range(6):
        members.run()
    assert members.commits()[4:] == ["11", "1", "", ""]
    for member in members.fleet.members.values():
        assert not any(key[0] == "deployments.apps" for key in member.objects)
    assert argosy(members.repository, capsys, "verify", "-n", "20").out.count(": equal\n") == 8


def test_an_object_goes_to_other_clusters_wave_by_wave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1)]
    members = Members(tmp_path, "berlin", "oslo", "paris", "rome", waves=waves, alsoFor=["Placements"])
    for _ in range(2):
        members.run()
    begun = len(members.commits())
    elsewhere = a_policy("web", selectors=[WEB], placement=on_clusters("oslo", "rome"))
    members.repository.commit({"policy.yaml": elsewhere})
    for _ in range(9):
        members.run()
    there = [
        name
        for name, member in members.fleet.members.items()
        if any(key[0] == "deployments.apps" for key in member.objects)
    ]
    assert there == ["oslo", "rome"]
    assert members.commits()[-1] == "11"
    number = len(members.commits()) - begun
    assert argosy(members.repository, capsys, "verify", "-n", str(number)).out.count(": equal\n") == number


def test_a_removal_waits_for_a_cluster_that_does_not_let_go(tmp_path: Path) -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest")]
    members = Members(tmp_path, "oslo", "paris", waves=waves, alsoFor=["Removals"])
    oslo = members.fleet.members["oslo"]
    key = next(each for each in oslo.objects if each[0] == "deployments.apps")
    oslo.objects[key]["metadata"]["finalizers"] = ["example.com/wait"]
    members.repository.commit({"web.yaml": None})
    for _ in range(4):
        members.run()
    assert members.commits()[-1] == "1", "paris keeps it while oslo still has it"
    oslo.objects.pop(key, None)
    for _ in range(4):
        members.run()
    assert members.commits()[-1] == ""


def test_overrides_are_explained_by_the_version_that_each_cluster_stands_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def an_override(tag: str) -> dict[str, Any]:
        rule = {"overriders": {"imageOverrider": [{"component": "Tag", "operator": "replace", "value": tag}]}}
        return {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "OverridePolicy",
            "metadata": {"name": "tag", "namespace": "default"},
            "spec": {"resourceSelectors": [WEB], "overrideRules": [rule]},
        }

    def explained() -> dict[str, list[str]]:
        said = json.loads(argosy(members.repository, capsys, "explain", "deployment", "web", "-o", "json").out)
        return {
            " ".join(each["clusters"]): [change["after"] for step in each["steps"] for change in step["changes"]]
            for each in said["overrides"]
        }

    members = Members(tmp_path, "oslo", "paris", "rome", waves=[a_wave("canary", "oslo"), a_wave("rest")])
    members.repository.commit({"override.yaml": an_override("3")})
    for _ in range(5):
        members.run(10)
    assert explained() == {"oslo paris rome": ["web:3"]}
    members.unwell = {"oslo"}
    members.repository.commit({"override.yaml": an_override("4")})
    members.run(10)
    members.run(10)
    assert members.commits()[-1] == "433"
    assert explained() == {"oslo": ["web:4"], "paris rome": ["web:3"]}


def test_an_object_whose_change_waits_for_another_one_is_not_rolled_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    selectors = [WEB, {**WEB, "name": "api"}]
    placed = a_policy("web", selectors=selectors, placement=on_clusters())
    members = Members(tmp_path, "oslo", "paris", waves=[a_wave("canary", "oslo")], selectors=selectors)
    waits = a_rollout_policy(waves=[a_wave("canary", "oslo")], selectors=selectors, onNewChange="Wait")
    members.repository.commit({"rollout.yaml": waits, "policy.yaml": placed, "api.yaml": a_deployment("api")})
    for _ in range(3):
        members.run(10)
    members.unwell = {"oslo"}
    members.repository.commit({"web.yaml": web(2)})
    members.run(10)
    members.repository.commit({"api.yaml": a_deployment("api", image="api:2")})
    members.run(10)
    for name in ("web", "api"):
        ended = argosy(
            members.repository, capsys, "wait", f"deployment/{name}", "--for", "rolled-out", "--timeout", "1s"
        )
        assert (ended.code, "RolloutPolicy default/web is Progressing" in ended.err) == (1, True), name
