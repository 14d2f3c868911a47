"""The floor of the removal guard: a cluster that holds next to nothing may lose it, if that stands elsewhere."""

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.passes.applying import ApplyRun
from render.model import ObjectRef
from render.settings.removal_guard import FEW, RemovalGuard

from .build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
)
from .memory_fleet import MemoryFleet
from .test_failover import a_fleet
from .test_kept_needs import plain

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
GOLD, NONE = {"tier": "gold"}, {"tier": "none"}
ANY_OF = [
    {"apiVersion": "v1", "kind": "ConfigMap"},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim"},
    {"apiVersion": "apps/v1", "kind": "Deployment"},
    {"apiVersion": "apps/v1", "kind": "StatefulSet"},
]
SPACES = [{"apiVersion": "v1", "kind": "Namespace"}]
CRDS = [{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}]


def a_stateful_set() -> dict[str, Any]:
    deployment = a_deployment("db")
    return {**deployment, "kind": "StatefulSet", "spec": {**deployment["spec"], "serviceName": "db"}}


def a_definition() -> dict[str, Any]:
    names = {"plural": "tiles", "singular": "tile", "kind": "Tile", "listKind": "TileList"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "art.example.com", "names": names, "scope": "Namespaced", "versions": versions}
    return plain("CustomResourceDefinition", "tiles.art.example.com", "apiextensions.k8s.io/v1", "", spec=spec)


class Move(NamedTuple):
    """The objects of one, which another cluster takes when the policies name that; ``code`` is that of the pass."""

    why: str
    objects: list[dict[str, Any]]
    code: int


MOVES = [
    Move("a Deployment", [a_deployment()], 0),
    Move("two objects", [a_deployment(), a_config_map("one")], 0),
    Move("three objects", [a_deployment(), a_config_map("one"), a_config_map("two")], 6),
    Move("an object in a namespace that is made for it", [a_config_map("one", namespace="shop")], 0),
    Move("a StatefulSet", [a_stateful_set()], 6),
    Move(
        "a claim",
        [plain("PersistentVolumeClaim", "data", namespace="default", spec=CLAIM)],
        6,
    ),
    Move(
        "a Namespace of its own", [plain("Namespace", "shop", namespace=""), a_config_map("one", namespace="shop")], 6
    ),
    Move("a CustomResourceDefinition", [a_definition()], 6),
]


def policies(cluster: str) -> list[dict[str, Any]]:
    return [
        a_cluster_policy(name, selectors=selectors, placement=on_clusters(cluster))
        for name, selectors in (("all", ANY_OF), ("spaces", SPACES), ("crds", CRDS))
    ]


def a_repository(folder: Path, files: Mapping[str, Any], **settings: Any) -> Repository:
    repository = Repository.create(folder / "fleet")
    clusters = {f"{name}.yaml": a_cluster(name, labels=GOLD if name == "oslo" else NONE) for name in ("oslo", "rome")}
    repository.commit({"argosy.yaml": a_fleet(**settings), **clusters, **files})
    return repository


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.why)
def test_all_of_a_small_cluster_may_move_to_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], move: Move
) -> None:
    """Before, the first step of Karmada's tutorial was refused: 1 of 1 object (everything it holds)."""
    repository = a_repository(tmp_path, {"objects.yaml": move.objects, "policies.yaml": policies("oslo")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"policies.yaml": policies("rome")})
    checked = argosy(repository, capsys, "diff", "--check", "HEAD~", "HEAD")
    assert checked.code == move.code, checked
    ended = argosy(repository, capsys, "reconcile")
    assert ended.code == move.code, ended
    assert ("(everything it holds)" in ended.err) is bool(move.code)


def test_the_ready_commit_that_diff_prints_lets_the_change_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_repository(tmp_path, {"one.yaml": a_config_map("one"), "policies.yaml": policies("oslo")})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    repository.commit({"one.yaml": None})
    said = argosy(repository, capsys, "diff", "HEAD~", "HEAD").out
    ready = "git commit --allow-empty -m 'Allow it' --trailer 'Argosy-Allow-Removal: oslo 1'"
    assert said.endswith(f"\n      {ready}\n"), said
    refused = argosy(repository, capsys, "reconcile")
    assert (refused.code, refused.err.endswith(f"\n    {ready}\n")) == (6, True), refused
    arguments = ["commit", "-q", "--allow-empty", "-m", "Allow it", "--trailer", "Argosy-Allow-Removal: oslo 1"]
    repository.git(*arguments)
    assert argosy(repository, capsys, "reconcile").code == 0


