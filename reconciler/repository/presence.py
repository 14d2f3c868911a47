"""Which of many objects a repository already has, read from the indexes of its packs.

Asking git for objects it lacks makes it look at every pack again for each of them; the sorted ids in an index answer
thousands at once. Packs that answered are touched, so that no pruning removes what we rely on before a ref names it.
"""

import mmap
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from reconciler.repository.packindex import MAGIC
from render.gitobjects import hasher

_IDS = len(MAGIC) + 256 * 4
_WORTH_BISECTING = 4
_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_NESTED_ALTERNATES = 5


def present_objects(objects: Path, ids: Iterable[bytes], algorithm: str = "sha1") -> set[bytes]:
    """Return those of ``ids`` that the object folder or one it borrows from already holds."""
    wanted = set(ids)
    found: set[bytes] = set()
    for folder in _object_folders(objects):
        for index in sorted((folder / "pack").glob("pack-*.idx")):
            hits = _in_index(index, wanted, algorithm) if index.with_suffix(".pack").exists() else set()
            if hits:
                _touch(index.with_suffix(".pack"))
                found |= hits
                wanted -= hits
        loose = _loose(folder, wanted)
        found |= loose
        wanted -= loose
    return found


def _in_index(index: Path, wanted: set[bytes], algorithm: str) -> set[bytes]:
    """Return what one index lists; one that is gone or not an index of version 2 lists nothing."""
    try:
        with index.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _among(content, wanted, hasher(algorithm)().digest_size)
    except (FileNotFoundError, ValueError):
        return set()


def _among(content: mmap.mmap, wanted: set[bytes], width: int) -> set[bytes]:
    """Return what an index lists: a few ids are looked up, many are compared with the whole list."""
    if content[: len(MAGIC)] != MAGIC:
        return set()
    count = int.from_bytes(content[_IDS - 4 : _IDS], "big")
    if count > len(wanted) * _WORTH_BISECTING:
        return {id_ for id_ in wanted if _contains(content, count, id_)}
    ids = content[_IDS : _IDS + count * width]
    return wanted.intersection([ids[start : start + width] for start in range(0, len(ids), width)])


def _contains(content: mmap.mmap, count: int, id_: bytes) -> bool:
    width = len(id_)
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        start = _IDS + middle * width
        found = content[start : start + width]
        if found == id_:
            return True
        low, high = (middle + 1, high) if found < id_ else (low, middle)
    return False


def _loose(folder: Path, wanted: set[bytes]) -> set[bytes]:
    """Return what stands in files of its own."""
    found = set()
    for fan in sorted({id_[0] for id_ in wanted}):
        with suppress(FileNotFoundError):
            names = [f"{fan:02x}{path.name}" for path in (folder / f"{fan:02x}").iterdir()]
            found |= wanted.intersection([bytes.fromhex(name) for name in names if _HEX.fullmatch(name)])
    for id_ in found:
        _touch(folder / id_[:1].hex() / id_[1:].hex())
    return found


def _object_folders(objects: Path, depth: int = _NESTED_ALTERNATES) -> Iterator[Path]:
    """Yield the object folder, then those it borrows from (``git clone --shared`` or ``--reference``)."""
    if not objects.is_dir():
        return
    yield objects
    try:
        lines = (objects / "info" / "alternates").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines if depth else ():
        if line and not line.startswith("#"):
            yield from _object_folders(objects / line, depth - 1)


def _touch(path: Path) -> None:
    with suppress(OSError):
        os.utime(path)
