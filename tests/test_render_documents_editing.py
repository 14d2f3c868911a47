"""Values changed where they stand: what is asked for changes, and not a byte besides."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.documents import emit, parse_documents
from render.documents.editing import REMOVED, Edit, edit_file, without_document
from render.documents.editing.nodes import UneditableError
from render.documents.editing.page import flow_text

from .tables import each_row

CLUSTER = """\
# The capital.
apiVersion: cluster.karmada.io/v1alpha1  # as ever
kind: Cluster
metadata:
  name: paris
  labels:
    # asked for by the shop
    env: production  # since May

    tier: "1"
spec:
  taints:
  # until Friday
  - key: upgrade
    effect: NoSchedule
  - effect: NoExecute  # for good
    key: gone
  region: eu
# the end
---
a: 1
"""


class Case(NamedTuple):
    why: str
    before: str
    path: tuple[str | int, ...]
    value: Any
    after: str


def cluster(old: str, new: str) -> tuple[str, str]:
    assert CLUSTER.count(old) == 1
    return CLUSTER, CLUSTER.replace(old, new)


def case(why: str, texts: tuple[str, str], path: tuple[str | int, ...], value: Any = REMOVED) -> Case:
    return Case(why, texts[0], path, value, texts[1])


LABELS = ("metadata", "labels")
BOTH = """\
  taints:
  # until Friday
  - key: upgrade
    effect: NoSchedule
  - effect: NoExecute  # for good
    key: gone
