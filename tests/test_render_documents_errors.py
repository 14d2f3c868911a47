"""Reasons not to read a document: every word of every message, and never a value."""

from typing import NamedTuple

import pytest

from render.documents import Document, DocumentError, DocumentErrors, parse_documents, read_documents
from render.documents.parsing import read_exactly
from render.documents.reading import documents_and_errors, read_chunks

from .tables import each_row

KEPT_LAST = "\n  hint: kubectl would silently keep only the last one"
ALIGN = "\n  hint: align it with the keys or items it belongs to"
QUOTE = "\n  hint: put text that contains ': ' or starts with a special character in quotes"
BRACKETS = "a '[' or '{' list that is broken or not closed\n  hint: check commas, quotes and brackets"
TAB = "a tab where YAML needs spaces\n  hint: indent with spaces"
ESCAPE = "an escape that YAML does not have\n  hint: double the backslash, or use single quotes"
NOT_CLOSED = "a quote that is not closed\n  hint: close the quote"
MISFIT = f"indentation that fits nothing above{ALIGN}"
NEITHER = f"text that is neither 'key: value' nor '- item'{ALIGN}; a colon needs a space behind it"
COLON = f"a ':' where no key can stand{QUOTE}; check the indentation"
CONTAINER_KEY = "a key that is a mapping or a list\n  hint: put text that starts with '{' or '[' in quotes"
NO_MAPPING = "a merge key '<<' without a mapping\n  hint: merge a mapping or a list of mappings"
AT_END = "text after the document's end, which kubectl ignores\n  hint: start a new document with '---'"
LAUGHS = "".join(f"{c}: &{c} [{','.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefg", "bcdefgh", strict=True))


class Broken(NamedTuple):
    why: str
    text: str
    want: str


