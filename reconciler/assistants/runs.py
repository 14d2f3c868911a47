"""Commands run in processes of their own, which read a repository and cannot write: bounded, and to be cancelled.

Three things keep a command from writing. Its process is told that it only reads, so that Argosy stores no object, moves
no branch and keeps no cache. Where the system can bound a process, that process may change nothing but a private folder
that goes with it, and has no network. And it gets no variable that names credentials.
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct, field

from reconciler.building.confinement import Confinement, confined_command
from reconciler.building.sandbox import RunLimits, limit_resources_of_process
from reconciler.repository.read_only import READ_ONLY

MOST_OUTPUT = 16 << 20
"""Bytes that a command may print; what comes after them is in no answer."""
_MOST_SAID = 64 << 10
_MEMORY = 4 << 30
_TICK = 0.2

IN_FOLDER = "\0"
"""The sign that stands in words for the private folder; nobody can hand us one that has it."""

_KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "XDG_CONFIG_HOME", "LD_LIBRARY_PATH", "PYTHONPATH"),
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH"),
        "ARGOSY_CLONE_PROGRAMS",
    }
)
"""The variables that a command needs to find git and what git is told."""
_NOWHERE = "http://127.0.0.1:9"
_SETTINGS = {
    READ_ONLY: "1",
    "KUBECONFIG": os.devnull,
    "NO_COLOR": "1",
    "COLUMNS": "120",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE),
}


class CommandRun(Struct, frozen=True, kw_only=True):
    """The end of a command: what it printed and said, and its exit code; ``bound`` is the one that ended it instead."""

    code: int = 0
    output: str = ""
    said: str = ""
    bound: str = ""


class CommandToRun(Struct, frozen=True, kw_only=True):
    """A command before it is run: its words, files that it reads beside the repository, and what it is handed.

    ``place`` is the repository, and ``shown_place`` how people name it ("": they stand in it). ``module`` is the one
    that Python runs. ``writes`` are the folders that it may change.
    """

    words: tuple[str, ...]
    place: str = ""
    shown_place: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    module: str = "reconciler"
    handed: bytes = b""
    writes: tuple[str, ...] = ()

    def words_in_folder(self, folder: Path) -> tuple[str, ...]:
        """Return all words for a process, with the files where they stand in a folder."""
        at = ("-C", self.place) if self.place else ()
        return (*at, *(word.replace(IN_FOLDER, f"{folder}/") for word in self.words))

    @property
    def line(self) -> str:
        """The command as people type it."""
        at = ("-C", self.shown_place) if self.shown_place else ()
        return shlex.join(["argosy", *at, *(word.replace(IN_FOLDER, "") for word in self.words)])


def run_command(
    command: CommandToRun,
    *,
    seconds: float,
    is_cancelled: threading.Event,
    on_second: Callable[[float], None] = lambda _seconds: None,
) -> CommandRun:
    """Run a command to its end, or to its bound; ``on_second`` is told now and then how long it has run."""
    with TemporaryDirectory(prefix="argosy-") as name:
        folder = Path(os.path.realpath(name))
        for path, content in command.files.items():
            (folder / path).write_text(content, encoding="utf-8")
        (folder / "handed").write_bytes(command.handed)
        with _started_process(command, folder) as process:
            limit_resources_of_process(process.pid, RunLimits(seconds=seconds, memory=_MEMORY))
            bound = _wait_until_bound(process, folder, seconds, is_cancelled, on_second)
        output, said = _text_of_file(folder / "output", MOST_OUTPUT), _text_of_file(folder / "said", _MOST_SAID)
        hidden = str(folder)
        return CommandRun(
            code=process.returncode,
            output=output.replace(f"{hidden}/", "").replace(hidden, "."),
            said=said.replace(f"{hidden}/", "").replace(hidden, "."),
            bound=bound,
        )


@contextmanager
def _started_process(command: CommandToRun, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process in an empty place: a repository's own files are nothing that Python imports."""
    words = [sys.executable, "-P", "-m", command.module, *command.words_in_folder(folder)]
    place = folder / "empty"
    place.mkdir()
    confined = confined_command(words, (str(folder), *command.writes), Confinement(reads=("/",)))
    with (
        (folder / "handed").open("rb") as handed,
        (folder / "output").open("wb") as output,
        (folder / "said").open("wb") as said,
        subprocess.Popen(
            confined,
            cwd=place,
            env=_environment_of_command(folder),
            stdin=handed,
            stdout=output,
            stderr=said,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            _kill_group(process)


def _environment_of_command(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")}
    return {**kept, **_SETTINGS, "TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder / "empty")}


def _wait_until_bound(
    process: subprocess.Popen[bytes],
    folder: Path,
    seconds: float,
    is_cancelled: threading.Event,
    on_second: Callable[[float], None],
) -> str:
    """Wait for a process, and kill it at a bound; return what the bound is ("": none was met)."""
    begun = last = time.monotonic()
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_TICK)
            return ""
        now = time.monotonic()
        bound = "it was cancelled" if is_cancelled.is_set() else ""
        if now - begun > seconds:
            bound = bound or f"it did not end within {seconds:g} s"
        if (folder / "output").stat().st_size > MOST_OUTPUT:
            bound = bound or f"it printed more than {MOST_OUTPUT} bytes"
        if bound:
            _kill_group(process)
            process.wait()
            return bound
        if now - last >= 1:
            last = now
            on_second(now - begun)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with whatever it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _text_of_file(path: Path, most: int) -> str:
    with path.open("rb") as file:
        return file.read(most).decode("utf-8", "replace")
