"""``argosy`` with its imports made: a process that forks another for every command line it is given.

A command runs as the program does, in a process of its own with its own folder, environment and streams. Only the
imports are made before, once for all commands, for they take most of the time of a short one.
"""

import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from tests.waiting import SECONDS, running

ROOT = Path(__file__).parent.parent
PACKAGES = ("render", "overrides", "reconciler")
ALL_SECONDS = 600.0
"""The time for all commands of a process."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The process, seen from outside."""

    process: "subprocess.Popen[str]"

    @classmethod
    @contextmanager
    def started(cls, environment: Mapping[str, str]) -> Iterator["Prepared"]:
        """Start a process that makes its imports in this environment, and end it with the block."""
        command, pipe = [sys.executable, "-m", "tests.prepared"], subprocess.PIPE
        with running(command, seconds=ALL_SECONDS, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe) as process:
            yield cls(process=process)

    def output(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
        """Run one command and return what it prints, both streams."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.NamedTemporaryFile() as written:
            asked = [["argosy", *arguments], str(folder), dict(environment), written.name]
            self.process.stdin.write(f"{json.dumps(asked)}\n")
            self.process.stdin.flush()
            ended = self.process.stdout.readline()
            assert ended == "ended\n", f"argosy {' '.join(arguments)} ended with signal {ended.strip()}"
            return Path(written.name).read_text(encoding="utf-8")


def serve() -> None:
    """Import everything, then run one command after the other."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not module.name.endswith(".__main__"):
                import_module(module.name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(*json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(-code if code < 0 else "ended", flush=True)


def run(arguments: list[str], folder: str, environment: dict[str, str], output: str) -> NoReturn:
    """Become the program."""
    from reconciler.cli import main

    signal.alarm(int(SECONDS))
    for path, streams in ((os.devnull, (0,)), (output, (1, 2))):
        opened = os.open(path, os.O_RDWR)
        for stream in streams:
            os.dup2(opened, stream)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    main()
    raise AssertionError("the program came back")


if __name__ == "__main__":
    serve()
