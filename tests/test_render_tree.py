"""The shared trees are exactly what building every cluster's folder alone would give."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.bits import indexes_of_mask
from render.gitobjects import TREE_MODE, TreeEntry, git_object_id, parse_tree
from render.tree import (
    Base,
    PlacedFile,
    TreeStore,
    Variant,
    build_nested_tree,
    trees_of_clusters,
    variants_with_equal_ids_joined,
)

EVERY = (1 << 12) - 1


def blob(text: str) -> bytes:
    return git_object_id("blob", text.encode())


def folders_alone(files: list[PlacedFile], index: int) -> bytes | None:
    """One cluster's folder, the slow and obvious way."""
    held = {
        (*file.folders, file.name): variant.id
        for file in files
        for variant in file.variants
        if variant.clusters >> index & 1
    }
    return build_nested_tree(held, TreeStore())


@st.composite
def a_fleet(draw: st.DrawFn) -> list[PlacedFile]:
    files = []
    paths = draw(st.sets(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 9)), max_size=25))
    for namespace, kind, number in sorted(paths):
        contents = draw(st.lists(st.integers(0, 12), min_size=12, max_size=12))
        variants = [Variant(1 << index, blob(f"{number}-{text}")) for index, text in enumerate(contents) if text]
        file = PlacedFile(
            folders=(namespace, kind), name=f"{number}.yaml", variants=variants_with_equal_ids_joined(variants)
        )
        files.append(file)
    return files


@given(a_fleet())
def test_every_cluster_gets_the_folder_it_would_get_alone(files: list[PlacedFile]) -> None:
    store = TreeStore()
    held = {
        index: variant.id
        for variant in trees_of_clusters(files, EVERY, store)
        for index in indexes_of_mask(variant.clusters)
    }
    assert {index: held.get(index) for index in range(12)} == {
        index: folders_alone(files, index) for index in range(12)
    }


@given(a_fleet(), a_fleet(), st.data())
def test_changes_on_a_base_give_what_building_anew_would(
    before: list[PlacedFile], changed: list[PlacedFile], data: st.DataObject
) -> None:
    paths = {(*file.folders, file.name) for file in before}
    gone = data.draw(st.sets(st.sampled_from(sorted(paths)))) if paths else set()
    changes = {path: PlacedFile(folders=path[:-1], name=path[-1], variants=()) for path in gone}
    changes |= {(*file.folders, file.name): file for file in changed}
    after = {(*file.folders, file.name): file for file in before} | changes
    store, fresh = TreeStore(), TreeStore()
    base = Base(trees_of_clusters(before, EVERY, store), read=lambda tree_id: by_name(store.trees[tree_id]))
    assert sorted(trees_of_clusters(changes.values(), EVERY, store, base)) == sorted(
        trees_of_clusters(after.values(), EVERY, fresh)
    )
    assert fresh.trees.items() <= store.trees.items()


def by_name(content: bytes) -> dict[str, TreeEntry]:
    return {entry.name.decode(): entry for entry in parse_tree(content)}


@given(a_fleet())
def test_every_tree_is_stored_under_its_own_id(files: list[PlacedFile]) -> None:
    store = TreeStore()
    trees_of_clusters(files, EVERY, store)
    assert all(git_object_id("tree", content) == tree_id for tree_id, content in store.trees.items())


@given(a_fleet(), st.randoms(use_true_random=False))
def test_the_order_of_files_changes_nothing(files: list[PlacedFile], random: object) -> None:
    shuffled = list(files)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis hands out a random.Random
    assert trees_of_clusters(shuffled, EVERY, TreeStore()) == trees_of_clusters(files, EVERY, TreeStore())


def test_clusters_that_hold_the_same_share_one_folder() -> None:
    store = TreeStore()
    files = [
        PlacedFile(folders=("shop", "Deployment.apps"), name="web.yaml", variants=(Variant(0b011, blob("one")),)),
        PlacedFile(folders=("shop", "Service"), name="web.yaml", variants=(Variant(0b111, blob("two")),)),
    ]
    assert [clusters for clusters, _ in trees_of_clusters(files, 0b1111, store)] == [0b011, 0b100]
    assert len(store.trees) == 2 + 2 + 2


class Merge(NamedTuple):
    why: str
    variants: list[Variant]
    want: tuple[Variant, ...]


def test_variants_with_equal_content_are_one_and_empty_ones_vanish() -> None:
    variants = [Variant(0b100, b"a"), Variant(0b001, b"b"), Variant(0, b"c"), Variant(0b010, b"a")]
    assert variants_with_equal_ids_joined(variants) == (Variant(0b001, b"b"), Variant(0b110, b"a"))


def test_a_nested_tree_takes_blobs_and_whole_folders() -> None:
    store = TreeStore()
    inner = build_nested_tree({("a.yaml",): blob("a")}, store)
    assert inner is not None
    root = build_nested_tree({("README.md",): blob("r"), ("clusters", "m1"): TreeEntry(b"m1", TREE_MODE, inner)}, store)
    assert root is not None
    assert [entry.name for entry in parse_tree(store.trees[root])] == [b"README.md", b"clusters"]


def test_nothing_is_no_tree() -> None:
    assert build_nested_tree({}, TreeStore()) is None


def test_a_nested_tree_on_a_base_changes_the_named_paths_alone() -> None:
    store = TreeStore()
    before = {("README.md",): blob("r"), ("a", "b", "1.yaml"): blob("1"), ("a", "2.yaml"): blob("2"), ("c",): blob("c")}
    root = build_nested_tree(before, store)
    assert root is not None
    changes = {("a", "b", "1.yaml"): None, ("c",): blob("C"), ("d", "e"): blob("e"), ("x", "y"): None}
    after = {("README.md",): blob("r"), ("a", "2.yaml"): blob("2"), ("c",): blob("C"), ("d", "e"): blob("e")}

    def read(tree_id: bytes) -> dict[str, TreeEntry]:
        return by_name(store.trees[tree_id])

    assert build_nested_tree(changes, store, read(root), read) == build_nested_tree(after, TreeStore())


def test_a_name_cannot_be_a_file_and_a_folder() -> None:
    with pytest.raises(ValueError, match="a name occurs twice in one tree"):
        build_nested_tree({("a",): blob("1"), ("a", "b"): blob("2")}, TreeStore())
