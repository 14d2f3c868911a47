"""The index of a pack (version 2): written sorted by id, and read to find which objects a repository already has.

Columns are cut out of one sorted run of fixed-width records by strided slices, which costs a few milliseconds for a
million objects where a loop in Python costs seconds. To find objects, the indexes are read here and git is not asked:
for each object it lacks, git looks at every pack again, while the sorted ids in an index answer thousands at once.
"""

import mmap
import os
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from render.expressions import lazy_expression
from render.gitobjects import hash_constructor

from .location import content_of_plain_file
from .read_only import refuse_where_read_only

MAGIC = b"\377tOc\0\0\0\2"
"""The first bytes of an index file of version 2."""

_POSITION = struct.Struct(">IQ")
_OFFSET = struct.Struct(">Q")
_LARGE = 1 << 31
"""From this offset on a pack index needs eight bytes instead of four."""

_IDS = len(MAGIC) + 256 * 4
_WORTH_BISECTING = 4
_HEX = lazy_expression(r"(?:[0-9a-f]{2})+")
_NESTED_ALTERNATES = 5


def index_line_of_object(id_: bytes, crc: int, offset: int) -> bytes:
    """Return one object's line: its id, the checksum of its bytes in the pack, and where they start."""
    return id_ + _POSITION.pack(crc, offset)


def encode_index(records: Iterable[bytes], pack_checksum: bytes, algorithm: str = "sha1") -> bytes:
    """Return the index file of the objects whose lines these are, in any order."""
    rows = b"".join(sorted(records))
    width = len(pack_checksum)
    row = width + _POSITION.size
    ids, crcs = _column_of_rows(rows, row, 0, width), _column_of_rows(rows, row, width, 4)
    low, large = _encode_offset_tables(_column_of_rows(rows, row, width + 4, 8))
    firsts = ids[::width]
    fanout = struct.pack(">256I", *(bisect_right(firsts, byte) for byte in range(256)))
    body = b"".join((MAGIC, fanout, ids, crcs, low, large, pack_checksum))
    checksum: bytes = hash_constructor(algorithm)(body).digest()
    return body + checksum


