"""Snapshots of a source made from texts, for tests that load one without Git."""

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

FILE, LINK, SUBMODULE = 0o100644, 0o120000, 0o160000


class Entry(NamedTuple):
    """A file that is no ordinary file: a link, a submodule, or one whose size alone matters."""

    content: bytes = b""
    mode: int = FILE
    size: int = -1


Content = str | bytes | Entry


class File(NamedTuple):
    """A file as a snapshot lists it."""

    path: str
    mode: int
    id: bytes
    size: int


class Source(NamedTuple):
    """The files of a snapshot, and the function that reads them."""

    files: tuple[File, ...]
    read: Callable[[Iterable[bytes]], dict[bytes, bytes]]


def source_of(content_by_path: Mapping[str, Content]) -> Source:
    """Return the snapshot that holds these files."""
    entry_by_path = {path: _entry(content) for path, content in content_by_path.items()}
    contents = {_id(entry): entry.content for entry in entry_by_path.values()}
    files = tuple(
        File(path, entry.mode, _id(entry), len(entry.content) if entry.size < 0 else entry.size)
        for path, entry in entry_by_path.items()
    )
    return Source(files, lambda ids: {id_: contents[id_] for id_ in ids})


def packed(*members: tuple[str, bytes, str]) -> bytes:
    """A packed chart; a member with a third part is a link to it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content, link in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if link:
                info.type, info.linkname = tarfile.SYMTYPE, link
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _entry(content: Content) -> Entry:
    if isinstance(content, Entry):
        return content
    return Entry(content.encode() if isinstance(content, str) else content)


def _id(entry: Entry) -> bytes:
    return hashlib.sha1(entry.content).digest()
