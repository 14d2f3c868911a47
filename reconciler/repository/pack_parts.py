"""The objects of a pack in parts, each encoded by itself: nothing in one is a difference to anything in another.

So processes may share the work, and the pack is the same however many there were. Objects that are alike stand in one
part, next to each other, as long as it is not too large: blobs that share segments, trees and blobs of one beginning.
"""

import struct
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, cast
from zlib import adler32, compress, crc32

from msgspec import Struct, field

from render.gitobjects import Blob, Joined, Spliced, content_of_blob

from .deltas import LONG, SplicedDeltas, find_cheap_delta, find_delta_by_middle, find_delta_by_stretches

COMMIT, TREE, BLOB = 1, 2, 3
_DELTA = 6
LARGEST_PART = 4 << 20
"""So many bytes of contents make a part; more of them are parted."""
_WEIGHT_OF_DIFFERENCE = 64
"""The bytes that a blob counts for which differs in its numbers alone from another one of its part."""
_STORED_UP_TO = 100
_BEGINNING = 40
_LONG_LINE = 256
_BASES = 8
_STORED = struct.Struct("<HBHH")
_CHECK = struct.Struct(">I")


class PackPart(NamedTuple):
    """Objects of one kind by their raw ids; ``weight`` is about the bytes that there are to encode."""

    kind: int
    objects: Sequence[tuple[bytes, Blob]]
    weight: int


class EncodedPart(NamedTuple):
    """The bytes of a part, with the checksum of each of its objects, and where each starts in it."""

    content: bytes
    checksums: Sequence[int]
    starts: Sequence[int]

    def packed(self) -> bytes:
        """Return it as bytes, for another process to read."""
        numbers = array("I", self.checksums).tobytes() + array("Q", self.starts).tobytes()
        return b"".join((_COUNT.pack(len(self.starts)), numbers, self.content))

    @classmethod
    def unpacked(cls, packed: bytes) -> "EncodedPart":
        """Return what another process made bytes of."""
        (count,) = _COUNT.unpack_from(packed)
        checksums, starts = array("I"), array("Q")
        middle = _COUNT.size + count * checksums.itemsize
        end = middle + count * starts.itemsize
        checksums.frombytes(packed[_COUNT.size : middle])
        starts.frombytes(packed[middle:end])
        return cls(packed[end:], checksums, starts)


_COUNT = struct.Struct(">Q")


def parts_of_pack(
    blobs: Mapping[bytes, Blob], trees: Mapping[bytes, bytes], commits: Mapping[bytes, bytes]
) -> list[PackPart]:
    """Return the parts of a pack with these objects, keyed by raw id: trees, other blobs, spliced ones, commits."""
    others: list[tuple[bytes, bytes | Joined]] = []
    spliced: dict[tuple[bytes, ...], list[tuple[bytes, Blob]]] = {}
    for id_, blob in blobs.items():
        if isinstance(blob, Spliced):
            spliced.setdefault(blob.segments, []).append((id_, blob))
        else:
            others.append((id_, blob))
    return [
        *_parts_of_families(TREE, _objects_by_family(TREE, trees.items())),
        *_parts_of_families(BLOB, _objects_by_family(BLOB, others)),
        *_parts_of_families(BLOB, spliced.values()),
        *_parts_of_families(COMMIT, [list(commits.items())]),
    ]


def _objects_by_family(
    kind: int, objects: Iterable[tuple[bytes, bytes | Joined]]
) -> Iterable[list[tuple[bytes, Blob]]]:
    families: dict[bytes, list[tuple[bytes, Blob]]] = {}
    for id_, blob in objects:
        beginning = blob if isinstance(blob, bytes) else _beginning_of_joined(blob)
        families.setdefault(_family_of_object(kind, beginning), []).append((id_, blob))
    return families.values()