ROWS = [
    Broken("a duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\n", f"4:3: duplicate key 'c'{KEPT_LAST}"),
    Broken("keys that are the same text", "a: {1: x, '1': z}\n", f"1:11: duplicate key '1'{KEPT_LAST}"),
    Broken("a duplicate around a merge", "a: {b: 1, <<: {c: 2}, b: 3}\n", f"1:23: duplicate key 'b'{KEPT_LAST}"),
    Broken("a duplicate in JSON", '{"a": 1,\n "b": {"a": 1, "a": 2}}', f"2:16: duplicate key 'a'{KEPT_LAST}"),
    Broken("a long duplicate is shortened", f"{'k' * 99}: 1\n{'k' * 99}: 1\n",
           f"2:1: duplicate key '{'k' * 80}...'{KEPT_LAST}"),
    Broken("a comment that touches the separator of the first line", "---#x\na: 1\n", f"2:2: {COLON}"),
    Broken("infinity", "a: [1, -.INF]\n", "1:8: infinity and not-a-number cannot be stored in Kubernetes"),
    Broken("not-a-number", "a: .nan\n", "1:4: infinity and not-a-number cannot be stored in Kubernetes"),
    Broken("a JSON number beyond floats", '{"a": 1e999}', "1:1: a number beyond all floats"),
    Broken("a null key", "a:\n  ~: 1\n", "2:3: a key that is null"),
    Broken("a number beyond int64 as a key", "18446744073709551615: 1\n", "1:1: a key that is a number beyond int64"),
    Broken("a list as a key", "a:\n  ? [b]\n  : 1\n", f"2:5: {CONTAINER_KEY}"),
    Broken("a template that was not rendered", "a: {{ .Values.x }}\n", f"1:5: {CONTAINER_KEY}"),
    Broken("an alias of a list as a key", "a: &b []\n*b : 1\n", f"2:1: {CONTAINER_KEY}"),
    Broken("an alias without an anchor", "a: *b\n",
           "1:4: alias of an unknown anchor\n  hint: anchors are known only within their document;"
           " put text that starts with '*' in quotes"),
    Broken("an anchor around its own alias", "a: &b [*b]\n", "1:8: an anchor that contains itself"),
    Broken("a merge of text", "a: {<<: x}\n", f"1:9: {NO_MAPPING}"),
    Broken("a merge of an alias of a list", "a: &b [{c: 1}]\nd: {<<: *b}\n", f"2:9: {NO_MAPPING}"),
    Broken("a merge of a list of lists", "a: {<<: [[]]}\n", f"1:12: {NO_MAPPING}"),
    Broken("a tag that does not fit", "a: !!int x\n",
           "1:4: a value that its tag !!int does not fit\n  hint: drop the tag, or write a value of that type"),
    Broken("base64 that is none", "a: !!binary ä\n", "1:4: !!binary with text that is not base64"),
    Broken("a tab as indentation", "a:\n\tb: 1\n", f"2:1: {TAB}"),
    Broken("a tab as indentation of a block", "a: |\n\tb\n", f"2:1: {TAB}"),
    Broken("a tab as indentation of plain text", "a: {b\n\tc: 1}\n", f"2:1: {TAB}"),
    Broken("a colon too many", "a: b: c\n", f"1:5: {COLON}"),
    Broken("a key below a value", "a: 1\n  b: 2\n", f"2:4: {COLON}"),
    Broken("a dedent to nowhere", "a:\n    b: 1\n  c: 2\n", f"3:3: {MISFIT}"),
    Broken("a dash among keys", "a: 1\n- b\n", f"2:1: {MISFIT}"),
    Broken("a line without a colon", "a: 1\nb\nc: 2\n", f"2:1: {NEITHER}"),
    Broken("a key too long", f"a: 1\n{'k' * 1025}: 1\n", f"2:1: {NEITHER}"),
    Broken("a quote not closed", "a: 'b\nc: 2\n", f"1:4: {NOT_CLOSED}"),
    Broken("a quote not closed before an end marker", "a: 'b\n...\n'\n", f"1:4: {NOT_CLOSED}"),
    Broken("a bracket not closed", "a: [1, 2\nb: 3\n", f"2:2: {BRACKETS}"),
    Broken("JSON without a comma", '{"a": 1\n "b": 2}', f"2:5: {BRACKETS}"),
    Broken("a question mark inside brackets", "a: [b?c]\n", f"1:6: {BRACKETS}"),
    Broken("a bracket that never ends", "a: [",
           "2:1: no value where one must stand\n  hint: check brackets, quotes and indentation"),
    Broken("a character no value starts with", "a: @b\n", f"1:4: a character that no value starts with{QUOTE}"),
    Broken("an escape YAML does not have", 'a: "\\q"\n', f"1:6: {ESCAPE}"),
    Broken("an escape kubectl does not have", 'a: "\\/"\n', f"1:6: {ESCAPE}"),
    Broken("half a surrogate pair", 'a: "\\ud800"\n', "1:4: an escape that is no Unicode character"),
    Broken("an escape beyond Unicode", 'a: "\\UFFFFFFFF"\n', "1:4: an escape that is no Unicode character"),
    Broken("an escape cut short", 'a: "\\x4"\n',
           "1:7: an escape with too few digits\n  hint: write all digits, such as \\u00e4"),
    Broken("a tag that takes in all of a list", "a: [!!str,b]\n", f"2:1: {BRACKETS}"),
    Broken("a tag with an unknown handle", "a: !b!c d\n",
           "1:4: a tag whose handle is not declared\n  hint: drop the tag, or quote the text"),
    Broken("a verbatim tag not closed", "a: !<x b\n", "1:7: a tag '!<' without its '>'"),
    Broken("a tag that ends in a bracket", "a: !x# b\n",
           "1:6: a tag with a character that tags do not have\n  hint: write a space after the tag"),
    Broken("an alias without a name", "a: *\n", f"1:5: an anchor, alias or directive without a name{QUOTE}"),
    Broken("text on the line of a block's header", "a: | b\n  c\n",
           "1:6: text after the '|' or '>' of a block\n  hint: start the block's text on the next line"),
    Broken("text on a separator's line", "a: 1\n--- b: 2\n",
           "2:4: text after a document separator, which kubectl refuses\n"
           "  hint: write '---' alone on its line and the document below it"),
    Broken("text after an end marker", "a: 1\n...\nb: 2\n", f"2:1: {AT_END}"),
    Broken("text after a closing brace", "{a: 1}\nb: 2\n", f"2:1: {AT_END}"),
    Broken("a directive", "# c\n%YAML 1.2\n---\na: 1\n",
           "3:1: a directive, which kubectl does not read\n  hint: drop the line that starts with '%'"),
    Broken("a byte order mark inside", "a: 1\n\ufeffb: 2\n",
           "2:1: a byte order mark inside the file\n  hint: delete the invisible character U+FEFF"),
    Broken("a control character", "a: b\n---\nc: d\x1b\n",
           '3:5: control character U+001B\n  hint: write it as an escape in double quotes, such as "\\x1b"'),
    Broken("brackets too deep", f"a: {'[' * 250}{']' * 250}\n", "1:203: nested deeper than 200 levels"),
    Broken("JSON too deep", f'{{"a": {"[" * 250}{"]" * 250}}}', "1:206: nested deeper than 200 levels"),
    Broken("keys too deep", "".join(f"{' ' * n}a:\n" for n in range(250)), "201:201: nested deeper than 200 levels"),
    Broken("dashes too deep", f"a:\n{'- ' * 250}b\n", "2:399: nested deeper than 200 levels"),
    Broken("aliases too deep", "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 250)),
           "200:14: nested deeper than 200 levels"),
    Broken("aliases of aliases of aliases", f"a: &a [1,1,1,1,1,1,1,1,1]\n{LAUGHS}",
           "9:1: aliases that expand beyond all measure"),
    Broken("merges of merges", "a: &a {" + ",".join(f"k{n}: 1" for n in range(999)) + "}\nb:\n" + "- <<: *a\n" * 500,
           "403:7: aliases that expand beyond all measure"),
    Broken("JSON that breaks off after JSON", '{"a": 1}\n{"b": 2}\n{"c": }\n', "3:7: not JSON: Expecting value"),
]  # fmt: skip


