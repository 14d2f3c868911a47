"""Reading documents: structure, streams, JSON; a real kubectl reads every row, too, and so do all our readers."""

from typing import Any, NamedTuple

import pytest

from render.documents import Document, parse_documents
from render.documents.parsing import read_exactly, read_quickly
from render.documents.reading import ReadChunk, documents_and_errors, read_chunk, read_chunks

from .kubectl import head, objects_read

READERS: list[ReadChunk] = [read_chunk, read_quickly, read_exactly]


class Body(NamedTuple):
    """Text below the head of a document, and the fields it adds."""

    why: str
    text: str
    want: dict[str, Any]


BODIES = [
    Body("a list at the column of its key", "v:\n- a\n- b\nw: 1\n", {"v": ["a", "b"], "w": 1}),
    Body("a list indented", "v:\n  - a\n  - b\n", {"v": ["a", "b"]}),
    Body("a mapping in a list", "v:\n- a: 1\n  b:\n  - c\n-\n  a: 2\n", {"v": [{"a": 1, "b": ["c"]}, {"a": 2}]}),
    Body("lists in a list", "v:\n- - a\n  - - b\n- []\n", {"v": [["a", ["b"]], []]}),
    Body("keys and dashes without values", "v:\nw:\n-\n-\n  \nx:\n", {"v": None, "w": [None, None], "x": None}),
    Body("comments and blank lines anywhere", "v:\n\n # c\n  a: 1 # c\n# c\n  b: 2#c\n", {"v": {"a": 1, "b": "2#c"}}),
    Body("a comment right after a colon is text", "v: a:#b\n", {"v": "a:#b"}),
    Body("tabs between tokens", "v:\t1\t# c\nw: [\t1,\t2]\n", {"v": 1, "w": [1, 2]}),
    Body("colons inside text", "v: http://x:80/?a=b&c\nw: :80\n", {"v": "http://x:80/?a=b&c", "w": ":80"}),
    Body("a dash or question mark before text", "v: -a\nw: ?b\n", {"v": "-a", "w": "?b"}),
    Body("plain text over lines", "v: a\n  b\n\n  c # d\n", {"v": "a b\nc"}),
    Body("quoted text over lines", "v: 'a\n  b\n\n  it''s'\n", {"v": "a b\nit's"}),
    Body("an escaped line end", 'v: "a\\\n  b\\n\\\n  c"\n', {"v": "ab\nc"}),
    Body("all escapes", 'v: "\\0\\a\\b\\t\\n\\v\\f\\r\\e\\"\\\'\\\\\\N\\_\\L\\P\\x41\\u00e4\\U0001f600"\n',
         {"v": "\0\a\b\t\n\v\f\r\x1b\"'\\\x85\xa0\u2028\u2029Aä😀"}),
    Body("a literal block", "v: |\n  a\n   b\n\n  c\n\nw: 1\n", {"v": "a\n b\n\nc\n", "w": 1}),
    Body("a literal block stripped", "v: |-\n  a\n\nw: 1\n", {"v": "a", "w": 1}),
    Body("a literal block kept", "v: |+\n  a\n\n\nw: 1\n", {"v": "a\n\n\n", "w": 1}),
    Body("a literal block with its indentation", "v:\n- |2-\n   a\n  b\n", {"v": [" a\nb"]}),
    Body("a literal block that starts blank", "v: |\n\n \n  a\n", {"v": "\n\na\n"}),
    Body("a literal block with spaces only", "v: |\n  a\n    \n  b\n  \n", {"v": "a\n  \nb\n"}),
    Body("a literal block with a comment below", "v: |\n  a\n # c\nw: 1\n", {"v": "a\n", "w": 1}),
    Body("a literal block with a tab in it", "v: |\n  a\n  \tb\n", {"v": "a\n\tb\n"}),
    Body("a comment after a block's header", "v: |#c\n  a\nw: | # c\n  b\n", {"v": "a\n", "w": "b\n"}),
    Body("an empty block", "v: |\nw: >-\n\n", {"v": "", "w": ""}),
    Body("a folded block", "v: >\n  a\n  b\n\n  c\n   d\n  e\n", {"v": "a b\nc\n d\ne\n"}),
    Body("a block at the end without a line end", "v: |+1\n  x", {"v": " x\n"}),
    Body("a folded block at the end without one", "v: >4\n    67", {"v": "67\n"}),
    Body("flow collections", "v: {a: [1, b c, {d: 'e'}], f: }\nw: [a: b, ]\n",
         {"v": {"a": [1, "b c", {"d": "e"}], "f": None}, "w": [{"a": "b"}]}),
    Body("flow collections over lines", "v: {a: [1,\n2], # c\n b: \n c}\n", {"v": {"a": [1, 2], "b": "c"}}),
    Body("a question mark that starts a key in brackets", "v: [?a, b]\n", {"v": [{"a": None}, "b"]}),
    Body("a colon before a comma is text", "v: {a:,b: 1}\nw: [c:]\n", {"v": {"a:": None, "b": 1}, "w": ["c:"]}),
    Body("a complex key that is text", "? v\n: a\n? 'w'\n", {"v": "a", "w": None}),
    Body("an anchor and its alias", "v: &a {b: [1]}\nw: [*a , *a ]\n", {"v": {"b": [1]}, "w": [{"b": [1]}] * 2}),
    Body("an anchor defined again", "v: &a 1\nw: *a\nx: &a 2\nz: *a\n", {"v": 1, "w": 1, "x": 2, "z": 2}),
    Body("an anchor defined again in itself", "v: &a {b: &a 1}\nw: *a\n", {"v": {"b": 1}, "w": 1}),
    Body("an anchor of nothing", "v: &a\nw: *a\n", {"v": None, "w": None}),
    Body("an anchored key, an alias as a key", "v: {&a on: 1}\nw: {*a : 2}\n", {"v": {"true": 1}, "w": {"true": 2}}),
    Body("a merge", "v: &a {b: 1, c: 2}\nw:\n  <<: *a\n  c: 3\n", {"v": {"b": 1, "c": 2}, "w": {"b": 1, "c": 3}}),
    Body("a merge replaces what stands before it", "v: {a: 1, <<: {a: 2}}\n", {"v": {"a": 2}}),
    Body("of several mappings merged the first wins", "v:\n  <<: [{a: 1}, {a: 2, b: 2}]\n", {"v": {"a": 1, "b": 2}}),
    Body("two merges", "v: {<<: {a: 1}, <<: {a: 2, b: 2}}\n", {"v": {"a": 2, "b": 2}}),
    Body("nothing merged", "v: {<<: [], a: 1}\n", {"v": {"a": 1}}),
    Body("a quoted merge sign is a key", "v: {'<<': {a: 1}}\n", {"v": {"<<": {"a": 1}}}),
    Body("a tagged merge sign merges", "v: {!!merge <<: {a: 1}}\n", {"v": {"a": 1}}),
    Body("tags of collections are ignored", "v: !!set {a: 1}\nw: !x\n- 1\n", {"v": {"a": 1}, "w": [1]}),
    Body("a tag takes in commas", "v: [!!str,b ]\n", {"v": [""]}),
    Body("a slash in quotes without an escape", 'v: "a/b"\n', {"v": "a/b"}),
    Body("unusual line breaks", "v: 'a\x85b\u2028c'\rw: 1\n", {"v": "a b\u2028c", "w": 1}),
    Body("letters of all the world", "ä: ö\n名: '😀'\n", {"ä": "ö", "名": "😀"}),
    Body("spaces that are no space", "v: a\xa0b\n", {"v": "a\xa0b"}),
    Body("a key of 1024 letters", f"{'k' * 1024}: 1\n", {"k" * 1024: 1}),
]  # fmt: skip


