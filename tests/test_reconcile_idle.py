"""Passes over an idle fleet: they ask for lists alone, and whatever changed is seen as by a whole pass."""

import json
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .waiting import eventually

CHECKPOINT = ".git/argosy/checkpoint.json"


class Fleet:
    """A fleet of one real member, a Deployment and a ConfigMap, reconciled by the command line."""

    def __init__(self, folder: Path, member: Member, capsys: pytest.CaptureFixture[str]) -> None:
        self.member, self.capsys, self.space = member, capsys, f"t{secrets.token_hex(4)}"
        self.kubeconfig = member.kubeconfig
        self.repository = Repository.create(folder)
        selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
        self.repository.commit(
            {
                "member.yaml": a_cluster(member.name),
                "web.yaml": a_deployment("web", namespace=self.space),
                "settings.yaml": a_config_map("settings", namespace=self.space),
                "policy.yaml": a_policy(namespace=self.space, selectors=selectors, placement=on_clusters(member.name)),
            }
        )

    def run(self, *arguments: str) -> tuple[bool, str]:
        """Run a pass; return whether it was a whole one, and what it printed."""
        ended = argosy(
            self.repository, self.capsys, "-vv", "reconcile", "--kubeconfig", str(self.kubeconfig), *arguments
        )
        return "\nrender ms=" in ended.err, ended.out

    def tips(self) -> list[str]:
        return [self.repository.git("rev-parse", f"argosy/{name}") for name in ("rendered", "status")]

    def rest(self) -> str:
        """Run passes until one has nothing to do; return what it printed."""
        self.run("--bootstrap")

        def is_quiet() -> str:
            was_whole, said = self.run()
            return "" if was_whole else said

        return eventually(is_quiet, "the fleet comes to rest")

    def settle(self) -> None:
        """Run passes until one writes nothing."""

        def is_settled() -> bool:
            before = self.tips()
            self.run()
            return self.tips() == before

        eventually(is_settled, "a pass that writes nothing")

    def forget(self) -> None:
        (self.repository.path / CHECKPOINT).unlink(missing_ok=True)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.member.request(method, path.replace("SPACE", self.space), body)
        assert status < 300, answer
        return answer


@pytest.fixture
def fleet(members: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    made = Fleet(tmp_path / "fleet", members[0], capsys)
    yield made
    remove_namespaces([members[0]], made.space)


@pytest.mark.cluster
def test_a_pass_over_a_fleet_at_rest_repeats_the_report_of_the_one_before(fleet: Fleet) -> None:
    said = fleet.rest()
    tips = fleet.tips()
    assert fleet.run() == (False, said)
    fleet.forget()
    assert fleet.run() == (True, said)
    assert fleet.run() == (False, said)
    assert fleet.tips() == tips


def _edit(fleet: Fleet, path: str, change: Callable[[dict[str, Any]], None]) -> None:
    live = fleet.request("GET", path)
    change(live)
    fleet.request("PUT", path, live)


def _grow(fleet: Fleet) -> None:
    _edit(fleet, "/apis/apps/v1/namespaces/SPACE/deployments/web", lambda live: live["spec"].update(replicas=9))


def _edit_data(fleet: Fleet) -> None:
    _edit(fleet, "/api/v1/namespaces/SPACE/configmaps/settings", lambda live: live.update(data={"other": "value"}))


def _remove_label(fleet: Fleet) -> None:
    path = "/api/v1/namespaces/SPACE/configmaps/settings"
    _edit(fleet, path, lambda live: live["metadata"]["labels"].clear())


def _delete(fleet: Fleet) -> None:
    fleet.request("DELETE", "/api/v1/namespaces/SPACE/configmaps/settings")


def _create_again(fleet: Fleet) -> None:
    live = fleet.request("GET", "/api/v1/namespaces/SPACE/configmaps/settings")
    _delete(fleet)
    metadata = {key: live["metadata"][key] for key in ("name", "namespace", "labels")}
    fleet.request("POST", "/api/v1/namespaces/SPACE/configmaps", {**live, "metadata": metadata})


def _scale_by_others(fleet: Fleet) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}}
    spec = {"scaleTargetRef": target, "minReplicas": 4, "maxReplicas": 5}
    path = "/apis/autoscaling/v2/namespaces/SPACE/horizontalpodautoscalers"
    fleet.request("POST", path, {**scaler, "spec": spec})


