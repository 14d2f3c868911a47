"""The start of passes: as forks of one process that has made their imports, or as processes of their own.

The process that forks is started with the controller and lasts as long. Where it cannot be had, or has ended, a pass
imports for itself, and the next one finds another process that forks.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Protocol

_PROGRAM = "import sys; sys.path[:] = {path!r}; from reconciler.run.processes.{module} import main; main({given})"
ANSWER_SECONDS = 60.0
"""The longest time to wait for a process to be forked: the one that forks may yet be at its imports."""
FORKS = hasattr(os, "waitid") and hasattr(socket, "send_fds")
"""True where this system has what forking passes takes."""


class PassProcess(Protocol):
    """The process of a pass, as ``subprocess.Popen`` has one; ``returncode`` is None until its end is known."""

    returncode: int | None

    @property
    def pid(self) -> int:
        """The number of the process, which is that of its group as well."""
        ...

    @property
    def stdin(self) -> IO[str] | None:
        """The stream that it reads its job from."""
        ...

    @property
    def stdout(self) -> IO[str] | None:
        """The stream that it reports by."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, for so many seconds, and return its code, below zero for a signal."""
        ...


class ForkedPass:
    """A pass that was forked; ``channel`` is where it is said that it has ended."""

    def __init__(self, pid: int, channel: socket.socket, stdin: IO[str], stdout: IO[str]) -> None:
        self.pid = pid
        self.stdin: IO[str] | None = stdin
        self.stdout: IO[str] | None = stdout
        self.returncode: int | None = None
        self._channel = channel

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, for so many seconds, and return its code; without anybody to tell it, that of a kill."""
        if self.returncode is None:
            self._channel.settimeout(timeout)
            line = _next_line(self._channel)
            self.returncode = int(line) if line else -signal.SIGKILL
            self._channel.close()
        return self.returncode


class PassProcesses:
    """The processes of passes as a controller starts them, from any of its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forking: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._is_closed = False

    def prepare(self) -> None:
        """Have a process make the imports of passes now; where that is not possible, each pass makes its own."""
        with self._lock, suppress(OSError):
            self._prepare()

    def close(self) -> None:
        """End the process that forks; passes that it has forked go on."""
        with self._lock:
            self._is_closed = True
            self._forget_forking_process()

    def start(self) -> PassProcess:
        """Start the process of a pass, which waits for its job; OSError where there can be none."""
        with self._lock:
            forked = self._forked_pass()
            if forked is not None:
                return forked
            with suppress(OSError):
                self._prepare()
        return subprocess.Popen(
            _command("pass_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _prepare(self) -> None:
        if not FORKS or self._is_closed or self._requests is not None:
            return
        ours, theirs = socket.socketpair()
        with theirs:
            self._forking = subprocess.Popen(
                _command("fork_server", str(theirs.fileno())),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._requests = ours

    def _forked_pass(self) -> ForkedPass | None:
        """Return a pass that was forked; None where nobody forks any."""
        if self._requests is None:
            return None
        (theirs, ours), (read, written) = os.pipe(), os.pipe()
        channel, other_end = socket.socketpair()
        channel.settimeout(ANSWER_SECONDS)
        try:
            with other_end:
                socket.send_fds(self._requests, [b"p"], [theirs, written, other_end.fileno()])
            pid = int(_next_line(channel))
        except (OSError, ValueError):
            self._forget_forking_process()
            channel.close()
            os.close(ours)
            os.close(read)
            return None
        finally:
            os.close(theirs)
            os.close(written)
        return ForkedPass(pid, channel, os.fdopen(ours, "w"), os.fdopen(read))

    def _forget_forking_process(self) -> None:
        if self._requests is not None:
            self._requests.close()
        if self._forking is not None:
            self._forking.kill()
            self._forking.wait()
        self._requests = self._forking = None


def _next_line(channel: socket.socket) -> bytes:
    """Return the next line of a socket, as far as it comes before the end."""
    line = b""
    while not line.endswith(b"\n"):
        byte = channel.recv(1)
        if not byte:
            break
        line += byte
    return line


def _command(module: str, given: str = "") -> list[str]:
    """Return the command line of a process of ours.

    It has the path of this process, whatever that was made by: a file beside the one who starts it is never imported.
    """
    path = [os.path.abspath(each) for each in sys.path]  # noqa: PTH100 - "" means here
    return [sys.executable, "-P", "-c", _PROGRAM.format(path=path, module=module, given=given)]
