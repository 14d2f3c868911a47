"""Emitted text, byte by byte: we and a real kubectl read it back as it was."""

import copy
import json
import pickle
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.documents import Emitted, Hole, copy_value, emit, emit_together, parse_documents

from .kubectl import head, objects_read
from .tables import each_row


class Value(NamedTuple):
    why: str
    value: Any
    want: str


STRINGS = [
    Value("a word", "web", "web"),
    Value("words", "a b, c", "a b, c"),
    Value("nothing", "", '""'),
    Value("a word that is true", "y", '"y"'),
    Value("a word that is false", "OFF", '"OFF"'),
    Value("a word that is true to nobody, but nearly", "yEs", '"yEs"'),
    Value("null", "~", '"~"'),
    Value("null in letters", "null", '"null"'),
    Value("a number", "12", '"12"'),
    Value("a number to kubectl, not to PyYAML", "1e3", '"1e3"'),
    Value("an octal number that is none", "08", '"08"'),
    Value("an octal number of YAML 1.2", "0o7", '"0o7"'),
    Value("a number with underscores", "1_000", '"1_000"'),
    Value("a number after a point", ".5", '".5"'),
    Value("minutes", "1:30", '"1:30"'),
    Value("a date", "2024-01-01", '"2024-01-01"'),
    Value("infinity", ".Inf", '".Inf"'),
    Value("a version", "1.2.3", '"1.2.3"'),
    Value("an amount", "500m", "500m"),
    Value("an amount with a point", "1.5Gi", "1.5Gi"),
    Value("a percentage", "25%", "25%"),
    Value("an amount that is an exponent", "1E", '"1E"'),
    Value("an image", "nginx:1.29", "nginx:1.29"),
    Value("a path", "/var/run", "/var/run"),
    Value("a flag", "--level=info", "--level=info"),
    Value("a negative number", "-1", '"-1"'),
    Value("a dash", "-", '"-"'),
    Value("a separator", "---", '"---"'),
    Value("a relative path", "./x", "./x"),
    Value("a URL", "http://x:80/?a=b&c=d#e", "http://x:80/?a=b&c=d#e"),
    Value("a colon before a space", "a: b", '"a: b"'),
    Value("a colon at the end", "a:", '"a:"'),
    Value("a comment", "a #b", '"a #b"'),
    Value("a hash", "a#b", "a#b"),
    Value("a space at the end", "a ", '"a "'),
    Value("two spaces", "a  b", '"a  b"'),
    Value("an anchor", "&a", '"&a"'),
    Value("an alias", "*a", '"*a"'),
    Value("a tag", "!a", '"!a"'),
    Value("a block", "|", '"|"'),
    Value("a list", "[a]", '"[a]"'),
    Value("a mapping", "{a}", '"{a}"'),
    Value("a merge", "<<", '"<<"'),
    Value("an equals sign", "=", '"="'),
    Value("quotes and a backslash", 'say "it\'s" \\', 'say "it\'s" \\'),
    Value("quotes and a backslash in quotes", 'say: "a" \\', '"say: \\"a\\" \\\\"'),
    Value("a tab", "a\tb", '"a\\tb"'),
    Value("a carriage return", "a\r\nb", '"a\\r\\nb"'),
    Value("control characters", "\0\x1b\x7f\x80\x9f", '"\\x00\\x1b\\x7f\\x80\\x9f"'),
    Value("unusual line breaks", "\x85\u2028\u2029", '"\\x85\\u2028\\u2029"'),
    Value("what cannot be seen", "\xa0\xad\u200b\u202e\ufeff", '"\\xa0\\xad\\u200b\\u202e\\ufeff"'),
    Value("what is no character", "\ufffe\uffff", '"\\ufffe\\uffff"'),
    Value("letters of the world", "ä名", '"ä名"'),
    Value("emoji", "😀", '"😀"'),
    Value("lines", "a\nb", "|-\n  a\n  b"),
    Value("lines that end with a line end", "a\n b\n\nc\n", "|\n  a\n   b\n\n  c"),
    Value("lines that end with two", "a\nb\n\n", "|+\n  a\n  b\n"),
    Value("lines that start with spaces", "  a\nb", "|2-\n    a\n  b"),
    Value("lines that start with a tab", "\ta\n", "|2\n  \ta"),
    Value("lines that start blank, then spaces", "\n a", "|2-\n\n   a"),
    Value("lines with spaces at their ends", "a \n \nb\n", "|\n  a \n   \n  b"),
    Value("a separator among lines", "a\n---\nb", "|-\n  a\n  ---\n  b"),
    Value("emoji among lines", "😀\n", "|\n  😀"),
    Value("only line ends", "\n\n", '"\\n\\n"'),
    Value("lines with a carriage return", "a\r\nb\n", '"a\\r\\nb\\n"'),
    Value("lines with an unusual break", "a\u2028\nb", '"a\\u2028\\nb"'),
]

