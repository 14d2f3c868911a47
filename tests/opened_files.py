"""An audit of the files that a program opens below a folder, by the events that Linux tells anybody who asks."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPENED, _FOLDER, _NONBLOCK = 0x20, 0x40000000, 0o4000
_HEAD = struct.Struct("iIII")


@contextmanager
def opened_files(folder: Path) -> Iterator[set[str]]:
    """Collect the paths below a folder of all files that are opened meanwhile; they are there at the end."""
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init1(_NONBLOCK)
    assert events >= 0, os.strerror(ctypes.get_errno())
    opened: set[str] = set()
    try:
        watched = {}
        for at, _, _ in os.walk(folder):
            number = libc.inotify_add_watch(events, os.fsencode(at), _OPENED)
            assert number >= 0, os.strerror(ctypes.get_errno())
            watched[number] = Path(at)
        yield opened
        for number, name in _events(events):
            opened.add(str((watched[number] / name).relative_to(folder)))
    finally:
        os.close(events)


def _events(events: int) -> Iterator[tuple[int, str]]:
    """Yield each file that was opened, by its folder's number and its name."""
    while True:
        try:
            data = os.read(events, 1 << 16)
        except BlockingIOError:
            return
        while data:
            number, mask, _, size = _HEAD.unpack_from(data)
            name = data[_HEAD.size : _HEAD.size + size].rstrip(b"\0")
            data = data[_HEAD.size + size :]
            if name and not mask & _FOLDER:
                yield number, os.fsdecode(name)
