"""Files that stand in no commit, listed and read as those of a snapshot: the content of a Source, what is made anew."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reconciler.locked.content import Files

from .files import FILE_MODE
from .manifests import ReadBlobs


class UncommittedFile(NamedTuple):
    """A file of a tree that is no commit, as a snapshot lists one."""

    path: str
    mode: int
    id: bytes
    size: int


def uncommitted_files_with_reader(content: Files) -> tuple[list[UncommittedFile], ReadBlobs]:
    """Return the files of some content in order, and what reads them."""
    blobs: dict[bytes, bytes] = {}
    files = []
    for path, data in sorted(content.items()):
        id_ = hashlib.sha1(data, usedforsecurity=False).digest()
        blobs[id_] = data
        files.append(UncommittedFile(path, FILE_MODE, id_, len(data)))

    def read_contents(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        return {id_: blobs[id_] for id_ in ids}

    return files, read_contents