class File(NamedTuple):
    """A whole file; "{0}" and "{1}" stand for the heads of its documents, "{j0}" and "{j1}" for those of JSON."""

    why: str
    text: str
    want: list[dict[str, Any]]


FILES = [
    File("two documents", "{0}v: 1\n---\n{1}v: 2\n", [{"v": 1}, {"v": 2}]),
    File("empty documents are dropped", "---\n---\n# c\n---\n{0}---\n\n--- # c\n{1}---\n", [{}, {}]),
    File("a comment may touch any separator but the first line's", "{0}v: 1\n---#x\n{1}v: 2\n", [{"v": 1}, {"v": 2}]),
    File("Windows line ends", "{0}v: |\r\n  a\r\n  b\r\n---\r\n{1}w: 'a\r\n  b'\r\n", [{"v": "a\nb\n"}, {"w": "a b"}]),
    File("a byte order mark", "\ufeff{0}v: 1\n---\n\ufeff{1}v: 2\n", [{"v": 1}, {"v": 2}]),
    File("an end marker before a separator", "{0}v: 1\n...\n---\n{1}v: 2\n...\n", [{"v": 1}, {"v": 2}]),
    File("a separator inside a block is text when indented", "{0}v: |\n  a\n  ---\n  b\n", [{"v": "a\n---\nb\n"}]),
    File("JSON", '{{{j0}, "v": [1, 1.0, 1e3, -0, true, null]}}', [{"v": [1, 1, 1000, 0, True, None]}]),
    File("JSON after JSON", '{{{j0}}}{{{j1}, "v": "y"}}\n', [{}, {"v": "y"}]),
    File("JSON with tabs and slashes", '{{\n\t{j0},\n\t"v": "a\\/b"}}', [{"v": "a/b"}]),
    File("JSON with emoji", '{{{j0}, "v": "\\ud83d\\ude00\\ud800x"}}', [{"v": "😀\ufffdx"}]),
    File("JSON with a control character", '{{{j0}, "v": "\x80\x7f"}}', [{"v": "\x80\x7f"}]),
    File("JSON with a byte order mark", '\ufeff{{{j0}, "v": "a\\/b"}}', [{"v": "a/b"}]),
    File("JSON with numbers beyond int64", '{{{j0}, "v": 9223372036854775808}}', [{"v": 9.223372036854775807e18}]),
    File("JSON, then YAML", "{{{j0}}}\n---\n{1}v: on\n", [{}, {"v": True}]),
    File("braces that are not JSON are YAML", "{{{j0}, v: on}}\n", [{"v": True}]),
    File("what only YAML knows makes it YAML", '{{{j0}, "v": [1E400, 0x1, NaN]}}\n', [{"v": ["1E400", 1, "NaN"]}]),
]


