"""The fields in which two manifests differ: the same for the same two, replayable, nothing secret in them."""

import json
from copy import deepcopy
from typing import Any, NamedTuple

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from overrides.changes import ChangedField, changes_of

from .tables import each_row


class Words(NamedTuple):
    why: str
    change: ChangedField
    want: str


WORDS = [
    Words("null is a value", ChangedField(path="/a", operator="add"), "/a: added null"),
    Words(
        "a long value is shortened",
        ChangedField(path="/a", operator="replace", before=1, after="x" * 100),
        f'/a: 1 -> "{"x" * 76}...',
    ),
]


@pytest.mark.parametrize("case", WORDS, ids=lambda case: case.why)
def test_a_change_reads_as_one_line(case: Words) -> None:
    assert str(case.change) == case.want


def named(*names: str, **images: str) -> list[dict[str, str]]:
    return [{"name": name, "image": images.get(name, "a:1")} for name in names]


class Lists(NamedTuple):
    why: str
    before: list[Any]
    after: list[Any]
    want: list[str]


LISTS = [
    Lists("an item put last", ["a"], ["a", "b"], ['/l/1: added "b"']),
    Lists("an item put first", ["a", "b"], ["n", "a", "b"], ['/l/0: added "n"']),
    Lists("an item put between equal ones", ["a", "a"], ["a", "a", "a"], ['/l/2: added "a"']),
    Lists("items taken away", ["a", "x", "b", "y"], ["a", "b"], ['/l/3: removed, was "y"', '/l/1: removed, was "x"']),
    Lists("an item for another", ["a", "b", "c"], ["a", "x", "c"], ['/l/1: "b" -> "x"']),
    Lists("one goes, one comes", ["a", "b", "c"], ["b", "c", "d"], ['/l/0: removed, was "a"', '/l/2: added "d"']),
    Lists("all go", ["a", "b"], [], ['/l/1: removed, was "b"', '/l/0: removed, was "a"']),
    Lists("true is not 1", [1, 1], [1, True], ["/l/1: 1 -> true"]),
    Lists(
        "what changes in an item of a name",
        named("web", "proxy"),
        named("web", "proxy", proxy="a:2"),
        ['/l/1/image: "a:1" -> "a:2"'],
    ),
    Lists(
        "an item that changes beside one put last",
        named("web"),
        named("web", "proxy", web="a:2"),
        ['/l/1: added {"name":"proxy","image":"a:1"}', '/l/0/image: "a:1" -> "a:2"'],
    ),
    Lists(
        "an item put before one that stays",
        named("web", "proxy"),
        named("setup", "web", "proxy"),
        ['/l/0: added {"name":"setup","image":"a:1"}'],
    ),
]


@each_row("case", LISTS, ids=lambda case: case.why)
def test_a_list_says_what_came_what_went_and_what_changed(case: Lists) -> None:
    assert list(map(str, changes_of({"l": case.before}, {"l": case.after}))) == case.want


class Secret(NamedTuple):
    why: str
    before: Any
    after: Any
    want: list[str]


SECRETS = [
    Secret(
        "the value of a variable whose name says so",
        {"env": [{"name": "API_TOKEN", "value": "one"}]},
        {"env": [{"name": "API_TOKEN", "value": "two"}]},
        ["/env/0/value: (hidden) -> (hidden)"],
    ),
    Secret(
        "a variable that becomes one, and may have had the value before",
        {"env": [{"name": "LEVEL", "value": "one"}]},
        {"env": [{"name": "API_TOKEN", "value": "two"}]},
        ['/env/0/name: "LEVEL" -> "API_TOKEN"', "/env/0/value: (hidden) -> (hidden)"],
    ),
    Secret(
        "a variable for another one, where neither is",
        {"env": [{"name": "LEVEL", "value": "one"}]},
        {"env": [{"name": "COLOR", "value": "two"}]},
        ['/env/0: {"name":"LEVEL","value":"one"} -> {"name":"COLOR","value":"two"}'],
    ),
    Secret(
        "one that comes in a list whose others differ by a secret alone",
        {"env": [{"name": "TOKEN", "value": "one"}, {"name": "B", "value": "b"}]},
        {"env": [{"name": "TOKEN", "value": "two"}]},
        ['/env/1: removed, was {"name":"B","value":"b"}', "/env/0/value: (hidden) -> (hidden)"],
    ),
    Secret(
        "a copy of an object",
        {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "one"}}},
        {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "two"}}},
        ["/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration: (hidden) -> (hidden)"],
    ),
    Secret(
        "everything of a Secret but its labels, type and immutability",
        {"kind": "Secret", "data": {"a": "one"}, "metadata": {"labels": {"x": "1"}}},
        {"kind": "Secret", "data": {"a": "two", "b": "three"}, "metadata": {"labels": {"x": "2"}}, "type": "Opaque"},
        [
            "/data/a: (hidden) -> (hidden)",
            "/data/b: added (hidden)",
            '/metadata/labels/x: "1" -> "2"',
            '/type: added "Opaque"',
        ],
    ),
]


@each_row("case", SECRETS, ids=lambda case: case.why)
def test_what_is_secret_is_hidden(case: Secret) -> None:
    assert list(map(str, changes_of(case.before, case.after))) == case.want


SCALARS = st.integers(0, 2) | st.just("x") | st.booleans()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
MANIFESTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
LISTLESS = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(SCALARS, lambda inner: st.dictionaries(st.sampled_from(["a", "b/c"]), inner), max_leaves=6),
)


@given(before=MANIFESTS, after=MANIFESTS)
def test_changes_lead_from_one_manifest_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    copies = deepcopy((before, after))
    changes = changes_of(before, after)
    patch = [{"op": change.operator, "path": change.path, "value": change.after} for change in changes]
    patched = jsonpatch.apply_patch(before, patch)
    assert (patched, changes_of(patched, after)) == (after, ())
    assert (before, after) == copies


@given(before=LISTLESS, after=LISTLESS)
def test_of_mappings_they_are_the_changes_of_a_json_patch(before: dict[str, Any], after: dict[str, Any]) -> None:
    patch = jsonpatch.JsonPatch.from_diff(before, after, optimization=False)
    want = sorted((operation["path"], operation["op"], repr(operation.get("value"))) for operation in patch)
    got = [(change.path, change.operator, repr(change.after)) for change in changes_of(before, after)]
    assert sorted(got) == want


@given(before=MANIFESTS, after=MANIFESTS)
def test_the_same_two_manifests_always_differ_in_the_same_way(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Whatever they share in memory, and whatever the order of their keys: the changes are committed."""
    other_before, other_after = (_turned(deepcopy(each)) for each in (before, after))
    assert _texts(changes_of(other_before, other_after)) == _texts(changes_of(before, after))


def _texts(changes: tuple[ChangedField, ...]) -> list[str]:
    return [json.dumps(to_builtins(change), sort_keys=True) for change in changes]


def _turned(value: Any) -> Any:
    """Return a value with the keys of its mappings in the opposite order."""
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(value)}
    return [_turned(item) for item in value] if isinstance(value, list) else value
