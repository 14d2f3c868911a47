"""``argosy`` with its imports made: a process that forks another for every command line it is given.

A command runs as the program does, in a process of its own with its own folder, environment and streams. Only the
imports are made before, and caches are filled, once for all commands: these take most of the time of a short one.
Tests whose claim is about the start of a process itself start Python.
"""

import atexit
import gc
import marshal
import os
import pkgutil
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import IO, NoReturn, Self

from tests.asking import CODE, ask
from tests.waiting import SECONDS, running

ROOT = Path(__file__).parent.parent
PACKAGES = ("render", "overrides", "reconciler")
CLOCK = "PREPARED_CLOCK"
"""The environment variable of a command whose clock stands at the time, in seconds, that it says."""
PASS = "a pass of the controller"
"""The command line that stands for the program of such a pass."""
ALL_SECONDS = 7200.0
"""The time for all commands of a process."""


class Begun:
    """A command that runs, seen from outside; it has what tests need of ``subprocess.Popen``."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._connection = connection

    def wait(self, timeout: float) -> int:
        """Return the exit code, below zero for a signal."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            told = self._connection.recv(CODE)
            assert told, "the process that forks commands has ended"
            self.returncode = int(told)
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code, None while the command runs."""
        with suppress(TimeoutError, BlockingIOError):
            self.wait(0.0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the command alone."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End the command now."""
        self.send_signal(signal.SIGKILL)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The process that forks, seen from outside."""

    address: str

    @classmethod
    @contextmanager
    def started(cls, environment: Mapping[str, str]) -> Iterator["Prepared"]:
        """Start a process that makes its imports in this environment, and end it with the block."""
        with tempfile.TemporaryDirectory(prefix="argosy-prepared-") as folder:
            address, pipe = str(Path(folder, "socket")), subprocess.PIPE
            command = [sys.executable, "-m", "tests.prepared", address]
            with running(command, seconds=ALL_SECONDS, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                yield cls(address=address)

    def begun(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], streams: Sequence[int]
    ) -> Begun:
        """Begin a command, whose standard streams are these."""
        return Begun(*ask(self.address, list(arguments), str(folder), dict(environment), streams))

    @contextmanager
    def running(
        self,
        arguments: Sequence[str],
        *,
        folder: Path = ROOT,
        environment: Mapping[str, str] | None = None,
        stdout: IO[str] | None = None,
        stderr: IO[str] | None = None,
        seconds: float = SECONDS,
    ) -> Iterator[Begun]:
        """Run a command for as long as the block, which may take so many seconds."""
        with ExitStack() as stack:
            nowhere = stack.enter_context(Path(os.devnull).open("r+"))
            streams = [each.fileno() for each in (nowhere, stdout or nowhere, stderr or nowhere)]
            command = self.begun(arguments, folder, os.environ if environment is None else environment, streams)
            timer = threading.Timer(seconds, command.kill)
            timer.daemon = True
            stack.callback(timer.cancel)
            timer.start()
            try:
                yield command
            finally:
                is_overdue = not timer.is_alive()
                command.kill()
                command.wait(SECONDS)
                assert not is_overdue, f"not within {seconds:g} s: the end of argosy {shlex.join(arguments)}"

    def output(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
        """Run a command to its end and return what it prints, both streams."""
        with tempfile.TemporaryFile("w+", encoding="utf-8") as written:
            with self.running(
                arguments, folder=folder, environment=environment, stdout=written, stderr=written
            ) as command:
                code = command.wait(SECONDS)
            assert code >= 0, f"argosy {shlex.join(arguments)} ended with signal {-code}"
            written.seek(0)
            return written.read()

    def ended(
        self,
        arguments: Sequence[str],
        *,
        folder: Path = ROOT,
        environment: Mapping[str, str] | None = None,
        stdout: IO[str] | None = None,
    ) -> tuple[int, str, str]:
        """Run a command to its end; return its code and both streams, the first where that goes nowhere else."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            with self.running(
                arguments, folder=folder, environment=environment, stdout=stdout or out, stderr=err
            ) as command:
                code = command.wait(SECONDS)
            for stream in (out, err):
                stream.seek(0)
            return code, out.read(), err.read()

    def program(self, path: Path) -> None:
        """Write a program to a file that hands its command line, folder, environment and streams over."""
        asking = shlex.join([sys.executable, "-IS", str(ROOT / "tests" / "asking.py"), self.address])
        path.write_text(f'#!/bin/sh\nexec {asking} "$@"\n')
        path.chmod(0o755)


_shared: list[str] = []


def share(address: str) -> None:
    """Let this process of tests ask one that forks for others as well."""
    _shared.append(address)


