"""Differences as values: which fields, which objects in which clusters, how many replicas move."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overrides.changes import ChangedField
from overrides.secrecy import HIDDEN
from reconciler.diff.difference import ChangeAction, ObjectChange
from reconciler.diff.objects import FileChange, Texts, changed_files, field_changes, object_changes
from reconciler.diff.words import field_words
from reconciler.pipeline.movements import Movement, ReplicaChange, movement_words, movements_between
from render.binding import Binding
from render.documents import emit
from render.gitobjects import Spliced, TreeEntry, git_object_id, parse_tree
from render.model import ObjectRef, TargetCluster
from render.tree import TreeStore, build_nested_tree

from .blobs import blob_id
from .tables import each_row

WEB = ObjectRef("apps", "Deployment", "shop", "web")
JOB = ObjectRef("batch", "Job", "shop", "web")


class Fields(NamedTuple):
    why: str
    before: Any
    after: Any
    want: list[str]


def containers(*names: str, **images: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": name, "image": images.get(name, "a:1")} for name in names]}}


CHANGES = [
    Fields("the same says nothing", {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, []),
    Fields("a value", {"a": {"b": 1}}, {"a": {"b": 2}}, ["a.b: 1 -> 2"]),
    Fields("a key with dots", {"a": {"x.y/z": "1"}}, {"a": {"x.y/z": "2"}}, ['a["x.y/z"]: "1" -> "2"']),
    Fields("a key that is a number", {"a": {"7": "1"}}, {"a": {"7": "2"}}, ['a[7]: "1" -> "2"']),
    Fields("an item by its position", {"a": ["x", "y"]}, {"a": ["x", "z"]}, ['a[1]: "y" -> "z"']),
    Fields(
        "an item by its name",
        containers("a", "b"),
        containers("a", "b", b="b:2"),
        ['spec.containers[b].image: "a:1" -> "b:2"'],
    ),
    Fields(
        "an item put first is one addition",
        containers("a", "b"),
        containers("c", "a", "b"),
        ['spec.containers[c]: added {"name":"c","image":"a:1"}'],
    ),
    Fields(
        "an item taken away",
        containers("a", "b"),
        containers("b"),
        ['spec.containers[a]: removed, was {"name":"a","image":"a:1"}'],
    ),
    Fields(
        "a list that comes is shown as a list",
        {"spec": {}},
        containers("a"),
        ['spec.containers: added [{"name":"a","image":"a:1"}]'],
    ),
    Fields(
        "items that change places",
        {"a": [{"name": "x"}, {"name": "y"}]},
        {"a": [{"name": "y"}, {"name": "x"}]},
        ['a[1]: removed, was {"name":"y"}', 'a[0]: added {"name":"y"}'],
    ),
    Fields(
        "items of one name are told apart by position",
        {"a": [{"name": "x", "v": 1}, {"name": "x", "v": 2}]},
        {"a": [{"name": "x", "v": 1}, {"name": "x", "v": 3}]},
        ["a[1].v: 2 -> 3"],
    ),
    Fields(
        "names that would write to a terminal",
        {"a": [{"name": "\x1b[2J", "b": {"\x9b2J": 1}}]},
        {"a": [{"name": "\x1b[2J", "b": {"\x9b2J": "\x9b"}}]},
        [r'a["\u001b[2J"].b["\u009b2J"]: 1 -> "\u009b"'],
    ),
    Fields("a type", {"a": "1"}, {"a": 1}, ['a: "1" -> 1']),
    Fields("a flag that becomes a number", {"a": True}, {"a": 1}, ["a: true -> 1"]),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_fields(case: Fields) -> None:
    assert [field_words(change) for change in field_changes(case.before, case.after)] == case.want


def test_the_values_of_a_secret_are_hidden() -> None:
    before = {"kind": "Secret", "metadata": {"name": "a"}, "data": {"a": "b2xk", "b": "b2xk"}}
    after = {"kind": "Secret", "metadata": {"name": "a"}, "data": {"a": "bmV3", "c": "bmV3"}}
    assert field_changes(before, after) == (
        ChangedField(path="data.a", operator="replace", before=HIDDEN, after=HIDDEN),
        ChangedField(path="data.b", operator="remove", before=HIDDEN),
        ChangedField(path="data.c", operator="add", after=HIDDEN),
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "name"]), inner, max_size=3)
        | st.lists(st.fixed_dictionaries({"name": st.sampled_from("abc"), "value": inner}), max_size=3)
    ),
    max_leaves=12,
)
MANIFESTS = st.dictionaries(st.sampled_from(["spec", "data"]), VALUES, max_size=2)


@given(MANIFESTS, MANIFESTS)
def test_every_difference_is_told_and_nothing_else(before: dict[str, Any], after: dict[str, Any]) -> None:
    are_equal = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert (not field_changes(before, after)) == are_equal


class Moves(NamedTuple):
    why: str
    before: dict[str, int]
    after: dict[str, int]
    moved: int


MOVES = [
    Moves("what leaves one and comes to another", {"a": 3}, {"b": 3}, 3),
    Moves("scaling up is no movement", {"a": 1}, {"a": 5, "b": 2}, 0),
    Moves("scaling down is no movement", {"a": 5, "b": 2}, {"a": 1}, 0),
    Moves("scaling up with a cluster that loses", {"a": 3, "b": 1}, {"a": 1, "b": 6}, 2),
    Moves("scaling down with a cluster that gains", {"a": 6, "b": 1}, {"a": 1, "b": 2}, 1),
]


@each_row("case", MOVES, ids=lambda case: case.why)
def test_moved(case: Moves) -> None:
    (movement,) = movements_between({WEB: bound(case.before)}, {WEB: bound(case.after)}, ["a", "b"])
    assert (movement.moved_replicas, movement.before, movement.after) == (
        case.moved,
        sum(case.before.values()),
        sum(case.after.values()),
    )


def bound(replicas: dict[str, int]) -> Binding:
    targets = tuple(TargetCluster(name, number) for name, number in replicas.items())
    return Binding(ref=WEB, api_version="apps/v1", targets=targets)


def test_a_workload_that_goes_is_told_and_moves_nothing() -> None:
    assert movements_between({WEB: bound({"a": 2})}, {}, ["a"]) == (
        Movement(ref=WEB, before=2, after=0, changes=(ReplicaChange(cluster="a", before=2, after=0),)),
    )


class Departure(NamedTuple):
    why: str
    before: dict[str, int]
    after: dict[str, int]
    moved: int
    placed_anew: int
    words: str


DEPARTURES = [
    Departure("its replicas are placed anew", {"a": 1, "gone": 3}, {"a": 4}, 0, 3, "a 1 -> 4, gone 3 (disconnected)"),
    Departure("some of them", {"a": 1, "gone": 3}, {"a": 2}, 0, 1, "a 1 -> 2, gone 3 (disconnected)"),
    Departure(
        "others move at once",
        {"a": 2, "b": 0, "gone": 3},
        {"a": 1, "b": 4},
        1,
        3,
        "a 2 -> 1, b 0 -> 4, gone 3 (disconnected)",
    ),
]


@pytest.mark.parametrize("case", DEPARTURES, ids=lambda case: case.why)
def test_what_runs_in_a_disconnected_cluster_does_not_move(case: Departure) -> None:
    (movement,) = movements_between({WEB: bound(case.before)}, {WEB: bound(case.after)}, ["a", "b"])
    assert (movement.moved_replicas, movement.replicas_placed_anew, movement_words(movement)) == (
        case.moved,
        case.placed_anew,
        case.words,
    )


def test_a_disconnected_cluster_alone_changes_nothing() -> None:
    assert movements_between({WEB: bound({"a": 2, "gone": 2})}, {WEB: bound({"a": 2})}, ["a"]) == ()


STORE = TreeStore()


def a_folder(**names: bytes) -> bytes:
    tree = build_nested_tree({tuple(path.split("__")): blob for path, blob in names.items()}, STORE)
    assert tree is not None
    return tree


def a_blob(text: str) -> bytes:
    return git_object_id("blob", text.encode())


class Counting:
    """Reads trees and counts them."""

    def __init__(self) -> None:
        self.reads: list[bytes] = []

    def __call__(self, tree_id: bytes) -> Iterable[TreeEntry]:
        self.reads.append(tree_id)
        return parse_tree(STORE.trees[tree_id])


def test_equal_parts_are_looked_at_once() -> None:
    old = a_folder(shop__A__one=a_blob("1"), shop__A__two=a_blob("2"), other__A__one=a_blob("3"))
    new = a_folder(shop__A__one=a_blob("9"), shop__A__two=a_blob("2"), other__A__one=a_blob("3"))
    read = Counting()
    found = changed_files(dict.fromkeys("abc", old), dict.fromkeys("abc", new), read)
    assert found == {FileChange("shop/A/one", a_blob("1"), a_blob("9")): ["a", "b", "c"]}
    assert len(read.reads) == len(set(read.reads)) == 6


def test_files_that_come_and_go() -> None:
    old, new = a_folder(shop__A__one=a_blob("1")), a_folder(shop__B__two=a_blob("2"))
    assert changed_files({"a": old, "b": old}, {"a": new, "c": new}, Counting()) == {
        FileChange("shop/A/one", a_blob("1"), None): ["a", "b"],
        FileChange("shop/B/two", None, a_blob("2")): ["a", "c"],
    }


def a_text(image: str, replicas: str = "2") -> bytes:
    return emit({"kind": "Deployment", "image": image}) + f"replicas: {replicas}\n".encode()


def spliced(image: str, replicas: int) -> Spliced:
    first, second = a_text(image, "@").split(b"@")
    return Spliced((first, second), (replicas,))


NEW_IMAGE = ChangedField(path="image", operator="replace", before="a", after="b")
REPLICAS = ChangedField(path="replicas", operator="replace", before=2, after=3)


class Blobs(NamedTuple):
    why: str
    ref: ObjectRef
    before: bytes | Spliced
    after: bytes | Spliced
    want: tuple[ChangedField, ...] | None


BLOBS = [
    Blobs("a number that was divided is told by movements", WEB, spliced("a", 2), spliced("a", 3), ()),
    Blobs("beside it, what else changes", WEB, spliced("a", 2), spliced("b", 3), (NEW_IMAGE,)),
    Blobs("a number that an override wrote is a field", WEB, a_text("a", "2"), a_text("a", "3"), (REPLICAS,)),
    Blobs("a divided number that an override replaces is a field", WEB, spliced("a", 2), a_text("a", "3"), (REPLICAS,)),
    Blobs("what a Job divides is a field", JOB, spliced("a", 2), spliced("a", 3), (REPLICAS,)),
    Blobs("other bytes that say the same are no change", WEB, a_text("a"), b"# hello\n" + a_text("a"), None),
]


@each_row("case", BLOBS, ids=lambda case: case.why)
def test_texts(case: Blobs) -> None:
    ids = blob_id(case.before), blob_id(case.after)
    texts = Texts(dict(zip(ids, (case.before, case.after), strict=True)))
    found = object_changes({FileChange("x", *ids): ["m2", "m1"]}, {"x": case.ref}, texts)
    want = ObjectChange(ref=case.ref, action=ChangeAction.CHANGED, clusters=("m1", "m2"), fields=case.want or ())
    assert found == (() if case.want is None else (want,))


def test_clusters_with_the_same_change_are_told_together() -> None:
    blobs = {blob_id(blob): blob for blob in (spliced(image, number) for image in "ab" for number in (1, 2, 3))}
    pairs = {
        FileChange("x", blob_id(spliced("a", number)), blob_id(spliced("b", number))): [f"m{number}"]
        for number in (1, 2, 3)
    }
    assert object_changes(pairs, {"x": WEB}, Texts(blobs)) == (
        ObjectChange(ref=WEB, action=ChangeAction.CHANGED, clusters=("m1", "m2", "m3"), fields=(NEW_IMAGE,)),
    )
