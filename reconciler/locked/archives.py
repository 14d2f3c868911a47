"""Archives unpacked in memory: plain files alone, within bounds, and nothing written anywhere.

Links, devices, paths that lead elsewhere, files that stand twice and bombs are refused, and with them the archive.
"""

import io
import tarfile
import zlib

from .content import MOST_BYTES, MOST_FILES, checked_files
from .model import UnavailableSource

_GZIP = 16 + zlib.MAX_WBITS
_CHUNK = 1 << 20
_HEADERS = 2048
"""Bytes of headers and padding that a file may take in an archive, beside its content."""

_MOST_UNPACKED = MOST_BYTES + MOST_FILES * _HEADERS


def unpacked_archive(data: bytes, what: str, *, has_top_folder: bool = False) -> dict[str, bytes]:
    """Return the files of a tar archive packed by gzip; ``has_top_folder`` takes away the folder of them all."""
    files: dict[str, bytes] = {}
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(_inflated_archive(data, what)), mode="r:") as archive:
            for member in archive:
                if member.isdir():
                    continue
                size += member.size
                if not member.isreg() or member.issparse():
                    raise UnavailableSource(f"{what} has a link or a device: {member.name[:100]!a}")
                if size > MOST_BYTES or len(files) >= MOST_FILES:
                    raise UnavailableSource(f"{what} has more than {MOST_FILES} files or {MOST_BYTES} bytes")
                _add_member_of_archive(files, archive, member, what)
    except (tarfile.TarError, EOFError, UnicodeError, ValueError) as error:
        raise UnavailableSource(f"{what} is no archive that can be read") from error
    return dict(checked_files(_files_below_top_folder(files, what) if has_top_folder else files, what))


def _add_member_of_archive(
    files: dict[str, bytes], archive: tarfile.TarFile, member: tarfile.TarInfo, what: str
) -> None:
    path = member.name.removeprefix("./")
    if path in files:
        raise UnavailableSource(f"{what} has a file twice: {path[:100]!a}")
    content = archive.extractfile(member)
    files[path] = content.read() if content else b""


def _inflated_archive(data: bytes, what: str) -> bytes:
    """Return what gzip packed, up to the bound; a bomb is left where it passes it."""
    inflater = zlib.decompressobj(_GZIP)
    chunks, size, rest = [], 0, data
    try:
        while rest and not inflater.eof:
            chunk = inflater.decompress(rest, _CHUNK)
            rest = inflater.unconsumed_tail
            size += len(chunk)
            if size > _MOST_UNPACKED:
                raise UnavailableSource(f"{what} unpacks to more than {MOST_BYTES} bytes")
            chunks.append(chunk)
    except zlib.error as error:
        raise UnavailableSource(f"{what} is no archive that can be read") from error
    return b"".join(chunks)


def _files_below_top_folder(files: dict[str, bytes], what: str) -> dict[str, bytes]:
    """Return the files of a chart without the folder around them all; charts inside are below it, too."""
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1 or any("/" not in path for path in files):
        raise UnavailableSource(f"{what} is no chart: its files do not stand in one folder")
    return {path.partition("/")[2]: content for path, content in files.items()}
