"""The index of a pack (version 2): which object stands where, sorted by id, so that Git finds it by bisection.

Columns are cut out of one sorted run of fixed-width records by strided slices, which costs a few milliseconds for a
million objects where a loop in Python costs seconds.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterable

from render.gitobjects import hasher

MAGIC = b"\377tOc\0\0\0\2"
"""What an index file of version 2 begins with."""

_POSITION = struct.Struct(">IQ")
_OFFSET = struct.Struct(">Q")
_LARGE = 1 << 31


def index_record(id_: bytes, crc: int, offset: int) -> bytes:
    """Return one object's line: its id, the checksum of its bytes in the pack, and where they start."""
    return id_ + _POSITION.pack(crc, offset)


def encode_index(records: Iterable[bytes], pack_checksum: bytes, algorithm: str = "sha1") -> bytes:
    """Return the index file of the objects whose lines these are, in any order."""
    rows = b"".join(sorted(records))
    width = len(pack_checksum)
    row = width + _POSITION.size
    ids, crcs = _columns(rows, row, 0, width), _columns(rows, row, width, 4)
    low, large = _offsets(_columns(rows, row, width + 4, 8))
    firsts = ids[::width]
    fanout = struct.pack(">256I", *(bisect_right(firsts, byte) for byte in range(256)))
    body = b"".join((MAGIC, fanout, ids, crcs, low, large, pack_checksum))
    checksum: bytes = hasher(algorithm)(body).digest()
    return body + checksum


def _columns(rows: bytes, row: int, start: int, width: int) -> bytes:
    """Return ``width`` bytes from position ``start`` of every row, one after the other."""
    columns = bytearray(len(rows) // row * width)
    for column in range(width):
        columns[column::width] = rows[start + column :: row]
    return bytes(columns)


def _offsets(offsets: bytes) -> tuple[bytes, bytes]:
    """Return four bytes for each offset, and the table of those that need eight (a pack over 2 GiB)."""
    low = _columns(offsets, 8, 4, 4)
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
