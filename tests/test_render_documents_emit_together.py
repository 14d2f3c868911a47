"""Emitting manifests together, or those that are similar, gives the bytes that emitting each alone gives."""

from enum import StrEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.documents import Hole, SimilarDocuments, emit, emit_together

from .tables import each_row

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=12), st.just(Hole("replicas")))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=12,
)
MANIFESTS = st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "a"]), VALUES, min_size=1)


@given(MANIFESTS, VALUES)
def test_manifests_that_share_parts_are_emitted_as_if_alone(manifest: dict[str, Any], shared: Any) -> None:
    several = [
        {**manifest, "spec": shared},
        {**manifest, "spec": [shared, {"deeper": shared}]},
        {**manifest, "metadata": {"name": "x", "annotations": shared}, "z": shared},
    ]
    assert emit_together(several) == [emit_together([each])[0] for each in several]


PLAIN = VALUES.filter(lambda value: "Hole" not in repr(value))
WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "yes", "1e3", "null", "0x1f", "a: b", "two\nlines\n", "\n", "\0" * 3, "~"]),
)
PATHS = (("metadata", "name"), ("spec", "items", 0, "name"))


def named(value: Any, one: str, other: str) -> dict[str, Any]:
    """Return a document with words at the paths, and a value in several places around them."""
    items = [{"name": other, "value": value}, {"name": "same"}]
    return {"kind": "A", "metadata": {"name": one, "labels": value}, "spec": {"items": items, "b": value}}


@given(PLAIN, PLAIN, st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_documents_that_are_alike_are_emitted_as_if_alone(one: Any, other: Any, words: list[tuple[str, str]]) -> None:
    documents = [named(value, *pair) for pair in words for value in (one, other)]
    similar = SimilarDocuments()
    assert [similar.emit(each, PATHS) for each in documents] == [emit(each) for each in documents]


class Unlike(NamedTuple):
    """Values in the same place of two documents, whose texts differ."""

    why: str
    values: tuple[Any, Any]
    lines: tuple[bytes, bytes]


UNLIKE = [
    Unlike("a number is no text", (1, "1"), (b"1", b'"1"')),
    Unlike("a truth is no number", (True, 1), (b"true", b"1")),
    Unlike("nothing is no word", (None, "null"), (b"null", b'"null"')),
    Unlike("an empty text is another word's place", ("", "x"), (b'""', b"x")),
    Unlike("a number with a fraction is another", (1.5, 1), (b"1.5", b"1")),
]


@each_row("case", UNLIKE, ids=lambda case: case.why)
def test_documents_with_other_values_are_not_taken_for_alike(case: Unlike) -> None:
    similar = SimilarDocuments()
    emitted = [
        similar.emit({"metadata": {"name": "web"}, "value": value}, [("metadata", "name")]) for value in case.values
    ]
    assert emitted == [b"metadata:\n  name: web\nvalue: " + line + b"\n" for line in case.lines]


def test_a_number_that_has_no_place_in_kubernetes_is_refused_among_alike_documents() -> None:
    similar = SimilarDocuments()
    similar.emit({"metadata": {"name": "web"}, "value": None}, [("metadata", "name")])
    with pytest.raises(ValueError, match="not-a-number"):
        similar.emit({"metadata": {"name": "web"}, "value": float("nan")}, [("metadata", "name")])


class Word(StrEnum):
    WELL = "Well"


def test_a_text_of_a_type_of_its_own_is_written_as_the_text_it_is() -> None:
    similar = SimilarDocuments()
    emitted = [
        similar.emit({"metadata": {"name": name}, "value": Word.WELL}, [("metadata", "name")]) for name in ("a", "b")
    ]
    assert emitted == [b"metadata:\n  name: a\nvalue: Well\n", b"metadata:\n  name: b\nvalue: Well\n"]
