"""Commits as values: reading one, its trailers by git's own rules, and the bytes of a new one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from render.errors import GitError
from render.expressions import lazy_expression
from render.gitobjects import git_object_id

_HEADER = lazy_expression(rb"^([a-z]+) (.*(?:\n .*)*)$", re.MULTILINE)
# A name may be of any length and end in anything but digits, so that there is one way to match, or none.
_SIGNATURE = lazy_expression(rb"(?P<who>(?:.*[^0-9\s-])?) ?(?P<time>-?[0-9]{1,11}) [+-][0-9]{4}")
_MOST_BYTES = 1 << 20
"""The bytes that a commit may have: its message, and the signatures and tags it carries."""
_TRAILER = lazy_expression(r"(?P<key>[A-Za-z0-9-]+)[ \t]*+:[ \t]*+(?P<value>.*)")
_KEY = lazy_expression(r"[A-Za-z0-9][A-Za-z0-9-]*")
_GENERATED = ("Signed-off-by: ", "(cherry picked from commit ")
_CRUD = " \t.,:;<>\"\\'"
SOURCE = "Argosy-Source"
"""The trailer of a rendered commit that names the source it was made from."""
_RECORD = b"argosy"
"""The header of a commit that has a record for programs, below those of git, which carries along what it knows not."""


class NewCommit(NamedTuple):
    """A commit object that is ready to be stored: its id as text, and its content."""

    id: str
    data: bytes


class Signature(NamedTuple):
    """The author of a commit."""

    name: str
    email: str

    def encode(self) -> bytes:
        """Return name and address as git writes them, without what would break a commit's header."""
        name, email = (_without_characters_git_strips(text) for text in self)
        return f"{name or 'Argosy'} <{email}>".encode("utf-8", "surrogateescape")


class CommitInfo(Struct, frozen=True, kw_only=True):
    """A commit read; ids of commits are text, the id of its tree is raw, ``time`` is the committer's, in seconds.

    ``trailers`` are the lines ``Key: value`` at the end of the message, in order; a key may occur more than once.
    ``record`` is what a program wrote into the commit for others ("": nothing), beside its message and its tree.
    """

    id: str
    tree: bytes
    parents: tuple[str, ...]
    author: str
    time: int
    message: str
    trailers: tuple[tuple[str, str], ...]
    record: str = ""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    def trailer(self, key: str) -> tuple[str, ...]:
        """Return the values of all trailers with this key, whose case does not matter."""
        return tuple(value for name, value in self.trailers if name.casefold() == key.casefold())


def parse_commit(id_: str, data: bytes) -> CommitInfo:
    """Return a commit object as a value; a ``GitError`` if it is damaged, or larger than anybody writes one."""
    if len(data) > _MOST_BYTES:
        raise GitError(f"commit {id_[:12]} has {len(data)} bytes, but at most {_MOST_BYTES} are read")
    head, _, body = data.partition(b"\n\n")
    headers: dict[bytes, list[bytes]] = {}
    for key, value in _HEADER.findall(head):
        headers.setdefault(key, []).append(value)
    committer = _SIGNATURE.fullmatch(b"".join(headers.get(b"committer", ())[:1]))
    author = _SIGNATURE.fullmatch(b"".join(headers.get(b"author", ())[:1]))
    if not committer or not author or b"tree" not in headers:
        raise GitError(f"commit {id_[:12]} is damaged", hint="run git fsck")
    message = body.decode("utf-8", "replace").strip("\n")
    return CommitInfo(
        id=id_,
        tree=bytes.fromhex(headers[b"tree"][0].decode()),
        parents=tuple(parent.decode() for parent in headers.get(b"parent", ())),
        author=author["who"].decode("utf-8", "replace"),
        time=int(committer["time"]),
        message=message,
        trailers=tuple(parse_trailers(message)),
        record=b"".join(headers.get(_RECORD, ())[:1]).decode("utf-8", "replace"),
    )


def parse_trailers(message: str) -> Iterable[tuple[str, str]]:
    r"""Return the trailers of a message, continued lines joined.

    The rule is git's own: they are the last paragraph, which must not be the only one; and all of its lines are
    trailers, or a quarter of them are and one of those was written by git itself.

    >>> list(parse_trailers("Remove eu-2\n\nIt moved.\n\nArgosy-Allow-Removal: eu-2\n  12\n"))
    [('Argosy-Allow-Removal', 'eu-2 12')]
    """
    paragraphs = re.split(r"\n[ \t]*\n", message.rstrip())
    lines = paragraphs[-1].lstrip("\n").split("\n") if len(paragraphs) > 1 else []
    parts: list[list[str]] = []
    for line in lines:
        if parts and line[:1] in (" ", "\t"):
            parts[-1].append(line.strip())
        else:
            parts.append([line])
    joined = [" ".join(each) for each in parts]
    matches = [_TRAILER.fullmatch(line) for line in joined]
    generated = any(line.startswith(_GENERATED) for line in joined)
    trailers = [match for match in matches if match]
    if len(trailers) < len(joined) and not (generated and len(trailers) * 4 >= len(joined)):
        return []
    return [(match["key"], match["value"].strip()) for match in trailers]


class CommitText(Struct, frozen=True, kw_only=True):
    """The text of a new commit: the message, its trailers in order, the author, and the time (seconds, UTC).

    ``written_by`` is the author where somebody else commits, as ``CommitInfo.author`` has it. ``record`` is a line for
    programs ("": none), which goes beside the message.
    """

    message: str
    trailers: Mapping[str, str | Sequence[str]]
    author: Signature
    time: int
    written_by: str = ""
    record: str = ""

    def encode(self) -> bytes:
        """Return the part of a commit below its parents; a line break in a trailer or a record is a ``ValueError``."""
        pairs = [
            (key, value)
            for key, values in self.trailers.items()
            for value in ([values] if isinstance(values, str) else values)
        ]
        for key, value in pairs:
            if not _KEY.fullmatch(key) or not value.strip() or re.search(r"[\0\r\n]", value):
                raise ValueError(f"{key!r} cannot be a trailer")
        if re.search(r"[\0\r\n]", self.record):
            raise ValueError("a record is one line")
        lines = [f"{key}: {value.strip()}" for key, value in pairs]
        paragraphs = [self.message.replace("\0", "").strip(), "\n".join(lines)]
        text = "\n\n".join(filter(None, paragraphs))
        name, _, email = self.written_by.rstrip(">").rpartition("<")
        writer = Signature(name, email) if self.written_by else self.author
        authored, committed = (b"%s %d +0000" % (who.encode(), self.time) for who in (writer, self.author))
        record = b"%s %s\n" % (_RECORD, self.record.encode()) if self.record else b""
        message = text.encode("utf-8", "surrogateescape")
        return b"author %s\ncommitter %s\n%s\n%s\n" % (authored, committed, record, message)


def encode_commit(tree: bytes, parents: Iterable[str], text: CommitText, algorithm: str = "sha1") -> NewCommit:
    """Return the commit of a tree, given its raw id and the ids of the commits before it (none: a new root)."""
    lines = [b"tree " + tree.hex().encode(), *(b"parent " + parent.encode() for parent in parents)]
    data = b"\n".join((*lines, text.encode()))
    return NewCommit(git_object_id("commit", data, algorithm).hex(), data)


def _without_characters_git_strips(text: str) -> str:
    return re.sub(r"[\x00-\x1f<>]", "", text).strip(_CRUD)
