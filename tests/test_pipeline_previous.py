"""Bindings of rendered commits: many are read once for all passes, a few are not worth keeping."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from reconciler.branches.reading import read_previous
from reconciler.pipeline import previous
from reconciler.pipeline.binding_files import PlainBinding
from reconciler.pipeline.previous import RenderedTree, StoredBindings
from reconciler.repository import open_repository
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import engine_version
from render.model import ObjectRef

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, argosy

SELECTORS = [{"apiVersion": "v1", "kind": "ConfigMap"}]


class Kept(dict[bytes, PlainBinding]):
    """A cache in memory."""

    def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, PlainBinding]:
        return {id_: self[id_] for id_ in ids if id_ in self}

    def put_many(self, values: Mapping[bytes, PlainBinding]) -> None:
        self.update(values)


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A rendered fleet of forty ConfigMaps on two clusters."""
    maps = {f"{number}.yaml": a_config_map(f"settings-{number}") for number in range(40)}
    policy = a_cluster_policy("all", selectors=SELECTORS, placement={"clusterAffinity": {}})
    repository = Repository.create(tmp_path)
    repository.commit({"a.yaml": a_cluster("a"), "b.yaml": a_cluster("b"), "policy.yaml": policy, **maps})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


def test_bindings_that_an_earlier_pass_read_are_not_read_again(repository: Repository) -> None:
    read: list[int] = []
    kept = Kept()
    with open_repository(str(repository.path)) as opened:
        tree = RenderedTree.of(opened.commit_info(opened.resolve("argosy/rendered")).tree, opened.read_trees)

        def counted(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
            contents = opened.read_blobs(ids)
            read.append(len(contents))
            return contents

        plain = dict(StoredBindings("1", tree, opened.read_blobs))
        first, second = (dict(StoredBindings("1", tree, counted, cache=kept)) for _ in range(2))
    assert first == second == plain
    assert (read, len(kept), len(plain)) == ([40], 40, 40)


def test_many_bindings_are_read_some_at_a_time_and_what_they_share_is_in_memory_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    kept = Kept()
    with open_repository(str(repository.path)) as opened:
        tree = RenderedTree.of(opened.commit_info(opened.resolve("argosy/rendered")).tree, opened.read_trees)
        plain = dict(StoredBindings("1", tree, opened.read_blobs))
        size = sum(map(len, opened.read_blobs(tree_files(tree)).values())) // 40

        def counted(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
            contents = opened.read_blobs(ids)
            read.append(len(contents))
            return contents

        monkeypatch.setattr(previous, "_FIRST_BATCH", 5)
        monkeypatch.setattr(previous, "_BATCH", 16 * size + 15)
        assert dict(StoredBindings("1", tree, counted, cache=kept)) == plain
    assert read[0] == 5
    assert {15, 16} >= set(read[1:-1])
    assert (sum(read), len(kept)) == (40, 40)
    assert len({tuple(map(id, each[2:])) for each in kept.values()}) == 1


def tree_files(tree: RenderedTree) -> list[bytes]:
    """Return the ids of all bindings."""
    return [id_ for _, id_ in tree.files(tree.trees.entries(tree.root)["bindings"].id)]


def test_a_few_bindings_are_read_as_they_are(repository: Repository) -> None:
    kept = Kept()
    ref = ObjectRef("", "ConfigMap", "default", "settings-7")
    with open_repository(str(repository.path)) as opened:
        tree = RenderedTree.of(opened.commit_info(opened.resolve("argosy/rendered")).tree, opened.read_trees)
        bindings = StoredBindings("1", tree, opened.read_blobs, cache=kept)
        bindings.load([ref])
        assert [target.name for target in bindings[ref].targets] == ["a", "b"]
    assert kept == {}


def test_bindings_are_kept_with_one_list_and_placement_for_all_that_share_them(repository: Repository) -> None:
    with open_repository(str(repository.path)) as opened:
        tip = opened.resolve("argosy/rendered")
        first, second = (dict(read_previous(opened, tip).bindings) for _ in range(2))
        cache = Cache(opened.cache_dir, "rendered-bindings", version=engine_version())
        values = cache.get_many(list(cache._entries())).values()
    assert first == second
    assert sorted(value for value in values if isinstance(value, bytes)) == [
        b"\n    clusterAffinity: {}\n",
        b"  - {name: a}\n  - {name: b}\n",
        b' "{\\"clusterAffinity\\":{}}"\n',
    ]
    assert len(values) == 43
