"""Programs run over a private copy of given files, with nothing else: no environment, no home, no search path.

What a repository says is what such a program works on, so it is bounded in time, in memory and in what it prints, and
killed with all that it started. ``confinement`` keeps it from other files and from the network where the system can;
everywhere, proxies that lead nowhere close the way to a network that programs take by themselves.
"""

import errno
import math
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reconciler.repository.safe_folder import SafeFolder
from render.values import SelectiveStruct

from .confinement import NOT_RUN, Confinement, confined_command

_NOWHERE = "http://127.0.0.1:9"
_HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR", "PATH")
_SETTINGS = {
    "KUBECONFIG": os.devnull,
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE),
    "NO_PROXY": "",
    "LC_ALL": "C",
    "TZ": "UTC",
}
ENVIRONMENT = frozenset({*_HOMES, *_SETTINGS, "GOMEMLIMIT"})
"""The variables that a program finds set."""
_MOST_SAID = 16 * 1024
_CHUNK = 1 << 16


class RunLimits(Struct, frozen=True, kw_only=True):
    """The bounds of one run: seconds, bytes of output, and bytes of memory."""

    seconds: float = 60.0
    output: int = 64 * 1024 * 1024
    memory: int = 2 * 1024 * 1024 * 1024


class Run(SelectiveStruct, frozen=True, kw_only=True):
    """The end of a run: what was printed, the complaint of one that failed, and whether a bound ended it.

    ``is_over_limit``: the bound is one of those that it was given, and not one of this machine.
    """

    UNCOMPARED = ("is_over_limit",)

    output: bytes = b""
    complaint: str = ""
    is_bounded: bool = False
    is_over_limit: bool = False


def run_in_copy(
    command: Sequence[str],
    contents: Mapping[str, bytes],
    *,
    at: str = "",
    limits: RunLimits | None = None,
    confinement: Confinement | None = None,
) -> Run:
    """Run a command in the folder ``at`` of a copy of these files, and remove the copy again.

    It has no network where the system can close that; ``confinement`` says which files it may open.
    """
    with _private_copy_of_contents(contents, at) as (root, home):
        confined = confined_command(command, (str(root), str(home)), confinement or Confinement())
        run = _run_program(command[0], confined, Place(root / at, home), limits or RunLimits())
    complaint = run.complaint.replace(f"{root}/", "").replace(str(root), ".")
    return replace(run, complaint=complaint)


class Place(NamedTuple):
    """The folder that a program starts in, and its home."""

    folder: Path
    home: Path


@contextmanager
def _private_copy_of_contents(contents: Mapping[str, bytes], at: str) -> Iterator[tuple[Path, Path]]:
    folder = Path(os.path.realpath(mkdtemp(prefix="argosy-build-")))
    try:
        root, home = folder / "files", folder / "home"
        root.mkdir()
        home.mkdir()
        with SafeFolder(root) as files:
            if at:
                files.folder(tuple(at.split("/")), create=True)
            for path in sorted(contents):
                files.write(path, contents[path])
        yield root, home
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _environment_of_run(home: Path, limits: RunLimits) -> dict[str, str]:
    return {**dict.fromkeys(_HOMES, str(home)), **_SETTINGS, "GOMEMLIMIT": str(limits.memory // 2)}


def _run_program(program: str, command: Sequence[str], place: "Place", limits: RunLimits) -> Run:
    if not os.access(program, os.X_OK):
        why = os.strerror(errno.EACCES if Path(program).exists() else errno.ENOENT)
        return Run(complaint=f"{program} cannot be run: {why}", is_bounded=True)
    try:
        process = subprocess.Popen(
            command,
            cwd=place.folder,
            env=_environment_of_run(place.home, limits),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Run(complaint=f"{program} cannot be run: {error.strerror or error}", is_bounded=True)
    try:
        with process:
            return _run_of_process(process, limits)
    finally:
        _kill_group(process)


def _run_of_process(process: subprocess.Popen[bytes], limits: RunLimits) -> Run:
    """Read what a process prints until it ends, or a bound is met."""
    assert process.stdout is not None
    assert process.stderr is not None
    limit_resources_of_process(process.pid, limits)
    late, said = threading.Event(), bytearray()

    def stop() -> None:
        late.set()
        _kill_group(process)

    deadline = threading.Timer(limits.seconds, stop)
    listener = threading.Thread(target=_collect_complaints, args=(process.stderr, said), daemon=True)
    deadline.daemon = True
    deadline.start()
    listener.start()
    try:
        output = _bytes_within_limit(process.stdout, limits.output)
        if output is None:
            _kill_group(process)
        code = process.wait()
        listener.join()
    finally:
        deadline.cancel()
        _kill_group(process)
    if late.is_set():
        return Run(complaint=f"it did not end within {limits.seconds:g} s", is_bounded=True, is_over_limit=True)
    if output is None:
        return Run(complaint=f"it printed more than {limits.output} bytes", is_bounded=True, is_over_limit=True)
    complaint = said.decode("utf-8", "replace").strip()
    if code < 0:
        complaint = f"it ended by signal {-code}: it may have asked for too much memory"
        return Run(complaint=complaint, is_bounded=True, is_over_limit=True)
    if code == NOT_RUN:
        return Run(complaint=f"it cannot be run: {complaint}", is_bounded=True)
    return Run(complaint=complaint or f"it ended with exit code {code}") if code else Run(output=output)


def _bytes_within_limit(pipe: IO[bytes], most: int) -> bytes | None:
    """Return all of a pipe; None where it has more than may be kept."""
    chunks, size = [], 0
    while chunk := pipe.read(_CHUNK):
        size += len(chunk)
        if size > most:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def _collect_complaints(pipe: IO[bytes], said: bytearray) -> None:
    """Keep the beginning of what a process complains of, and read the rest so that it can end."""
    with suppress(OSError, ValueError):
        while chunk := pipe.read(_CHUNK):
            said += chunk[: max(0, _MOST_SAID - len(said))]


def limit_resources_of_process(pid: int, limits: RunLimits) -> None:
    """Bound the memory and CPU time of a process where the system can do that to another one.

    The time is for a process whose parent is killed where nothing else ends it then: all that every core can do within
    its limit, so that nobody meets this bound first.
    """
    import resource

    if hasattr(resource, "prlimit"):
        with suppress(OSError):
            seconds = math.ceil(limits.seconds * (os.cpu_count() or 1)) + 1
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))
            resource.prlimit(pid, resource.RLIMIT_AS, (limits.memory, limits.memory))
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with whatever it started; its group outlives it while any of that does."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
