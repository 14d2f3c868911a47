"""Objects read from a repository's own files, loose or packed, without a process.

A pass asks for a commit here and a folder there, and a process for each such question costs more than all its work.
So a few objects are read here: each is hashed, and one whose content is not what its id says counts as not found.
Whatever is not found, damaged, large or unusual is left to git, whose answer and whose words for a problem then count.
"""

import mmap
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from render.gitobjects import git_object_id

from .pack_index import PackOffsets, object_folders

FEW = 256
"""So many objects are read here; more of them git reads faster."""
_LARGEST = 8 << 20
_LONGEST_CHAIN = 64
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_BY_OFFSET, _BY_ID = 6, 7
_MOST_PACKS = 64
_MOST_KEPT, _SMALL = 2048, 4096
"""So many objects of so many bytes are remembered: half of what a pass asks for, it has asked for before."""
_HEADER = 128
"""Bytes of a loose object or of a difference that are more than its header, compressed or not."""
_UNUSUAL = (zlib.error, IndexError, ValueError, OSError, KeyError)
"""The errors of reading a damaged file."""


class _OpenPack(NamedTuple):
    offsets: PackOffsets
    content: mmap.mmap


class _PackedHeader(NamedTuple):
    """The header of a packed object: its type, the size of what is compressed, and where that starts."""

    type: int
    size: int
    start: int


class StoredObjects:
    """The object folders of one repository, and what was read of them.

    Packs are opened once, and looked for again when an object is missing.
    """

    def __init__(self, objects: Path, algorithm: str) -> None:
        self._objects = objects
        self.algorithm = algorithm
        self._folders = tuple(object_folders(objects))
        self._packs: dict[Path, _OpenPack | None] = {}
        self._kept: dict[bytes, tuple[str, bytes]] = {}

    def read(self, ids: Iterable[bytes], kind: str) -> dict[bytes, bytes]:
        """Return the contents of those objects of this kind that are easily read; the others are left out."""
        wanted = list(ids)
        known = [(id_, *self._kept[id_]) for id_ in wanted if id_ in self._kept]
        found = {id_: content for id_, its_kind, content in known if its_kind == kind}
        missing = [id_ for id_ in wanted if id_ not in found]
        found |= self._contents_of_loose_and_packed(missing, kind)
        missing = [id_ for id_ in missing if id_ not in found]
        return (
            {**found, **self._contents_of_loose_and_packed(missing, kind)} if missing and self._open_packs() else found
        )

    def sizes(self, ids: Iterable[bytes]) -> dict[bytes, int]:
        """Return the sizes of those blobs that are easily found, without their contents."""
        wanted = list(ids)
        found = self._sizes_of_loose_and_packed(wanted)
        missing = [id_ for id_ in wanted if id_ not in found]
        return {**found, **self._sizes_of_loose_and_packed(missing)} if missing and self._open_packs() else found

    def _sizes_of_loose_and_packed(self, ids: Iterable[bytes]) -> dict[bytes, int]:
        sizes: dict[bytes, int] = {}
        for id_ in ids:
            with suppress(*_UNUSUAL):
                place = self._pack_and_offset(id_)
                size = _size_of_packed_blob(*place) if place else _size_of_loose_blob(self._folders, id_)
                if size is not None:
                    sizes[id_] = size
        return sizes

    def _contents_of_loose_and_packed(self, ids: Iterable[bytes], kind: str) -> dict[bytes, bytes]:
        contents: dict[bytes, bytes] = {}
        for id_ in ids:
            with suppress(*_UNUSUAL):
                place = self._pack_and_offset(id_)
                found = _read_packed(*place) if place else _loose_object(self._folders, id_)
                if found and found[0] == kind and git_object_id(kind, found[1], self.algorithm) == id_:
                    contents[id_] = found[1]
                    if len(found[1]) <= _SMALL and len(self._kept) < _MOST_KEPT:
                        self._kept[id_] = found
        return contents

    def _pack_and_offset(self, id_: bytes) -> tuple[_OpenPack, int] | None:
        """Return the pack that has an object, and where it starts there."""
        for pack in self._packs.values():
            offset = pack.offsets.of(id_) if pack else None
            if pack and offset is not None:
                return pack, offset
        return None

    def _open_packs(self) -> bool:
        """Look for folders and packs that are new since; say whether there are any."""
        folders, self._folders = self._folders, tuple(object_folders(self._objects))
        found = {path for folder in self._folders for path in (folder / "pack").glob("pack-*.idx")}
        paths = found - self._packs.keys()
        for path in sorted(paths)[: max(0, _MOST_PACKS - len(self._packs))]:
            self._packs[path] = _open_pack_if_readable(path, self.algorithm)
        return bool(paths) or folders != self._folders