@each_row("case", ROWS, ids=lambda case: case.why)
def test_a_broken_document(case: Broken) -> None:
    with pytest.raises(DocumentErrors) as caught:
        parse_documents(case.text.encode())
    assert str(caught.value) == case.want


@each_row("case", ROWS, ids=lambda case: case.why)
def test_the_exact_parser_says_the_same(case: Broken) -> None:
    _, errors = documents_and_errors(read_chunks(case.text.encode(), read=read_exactly))
    assert "\n".join(map(str, errors)) == case.want


class BrokenBytes(NamedTuple):
    why: str
    data: bytes
    want: DocumentError


BYTES = [
    BrokenBytes("Latin-1", b"a: 1\nb: caf\xe9 x\n",
                DocumentError(2, 7, "not UTF-8: byte 0xe9 at offset 11", "save the file as UTF-8")),
    BrokenBytes("a byte that breaks off after a mark", b"\xef\xbb\xbfa: \xe9",
                DocumentError(1, 4, "not UTF-8: byte 0xe9 at offset 6", "save the file as UTF-8")),
    BrokenBytes("UTF-16 that breaks off", "\ufeffa: 1\n".encode("utf-16-le")[:-1],
                DocumentError(1, 5, "not UTF-16: byte 0x0a at offset 10", "save the file as UTF-8")),
    BrokenBytes("a huge file", b"#" * (32 * 1024 * 1024 + 1),
                DocumentError(1, 1, "larger than 33554432 bytes", "split the file")),
]  # fmt: skip


@pytest.mark.parametrize("case", BYTES, ids=lambda case: case.why)
def test_a_file_that_is_no_text(case: BrokenBytes) -> None:
    assert read_documents(case.data) == ((), (case.want,))


def test_every_broken_document_of_a_file_is_named_and_the_others_are_read() -> None:
    data = b"a: 1\na: 2\n---\nb: [\n---\nok: 1\n---\nc: .nan\n"
    documents, errors = read_documents(data)
    assert documents == (Document(value={"ok": 1}, line=6, index=0),)
    assert [str(error).split("\n")[0] for error in errors] == [
        "2:1: duplicate key 'a'",
        "5:1: no value where one must stand",
        "8:4: infinity and not-a-number cannot be stored in Kubernetes",
    ]


def test_a_broken_huge_document_is_refused_with_what_libyaml_knows() -> None:
    data = ("a: |\n" + "  text\n" * 200_000 + "b: c: d\n").encode()
    _, errors = read_documents(data)
    assert [str(error) for error in errors] == [f"200002:5: {COLON}"]


def test_json_deeper_than_any_stack_is_refused() -> None:
    _, errors = read_documents(b'{"a": ' + b"[" * 2_000_000)
    assert errors == (DocumentError(1, 1, "nested deeper than 200 levels"),)


def test_many_aliases_are_fine_while_most_of_the_document_is_its_own() -> None:
    text = f"a: &a [{','.join('x' * 100)}]\nb: [{','.join(['*a'] * 100)}]\n"
    (document,) = parse_documents(text.encode())
    assert document.value["b"] == [["x"] * 100] * 100
