"""Plaintext patches: RFC 6902 as Karmada's engine reads it, applied without touching what they start from."""

from copy import deepcopy
from typing import Any, NamedTuple

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overrides.draft import Draft
from overrides.errors import Refused
from overrides.overriders.plaintext import PlaintextOverrider, patch_draft, patch_operations_of

from .tables import each_row

Op = tuple[Any, ...]
"""(operator, path) or (operator, path, value)."""


def manifest() -> dict[str, Any]:
    return {"spec": {"replicas": 1, "list": [1, 2, 3]}, "metadata": {"labels": {"a/b": "x"}}}


def overrider(operation: Op) -> PlaintextOverrider:
    operator, path, *value = operation
    return PlaintextOverrider(operator=operator, path=path, value=value[0] if value else None)


def patched(document: Any, *patch: Op) -> Any:
    draft = Draft(document)
    patch_draft(draft, patch_operations_of([overrider(operation) for operation in patch]))
    return draft.root


class Patch(NamedTuple):
    why: str
    patch: list[Op]
    at: str
    want: Any


PATCHES = [
    Patch("V62 add inserts before an index", [("add", "/spec/list/1", 9)], "list", [1, 9, 2, 3]),
    Patch("V62 add at the length appends", [("add", "/spec/list/3", 9)], "list", [1, 2, 3, 9]),
    Patch("V63 add at a dash appends", [("add", "/spec/list/-", 9)], "list", [1, 2, 3, 9]),
    Patch("V63 add at -1 appends", [("add", "/spec/list/-1", 9)], "list", [1, 2, 3, 9]),
    Patch("add at -4 goes first", [("add", "/spec/list/-4", 9)], "list", [9, 1, 2, 3]),
    Patch("V64 remove at -1 takes the last", [("remove", "/spec/list/-1")], "list", [1, 2]),
    Patch("V64 replace at -1 sets the last", [("replace", "/spec/list/-1", 9)], "list", [1, 2, 9]),
    Patch("an index may carry zeros and a sign", [("replace", "/spec/list/+01", 9)], "list", [1, 9, 3]),
    Patch("V66 add sets a new key", [("add", "/spec/nope", 1)], "nope", 1),
    Patch("add overwrites a key", [("add", "/spec/replicas", 5)], "replicas", 5),
    Patch("replace sets a key", [("replace", "/spec/replicas", 5)], "replicas", 5),
    Patch("V67 a missing value is null", [("add", "/spec/replicas")], "replicas", None),
    Patch("a value given to remove is ignored", [("remove", "/spec/list/0", 7)], "list", [2, 3]),
    Patch("V70 operations see what came before", [("add", "/spec/list/1", 9), ("remove", "/spec/list/0")], "list",
          [9, 2, 3]),
    Patch("a path may lead through what was added", [("add", "/spec/a", {}), ("add", "/spec/a/b", 1)], "a", {"b": 1}),
    Patch("what stands before the first slash is ignored", [("replace", "x/spec/replicas", 7)], "replicas", 7),
    Patch("an index may lead into a list", [("add", "/spec/list/0", {}), ("add", "/spec/list/-4/a", 1)], "list",
          [{"a": 1}, 1, 2, 3]),
    Patch("replace adds the empty key", [("replace", "/spec/", 1)], "", 1),
    Patch("null may be replaced", [("add", "/spec/a", None), ("replace", "/spec/a", 1)], "a", 1),
]  # fmt: skip


@each_row("case", PATCHES, ids=lambda case: case.why)
def test_a_patch_changes_the_spec(case: Patch) -> None:
    want = manifest()
    want["spec"][case.at] = case.want
    assert patched(manifest(), *case.patch) == want


def test_v68_a_tilde_escapes_a_slash_in_a_key() -> None:
    assert patched(manifest(), ("remove", "/metadata/labels/a~1b"))["metadata"] == {"labels": {}}


def test_v69_one_segment_before_the_slash_leaves_a_top_level_key() -> None:
    assert patched(manifest(), ("add", "x/replicas", 7)) == {**manifest(), "replicas": 7}


def test_a_tilde_that_escapes_nothing_stands_for_itself() -> None:
    assert patched({"a~2": {"~": 1}}, ("replace", "/a~2/~", 2), ("add", "/~01", 3)) == {"a~2": {"~": 2}, "~1": 3}


def test_an_empty_path_replaces_the_document() -> None:
    assert patched(manifest(), ("add", "", {"a": 1}), ("add", "/b", 2)) == {"a": 1, "b": 2}
    assert patched(manifest(), ("replace", "", [1])) == [1]