def _open_pack_if_readable(path: Path, algorithm: str) -> _OpenPack | None:
    try:
        offsets = PackOffsets.opened(path, algorithm)
        with path.with_suffix(".pack").open("rb") as file:
            return _OpenPack(offsets, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return None


def _loose_object(folders: Iterable[Path], id_: bytes) -> tuple[str, bytes] | None:
    """Return the kind and content of an object in a file of its own."""
    compressed = _beginning_of_loose_file(folders, id_, _LARGEST)
    if compressed is None:
        return None
    header, _, content = _inflated_at(compressed, 0, _LARGEST).partition(b"\0")
    kind, _, size = header.partition(b" ")
    return (kind.decode(), content) if int(size) == len(content) else None


def _beginning_of_loose_file(folders: Iterable[Path], id_: bytes, most: int) -> bytes | None:
    """Return the first bytes of the file that an object has of its own; None where it has none."""
    name = id_.hex()
    for folder in folders:
        with suppress(FileNotFoundError):
            descriptor = os.open(f"{folder}/{name[:2]}/{name[2:]}", os.O_RDONLY)
            try:
                return os.read(descriptor, most)
            finally:
                os.close(descriptor)
    return None


def _size_of_loose_blob(folders: Iterable[Path], id_: bytes) -> int | None:
    """Return the size of a blob in a file of its own, of which no more than the beginning is read."""
    beginning = _beginning_of_loose_file(folders, id_, _HEADER)
    if beginning is None:
        return None
    header, end, _ = zlib.decompressobj().decompress(beginning, _HEADER).partition(b"\0")
    kind, _, size = header.partition(b" ")
    return int(size) if end and kind == b"blob" else None


def _size_of_packed_blob(pack: _OpenPack, offset: int) -> int | None:
    """Return the size of the blob at a position of a pack; a difference to another one begins with both sizes."""
    entry = _header_at(pack.content, offset)
    if entry.type in _KINDS:
        return entry.size if _KINDS[entry.type] == "blob" else None
    _, start = _base_and_delta_positions(pack, entry, offset)
    delta = zlib.decompressobj().decompress(pack.content[start : start + _HEADER], _HEADER)
    return _decode_delta_size(delta, _decode_delta_size(delta, 0)[1])[0]


def _read_packed(pack: _OpenPack, offset: int) -> tuple[str, bytes]:
    """Return the kind and content of the object at a position of a pack, following its chain of differences."""
    deltas: list[bytes] = []
    while len(deltas) < _LONGEST_CHAIN:
        entry = _header_at(pack.content, offset)
        if entry.type in _KINDS:
            content = _inflated_exactly(pack.content, entry.start, entry.size)
            for delta in reversed(deltas):
                content = apply_delta(content, delta)
            return _KINDS[entry.type], content
        base, start = _base_and_delta_positions(pack, entry, offset)
        deltas.append(_inflated_exactly(pack.content, start, entry.size))
        offset = base
    raise ValueError("a long chain of differences")


def _header_at(content: mmap.mmap, offset: int) -> _PackedHeader:
    byte = content[offset]
    type_, size, shift = byte >> 4 & 7, byte & 15, 4
    offset += 1
    while byte & 0x80:
        byte = content[offset]
        size |= (byte & 0x7F) << shift
        shift += 7
        offset += 1
    return _PackedHeader(type_, size, offset)


def _base_and_delta_positions(pack: _OpenPack, entry: _PackedHeader, offset: int) -> tuple[int, int]:
    """Return where the object starts that this one is a difference to, and where the difference starts."""
    position = entry.start
    if entry.type == _BY_ID:
        width = pack.offsets.width
        base = pack.offsets.of(pack.content[position : position + width])
        if base is None:
            raise ValueError("a base outside its pack")
        return base, position + width
    if entry.type != _BY_OFFSET:
        raise ValueError("an unknown type of object")
    byte = pack.content[position]
    distance = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = pack.content[position]
        distance = (distance + 1) << 7 | byte & 0x7F
    if not 0 < distance <= offset:
        raise ValueError("a base before its pack")
    return offset - distance, position + 1


def _inflated_exactly(content: mmap.mmap, start: int, size: int) -> bytes:
    """Return what is compressed from a position on, which must be of this size."""
    inflated = _inflated_at(content, start, size)
    if len(inflated) != size:
        raise ValueError("another size than stated")
    return inflated


def _inflated_at(content: bytes | mmap.mmap, start: int, size: int) -> bytes:
    """Return at most ``size`` bytes and one of what is compressed from a position on."""
    if size > _LARGEST:
        raise ValueError("too large to be read here")
    # Compressed data is hardly ever longer than what it stands for, and never by more than this.
    window = memoryview(content)[start : start + size + (size >> 8) + 64]
    try:
        return zlib.decompressobj().decompress(window, size + 1)
    finally:
        window.release()


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """Return a content from its base and its difference to it; a ``ValueError`` if the two do not belong together."""
    source, position = _decode_delta_size(delta, 0)
    size, position = _decode_delta_size(delta, position)
    if source != len(base) or size > _LARGEST:
        raise ValueError("a difference to something else")
    content = bytearray()
    for piece in _pieces_made_by_delta(base, delta, position):
        content += piece
        if len(content) > size:
            break
    if len(content) != size:
        raise ValueError("another size than stated")
    return bytes(content)


def _decode_delta_size(delta: bytes, position: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = delta[position]
        size |= (byte & 0x7F) << shift
        shift += 7
        position += 1
        if not byte & 0x80:
            return size, position


def _pieces_made_by_delta(base: bytes, delta: bytes, position: int) -> Iterator[bytes]:
    """Yield what the instructions of a difference copy and insert."""
    while position < len(delta):
        flags = delta[position]
        position += 1
        if not flags & 0x80:
            yield delta[position : position + flags]
            position += flags
            continue
        operands = [0] * 7
        for bit in range(7):
            if flags >> bit & 1:
                operands[bit] = delta[position]
                position += 1
        start = int.from_bytes(bytes(operands[:4]), "little")
        size = int.from_bytes(bytes(operands[4:]), "little") or 0x10000
        yield base[start : start + size]