def test_the_last_copy_of_all_is_guarded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The guard asks before the only copy goes in a fleet that keeps no last copies."""
    by_tier = {"clusterAffinity": {"labelSelector": {"matchLabels": GOLD}}}
    files = {"one.yaml": a_config_map("one"), "all.yaml": a_policy("all", selectors=ANY_OF, placement=by_tier)}
    repository = a_repository(tmp_path, files, failover={"lastCopy": "Evict"})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"oslo.yaml": a_cluster("oslo", labels=NONE)})
    assert argosy(repository, capsys, "reconcile").code == 6
    repository.commit({"rome.yaml": a_cluster("rome", labels=GOLD)})
    assert argosy(repository, capsys, "reconcile").code == 0


@pytest.mark.parametrize("by_agent", [False, True], ids=["by passes", "by its agent"])
def test_the_member_that_held_it_is_emptied(tmp_path: Path, *, by_agent: bool) -> None:
    """The plan for a member has the same floor; before, it kept the object, for the cluster would hold nothing."""
    nodes = (1, {"cpu": "8", "memory": "8Gi", "pods": "10"})
    files = {"objects.yaml": [a_deployment()], "policies.yaml": policies("oslo")}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"oslo": nodes, "rome": nodes}, files, by_agent=by_agent)
    fleet.run()
    key = ("deployments.apps", "default", "nginx")
    assert [key in fleet.members[name].objects for name in ("oslo", "rome")] == [True, False]
    fleet.repository.commit({"policies.yaml": policies("rome")})
    fleet.run()
    assert [key in fleet.members[name].objects for name in ("oslo", "rome")] == [False, True]


def test_members_that_are_emptied_at_once_read_the_repository_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is planned in its own thread, and what it finds elsewhere is read from files that all threads share."""
    nodes = (1, {"cpu": "8", "memory": "8Gi", "pods": "10"})
    files = {"objects.yaml": [a_deployment()], "policies.yaml": policies("oslo")}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"oslo": nodes, "rome": nodes}, files)
    fleet.run()
    fleet.repository.commit({"policies.yaml": policies("rome")})
    turns: list[Lock] = []
    in_turn: list[bool] = []
    jobs, is_elsewhere = ApplyRun._jobs_of_members, RenderedCommits.is_elsewhere

    def making_jobs(run: ApplyRun, *given: Any) -> Any:
        turns.append(given[3])
        return jobs(run, *given)

    def asking(commits: RenderedCommits, *given: Any) -> bool:
        in_turn.append(turns[-1].locked())
        return is_elsewhere(commits, *given)

    monkeypatch.setattr(ApplyRun, "_jobs_of_members", making_jobs)
    monkeypatch.setattr(RenderedCommits, "is_elsewhere", asking)
    fleet.run()
    assert set(in_turn) == {True}


@given(st.lists(st.booleans(), max_size=5))
def test_where_an_object_stands_is_found_out_once_for_all_members(holding: list[bool]) -> None:
    read: list[bytes] = []

    def entry(tree_id: bytes, _path: object) -> bytes | None:
        read.append(tree_id)
        return tree_id if holding[int(tree_id)] else None

    names = [f"member{number}" for number in range(len(holding))]
    clusters = {name: str(number).encode() for number, name in enumerate(names)}
    commit: Any = SimpleNamespace(tree=SimpleNamespace(clusters=clusters, trees=SimpleNamespace(entry=entry)))
    repository: Any = None
    commits, ref = RenderedCommits(repository, _commits={"c": commit}), ObjectRef("", "ConfigMap", "default", "one")
    for number, name in enumerate([*names, "another"]):
        others = holding[:number] + holding[number + 1 :]
        assert commits.is_elsewhere(name, "c", ref) is any(others)
    assert len(read) <= len(holding)


places = st.lists(
    st.tuples(st.sampled_from(["", "shop", "ops"]), st.sampled_from(["A", "B", "StatefulSet.apps", "Namespace"]))
)


@given(places, places, st.booleans())
def test_the_floor_is_about_all_of_a_small_cluster_alone(
    removed: list[tuple[str, str]], kept: list[tuple[str, str]], leaves_last_copy: bool
) -> None:
    """The floor decides nothing unless all of a cluster goes, and that is less than the floor."""
    guard, held = RemovalGuard(), [*removed, *kept]
    told = guard.limits_broken_by(removed, held, leaves_last_copy=leaves_last_copy)
    if kept or len(held) >= FEW or leaves_last_copy:
        assert told == guard.limits_broken_by(removed, held, leaves_last_copy=True)
    else:
        is_precious = any(kind in {"StatefulSet.apps", "Namespace"} for _, kind in removed)
        assert told == (("everything it holds",) if is_precious else ())