OTHERS = [
    Value("true", True, "true"),
    Value("false", False, "false"),
    Value("null", None, "null"),
    Value("an integer", 7, "7"),
    Value("the largest int64", 2**63 - 1, "9223372036854775807"),
    Value("the smallest int64", -(2**63), "-9223372036854775808"),
    Value("beyond int64 it is a float anyway", 2**63, "9.223372036854776e+18"),
    Value("a float", 0.1, "0.1"),
    Value("a float that is whole", 3.0, "3"),
    Value("a float whose digits Go rounds", 2.0**60, "1152921504606847000"),
    Value("a large float", 1e21, "1e+21"),
    Value("a small float", 1e-7, "1e-07"),
    Value("an empty mapping", {}, "{}"),
    Value("an empty list", [], "[]"),
]


@each_row("case", [*STRINGS, *OTHERS], ids=lambda case: case.why)
def test_a_value(case: Value) -> None:
    assert emit({"v": case.value}).decode() == f"v: {case.want}\n"


@each_row("case", STRINGS, ids=lambda case: case.why)
def test_a_string_as_a_key(case: Value) -> None:
    emitted = emit({"a": {case.value: 1}}).decode()
    assert emitted.count("\n") == 2
    if not case.want.startswith("|"):
        assert emitted == f"a:\n  {case.want}: 1\n"


NESTED = {
    "kind": "Test",
    "status": {"b": 1, "a": [{}]},
    "spec": {
        "list": [1, "x", {"b": "c", "a": "two\nlines"}, [[1, 2], [], {"k": ["v"]}], " \n", {"only": {"deep": [None]}}],
    },
    "data": {"10": "a", "on": "b"},
    "apiVersion": "v1",
    "metadata": {"labels": {"b": "c", "a": "b"}, "namespace": "shop", "annotations": {}, "name": "f0-0"},
}
NESTED_TEXT = """\
apiVersion: v1
kind: Test
metadata:
  name: f0-0
  namespace: shop
  annotations: {}
  labels:
    a: b
    b: c
data:
  "10": a
  "on": b
spec:
  list:
  - 1
  - x
  - a: |-
      two
      lines
    b: c
  - - - 1
      - 2
    - []
    - k:
      - v
  - |2
    _
  - only:
      deep:
      - null
status:
  a:
  - {}
  b: 1
""".replace("_", " ")


def test_a_whole_document() -> None:
    assert emit(NESTED).decode() == NESTED_TEXT


def test_documents_that_are_no_mappings() -> None:
    values: list[Any] = [{}, [], "a", "a\nb", None, 1, [1, [2]]]
    assert [emit(value) for value in values] == [
        b"{}\n", b"[]\n", b"a\n", b'"a\\nb"\n', b"null\n", b"1\n", b"- 1\n- - 2\n",
    ]  # fmt: skip


def test_a_key_too_long_for_one_line_is_written_over_two() -> None:
    key, dotted = "k" * 1025, "x: " * 400
    value = {key: 1, "a": [{dotted: {key: "b\nc"}}]}
    assert emit(value).decode() == f'a:\n- ? "{dotted}"\n  :\n    ? {key}\n    : |-\n      b\n      c\n? {key}\n: 1\n'
    assert parse_documents(emit(value))[0].value == value


def test_kubectl_reads_every_row_back() -> None:
    values: list[dict[str, Any]] = [{"v": row.value, "w": [{"x": row.value}, row.value]} for row in (*STRINGS, *OTHERS)]
    values += [{"v": {row.value: 1}} for row in STRINGS]
    read = objects_read([head(number).encode() + emit(value) for number, value in enumerate(values)])
    assert read == [[{**head_read(number), **plain(value)}] for number, value in enumerate(values)]
    assert objects_read([emit(NESTED)]) == [[NESTED]]


def head_read(number: int) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Test", "metadata": {"name": f"f{number}-0"}}


def plain(value: Any) -> Any:
    """Return a value as JSON in Go leaves it: a whole float has the digits it is written with."""
    return json.loads(json.dumps(value).replace("1.152921504606847e+18", "1152921504606847000"))


