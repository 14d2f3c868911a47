"""Ordinary text means what the parsers say it does, and nothing needs libyaml."""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.documents import emit, read_documents
from render.documents.lines import KnownLines, NotOrdinary
from render.documents.outline import value_of_chunk
from render.documents.parsing import read_exactly, read_quickly
from render.documents.reading import read_chunk, read_chunks

from .bench.corpus import manifests
from .fuzz.structures import ordinary, structure
from .tables import each_row
from .test_render_documents_reading import files
from .waiting import SECONDS


def test_what_is_emitted_for_manifests_is_ordinary() -> None:
    for value in manifests(40):
        assert value_of_chunk(emit(value).decode()) == (value, 0)


NOT_ORDINARY = {
    "an anchor": "a: &b 1\n",
    "an alias": "a: *b\n",
    "a tag": "a: !b 1\n",
    "a tab": "a:\tb\n",
    "a complex key": "? a\n: b\n",
    "a merge": "<<: {a: 1}\n",
    "a folded block": "a: >\n  b\n",
    "an empty block": "a: |\nb: 1\n",
    "a block that starts blank and deep": "a: |\n     \n  b\n",
    "a block with a control character": "a: |\n  b\x07\n",
    "text over lines": "a: b\n  c\n",
    "an open quote": "a: 'b\n  c'\n",
    "an open bracket": "a: [b,\n  c]\n",
    "an escape for a parser": 'a: "\\x41"\n',
    "infinity": "a: .inf\n",
    "a null key": "~: 1\n",
    "a duplicate key": "a: 1\na: 2\n",
    "a dedent to nowhere": "a:\n    b: 1\n  c: 2\n",
    "a key below text": "a: b\n  c: 1\n",
    "a key beside a dash": "- a\nb: 1\n",
    "a dash beside a key": "a: 1\n- b\n",
    "text alone": "a\n",
    "an end marker": "a: 1\n...\n",
    "a comment without a space": "a: 'b'#c\n",
    "a carriage return": "a: b\rc: d\n",
    "a list too deep": f"a:\n{'- ' * 300}b\n",
    "a key too long": f"{'k' * 1001}: 1\n",
}


@each_row("text", NOT_ORDINARY.values(), ids=tuple(NOT_ORDINARY))
def test_text_for_a_parser(text: str) -> None:
    with pytest.raises(NotOrdinary):
        value_of_chunk(text)


def test_only_comments_are_no_document() -> None:
    assert [value_of_chunk(text) for text in ("", "\n", "--- # a\n", "# a\n\n  # b\n")] == [(None, 0)] * 4


def test_lines_are_remembered_up_to_a_number_and_a_length() -> None:
    lines = KnownLines()
    lines.size = 2
    for text in ("a: 1", "b" * 200 + ": 1", "c: 1", "d: 1"):
        assert lines[text] is not None
    assert list(lines) == ["a: 1", "c: 1"]


@given(st.integers(0, 2**32), st.sampled_from([ordinary, structure]))
def test_all_three_readers_agree(seed: int, document: object) -> None:
    assert callable(document)
    data = document(Random(seed)).encode()
    quickest, quick, exact = (list(read_chunks(data, read=read)) for read in (read_chunk, read_quickly, read_exactly))
    assert repr(quickest) == repr(quick) == repr(exact)


def test_without_libyaml_everything_is_read_the_same() -> None:
    program = (
        "import sys; sys.modules['yaml._yaml'] = None\n"
        "from render.documents import read_documents\n"
        "from tests.test_render_documents_reading import files\n"
        "print(repr([read_documents(data) for data in files()]))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    assert done.stdout == f"{[read_documents(data) for data in files()]!r}\n"
