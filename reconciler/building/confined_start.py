"""A program started with the files that it is given and no network: this restricts itself, then becomes the program.

It is run by its path, by a Python that reads nothing else of this project, in a process that has no other thread:
``confined_start.py SPECIFICATION PROGRAM ARGUMENT...``. The specification is JSON of ``confinement``: what may be read,
and what may be changed. A bound that the kernel does not have is left out. With ``--probe`` alone it prints which
bounds there are, by trying to break them.

Files are bounded by Landlock: a tree that is not named cannot be opened, run or changed, whatever the rights of the
user. The network is closed by a filter of system calls: no socket can be made. Neither needs a right, and neither can
be taken back by what runs. The kernel kills it when whoever started it is killed.
"""

import ctypes
import json
import os
import signal
import stat
import struct
import sys

NOT_RUN = 126
"""The exit code where the program cannot be run."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _SIGNAL_OF_PARENT = 38, 22, 2, 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_OF_FILES = _EXECUTE | 1 << 1 | _READ_FILE | 1 << 14 | 1 << 15
_READING = _EXECUTE | _READ_FILE | _READ_FOLDER
_RIGHTS = {1: 1 << 13, 2: 1 << 14, 3: 1 << 15, 5: 1 << 16}
"""All rights over files from a version of Landlock on, as the first one that it does not have."""
_SCOPES, _SCOPED = 6, 0b11

_ARCHITECTURES = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
"""Of each machine the number of its architecture, and those of the calls that make sockets and rings."""
_X32 = 0x40000000
_LOCAL, _NOTHING = 1, 0xFFFFFFFF
"""The family of local sockets, and none at all."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | 13


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def main() -> int:
    """Restrict this process, and become the program; an exit code where that cannot be."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    if sys.argv[1] == "--probe":
        sys.stdout.write(json.dumps(bounds_that_hold(libc)))
        return 0
    specification = json.loads(sys.argv[1])
    restrict_process(
        libc, specification["reads"], specification["writes"], has_local_sockets=specification["has_local_sockets"]
    )
    try:
        os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - there is nothing for a shell to do
    except OSError as error:
        sys.stderr.write(str(error.strerror))
    return NOT_RUN


def restrict_process(
    libc: ctypes.CDLL, reads: list[str] | None, writes: list[str], *, has_local_sockets: bool = False
) -> None:
    """Restrict this process as far as the kernel can, for good; ``reads`` is None where files are not bounded."""
    libc.prctl(_SIGNAL_OF_PARENT, signal.SIGKILL, 0, 0, 0)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
        if reads is not None:
            restrict_files(libc, reads, writes)
        close_network(libc, has_local_sockets=has_local_sockets)


def bounds_that_hold(libc: ctypes.CDLL) -> dict[str, bool]:
    """Return which bounds hold in this process once it is restricted."""
    restrict_process(libc, [], [])
    try:
        os.close(os.open("/", os.O_RDONLY | os.O_DIRECTORY))
        is_open = True
    except PermissionError:
        is_open = False
    internet, stream = 2, 1
    return {"files": not is_open, "network": libc.socket(internet, stream, 0) < 0}


def restrict_files(libc: ctypes.CDLL, reads: list[str], writes: list[str]) -> bool:
    """Allow this process to read and run what stands below some paths, and to change what stands below others."""
    version = _make_system_call(libc, _CREATE_RULESET, None, 0, _VERSION)
    if version < 1:
        return False
    rights = _RIGHTS[max(known for known in _RIGHTS if known <= version)] - 1
    attributes = struct.pack("=QQQ", rights, 0, _SCOPED if version >= _SCOPES else 0)
    size = 24 if version >= _SCOPES else 8
    ruleset = _make_system_call(libc, _CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        return False
    for paths, allowed in ((reads, _READING), (writes, rights)):
        for path in paths:
            _allow_access_below(libc, ruleset, path, allowed & rights)
    return _make_system_call(libc, _RESTRICT_SELF, ruleset, 0) == 0


def _make_system_call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    """Make a system call; its numbers are as wide as the machine's."""
    wide = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return int(libc.syscall(ctypes.c_long(number), *wide))


def _allow_access_below(libc: ctypes.CDLL, ruleset: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    is_folder = stat.S_ISDIR(os.fstat(parent).st_mode)
    rule = _PathRule(allowed if is_folder else allowed & _OF_FILES, parent)
    _make_system_call(libc, _ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    os.close(parent)


def close_network(libc: ctypes.CDLL, *, has_local_sockets: bool = False) -> bool:
    """Let this process make no sockets any more, or local ones alone, and no rings by which it could ask for some."""
    if os.uname().machine not in _ARCHITECTURES:
        return False
    architecture, socket, ring = _ARCHITECTURES[os.uname().machine]
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 4, 0, _X32),
        (_EQUAL, 3, 0, ring),
        (_EQUAL, 0, 3, socket),
        (_LOAD, 0, 0, 16),
        (_EQUAL, 1, 0, _LOCAL if has_local_sockets else _NOTHING),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    program = _Filter(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    return bool(libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0)


if __name__ == "__main__":
    sys.exit(main())
