"""Fetch and push with progress, which GitPython does.

Importing it costs more than a pass in which nothing changed may take, so this module alone imports it, and only when
something is fetched or pushed. GitPython starts git with the whole environment of our own process; for as long as it
does, ``_shielded`` takes out of that what ``command`` takes out for every other call.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from .command import GitCommand
from .failures import git_error, not_installed, too_slow

Progress = Callable[[str, int, int], None]
"""Receive the stage of a transfer, the number of things done, and their total (0: not known)."""

_ENVIRONMENT = threading.Lock()
"""Held by whoever changes the environment of this process, which all of its threads share."""

_STAGES = {4: "counting", 8: "compressing", 16: "writing", 32: "receiving", 64: "resolving", 128: "finding sources"}
"""Stages of a transfer by the codes of GitPython's RemoteProgress."""


def run_with_progress(git: GitCommand, arguments: Sequence[str], progress: Progress | None) -> None:
    """Run a fetch or push to its end, reporting its progress; a failure is a ``GitError``."""
    library = _library()
    reporter = _reporter(library, progress)
    printed: list[str] = []
    with _shielded(git, network=True) as environment:
        try:
            process = library.Git(git.folder).execute(
                git.command_line(arguments),
                env=environment,
                as_process=True,
                universal_newlines=True,
                start_new_session=True,
            )
        except library.GitCommandNotFound as error:
            # It is told of a folder that is not there, too, which git itself would say.
            gone = f"cannot change to '{git.folder}': No such file or directory".encode(errors="surrogateescape")
            raise (not_installed() if git.folder.is_dir() else git_error(arguments[0], gone, 128)) from error
    group, lines = process.pid, list[str]()
    try:
        with _deadline(group, git.network_timeout) as expired:
            handler = reporter.new_message_handler()
            library.cmd.handle_process_output(process, printed.append, handler, decode_streams=False)
            lines += (*printed, *reporter.error_lines, *reporter.other_lines)
            process.wait(stderr="")
    except library.GitCommandError as error:
        if expired.is_set():
            raise too_slow(arguments[0], git.network_timeout, network=True) from error
        raise git_error(arguments[0], "\n".join(lines).encode("utf-8", "replace"), error.status) from error
    except BaseException:
        _kill(group)
        raise


@contextmanager
def _deadline(group: int, seconds: float) -> Iterator[threading.Event]:
    """Kill a session when its time is up; the event is then set."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        _kill(group)

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _reporter(library: ModuleType, progress: Progress | None) -> Any:
    class Reporter(library.RemoteProgress):  # type: ignore[name-defined, misc]  # the base is imported lazily
        """Passes on git's progress while it counts, compresses, writes, receives and resolves."""

        def update(self, op_code: int, cur_count: Any, max_count: Any = None, message: str = "") -> None:
            del message
            if progress is not None:
                progress(_STAGES.get(op_code & self.OP_MASK, "working"), int(cur_count or 0), int(max_count or 0))

    return Reporter()


def _library() -> ModuleType:
    """Import GitPython, which must neither complain about a missing git nor log to the terminal."""
    with _ENVIRONMENT:
        refresh = os.environ.get("GIT_PYTHON_REFRESH")
        os.environ["GIT_PYTHON_REFRESH"] = "quiet"
        try:
            import git as library
        finally:
            if refresh is None:
                del os.environ["GIT_PYTHON_REFRESH"]
            else:
                os.environ["GIT_PYTHON_REFRESH"] = refresh
    import logging

    logging.getLogger("git").setLevel(logging.CRITICAL)
    return library


@contextmanager
def _shielded(git: GitCommand, *, network: bool = False) -> Iterator[dict[str, str]]:
    """Take every variable out of our own environment that git may not see, and yield those it must."""
    environment = git.clean(network=network)
    with _ENVIRONMENT:
        hidden = {name: value for name, value in os.environ.items() if environment.get(name) != value}
        for name in hidden:
            del os.environ[name]
        try:
            yield environment
        finally:
            os.environ.update(hidden)