class Bad(NamedTuple):
    why: str
    patch: list[Op]
    want: str
    within: str = "[0]"
    hint: str = ""


NO_OBJECT = "the empty path replaces the whole object, and the value is no object"
BAD = [
    Bad("V62 beyond the end", [("add", "/spec/list/4", 9)], "/spec/list has 3 items, so 4 is no index of it"),
    Bad("before the start", [("add", "/spec/list/-5", 9)], "/spec/list has 3 items, so -5 is no index of it"),
    Bad("V65 replace of a missing key", [("replace", "/spec/nope", 1)], "'nope' does not exist in /spec"),
    Bad("V65 remove of a missing key", [("remove", "/spec/nope")], "'nope' does not exist in /spec"),
    Bad("V66 no parent is created", [("add", "/spec/a/b", 1)], "'a' does not exist in /spec"),
    Bad("V68 an unescaped slash", [("remove", "/metadata/labels/a/b")], "'a' does not exist in /metadata/labels"),
    Bad("V69 no slash at all", [("add", "replicas", 7)], "'replicas' is not a JSON pointer", hint="write '/replicas'"),
    Bad("V71 the object itself is removed", [("remove", "")], "the whole object cannot be removed",
        hint="leave the cluster out of the propagation policy"),
    Bad("the last index of replace is the last item", [("replace", "/spec/list/3", 1)],
        "/spec/list has 3 items, so 3 is no index of it"),
    Bad("a dash only appends", [("replace", "/spec/list/-", 1)], "/spec/list is a list, and '-' is no index of it"),
    Bad("a dash leads nowhere", [("add", "/spec/list/-/a", 1)], "/spec/list is a list, and '-' is no index of it"),
    Bad("a key of a list", [("add", "/spec/list/x", 1)], "/spec/list is a list, and 'x' is no index of it"),
    Bad("an underscore is no digit", [("add", "/spec/list/1_0", 1)],
        "/spec/list is a list, and '1_0' is no index of it"),
    Bad("a scalar on the way", [("add", "/spec/replicas/a", 1)],
        "/spec/replicas is neither mapping nor list, so it has no 'a'"),
    Bad("null on the way", [("add", "/spec/a", None), ("add", "/spec/a/b", 1)],
        "/spec/a is neither mapping nor list, so it has no 'b'", "[1]"),
    Bad("an empty segment leads nowhere", [("add", "/", {}), ("add", "//a", 1)],
        "'' does not exist in the top level", "[1]"),
    Bad("the whole object becomes a string", [("add", "", "x")], NO_OBJECT),
    Bad("the whole object becomes null", [("replace", "")], NO_OBJECT),
    Bad("the first refusal counts", [("remove", "/spec"), ("remove", "/a"), ("remove", "/b")],
        "'a' does not exist in the top level", "[1]"),
]  # fmt: skip


@each_row("case", BAD, ids=lambda case: case.why)
def test_what_cannot_be_patched_is_refused(case: Bad) -> None:
    with pytest.raises(Refused) as refused:
        patched(manifest(), *case.patch)
    assert (refused.value.message, refused.value.within, refused.value.hint) == (case.want, case.within, case.hint)


KEYS = st.sampled_from(["a", "b", "a/b", "~", "0", "1", "-"])
DOCUMENTS = st.recursive(
    st.integers(0, 3) | st.none() | st.just("x"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
POINTERS = st.lists(KEYS, min_size=1, max_size=4).map(
    lambda keys: "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
)
OPERATIONS = st.tuples(st.sampled_from(["add", "replace", "remove"]), POINTERS, DOCUMENTS)


@given(document=st.dictionaries(KEYS, DOCUMENTS, max_size=4), patch=st.lists(OPERATIONS, max_size=4))
def test_on_rfc_6902_paths_the_answer_is_that_of_jsonpatch(document: dict[str, Any], patch: list[Op]) -> None:
    before, values = deepcopy(document), deepcopy(patch)
    plain = [{"op": operator, "path": path, "value": value} for operator, path, value in patch]
    try:
        want = jsonpatch.apply_patch(document, plain)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
        want = Refused
    try:
        got: Any = patched(document, *patch)
    except Refused:
        got = Refused
    assert got == want
    assert (document, patch) == (before, values), "neither the document nor the policy's values are modified"


def test_a_patch_copies_what_it_changes_and_shares_the_rest() -> None:
    document = manifest()
    new = patched(document, ("replace", "/spec/replicas", 2))
    assert new["metadata"] is document["metadata"]
    assert new["spec"]["list"] is document["spec"]["list"]
