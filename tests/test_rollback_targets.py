"""``argosy rollback`` without a commit: which change of the source it takes back, and what it counts as it was."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import Repository, a_policy, argosy, on_clusters
from tests.test_rebalance import _sized
from tests.test_rollback import an_app, divided, rendered

OF_WEB = ("deploy/web", "-n", "shop")


def _policies(first: str) -> dict[str, Any]:
    return {"policies.yaml": [divided(name, first, "paris", selects=name) for name in ("web", "api")]}


@pytest.fixture
def released(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Two apps divided between lyon and paris, of which web got another image."""
    repository = Repository.create(tmp_path / "fleet")
    apps = {f"shop/{name}.yaml": an_app(name, 4) for name in ("web", "api")}
    clusters = {f"c/{name}.yaml": _sized(name, "20") for name in ("lyon", "paris")}
    repository.commit({**apps, **_policies("lyon"), **clusters}, "Begin")
    rendered(repository, capsys, "--bootstrap")
    repository.commit({"shop/web.yaml": an_app("web", 4, "app:2")}, "Release web")
    rendered(repository, capsys)
    return repository


def _found(repository: Repository, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    ended = argosy(repository, capsys, "rollback", *arguments, "-o", "json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


@pytest.mark.parametrize("arguments", [OF_WEB, ("-n", "shop")])
def test_a_cluster_that_joined_is_no_change_of_what_it_has_none_of(
    released: Repository, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    to = released.git("rev-parse", "argosy/rendered~1")
    other = [an_app("blog", 1, namespace="press"), divided("blog", "oslo", namespace="press")]
    released.commit({"c/oslo.yaml": _sized("oslo", "20"), "press.yaml": other}, "Join oslo")
    rendered(released, capsys)
    found = _found(released, capsys, *arguments)
    assert (found["to"], found["restored"]) == (to, ["Deployment.apps shop/web"])


def _renamed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = _sized("oslo", "20")
    cluster["metadata"]["annotations"] = {"argosy.dev/renamed-from": "lyon"}
    repository.commit({"c/lyon.yaml": None, "c/oslo.yaml": cluster, **_policies("oslo")}, "Rename lyon")
    rendered(repository, capsys)


@pytest.mark.parametrize("arguments", [OF_WEB, ("-n", "shop"), ("--cluster", "oslo")])
def test_another_name_of_a_cluster_is_no_change_of_what_it_has(
    released: Repository, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    to = released.git("rev-parse", "argosy/rendered~1")
    _renamed(released, capsys)
    assert _found(released, capsys, *arguments)["to"] == to


def test_a_cluster_stays_that_had_another_name(released: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no cluster that joined since: its Cluster is not taken out of the fleet."""
    _renamed(released, capsys)
    found = _found(released, capsys, "--cluster", "oslo")
    assert (found["files"], found["difference"]["clusters"]) == ([], [])
    kept = {"object": "Cluster.cluster.karmada.io oslo", "file": "c/oslo.yaml", "reason": "it had another name then"}
    assert kept in found["kept"]


def _verdict(repository: Repository, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    return argosy(repository, capsys, "rollback", *arguments).out.splitlines()[-2]


def test_copies_are_counted_each_once(released: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    policy = a_policy("all", namespace="shop", selectors=selectors, placement=on_clusters("lyon", "paris"))
    released.commit({"policies.yaml": policy}, "Copies")
    to = rendered(released, capsys)
    released.commit({"shop/web.yaml": an_app("web", 4, "app:3"), "shop/new.yaml": an_app("new", 1)}, "Release again")
    rendered(released, capsys)
    assert _verdict(released, capsys, "deploy/new", "-n", "shop") == (
        "no cluster has a copy of Deployment.apps shop/new then, and none had one"
    )
    released.commit({"c/paris.yaml": None}, "Paris left")
    rendered(released, capsys)
    assert _verdict(released, capsys, "--to", to) == (
        "of 5 copies of everything all but 2 are then as they were, byte for byte"
    )
    released.commit({"policies.yaml": {**policy, "spec": {**policy["spec"], "placement": on_clusters("lyon")}}}, "Lyon")
    rendered(released, capsys)
    assert _verdict(released, capsys, "--to", to, "--cluster", "paris") == (
        "of 3 copies of cluster paris none is then as it was"
    )


def test_a_namespace_without_a_binding_is_compared(released: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Each cluster gets the namespace of what it has; no policy claims it."""
    assert _verdict(released, capsys, "ns/shop", "--to", "argosy/rendered~1") == (
        "2 copies of Namespace shop are then as they were, byte for byte"
    )
