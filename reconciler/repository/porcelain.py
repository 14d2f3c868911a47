"""Fetch and push with progress, which GitPython reads from what git says.

Importing it costs more than a pass in which nothing changed may take, so this module alone imports it, and only when
something is fetched or pushed. git is started as for every other call: GitPython would hand it the whole environment of
our own process, which threads that apply to members share.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from render.errors import GitError

from .command import GitCommand
from .failures import error_of_failed_command, error_of_missing_git, error_of_slow_command

Progress = Callable[[str, int, int], None]
"""Receive the stage of a transfer, the number of things done, and their total (0: not known)."""

_STAGES = {4: "counting", 8: "compressing", 16: "writing", 32: "receiving", 64: "resolving", 128: "finding sources"}
"""Stages of a transfer by the codes of GitPython's RemoteProgress."""


def run_with_progress(git: GitCommand, arguments: Sequence[str], progress: Progress | None) -> None:
    """Run a fetch or push to its end, reporting its progress; a failure is a ``GitError``."""
    library = _import_gitpython()
    reporter = _progress_reporter(library, progress)
    printed: list[str] = []
    process = _started_process(git, arguments)
    group, lines = process.pid, list[str]()
    with process:
        try:
            with _killing_after(group, git.network_timeout) as expired:
                handler = reporter.new_message_handler()
                library.cmd.handle_process_output(process, printed.append, handler, decode_streams=False)
                lines += (*printed, *reporter.error_lines, *reporter.other_lines)
                code = process.wait()
        except BaseException:
            _kill_session(group)
            raise
    if code and expired.is_set():
        raise error_of_slow_command(arguments[0], git.network_timeout, network=True)
    if code:
        raise error_of_failed_command(arguments[0], "\n".join(lines).encode("utf-8", "replace"), code)


def _started_process(git: GitCommand, arguments: Sequence[str]) -> subprocess.Popen[str]:
    """Start git in a session of its own, with no other environment than that of every call."""
    try:
        return subprocess.Popen(
            git.command_line(arguments),
            env=git.clean_environment(network=True),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise error_of_missing_git() from error


@contextmanager
def _killing_after(group: int, seconds: float) -> Iterator[threading.Event]:
    """Kill a session when its time is up; the event is then set."""
    expired = threading.Event()

    def expire_session() -> None:
        expired.set()
        _kill_session(group)

    timer = threading.Timer(seconds, expire_session)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def _kill_session(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _progress_reporter(library: ModuleType, progress: Progress | None) -> Any:
    class Reporter(library.RemoteProgress):  # type: ignore[name-defined, misc]  # the base is imported lazily
        """Passes on git's progress while it counts, compresses, writes, receives and resolves."""

        def update(self, op_code: int, cur_count: Any, max_count: Any = None, message: str = "") -> None:
            del message
            if progress is not None:
                progress(_STAGES.get(op_code & self.OP_MASK, "working"), int(cur_count or 0), int(max_count or 0))

    return Reporter()


def _import_gitpython() -> ModuleType:
    """Import GitPython, which must not log to the terminal, and complains there about a git that is missing."""
    from shutil import which

    if which("git") is None:
        raise error_of_missing_git()
    import logging

    try:
        import git as library
    except ImportError as error:
        # It looks for git once more when it is loaded, by variables of its own.
        raise GitError(f"GitPython cannot be loaded: {error}", hint="see GIT_PYTHON_GIT_EXECUTABLE") from error
    logging.getLogger("git").setLevel(logging.CRITICAL)
    return library