def _column_of_rows(rows: bytes, row: int, start: int, width: int) -> bytes:
    """Return ``width`` bytes from position ``start`` of every row, one after the other."""
    columns = bytearray(len(rows) // row * width)
    for column in range(width):
        columns[column::width] = rows[start + column :: row]
    return bytes(columns)


def _encode_offset_tables(offsets: bytes) -> tuple[bytes, bytes]:
    """Return four bytes for each offset, and the table of those that need eight (a pack over 2 GiB)."""
    low = _column_of_rows(offsets, 8, 4, 4)
    if not any(offsets[0::8] + offsets[1::8] + offsets[2::8] + offsets[3::8]) and max(low[::4], default=0) < 0x80:
        return low, b""
    small: list[int] = []
    large: list[int] = []
    for (offset,) in _OFFSET.iter_unpack(offsets):
        if offset >= _LARGE:
            small.append(_LARGE | len(large))
            large.append(offset)
        else:
            small.append(offset)
    return struct.pack(f">{len(small)}I", *small), struct.pack(f">{len(large)}Q", *large)


def ids_of_present_objects(objects: Path, ids: Iterable[bytes], algorithm: str = "sha1") -> set[bytes]:
    """Return those of ``ids`` that the object folder, or one it borrows from, already has.

    Files with such objects are touched: ``git gc`` removes what nothing refers to only once it is two weeks old.
    """
    refuse_where_read_only("store objects")
    wanted = set(ids)
    present: set[bytes] = set()
    for folder in object_folders(objects):
        for index in sorted((folder / "pack").glob("pack-*.idx")):
            hits = _ids_in_index(index, wanted, algorithm) if index.with_suffix(".pack").exists() else set()
            if hits:
                _touch_file(index.with_suffix(".pack"))
                present |= hits
                wanted -= hits
        loose = _ids_of_loose_objects(folder, wanted)
        present |= loose
        wanted -= loose
    return present


class PackOffsets:
    """An index opened to look up where objects start in the pack."""

    def __init__(self, content: mmap.mmap, width: int) -> None:
        self.width = width
        self._content = content
        self._count = int.from_bytes(content[_IDS - 4 : _IDS], "big")

    @classmethod
    def opened(cls, index: Path, algorithm: str = "sha1") -> Self:
        """Open an index of version 2; another one is a ``ValueError``."""
        with index.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if content[: len(MAGIC)] != MAGIC:
            raise ValueError("not an index of version 2")
        return cls(content, hash_constructor(algorithm)().digest_size)

    def of(self, id_: bytes) -> int | None:
        """Return where an object starts in the pack; None if it is not there."""
        position = _row_of_id(self._content, self._count, id_)
        if position is None:
            return None
        offsets = _IDS + self._count * (self.width + 4)
        offset = int.from_bytes(self._content[offsets + position * 4 : offsets + position * 4 + 4], "big")
        if offset < _LARGE:
            return offset
        large = offsets + self._count * 4 + (offset - _LARGE) * 8
        return int.from_bytes(self._content[large : large + 8], "big")


def _ids_in_index(index: Path, wanted: set[bytes], algorithm: str) -> set[bytes]:
    """Return those ids that one index lists; one that is gone or not an index of version 2 lists nothing."""
    try:
        with index.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _ids_listed_in(content, wanted, hash_constructor(algorithm)().digest_size)
    except (FileNotFoundError, ValueError):
        return set()


def _ids_listed_in(content: mmap.mmap, wanted: set[bytes], width: int) -> set[bytes]:
    """Return those ids that an index lists: a few ids are looked up, many are compared with the whole list."""
    if content[: len(MAGIC)] != MAGIC:
        return set()
    count = int.from_bytes(content[_IDS - 4 : _IDS], "big")
    if count > len(wanted) * _WORTH_BISECTING:
        return {id_ for id_ in wanted if _row_of_id(content, count, id_) is not None}
    ids = content[_IDS : _IDS + count * width]
    return wanted.intersection([ids[start : start + width] for start in range(0, len(ids), width)])


def _row_of_id(content: mmap.mmap, count: int, id_: bytes) -> int | None:
    """Return the row of an object in an index; None if it is not there."""
    width, fan = len(id_), len(MAGIC) + id_[0] * 4
    low = int.from_bytes(content[fan - 4 : fan], "big") if id_[0] else 0
    high = min(count, int.from_bytes(content[fan : fan + 4], "big"))
    while low < high:
        middle = (low + high) // 2
        start = _IDS + middle * width
        middle_id = content[start : start + width]
        if middle_id == id_:
            return middle
        low, high = (middle + 1, high) if middle_id < id_ else (low, middle)
    return None


def _ids_of_loose_objects(folder: Path, wanted: set[bytes]) -> set[bytes]:
    """Return those ids whose objects are loose, in files of their own."""
    present = set()
    for fan in sorted({id_[0] for id_ in wanted}):
        with suppress(FileNotFoundError):
            names = os.listdir(folder / f"{fan:02x}")  # noqa: PTH208 - thousands of paths cost more than all the rest
            present |= wanted.intersection(
                [bytes.fromhex(f"{fan:02x}{name}") for name in names if _HEX.fullmatch(name)]
            )
    for id_ in present:
        _touch_file(folder / id_[:1].hex() / id_[1:].hex())
    return present


def object_folders(objects: Path, depth: int = _NESTED_ALTERNATES) -> Iterator[Path]:
    """Yield the object folder, then those it borrows from (``git clone --shared`` or ``--reference``)."""
    try:
        if not objects.is_dir():
            return
        yield objects
        lines = content_of_plain_file(objects / "info" / "alternates").decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return
    for line in lines if depth else ():
        if line and not line.startswith("#"):
            yield from object_folders(objects / line, depth - 1)


def _touch_file(path: Path) -> None:
    with suppress(OSError):
        os.utime(path)
