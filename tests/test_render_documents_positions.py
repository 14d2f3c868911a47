"""The places of fields in their files."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from render.documents import Places, Position, emit, locate_field

from .bench.corpus import manifests
from .tables import each_row

FILE = b"""\
# an empty document first
---
kind: Deployment
metadata:
  labels: {app: web, app.kubernetes.io/name: web}
spec:
  on: 1
  0x10: 2
  template:
    containers:
    - name: a
      image: b
    -
      - deep
      - {x: [1, 2]}
  "quoted": &q
    inner: 1
  alias: *q
  merged:
    <<: *q
---
{"kind": "Service",
 "spec": {"ports": [{"port": 80}]}}
"""


class Field(NamedTuple):
    why: str
    document: int
    path: tuple[str | int, ...]
    want: tuple[int, int]


PATHS = [
    Field("the document", 0, (), (3, 1)),
    Field("a key", 0, ("spec",), (6, 1)),
    Field("a key in brackets", 0, ("metadata", "labels", "app"), (5, 12)),
    Field("a key that is read as true", 0, ("spec", "true"), (7, 3)),
    Field("a key that is a number", 0, ("spec", "16"), (8, 3)),
    Field("an item", 0, ("spec", "template", "containers", 0), (11, 7)),
    Field("a key in an item", 0, ("spec", "template", "containers", 0, "image"), (12, 7)),
    Field("an item below its dash", 0, ("spec", "template", "containers", 1), (14, 7)),
    Field("an item of an item", 0, ("spec", "template", "containers", 1, 1, "x", 1), (15, 17)),
    Field("a quoted key", 0, ("spec", "quoted", "inner"), (17, 5)),
    Field("what an alias stands for is where the alias is", 0, ("spec", "alias", "inner"), (18, 3)),
    Field("what is merged is where the mapping is", 0, ("spec", "merged", "inner"), (19, 3)),
    Field("an absent field is where its parent is", 0, ("spec", "template", "volumes", 3), (9, 3)),
    Field("an absent item is where its list is", 0, ("spec", "template", "containers", 7, "name"), (10, 5)),
    Field("a path through a scalar stops there", 0, ("kind", "x", 0), (3, 1)),
    Field("JSON", 1, ("spec", "ports", 0, "port"), (23, 22)),
    Field("a document there is not", 2, ("kind",), (1, 1)),
]


@each_row("case", PATHS, ids=lambda case: case.why)
def test_the_place_of_a_path(case: Field) -> None:
    assert Places(FILE).of_path(case.document, case.path) == Position(*case.want)


class Name(NamedTuple):
    why: str
    field: str
    want: tuple[int, int]


NAMES = [
    Name("the document", "", (3, 1)),
    Name("keys", "spec.template.containers", (10, 5)),
    Name("an item", "spec.template.containers[0].image", (12, 7)),
    Name("items of items", "spec.template.containers[1][1].x[0]", (15, 14)),
    Name("a key in brackets", "metadata.labels[app.kubernetes.io/name]", (5, 22)),
    Name("a key in brackets and quotes", 'metadata.labels["app"]', (5, 12)),
    Name("a key with dots that the document has", "metadata.labels.app.kubernetes.io/name", (5, 22)),
    Name("a key with dots that it has not", "metadata.labels.example.com/team", (5, 3)),
    Name("a number that is a key", "spec[16]", (8, 3)),
    Name("an absent item", "spec.template.containers[9].image", (10, 5)),
]


@each_row("case", NAMES, ids=lambda case: case.why)
def test_the_place_of_a_named_field(case: Name) -> None:
    assert locate_field(FILE, 0, case.field) == Position(*case.want)


BROKEN: list[tuple[bytes, Any]] = [
    (b"a: [\n", ("a",)),
    (b"", ()),
    (b"\xff", ("a",)),
    (b"a: 1\na: 2\n", ("a",)),
]


@pytest.mark.parametrize(("data", "path"), BROKEN)
def test_a_file_that_cannot_be_read_has_no_places(data: bytes, path: Any) -> None:
    assert Places(data).of_path(0, path) == Position(1, 1)


def test_places_of_a_big_file_cost_one_reading() -> None:
    data = b"".join(b"---\nitems:\n- a: 1\n  b: [x,\n      y]\n" for _ in range(1000))
    places = Places(data)
    found = [places.of_field(index, "items[0].b[1]") for index in range(1000) for _ in range(20)]
    assert found[::20] == [Position(5 * index + 5, 7) for index in range(1000)]


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield (*path, step)
        yield from paths(child, (*path, step))


def test_every_key_of_a_manifest_is_found_where_it_is_written() -> None:
    for value in manifests(8):
        data = emit(value)
        lines, places = data.decode().split("\n"), Places(data)
        for path in paths(value):
            line, column = places.of_path(0, path)
            text = lines[line - 1][column - 1 :]
            assert isinstance(path[-1], int) or text.startswith((f"{path[-1]}:", f'"{path[-1]}":'))


def test_documents_are_counted_as_they_are_read() -> None:
    data = b"a: 1\na: 2\n---\nb: 1\n---\n---\nc:\n  d: 1\n"
    assert Places(data).of_path(1, ("c", "d")) == Position(8, 3)


def test_json_that_yaml_does_not_know_is_located_as_far_as_it_goes() -> None:
    data = b'{"a": 1,\n "b": "\\ud83d\\ude00",\n "c": 1}\n'
    assert (Places(data).of_path(0, ("a",)), Places(data).of_path(0, ("c",))) == (Position(1, 2), Position(1, 1))


def test_what_only_kubectl_reads_is_located() -> None:
    assert Places(b'a: "it\\\'s"\nb:\n  c: 1\n').of_path(0, ("b", "c")) == Position(3, 3)


def test_windows_line_ends_and_a_mark_do_not_shift_lines() -> None:
    assert Places(b"\xef\xbb\xbfa: 1\r\nb:\r\n  c: 1\r\n").of_path(0, ("b", "c")) == Position(3, 3)