"""
CASES = [
    case("a scalar", cluster("env: production", "env: test"), (*LABELS, "env"), "test"),
    case("text that looks like a number", cluster('tier: "1"', 'tier: "2"'), (*LABELS, "tier"), "2"),
    case("a new key", cluster('tier: "1"\n', 'tier: "1"\n    new: "true"\n'), (*LABELS, "new"), "true"),
    case("a key and its parents", cluster("# the end\n", "  a:\n    b: x\n# the end\n"), ("spec", "a", "b"), "x"),
    case("a key goes, its comment stays", cluster("    env: production  # since May\n", ""), (*LABELS, "env")),
    case(
        "an item",
        cluster("    key: gone\n", "    key: gone\n  - effect: NoSchedule\n    key: drain\n"),
        ("spec", "taints", 2),
        {"key": "drain", "effect": "NoSchedule"},
    ),
    case("an item goes", cluster("  - key: upgrade\n    effect: NoSchedule\n", ""), ("spec", "taints", 0)),
    case("a whole list goes", cluster(BOTH, "  # until Friday\n"), ("spec", "taints")),
    case("what is there already", (CLUSTER, CLUSTER), (*LABELS, "env"), "production"),
    case("what is not there goes", (CLUSTER, CLUSTER), (*LABELS, "absent")),
    case("the last key takes its mapping along", ("a: 1\nb:\n  c: 1\n", "a: 1\n"), ("b", "c")),
    case("true is not 1", ("a: 1\n", "a: true\n"), ("a",), True),
    case("nothing there yet", ("a:\nb: 1\n", "a:\n  c: x\nb: 1\n"), ("a", "c"), "x"),
    case("null", ("a: null  # no\n", "a: # no\n  c: x\n"), ("a", "c"), "x"),
    case("empty braces", ("a: {}\n", "a:\n  c: x\n"), ("a", "c"), "x"),
    case("empty brackets", ("a: []\nb: 1\n", "a:\n- x\nb: 1\n"), ("a", 0), "x"),
    case("a value where none was", ("a:\n", "a: x\n"), ("a",), "x"),
    case("no line end at the end", ("a: 1", "a: 1\nb: 2"), ("b",), 2),
    case("a file of Windows", ("a: 1\r\nb:\r\n", "a: 1\r\nb:\r\n  c: 2\r\n"), ("b", "c"), 2),
    case("Windows without a last line end", ("a: 1\r\nb: 2", "a: 1\r\nb: 2\r\nc: 3"), ("c",), 3),
    case("a byte order mark", ("\ufeffa: 1\n", "\ufeffa: 2\n"), ("a",), 2),
    case("quotes", ("a: 'it''s'  # so\n", "a: well  # so\n"), ("a",), "well"),
    case("what is not there goes from where nothing is", ("a: {}\n", "a: {}\n"), ("a", "b")),
    case("below literal text", ("a: |\n  # text\n\nb: 1\n", "a: |\n  # text\n\nb: 1\nc: 2\n"), ("c",), 2),
    case("literal text goes whole", ("a: |\n  # text\n\nb: 1\n", "b: 1\n"), ("a",)),
    case("a folded line goes whole", ("a: one\n  two\nb: 1\n", "b: 1\n"), ("a",)),
    case("an item deeper in", ("a:\n  -   b: 1\n      c: 2\n", "a:\n  -   b: 1\n      c: 3\n"), ("a", 0, "c"), 3),
    case("text over several lines", ("a: one\n  two\nb: 1\n", "a: x\nb: 1\n"), ("a",), "x"),
    case("literal text is replaced whole", ("a: |\n  # text\n\nb: 1\n", "a: x\nb: 1\n"), ("a",), "x"),
    case("a list in place of a list", ("a:\n- 1\n- 2\n# b\nb: 1\n", "a:\n- 3\n# b\nb: 1\n"), ("a",), [3]),
    case("a list in place of a deeper one", ("a:\n  - 1 # one\nb: 1\n", "a:\n- 3\nb: 1\n"), ("a",), [3]),
    case("a mapping in place of a scalar", ("a: 1 # so\nb: 1\n", "a:  # so\n  c: 2\nb: 1\n"), ("a",), {"c": 2}),
    case("a scalar in place of a mapping", ("a: # so\n  c: 2\nb: 1\n", "a: x  # so\nb: 1\n"), ("a",), "x"),
    case("nothing in place of a list", ("a:\n- 1\nb: 1\n", "a: []\nb: 1\n"), ("a",), []),
    case("an item in place of an item", ("a:\n- b: 1\n  c: 1\n- 2\n", "a:\n- d: 3\n- 2\n"), ("a", 0), {"d": 3}),
    case("a list of Windows", ("a:\r\n- 1\r\nb: 1\r\n", "a:\r\n- 2\r\n- 3\r\nb: 1\r\n"), ("a",), [2, 3]),
    case("a scalar in braces", ("a: {b: 1, c: 2} # so\n", "a: {b: 1, c: x} # so\n"), ("a", "c"), "x"),
    case("a list in brackets", ("a: [b, c] # so\n", 'a: [d, "1", "e, f"] # so\n'), ("a",), ["d", "1", "e, f"]),
    case("brackets over several lines", ("a: [b,\n  c]\nd: 1\n", "a: [e]\nd: 1\n"), ("a",), ["e"]),
    case("empty brackets are filled", ("a: []\n", "a: [b]\n"), ("a",), ["b"]),
    case("a key into braces", ("a: {b: 1}\n", "a: {b: 1, c: 2}\n"), ("a", "c"), 2),
    case("keys into braces", ("a: {b: {}}\n", "a: {b: {c: {d: 2}}}\n"), ("a", "b", "c", "d"), 2),
    case("an item into brackets", ("a: [b]\n", "a: [b, c]\n"), ("a", 1), "c"),
    case("a key out of braces", ("a: {b: 1, c: 2}\n", "a: {c: 2}\n"), ("a", "b")),
    case("braces that are left empty go along", ("a: {b: {c: 1}}\nd: 1\n", "d: 1\n"), ("a", "b", "c")),
    case("all of JSON", ('{"a": 1}\n', "{}\n"), ("a",)),
    case("JSON stays JSON", ('{"a": {"b": "x"}}\n', '{"a": {"b": "x", "c": ["y"]}}\n'), ("a", "c"), ["y"]),
    case("a value of JSON", ('{\n  "a": 1,\n  "b": 2\n}\n', '{\n  "a": "x",\n  "b": 2\n}\n'), ("a",), "x"),
    case("braces of an item", ("- {a: 1}\n- 2\n", "- {a: [x]}\n- 2\n"), (0, "a"), ["x"]),
    case("a dash by itself", ("a:\n-\n  b: 1\n- c: 1\n", "a:\n- c: 1\n"), ("a", 0)),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_a_change_in_place(case: Case) -> None:
    assert edit_file(case.before.encode(), 0, [Edit(case.path, case.value)]).decode() == case.after


def test_the_second_document_of_a_file() -> None:
    assert edit_file(CLUSTER.encode(), 1, [Edit(("a",), 2)]).decode() == CLUSTER.replace("a: 1", "a: 2")


def test_several_edits_follow_each_other() -> None:
    edits = [Edit(("spec", "taints", 0)), Edit(("spec", "taints", 0))]
    assert edit_file(CLUSTER.encode(), 0, edits).decode() == CLUSTER.replace(BOTH, "  # until Friday\n")


class Refused(NamedTuple):
    why: str
    before: str
    path: tuple[str | int, ...]
    value: Any
    message: str


ANCHOR = "an anchor, an alias or a tag stands here\n  hint: change it by hand"
REFUSED = [
    Refused(
        "comments in braces",
        "a: {b: 1, # so\n  c: 2}\n",
        ("a", "d"),
        2,
        "1:4: comments stand between these braces or brackets\n  hint: change it by hand",
    ),
    Refused(
        "a scalar in braces in the way",
        "a: {b: 1}\n",
        ("a", "b", "c"),
        2,
        "1:8: it is a scalar\n  hint: change it by hand",
    ),
    Refused("brackets that end before", "a: [1]\n", ("a", 2), 2, "1:4: there is no item 2\n  hint: change it by hand"),
    Refused("an alias in braces", "a: &x 1\nb: {c: *x}\n", ("b", "c", "d"), 2, f"2:8: {ANCHOR}"),
    Refused("an alias", "a: &x\n  b: 1\nc: *x\n", ("c", "b"), 2, f"3:4: {ANCHOR}"),
    Refused("an anchor", "a: &x\n  b: 1\nc: *x\n", ("a", "b"), 2, f"1:4: {ANCHOR}"),
    Refused("a tag", "a: !!str 1\n", ("a",), "2", f"1:4: {ANCHOR}"),
    Refused(
        "the first key of an item",
        "a:\n- b: 1\n  c: 2\n",
        ("a", 0, "b"),
        REMOVED,
        "2:3: it does not begin its line\n  hint: change it by hand",
    ),
    Refused("a scalar in the way", "a: 1\n", ("a", "b"), 2, "1:4: it is a scalar\n  hint: change it by hand"),
    Refused(
        "a merged key",
        "x: &x\n  b: 1\na:\n  <<: *x\n  c: 1\n",
        ("a", "b"),
        REMOVED,
        "4:3: what is to go is not written here\n  hint: change it by hand",
    ),
]


@each_row("case", REFUSED, ids=lambda case: case.why)
def test_what_cannot_be_changed_in_place_is_refused(case: Refused) -> None:
    with pytest.raises(UneditableError) as refused:
        edit_file(case.before.encode(), 0, [Edit(case.path, case.value)])
    assert str(refused.value) == case.message


DOCUMENTS = [
    ("a: 1\n---\nb: 2\n---\nc: 3\n", 0, "b: 2\n---\nc: 3\n"),
    ("a: 1\n---\nb: 2\n---\nc: 3\n", 1, "a: 1\n---\nc: 3\n"),
    ("a: 1\n---\nb: 2\n---\nc: 3\n", 2, "a: 1\n---\nb: 2\n"),
    ("---\na: 1\n---\n# c\nb: 2\n", 1, "---\na: 1\n"),
    ("a: 1\n", 0, ""),
]


@each_row(("before", "index", "after"), DOCUMENTS)
def test_a_document_is_taken_out(before: str, index: int, after: str) -> None:
    assert without_document(before.encode(), index).decode() == after


WORDS = st.sampled_from(["a", "b", "on", "1", "x y", "#", "~", "é", "key: value", "- dash"])
VALUES = st.recursive(
    WORDS | st.integers(-(2**63), 2**63 - 1) | st.booleans(),
    lambda inner: st.dictionaries(WORDS, inner, min_size=1, max_size=3) | st.lists(inner, min_size=1, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4), WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=2))
def test_any_document_of_ours_takes_any_new_entry(value: dict[str, Any], key: str, text: str, items: list[str]) -> None:
    """With a comment after every line, all of which are there afterwards."""
    lines = emit(value).decode().splitlines()
    commented = "".join(f"{line} # {number}\n" for number, line in enumerate(lines)).encode()
    path = ("new", key)
    after = edit_file(commented, 0, [Edit(path, text), Edit(("items",), items)])
    assert parse_documents(after)[0].value == {**value, "new": {key: text}, "items": items}
    assert after.startswith(commented)
    assert edit_file(after, 0, [Edit(path), Edit(("items",))]) == commented


@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4), WORDS, VALUES, st.booleans(), st.sampled_from([0, 1]))
def test_any_value_replaces_any_other_and_nothing_else(
    value: dict[str, Any], key: str, new: Any, is_json: bool, depth: int
) -> None:
    """In lines, in braces, and as JSON."""
    flow = flow_text({"top": value}, is_json=is_json)
    for text in (emit({"top": value}), f"{flow}\n".encode(), f"a: 1\nb: {flow}  # so\n".encode()):
        top = ("b", "top") if text.startswith(b"a: 1") else ("top",)
        path = (*top, key)[: len(top) + depth]
        after = edit_file(text, 0, [Edit(path, new)])
        want = {**value, key: new} if depth else new
        wanted = {"a": 1, "b": {"top": want}} if len(top) > 1 else {"top": want}
        assert parse_documents(after)[0].value == wanted
        assert after.endswith(b"# so\n") == (len(top) > 1)
