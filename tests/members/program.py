"""The program that is the members of a fleet: built once for its sources, and run for as long as a block."""

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.clusters import START_SECONDS, Server
from tests.kubernetes.programs import NotBuilt, alone, folder_of_content, go_build
from tests.waiting import SECONDS, running

HERE = Path(__file__).parent
PROGRAM = "members"


class Change(NamedTuple):
    """A change in a member: the key of the object, the time on the scale of ``time.monotonic``, and what it was.

    It is ``written``, ``deleted``, or ``healthy`` where the status says so from then on.
    """

    member: str
    key: str
    at: float
    what: str


class Told(NamedTuple):
    """The work that the members have had since the last mark; CPU seconds and the most memory are the program's."""

    cpu: float
    memory: int
    requests: dict[str, int]
    connections: int
    sent: int
    received: int
    changes: int
    objects: int

    @property
    def total(self) -> int:
        """The number of requests."""
        return sum(self.requests.values())


class ImitatedMember(Server):
    """One of the members of a running program; its workloads become healthy without pods."""

    def __init__(self, name: str, *, folder: Path, token: str, port: int, uid: str) -> None:
        kubeconfig = folder / "kubeconfigs" / f"{name}.yaml"
        super().__init__(name, folder=folder, kubeconfig=kubeconfig, token=token, port=port)
        self.uid = uid


class ImitatedMembers:
    """A running program, and its members; ``kubeconfigs`` is the folder with a kubeconfig of each."""

    def __init__(self, folder: Path, described: dict[str, Any]) -> None:
        self.kubeconfigs = folder / "kubeconfigs"
        self._control = f"http://127.0.0.1:{described['control']}"
        token = described["token"]
        self.members = tuple(
            ImitatedMember(each["name"], folder=folder, token=token, port=each["port"], uid=each["uid"])
            for each in described["members"]
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.members)

    def told(self) -> Told:
        """Return the work of the members since the last mark; their CPU is all since they began."""
        return Told(**self._answer("/told"))

    def changes(self) -> list[Change]:
        """Return the changes in members since the last mark, in their order."""
        return [Change(**each) for each in self._answer("/changes") or ()]

    def mark(self) -> None:
        """Count requests and changes from here on."""
        self._answer("/mark", method="POST")

    def become_healthy_after(self, seconds: float) -> None:
        """Let workloads that change from here on become healthy so much later; never, where it is below zero."""
        self._answer(f"/healthy-after?after={seconds * 1000:.0f}ms", method="POST")

    def copy_from(self, name: str) -> None:
        """Give all members the objects that one of them has."""
        self._answer(f"/clone?from={name}", method="POST")

    def _answer(self, path: str, method: str = "GET") -> Any:
        request = urllib.request.Request(f"{self._control}{path}", method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            content = answer.read()
        return json.loads(content) if content else None


def sources() -> list[Path]:
    """Return the files that the program is made of."""
    return sorted([*HERE.glob("*.go"), *HERE.glob("go.*")])


def program_path() -> Path:
    """Return the place of the program, whether or not it is built."""
    return folder_of_content("members", sources()) / PROGRAM


def is_built() -> bool:
    """Return whether the program is there."""
    return os.access(program_path(), os.X_OK)


def built() -> Path:
    """Return the place of the program, and build it where it is missing; NotBuilt when that fails."""
    program = program_path()
    if not is_built():
        with alone(program.parent):
            if not is_built():
                go_build(HERE, ".", program)
    return program


@contextmanager
def imitated_members(
    folder: Path, count: int, *, healthy_after: float = 0.0, prefix: str = "member", seconds: float = SECONDS
) -> Iterator[ImitatedMembers]:
    """Run so many members for as long as the block, which may take so many seconds; their files are in the folder."""
    command = [str(built()), "--folder", str(folder), "--count", str(count), "--prefix", prefix]
    command += ["--healthy-after", f"{healthy_after * 1000:.0f}ms"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with running(command, seconds=seconds + START_SECONDS, **pipes) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise NotBuilt(f"{PROGRAM} ended with {process.wait(timeout=SECONDS)} before it served anybody")
        yield ImitatedMembers(folder, json.loads(line))
