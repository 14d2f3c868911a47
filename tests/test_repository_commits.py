"""Commits as values: trailers by git's own rules, and messages nothing can forge a trailer in."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.repository.commits import CommitText, Signature, encode_commit, parse_commit, parse_trailers
from render.errors import GitError
from tests.tables import each_row
from tests.waiting import SECONDS


class Message(NamedTuple):
    why: str
    text: str
    want: list[tuple[str, str]]


MESSAGES = [
    Message("one trailer", "Subject\n\nArgosy-Source: abc\n", [("Argosy-Source", "abc")]),
    Message("after a body", "Subject\n\nBody.\n\nA: 1\nB: 2\n", [("A", "1"), ("B", "2")]),
    Message("the same key twice", "S\n\nA: 1\nA: 2\n", [("A", "1"), ("A", "2")]),
    Message("no paragraph of their own", "Subject\nA: 1\n", []),
    Message("a subject is never a trailer", "A: 1\n", []),
    Message("a paragraph of prose", "S\n\nNote: this is\nprose, not a trailer\n", []),
    Message("prose beside what git wrote", "S\n\nprose\nSigned-off-by: A <a@b>\n", [("Signed-off-by", "A <a@b>")]),
    Message("too much prose beside what git wrote", "S\n\na\nb\nc\nd\nSigned-off-by: A <a@b>\n", []),
    Message("only the last paragraph counts", "S\n\nA: 1\n\nprose\n", []),
    Message("a value goes on", "S\n\nA: one\n  two\nB: 3\n", [("A", "one two"), ("B", "3")]),
    Message("spaces around", "S\n\nA :  1  \n", [("A", "1")]),
    Message("no value", "S\n\nA:\n", [("A", "")]),
    Message("a URL is not a trailer", "S\n\nsee http://example.com\n", []),
    Message("blank lines after", "S\n\nA: 1\n\n\n", [("A", "1")]),
    Message("a line of spaces separates", "S\n\nbody\n \nA: 1\n", [("A", "1")]),
    Message("nothing", "", []),
]


@pytest.mark.parametrize("case", MESSAGES, ids=lambda case: case.why)
def test_trailers_are_those_git_sees(tmp_path: Path, case: Message) -> None:
    assert list(parse_trailers(case.text)) == case.want
    seen = subprocess.run(
        ["git", "interpret-trailers", "--parse", "--no-divider"],
        cwd=tmp_path,
        input=case.text,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    ).stdout
    assert [line.rstrip() for line in seen.splitlines()] == [f"{key}: {value}".rstrip() for key, value in case.want]


LINES = st.sampled_from(
    ["A: 1", "Bee-2: x y", "prose", "  more", "Signed-off-by: A <a@b>", "", "http://x", "C :d", ":", "-"]
)


@settings(max_examples=60)
@given(st.lists(LINES, max_size=8))
def test_any_message_has_the_trailers_git_sees(lines: list[str]) -> None:
    text = "\n".join(["Subject", *lines]) + "\n"
    command = ["git", "interpret-trailers", "--parse", "--no-divider"]
    seen = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    assert [f"{key}: {value}".rstrip() for key, value in parse_trailers(text)] == [
        line.rstrip() for line in seen.splitlines()
    ]


ADA = Signature("Ada", "ada@example.com")
TREE = bytes(range(20))


def a_text(message: str = "Render", trailers: Mapping[str, str] | None = None) -> CommitText:
    return CommitText(message=message, trailers=trailers or {}, author=ADA, time=12)


def test_the_bytes_of_a_commit() -> None:
    trailers = {"Argosy-Source": "a" * 40, "Argosy-Version": "1"}
    commit = encode_commit(TREE, ("b" * 40, "c" * 40), a_text("Render\n\nMore.\n", trailers))
    assert commit.data == (
        b"tree 000102030405060708090a0b0c0d0e0f10111213\n"
        b"parent " + b"b" * 40 + b"\nparent " + b"c" * 40 + b"\n"
        b"author Ada <ada@example.com> 12 +0000\ncommitter Ada <ada@example.com> 12 +0000\n\n"
        b"Render\n\nMore.\n\nArgosy-Source: " + b"a" * 40 + b"\nArgosy-Version: 1\n"
    )


def test_a_commit_reads_back() -> None:
    commit = encode_commit(TREE, (), a_text("Render größe", {"A": "1"}))
    read = parse_commit(commit.id, commit.data)
    assert (read.id, read.tree, read.parents, read.time, read.subject) == (commit.id, TREE, (), 12, "Render größe")
    assert (read.author, read.trailers, read.trailer("a"), read.trailer("b")) == (
        "Ada <ada@example.com>", (("A", "1"),), ("1",), ()
    )  # fmt: skip


class Forgery(NamedTuple):
    why: str
    key: str
    value: str


FORGERIES = [
    Forgery("a second trailer in a value", "A", "1\nArgosy-Source: evil"),
    Forgery("a carriage return in a value", "A", "1\rB: 2"),
    Forgery("a NUL in a value", "A", "1\0"),
    Forgery("no value", "A", " "),
    Forgery("a key with a colon", "A: x\nB", "1"),
    Forgery("a key with a space", "A B", "1"),
    Forgery("no key", "", "1"),
]


@each_row("case", FORGERIES, ids=lambda case: case.why)
def test_a_trailer_that_is_more_than_one_is_refused(case: Forgery) -> None:
    with pytest.raises(ValueError, match="cannot be a trailer"):
        encode_commit(TREE, (), a_text(trailers={case.key: case.value}))


class Person(NamedTuple):
    why: str
    name: str
    email: str
    want: bytes


PEOPLE = [
    Person("an ordinary person", "Ada Lovelace", "ada@example.com", b"Ada Lovelace <ada@example.com>"),
    Person("a header in a name", "Ada\nparent x", "a@b", b"Adaparent x <a@b>"),
    Person("an address in a name", "Ada <evil@x>", "a@b", b"Ada evil@x <a@b>"),
    Person("quotes and dots around", ' "Ada." ', "<a@b>", b"Ada <a@b>"),
    Person("no name", "", "a@b", b"Argosy <a@b>"),
    Person("letters beyond ASCII", "Åsa", "a@b", "Åsa <a@b>".encode()),
]


@each_row("case", PEOPLE, ids=lambda case: case.why)
def test_a_signature_cannot_break_a_commit(case: Person) -> None:
    assert Signature(case.name, case.email).encode() == case.want


ODD = (
    b"tree " + b"1" * 40 + b"\nparent " + b"2" * 40 + b"\nauthor <> 5 -0130\n"
    b"committer B  <b@c> 7 +0000\nencoding latin1\ngpgsig -----BEGIN\n tree zzz\n -----END\n\nGr\xfc\xdfe\n\nA: 1\n"
)


def test_what_other_tools_write_is_read() -> None:
    read = parse_commit("f" * 40, ODD)
    assert (read.tree, read.parents, read.author, read.time) == (bytes([0x11]) * 20, ("2" * 40,), "<>", 7)
    assert (read.subject, read.trailers) == ("Gr\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}e", (("A", "1"),))


DAMAGED = [
    b"",
    b"\n\n",
    b"tree x\n\nm",
    b"tree " + b"1" * 40 + b"\nauthor A <a> 1 +0000\n\nm",
    ODD.replace(b"tree 1", b"eert 1"),
]


@each_row("data", DAMAGED, ids=repr)
def test_a_damaged_commit_is_an_error(data: bytes) -> None:
    with pytest.raises(GitError) as caught:
        parse_commit("f" * 40, data)
    assert str(caught.value) == "commit ffffffffffff is damaged\n  hint: run git fsck"


@given(
    st.text(max_size=60),
    st.dictionaries(st.from_regex(r"[A-Z][a-z-]{0,5}", fullmatch=True), st.sampled_from(["1", "x y"])),
)
def test_trailers_written_are_the_trailers_read(message: str, trailers: dict[str, str]) -> None:
    """Whatever the message says, it adds no trailer to ours."""
    commit = encode_commit(TREE, (), a_text("Subject\n\n" + message, trailers))
    read = parse_commit(commit.id, commit.data).trailers
    assert read == tuple(trailers.items()) if trailers else True