def _beginning_of_joined(blob: Joined) -> bytes:
    """Return the first bytes of a blob, as many as tell its family, without the whole."""
    beginning = b""
    for part in blob.parts:
        beginning += part[:LONG]
        if len(beginning) >= LONG:
            break
    return beginning


def _parts_of_families(kind: int, families: Iterable[list[tuple[bytes, Blob]]]) -> Iterator[PackPart]:
    """Yield parts of whole families as far as they are small enough, and of one alone that is not."""
    objects: list[tuple[bytes, Blob]] = []
    weight = 0
    for each in (each for family in families for each in family):
        objects.append(each)
        weight += _weight_of_blob(each[1])
        if weight >= LARGEST_PART:
            yield PackPart(kind, objects, weight)
            objects, weight = [], 0
    if objects:
        yield PackPart(kind, objects, weight)


def _weight_of_blob(blob: Blob) -> int:
    if isinstance(blob, Spliced):
        return _WEIGHT_OF_DIFFERENCE
    return len(blob) if isinstance(blob, bytes) else blob.size


def encode_part(part: PackPart) -> EncodedPart:
    """Return a part as it stands in a pack."""
    writer = _PartWriter()
    if part.kind == COMMIT:
        for _, data in part.objects:
            writer.add_whole(COMMIT, cast("bytes", data))
    elif isinstance(part.objects[0][1], Spliced):
        writer.add_spliced(cast("Iterable[Spliced]", (blob for _, blob in part.objects)))
    else:
        writer.add_similar(part.kind, (content_of_blob(blob) for _, blob in part.objects))
    return EncodedPart(b"".join(writer.entries), writer.checksums, writer.starts)


class _PartWriter:
    """The part being written: its entries, the checksum of each, and where each starts."""

    __slots__ = ("_position", "checksums", "entries", "starts")

    def __init__(self) -> None:
        self.entries: list[bytes] = []
        self.checksums = array("I")
        self.starts = array("Q")
        self._position = 0

    def add_whole(self, kind: int, data: bytes) -> int:
        """Append an object in full and return where it starts."""
        start = self._position
        self._append_entry(_entry_header(kind, len(data)) + compress(data, 1))
        return start

    def add_similar(self, kind: int, contents: Iterable[bytes]) -> None:
        """Append objects of which many are similar: those of a family are compared with each other.

        A long blob is compared with several others, because the middles they share differ.
        """
        bases_by_family: dict[bytes, _Bases] = {}
        for data in contents:
            family = _family_of_object(kind, data)
            bases = bases_by_family.get(family)
            if bases is None:
                bases = bases_by_family[family] = _Bases()
            delta = next(_candidate_deltas(bases, data, is_long=kind == BLOB and len(data) >= LONG), None)
            if delta:
                self._add_delta(*delta)
            else:
                bases.add(data, self.add_whole(kind, data))

    def add_spliced(self, blobs: Iterable[Spliced]) -> None:
        """Append blobs, those with the same segments as differences to the first of them."""
        families: dict[tuple[bytes, ...], _Family] = {}
        for blob in blobs:
            family = families.get(blob.segments)
            if family is None:
                families[blob.segments] = _Family(blob, self.add_whole(BLOB, blob.data()))
            else:
                self._add_delta(family.deltas.delta(blob.values), family.start)

    def _add_delta(self, delta: bytes, base: int) -> None:
        """Append an object as its difference to the one that starts at ``base``."""
        # A short one is only stored: setting up the compressor costs more than it saves.
        deflated = compress(delta, 1) if len(delta) > _STORED_UP_TO else _zlib_stream_uncompressed(delta)
        distance = _encode_base_distance(self._position - base)
        self._append_entry(_entry_header(_DELTA, len(delta)) + distance + deflated)

    def _append_entry(self, entry: bytes) -> None:
        self.entries.append(entry)
        self.checksums.append(crc32(entry))
        self.starts.append(self._position)
        self._position += len(entry)


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
    if kind == BLOB and len(data) >= LONG:
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
