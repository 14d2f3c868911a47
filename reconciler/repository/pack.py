"""A pack written by ourselves: all objects of a pass in one file and its index, visible to Git at once or not at all.

1. The header counts the objects, so their number is fixed before the first byte.
2. Trees, then blobs, then commits follow, each as zlib level 1 or as a difference to an earlier object of the pack.
3. The pack ends in the hash of all before it, which also names it.
4. Pack, then index, are synced and renamed into place; Git looks at the index first, so an interruption before the
   second rename leaves nothing but a temporary file, which a later pass or ``git gc`` removes.
"""

import fcntl
import os
import struct
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Self

from render.errors import GitError
from render.gitobjects import Blob, hash_constructor

from .pack_index import encode_index, index_line_of_object
from .pack_parts import EncodedPart, PackPart, encode_part, parts_of_pack
from .read_only import refuse_where_read_only

_WORTH_SHARING = 16 << 20
"""Several processes encode what comes to so many bytes, about a quarter of a second of work."""
_TEMPORARY = "tmp_pack_argosy_"
_ABANDONED_AFTER = 3600.0
"""Seconds without a byte after which a temporary file is one of a process that was killed."""


def refuse_ids_of_other_hash(ids: Iterable[bytes], algorithm: str) -> None:
    """Raise GitError for objects that are named by another hash than the repository's: no git could read their pack."""
    if set(map(len, ids)) - {hash_constructor(algorithm)().digest_size}:
        raise GitError(
            f"the repository names its objects by {algorithm.upper()}, and what passes write has names by SHA1",
            hint="have the rendered branch in a repository made with git init --object-format=sha1",
        )


def write_pack(
    directory: Path,
    *,
    blobs: Mapping[bytes, Blob],
    trees: Mapping[bytes, bytes],
    commits: Mapping[bytes, bytes],
    algorithm: str = "sha1",
    processes: int = 1,
) -> Path | None:
    """Write one pack of these objects, keyed by raw id, into ``directory``; return its path, None for no objects.

    The ids are trusted to be those of the contents. Writing the same objects again gives the same file, whatever the
    number of ``processes`` that may share the work.
    """
    count = len(blobs) + len(trees) + len(commits)
    if not count:
        return None
    refuse_where_read_only("store objects")
    _remove_abandoned_files(directory)
    parts = parts_of_pack(blobs, trees, commits)
    with _Temporary(directory) as temporary:
        pack = _Pack(temporary.file, algorithm)
        pack.write(struct.pack(">4sII", b"PACK", 2, count))
        with closing(_encoded_parts(parts, processes)) as encoded_parts:
            for part, encoded in zip(parts, encoded_parts, strict=True):
                pack.add_part(part, encoded)
        checksum = pack.finish_pack()
        target = directory / f"pack-{checksum.hex()}.pack"
        temporary.publish(target)
    with _Temporary(directory) as temporary:
        temporary.file.write(encode_index(pack.records, checksum, algorithm))
        temporary.publish(target.with_suffix(".idx"))
    _sync_folder(directory)
    return target


class _Pack:
    """The pack being written: its position, its running hash, and the index record of every object."""

    __slots__ = ("_file", "_hash", "position", "records")

    def __init__(self, file: IO[bytes], algorithm: str) -> None:
        self._file = file
        self._hash = hash_constructor(algorithm)()
        self.position = 0
        self.records: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Append bytes, and take them into the hash."""
        self._hash.update(data)
        self._file.write(data)
        self.position += len(data)

    def add_part(self, part: PackPart, encoded: EncodedPart) -> None:
        """Append objects that are encoded."""
        records = zip(part.objects, encoded.checksums, encoded.starts, strict=True)
        start = self.position
        self.records += [index_line_of_object(id_, crc, start + offset) for (id_, _), crc, offset in records]
        self.write(encoded.content)

    def finish_pack(self) -> bytes:
        """Append the checksum and return it."""
        checksum: bytes = self._hash.digest()
        self._file.write(checksum)
        return checksum


def _encoded_parts(parts: Sequence[PackPart], processes: int) -> Generator[EncodedPart, None, None]:
    """Yield the parts of a pack as they stand there, encoded by several processes where that is worth their start."""
    if processes < 2 or sum(part.weight for part in parts) < _WORTH_SHARING:
        yield from map(encode_part, parts)
        return
    from .processes import results_in_order

    with closing(results_in_order(_packed_part, parts, processes)) as results:
        yield from map(EncodedPart.unpacked, results)


def _packed_part(part: PackPart) -> bytes:
    return encode_part(part).packed()


class _Temporary:
    """A file in ``directory`` under a name Git takes for a leftover, gone at the end unless published."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / f"{_TEMPORARY}{os.urandom(8).hex()}"
        self.file: IO[bytes] = self._path.open("xb")
        _try_lock(self.file)

    def __enter__(self) -> Self:
        return self

    def publish(self, target: Path) -> None:
        """Sync the file and give it its name, readable by whom the repository's folder lets in, writable by none."""
        self.file.flush()
        os.fchmod(self.file.fileno(), 0o444)
        os.fsync(self.file.fileno())
        self._path.replace(target)

    def __exit__(self, *_: object) -> None:
        try:
            self.file.close()  # which writes what is left, and may find no space for it
        finally:
            self._path.unlink(missing_ok=True)


def _remove_abandoned_files(directory: Path) -> None:
    """Remove what writers left here that were killed: old files of ours alone, and none whose writer lives.

    The lock is what a clock that jumps cannot make look abandoned.
    """
    oldest = time.time() - _ABANDONED_AFTER
    for path in directory.glob(f"{_TEMPORARY}*"):
        with suppress(OSError):
            if path.lstat().st_mtime < oldest:
                with path.open("rb") as file:
                    if _try_lock(file):
                        path.unlink()


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file for this process, which keeps it until it closes it or dies; False where another has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: the age decides
    return True


def _sync_folder(directory: Path) -> None:
    """Make the new names in a folder survive a power cut."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
