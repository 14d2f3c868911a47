"""The bounds of a program that works on what a repository says: the files it may open, and no network.

Where the system can bound a process, a program that builds makes no connection, and opens its own file, its private
copy and nothing else of the machine; one that needs libraries also gets the folders that the system has them in. A
tool that is a script starts what only its author knows, so that its files are not bounded. Elsewhere the private copy
alone bounds a build.
"""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from render.json_values import value_of_json_text

from .confined_start import NOT_RUN

__all__ = ["NOT_RUN", "Confinement", "SystemBounds", "confined_command", "system_bounds"]

_START = str(Path(__file__).with_name("confined_start.py"))
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_MAGIC, _CLASS_64, _LITTLE = b"\x7fELF", 2, 1
_INTERPRETER = 3
_PROBE_SECONDS = 10


class Confinement(Struct, frozen=True, kw_only=True):
    """The files and folders that a program may read beside its private copy; None where they are not bounded.

    ``has_local_sockets``: it may talk with other programs of this machine by sockets that are files.
    """

    reads: tuple[str, ...] | None = None
    has_local_sockets: bool = False

    @classmethod
    def of(cls, program: str) -> "Confinement":
        """Return the bounds of a program: what it needs to run, and nothing of the user's."""
        needed = _folders_needed_by_program(program)
        return cls(reads=None if needed is None else (program, *needed, *_DEVICES))


class SystemBounds(Struct, frozen=True, kw_only=True):
    """The bounds that this machine has for processes: one for their files, and one for the network."""

    files: bool = False
    network: bool = False


def confined_command(command: Sequence[str], writes: Sequence[str], confinement: Confinement) -> list[str]:
    """Return the command that starts a program within its bounds, as far as this system has some."""
    if not _can_confine_processes():
        return list(command)
    bounds = {
        "reads": confinement.reads,
        "writes": [*writes, os.devnull],
        "has_local_sockets": confinement.has_local_sockets,
    }
    return [sys.executable, "-I", "-S", _START, json.dumps(bounds), *command]


@cache
def system_bounds() -> SystemBounds:
    """Return the bounds that this machine has, by trying to break them."""
    if not _can_confine_processes():
        return SystemBounds()
    command = [sys.executable, "-I", "-S", _START, "--probe"]
    try:
        done = subprocess.run(command, env={}, capture_output=True, check=True, timeout=_PROBE_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return SystemBounds()
    return value_of_json_text(done.stdout, SystemBounds) or SystemBounds()


def _can_confine_processes() -> bool:
    return sys.platform == "linux" and bool(sys.executable) and Path(_START).is_file()


def _folders_needed_by_program(program: str) -> tuple[str, ...] | None:
    """Return the folders that a program needs beside its own file to run; None where only its author knows."""
    try:
        with Path(program).open("rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:4] != _MAGIC or head[4:6] != bytes((_CLASS_64, _LITTLE)):
                return None
            (table,) = struct.unpack_from("<Q", head, 0x20)
            size, count = struct.unpack_from("<HH", head, 0x36)
            file.seek(table)
            entries = file.read(size * count)
    except OSError:
        return None
    kinds = {struct.unpack_from("<I", entries, place)[0] for place in range(0, len(entries), size or 1)}
    return _SYSTEM if _INTERPRETER in kinds else ()