def files() -> list[bytes]:
    texts = [f"{{0}}{case.text.replace('{', '{{').replace('}', '}}')}" for case in BODIES] + [
        case.text for case in FILES
    ]
    return [filled(number, text) for number, text in enumerate(texts)]


def filled(number: int, text: str) -> bytes:
    names = [f'"apiVersion": "v1", "kind": "Test", "metadata": {{"name": "f{number}-{place}"}}' for place in (0, 1)]
    return text.format(head(number, 0), head(number, 1), j0=names[0], j1=names[1]).encode()


def added(value: dict[str, Any]) -> dict[str, Any]:
    return {key: value[key] for key in sorted(value.keys() - {"apiVersion", "kind", "metadata"})}


WANTS = [[case.want] for case in BODIES] + [case.want for case in FILES]
WHYS = [*(case.why for case in BODIES), *(case.why for case in FILES)]


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@pytest.mark.parametrize(("data", "want"), list(zip(files(), WANTS, strict=True)), ids=WHYS)
def test_every_reader_reads_what_is_meant(data: bytes, want: list[dict[str, Any]], read: ReadChunk) -> None:
    documents, errors = documents_and_errors(read_chunks(data, read=read))
    assert (errors, repr([added(document.value) for document in documents])) == ((), repr(want))


def test_kubectl_reads_the_same_documents() -> None:
    read = [[added(value) for value in objects] for objects in objects_read(files()) if isinstance(objects, list)]
    assert repr(read) == repr([[added(value) for value in want] for want in WANTS])


def test_a_document_says_where_it_starts() -> None:
    data = b"# c\n---\n\nkind: A\n---\n---\n# c\nkind: B\nv: |\n  ---\n"
    assert parse_documents(data) == (
        Document(value={"kind": "A"}, line=4, index=0),
        Document(value={"kind": "B", "v": "---\n"}, line=8, index=1),
    )


def test_json_says_where_it_starts() -> None:
    assert [document.line for document in parse_documents(b'\n{"a":\n 1}\n\n{"b": 2} {"c": 3}')] == [2, 5, 5]


def test_utf_16_is_read_with_its_mark() -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        (document,) = parse_documents("\ufeffkind: ä\n".encode(encoding))
        assert document.value == {"kind": "ä"}


def test_aliases_share_what_they_stand_for() -> None:
    (document,) = parse_documents(b"a: &a {b: 1}\nc: *a\n")
    assert document.value["a"] is document.value["c"]


def test_values_remembered_from_earlier_files_are_not_shared() -> None:
    first, second = (parse_documents(b"a: {b: [1]}\nc: []\n")[0].value for _ in range(2))
    assert (first["a"] is second["a"], first["a"]["b"] is second["a"]["b"], first["c"] is second["c"]) == (False,) * 3