def _change_the_source(fleet: Fleet) -> None:
    fleet.repository.commit({"settings.yaml": a_config_map("settings", namespace=fleet.space, other="b")})


def _remove_the_status(fleet: Fleet) -> None:
    fleet.repository.git("branch", "-D", "argosy/status")


def _change_the_parent(fleet: Fleet) -> None:
    listed = fleet.request("GET", "/api/v1/namespaces/argosy-system/configmaps")["items"]
    for parent in listed:
        if "argosy.dev/member" in parent["metadata"].get("annotations", {}):
            name = parent["metadata"]["name"]
            path = f"/api/v1/namespaces/argosy-system/configmaps/{name}"
            _edit(fleet, path, lambda live: live["metadata"]["annotations"].update(note="hello"))


def _damage_the_checkpoint(fleet: Fleet) -> None:
    path = fleet.repository.path / CHECKPOINT
    value = json.loads(path.read_bytes())
    value["members"]["members"][0]["answers"]["digests"] = [["no listing", "no digest"]]
    path.write_text(json.dumps(value))


class Change(NamedTuple):
    why: str
    change: Callable[[Fleet], None]


CHANGES = [
    Change("a field of a workload", _grow),
    Change("a field of an object", _edit_data),
    Change("a label that says whose it is", _remove_label),
    Change("an object deleted", _delete),
    Change("an object deleted and made again", _create_again),
    Change("an autoscaler added", _scale_by_others),
    Change("the parent of the set", _change_the_parent),
    Change("a commit of the source", _change_the_source),
    Change("the status branch removed", _remove_the_status),
    Change("a damaged checkpoint", _damage_the_checkpoint),
]


@pytest.mark.cluster
@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.why)
def test_a_change_is_seen_and_leaves_nothing_for_a_whole_pass(case: Change, fleet: Fleet) -> None:
    fleet.rest()
    case.change(fleet)
    was_whole, _ = fleet.run()
    assert was_whole
    fleet.settle()
    tips = fleet.tips()
    fleet.forget()
    assert fleet.run()[0]
    assert fleet.tips() == tips


@pytest.mark.cluster
def test_a_pass_renders_what_changed_and_the_same_as_without_a_checkpoint(fleet: Fleet) -> None:
    fleet.rest()
    fleet.repository.commit({"more.yaml": a_config_map("more", namespace=fleet.space, a="b")})
    _edit_data(fleet)
    copy = fleet.repository.path.parent / "copy"
    shutil.copytree(fleet.repository.path, copy)
    (copy / CHECKPOINT).unlink()
    fleet.run()
    original, fleet.repository = fleet.repository, Repository(copy)
    fleet.run()
    trees = [each.git("rev-parse", "argosy/rendered^{tree}") for each in (original, fleet.repository)]
    assert trees[0] == trees[1]
    assert fleet.request("GET", "/api/v1/namespaces/SPACE/configmaps/more")["data"] == {"a": "b"}


OPTIONS = [("--no-prune",), ("--cluster", "member1"), ("--dry-run",), ("--orphans", "--yes"), ("-o", "json")]


@pytest.mark.cluster
def test_other_options_ask_for_a_whole_pass(fleet: Fleet) -> None:
    fleet.rest()
    for options in OPTIONS:
        assert fleet.run(*options)[0], options


@pytest.mark.cluster
def test_another_cluster_by_the_same_name_is_refused(fleet: Fleet, members: tuple[Member, ...]) -> None:
    fleet.rest()
    config = members[1].kubeconfig.read_text()
    path = fleet.repository.path.parent / "kubeconfig"
    path.write_text(members[0].kubeconfig.read_text())
    fleet.kubeconfig = path
    fleet.rest()
    path.write_text(config.replace(members[1].name, members[0].name))
    was_whole, said = fleet.run()
    assert was_whole
    assert "WrongCluster" in said