@cache
def prepared() -> Prepared:
    """Return the process that is shared, or that of this process of tests, started when it is first needed."""
    if _shared:
        return Prepared(address=_shared[0])
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(Prepared.started(os.environ))


def serve(address: str) -> None:
    """Import everything, then fork a process for each command, until nobody is there any more to ask for one.

    Who asks before all is imported waits.
    """
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        _import_everything()
        _fill_caches()
        gc.collect()
        gc.freeze()
        _fork_for(listener)


def _import_everything() -> None:
    real = time.time
    time.time = lambda: float(os.environ.get(CLOCK, "0")) or real()  # before the imports: defaults hold the function
    for package in PACKAGES:
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not module.name.endswith(".__main__"):
                import_module(module.name)


def _fill_caches() -> None:
    """Run a command, so that what a process works out once is there in every process that is forked."""
    from reconciler.cli import run

    own = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    own |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        shutil.copytree(ROOT / "examples" / "quickstart", folder, dirs_exist_ok=True)
        for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "Begin")):
            subprocess.run(["git", "-C", folder, *words], check=True, env=own, timeout=SECONDS)
        assert run(["-q", "-C", folder, "render"]) == 0


def _fork_for(listener: socket.socket) -> None:
    ends, told = socket.socketpair()
    told.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(told.fileno())
    connections: dict[int, socket.socket] = {}
    while sys.stdin not in (ready := select.select([listener, ends, sys.stdin], [], [])[0]):
        if ends in ready:
            ends.recv(4096)
            _report_ended(connections)
        if listener in ready:
            connection = listener.accept()[0]
            # A controller may be killed while it asks for a pass, and then what it asks is cut off somewhere.
            with suppress(OSError, EOFError, ValueError):
                pid = _forked(connection, listener, [ends, told, *connections.values()])
                connections[pid] = connection
                connection.sendall(b"%-*d" % (CODE, pid))


def _forked(connection: socket.socket, listener: socket.socket, others: Sequence[socket.socket]) -> int:
    connection.settimeout(SECONDS)
    size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big")
    first, streams, _, _ = socket.recv_fds(connection, 1, 3)
    arguments, folder, environment = marshal.loads(first + connection.recv(size - 1, socket.MSG_WAITALL))
    pid = os.fork()
    if not pid:
        address = listener.getsockname()
        for each in (connection, listener, *others):
            each.close()
        _run(address, arguments, folder, environment, streams)
    for stream in streams:
        os.close(stream)
    if arguments == [PASS]:
        # Here and not there: whoever is told of the process may end its group at once.
        os.setpgid(pid, pid)
    return pid


def _report_ended(connections: dict[int, socket.socket]) -> None:
    for pid, connection in list(connections.items()):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with connections.pop(pid), suppress(OSError):
                connection.sendall(b"%-*d" % (CODE, os.waitstatus_to_exitcode(status)))


class _Pass(Begun):
    """A pass that ``argosy run`` starts, forked as well; it has what the controller needs of ``subprocess.Popen``."""

    def __init__(self, address: str, _: Sequence[str], **__: object) -> None:
        (theirs, ours), (read, written) = os.pipe(), os.pipe()
        streams = theirs, written, sys.stderr.fileno()
        super().__init__(*ask(address, [PASS], os.getcwd(), os.environ, streams))  # noqa: PTH109 - handed over as text
        for each in (theirs, written):
            os.close(each)
        self.stdin, self.stdout = os.fdopen(ours, "w"), os.fdopen(read)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the streams, once the process has ended."""
        self.wait(ALL_SECONDS)
        for stream in (self.stdin, self.stdout):
            with suppress(BrokenPipeError):
                stream.close()

    def wait(self, timeout: float = ALL_SECONDS) -> int:
        return super().wait(timeout)


def _run(
    address: str, arguments: list[str], folder: str, environment: dict[str, str], streams: Sequence[int]
) -> NoReturn:
    """Become the program, or one of its passes."""
    from reconciler.cli import main
    from reconciler.run.processes import pass_process, starting

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["argosy", *arguments]
    for path in environment.get("PYTHONPATH", "").split(os.pathsep):
        if path and (Path(path) / "sitecustomize.py").exists():
            exec(compile((Path(path) / "sitecustomize.py").read_text(), path, "exec"), {})
    if arguments == [PASS]:
        pass_process.main()
    # Passes come from the process that forks commands, which has made their imports as well.
    own = {"FORKS": False, "subprocess": SimpleNamespace(Popen=partial(_Pass, address), PIPE=subprocess.PIPE)}
    vars(starting).update(own)
    main()
    raise AssertionError("the program came back")


if __name__ == "__main__":
    serve(sys.argv[1])