REFUSED = [
    Value("infinity", float("inf"), "infinity and not-a-number have no place in Kubernetes"),
    Value("not-a-number", [float("nan")], "infinity and not-a-number have no place in Kubernetes"),
    Value("a set", {1, 2}, "not plain data: set"),
    Value("a tuple", {"a": (1,)}, "not plain data: tuple"),
    Value("bytes", b"a", "not plain data: bytes"),
    Value("a hole left open", {"a": Hole("n")}, "a hole was not filled in"),
]


@each_row("case", REFUSED, ids=lambda case: case.why)
def test_what_cannot_be_emitted(case: Value) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        emit(case.value)
    assert str(caught.value) == case.want


def test_holes_are_left_between_segments() -> None:
    value = {"spec": {"replicas": Hole("replicas"), "parallel": [Hole("a"), {"b": Hole("replicas")}]}}
    segments = (b"spec:\n  parallel:\n  - ", b"\n  - b: ", b"\n  replicas: ", b"\n")
    assert emit_together([value]) == [Emitted(segments, ("a", "replicas", "replicas"))]


def test_a_value_without_holes_is_one_segment() -> None:
    assert emit_together([{"a": "b\x00c\x01"}]) == [Emitted((b'a: "b\\x00c\\x01"\n',), ())]


def test_a_hole_survives_every_copy() -> None:
    value = {"a": [Hole("n")]}
    copies = [copy_value(value), copy.deepcopy(value), copy.copy(value), pickle.loads(pickle.dumps(value))]
    assert [repr(each) for each in copies] == ["{'a': [Hole('n')]}"] * 4
    assert (Hole("n") == Hole("n"), Hole("n") == Hole("m"), Hole("n") != 0, Hole("n") == 0) == (
        True,
        False,
        True,
        False,
    )


def test_a_copy_shares_no_container() -> None:
    value = {"a": {"b": [{"c": 1}]}, "d": []}
    copied = copy_value(value)
    copied["a"]["b"][0]["c"] = 2
    copied["d"].append(1)
    assert value == {"a": {"b": [{"c": 1}]}, "d": []}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
HAZARDS = st.text(
    st.sampled_from("\n\n \t\r-:#'\"\\|>&*![]{},?%@`~.0123456789_eExXoObB+yntfNYon\x85\u2028\ufeff"), max_size=12
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
    HAZARDS,
)


def values(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.one_of(TEXT, HAZARDS), inner, max_size=4)
        ),
        max_leaves=15,
    )


@given(values(SCALARS))
def test_whatever_is_emitted_is_read_back(value: Any) -> None:
    emitted = emit({"v": value})
    (document,) = parse_documents(emitted)
    assert normal(document.value) == normal({"v": value})
    assert emitted.endswith(b"\n")


def normal(value: Any) -> str:
    """Return a value as text that tells types apart; whole floats within int64 are integers."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{normal(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(normal, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return repr(int(f"{value:.0f}")) if abs(value) < 2**53 else "whole"
    return "whole" if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53 else repr(value)


@given(values(SCALARS), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: Any, rng: Any) -> None:
    assert emit(shuffled(value, rng)) == emit(value)


def shuffled(value: Any, rng: Any) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffled(value[key], rng) for key in keys}
    return [shuffled(item, rng) for item in value] if isinstance(value, list) else value


@given(values(st.one_of(SCALARS, st.sampled_from("abc").map(Hole))), st.integers(-(2**63), 2**63 - 1))
def test_holes_filled_in_give_what_is_emitted(value: Any, number: int) -> None:
    [emitted] = emit_together([{"spec": value}])
    filled = b"".join(segment + (b"%d" % number) for segment in emitted.segments[:-1]) + emitted.segments[-1]
    assert filled == emit(without_holes({"spec": value}, number))
    assert copy_value(value) == value


def without_holes(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {key: without_holes(child, number) for key, child in value.items()}
    if isinstance(value, list):
        return [without_holes(item, number) for item in value]
    return number if isinstance(value, Hole) else value


@pytest.mark.parametrize("text", ["{}", "{} a", "a {}", "a\n{}\n", "- {}", "x{}: y", "\n{}"])
def test_half_of_a_character_is_written_as_a_question_mark(text: str) -> None:
    """Names of files and arguments that are no UTF-8 have such halves, and messages name them."""
    half, mark = text.format("\udcff"), text.format("?")
    [document] = parse_documents(emit({half: [half]}))
    assert document.value == {mark: [mark]}
