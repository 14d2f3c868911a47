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
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, Self
from zlib import adler32, compress, crc32

from msgspec import Struct, field

from render.errors import GitError
from render.gitobjects import Blob, Spliced, hash_constructor

from .deltas import LONG, SplicedDeltas, find_cheap_delta, find_delta_by_middle, find_delta_by_stretches
from .pack_index import encode_index, index_line_of_object
from .read_only import refuse_where_read_only

_COMMIT, _TREE, _BLOB, _DELTA = 1, 2, 3, 6
_FLUSH = 1 << 20
_STORED_UP_TO = 100
_BEGINNING = 40
_LONG_LINE = 256
_BASES = 8
_STORED = struct.Struct("<HBHH")
_CHECK = struct.Struct(">I")
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
) -> Path | None:
    """Write one pack of these objects, keyed by raw id, into ``directory``; return its path, None for no objects.

    The ids are trusted to be those of the contents. Writing the same objects again gives the same file.
    """
    count = len(blobs) + len(trees) + len(commits)
    if not count:
        return None
    refuse_where_read_only("store objects")
    _remove_abandoned_files(directory)
    with _Temporary(directory) as temporary:
        pack = _Pack(temporary.file, algorithm)
        pack.write(struct.pack(">4sII", b"PACK", 2, count))
        pack.add_objects_as_deltas(_TREE, trees.items())
        _add_blobs(pack, blobs)
        for id_, data in commits.items():
            pack.add_whole(id_, _COMMIT, data)
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

    __slots__ = ("_chunks", "_file", "_hash", "_unwritten", "position", "records")

    def __init__(self, file: IO[bytes], algorithm: str) -> None:
        self._file = file
        self._hash = hash_constructor(algorithm)()
        self._chunks: list[bytes] = []
        self._unwritten = 0
        self.position = 0
        self.records: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Append bytes; they are hashed and written a megabyte at a time."""
        self._chunks.append(data)
        self.position += len(data)
        self._unwritten += len(data)
        if self._unwritten > _FLUSH:
            self._write_chunks()

    def add_whole(self, id_: bytes, kind: int, data: bytes) -> int:
        """Append an object in full and return where it starts."""
        start = self.position
        self._append_entry(id_, _entry_header(kind, len(data)) + compress(data, 1))
        return start

    def add_delta(self, id_: bytes, delta: bytes, base: int) -> None:
        """Append an object as its difference to the one that starts at ``base``."""
        # A short one is only stored: setting up the compressor costs more than it saves.
        deflated = compress(delta, 1) if len(delta) > _STORED_UP_TO else _zlib_stream_uncompressed(delta)
        self._append_entry(
            id_, _entry_header(_DELTA, len(delta)) + _encode_base_distance(self.position - base) + deflated
        )

    def add_objects_as_deltas(self, kind: int, contents: Iterable[tuple[bytes, bytes]]) -> None:
        """Append objects of which many are similar: those of a family are compared with each other.

        A long blob is compared with several others, because the middles they share differ.
        """
        bases_by_family: dict[bytes, _Bases] = {}
        for id_, data in contents:
            family = _family_of_object(kind, data)
            bases = bases_by_family.get(family)
            if bases is None:
                bases = bases_by_family[family] = _Bases()
            delta = next(_candidate_deltas(bases, data, is_long=kind == _BLOB and len(data) >= LONG), None)
            if delta:
                self.add_delta(id_, *delta)
            else:
                bases.add(data, self.add_whole(id_, kind, data))

    def finish_pack(self) -> bytes:
        """Append the checksum and return it."""
        self._write_chunks()
        checksum: bytes = self._hash.digest()
        self._file.write(checksum)
        return checksum

    def _append_entry(self, id_: bytes, entry: bytes) -> None:
        self.records.append(index_line_of_object(id_, crc32(entry), self.position))
        self.write(entry)

    def _write_chunks(self) -> None:
        data = b"".join(self._chunks)
        self._hash.update(data)
        self._file.write(data)
        self._chunks.clear()
        self._unwritten = 0


class _Bases(Struct):
    """Similar objects that were written whole, with where each starts: the newest few, and the newest of each length.

    Objects of which only the names differ are mostly of a few lengths.
    """

    newest: deque[tuple[bytes, int]] = field(default_factory=lambda: deque(maxlen=_BASES))
    by_length: dict[int, tuple[bytes, int]] = field(default_factory=dict)

    def add(self, data: bytes, start: int) -> None:
        """Take in an object that was written whole."""
        self.newest.appendleft((data, start))
        self.by_length[len(data)] = self.newest[0]


def _family_of_object(kind: int, data: bytes) -> bytes:
    """Return what an object has in common with those that it may be similar to: its beginning.

    Of a long blob it is a long line near the beginning, if there is one: bindings of one placement have it as JSON.
    """
    if kind == _BLOB and len(data) >= LONG:
        longest = max(data[:LONG].split(b"\n"), key=len)
        if len(longest) >= _LONG_LINE:
            return longest
    return data[:_BEGINNING].partition(b"\0")[0]


def _candidate_deltas(bases: _Bases, data: bytes, *, is_long: bool) -> Iterator[tuple[bytes, int]]:
    """Yield differences to what was written whole, with where that starts; the cheapest to find come first."""
    for base, start in bases.newest if is_long else ():
        if delta := find_delta_by_middle(base, data):
            yield delta, start
    for base, start in islice(bases.newest, int(is_long)):
        if delta := find_delta_by_stretches(base, data):
            yield delta, start
    same = bases.by_length.get(len(data))
    for base, start in (same,) if same else islice(bases.newest, 1):
        if delta := find_cheap_delta(base, data):
            yield delta, start


def _add_blobs(pack: _Pack, blobs: Mapping[bytes, Blob]) -> None:
    """Append plain blobs, then each family of spliced ones as differences to its first."""
    families: dict[tuple[bytes, ...], _Family] = {}
    pack.add_objects_as_deltas(_BLOB, ((id_, blob) for id_, blob in blobs.items() if isinstance(blob, bytes)))
    for id_, blob in blobs.items():
        if not isinstance(blob, Spliced):
            continue
        family = families.get(blob.segments)
        if family is None:
            families[blob.segments] = _Family(blob, pack.add_whole(id_, _BLOB, blob.data()))
        else:
            pack.add_delta(id_, family.deltas.delta(blob.values), family.start)


class _Family(Struct):
    """Blobs with the same segments: the first of them, and where it starts; most have no second one."""

    first: Spliced
    start: int
    _deltas: SplicedDeltas | None = None

    @property
    def deltas(self) -> SplicedDeltas:
        """The deltas of the others against the first."""
        if self._deltas is None:
            self._deltas = SplicedDeltas(self.first)
        return self._deltas


@lru_cache(maxsize=4096)
def _entry_header(kind: int, size: int) -> bytes:
    """Return what precedes an object in a pack: its type and its size when inflated."""
    byte, size = kind << 4 | size & 0xF, size >> 4
    encoded = bytearray()
    while size:
        encoded.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    encoded.append(byte)
    return bytes(encoded)


def _encode_base_distance(distance: int) -> bytes:
    """Return how far before an object its base starts."""
    encoded = [distance & 0x7F]
    while distance := distance >> 7:
        # In Git's notation each further byte counts from where shorter ones end, so that a distance has one form alone.
        distance -= 1
        encoded.append(0x80 | distance & 0x7F)
    encoded.reverse()
    return bytes(encoded)


def _zlib_stream_uncompressed(data: bytes) -> bytes:
    """Return a zlib stream that holds a few bytes as they are."""
    size = len(data)
    return _STORED.pack(0x0178, 1, size, size ^ 0xFFFF) + data + _CHECK.pack(adler32(data))


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
        self.file.close()
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
