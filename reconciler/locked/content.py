"""Files as one value: their digest, the bounds they are held to, and the bytes they are kept as.

The digest covers paths and contents alone, so that files from a cache, an archive and a repository compare equal.
"""

import hashlib
import json
from collections.abc import Mapping

from render.json_values import value_of_json_text
from render.words import counted_noun

from .model import UnavailableSource

MOST_FILES = 20_000
MOST_BYTES = 64 << 20
LONGEST_PATH = 1024

Files = Mapping[str, bytes]
"""The content of a Source: bytes by path, with slashes, from its folder on."""

_DEEPEST = 64


def content_digest(files: Files) -> str:
    r"""Return the digest of files, whatever their order.

    >>> content_digest({"b": b"2", "a": b"1"}) == content_digest({"a": b"1", "b": b"2"})
    True
    """
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path}\0{hashlib.sha256(files[path]).hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def fault_of_content_path(path: str) -> str:
    """Say why a path out of an archive or a repository is not taken; empty where it is.

    >>> fault_of_content_path("charts/web/values.yaml"), fault_of_content_path("../values.yaml")
    ('', 'leads out of its folder')
    """
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        return "leads out of its folder"
    if not path.isprintable() or "\\" in path or {"", "."} & set(parts):
        return "is no plain path"
    if any(part.lower() == ".git" for part in parts):
        return "is inside a .git folder"
    return "is too long" if len(path) > LONGEST_PATH or len(parts) > _DEEPEST else ""


def checked_files(files: Files, what: str) -> Files:
    """Return files whose number, size and paths are within bounds; ``what`` names them in the refusal."""
    if len(files) > MOST_FILES:
        raise UnavailableSource(f"{what} has {counted_noun(len(files), 'file')}, but at most {MOST_FILES} are read")
    size = sum(map(len, files.values()))
    if size > MOST_BYTES:
        raise UnavailableSource(f"{what} has {size} bytes, but at most {MOST_BYTES} are read")
    for path in files:
        if fault := fault_of_content_path(path):
            raise UnavailableSource(f"{what} has a path that {fault}: {path[:100]!a}")
    return files


def packed_files(files: Files) -> bytes:
    """Return the bytes that files are kept as: a line with paths and sizes, and the contents one after the other."""
    paths = sorted(files)
    head = json.dumps([[path, len(files[path])] for path in paths], ensure_ascii=True)
    return b"".join([f"{head}\n".encode(), *(files[path] for path in paths)])


def unpacked_files(data: bytes) -> dict[str, bytes] | None:
    """Return the files in these bytes; None where they are damaged."""
    head, _, contents = data.partition(b"\n")
    sizes = value_of_json_text(head, list[tuple[str, int]])
    if sizes is None:
        return None
    files, position = {}, 0
    for path, size in sizes:
        files[path] = contents[position : position + size]
        position += max(size, 0)
    return files if position == len(contents) else None
