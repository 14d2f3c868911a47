"""The cache of fetched content: a private file for each digest, in a folder that may be removed at any time.

What is read is compared with its digest, so that a damaged file counts as none. The folder is kept below a size by
forgetting what was not asked for longest.
"""

import os
from contextlib import suppress
from pathlib import Path

from reconciler.repository import Repository
from reconciler.repository.cache import read_privately, write_privately

from .content import MOST_BYTES, Files, content_digest, packed_files, unpacked_files

_MOST_KEPT = 1 << 30
_HEAD = 32 << 20
"""Bytes that paths may take beside contents."""


def content_store(repository: Repository) -> "ContentStore":
    """Return the cache beside a repository."""
    return ContentStore(repository.cache_dir / "sources")


class ContentStore:
    """Files by the digest of their content."""

    def __init__(self, folder: Path, *, most_bytes: int = _MOST_KEPT) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def files(self, digest: str) -> Files | None:
        """Return the files of a digest; None where they are not kept here."""
        path = self._path(digest)
        data = read_privately(path, MOST_BYTES + _HEAD)
        files = None if data is None else unpacked_files(data)
        if files is None or content_digest(files) != digest:
            return None
        with suppress(OSError):
            os.utime(path)
        return files

    def has(self, digest: str) -> bool:
        """Say whether a file of this digest is here, without reading it."""
        return self._path(digest).is_file()

    def put(self, files: Files) -> str:
        """Keep files and return their digest; an OSError where nothing can be written."""
        digest = content_digest(files)
        write_privately(self._path(digest), packed_files(files))
        self._forget(digest)
        return digest

    def _path(self, digest: str) -> Path:
        return self._folder / f"{digest.removeprefix('sha256:')}.files"

    def _forget(self, kept: str) -> None:
        """Remove what was not used longest, but never what was just put."""
        found = []
        with suppress(OSError):
            found = [(path.stat().st_mtime, path.stat().st_size, path) for path in self._folder.glob("*.files")]
        size = 0
        for _, bytes_, path in sorted(found, reverse=True):
            size += bytes_
            if size > self._most_bytes and path != self._path(kept):
                path.unlink(missing_ok=True)
