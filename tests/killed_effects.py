"""A pass in a process of its own that dies right before one of its effects: a file, a process of Git, or a write.

``dies_before_effect`` runs one over members in memory; the process hands over what they hold when it dies, as if they
had lived on. ``python -m tests.killed_effects NUMBER [ARGUMENTS]`` runs ``argosy`` so, for members that are servers.
"""

import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from reconciler.members.client import KubeClient
from reconciler.members.exchange import Answer, Failure, Request

from .fakes import FakeCluster
from .waiting import SECONDS

KILLED = 9
_EFFECTS = frozenset({"os.rename", "os.link", "os.symlink", "os.remove", "os.mkdir", "os.truncate", "subprocess.Popen"})
_WRITING = os.O_WRONLY | os.O_RDWR


class DeathBeforeEffect:
    """The death of this process before the effect of a number; ``last`` is what it does then, which is no effect."""

    def __init__(self, number: int, last: Callable[[], None]) -> None:
        self.left, self.last, self.lock = number, last, threading.RLock()

    def begin(self) -> None:
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        is_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
        if event in _EFFECTS or (is_write and arguments[0] != os.devnull):
            self.count_effect()

    def hear_request(self, request: Request) -> None:
        if request.method != "GET":
            self.count_effect()

    def count_effect(self) -> None:
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.end(KILLED)

    def end(self, code: int) -> NoReturn:
        with self.lock:
            self.left = -1
            self.last()
            os._exit(code)


def dies_before_effect(number: int, run: Callable[[], Any], members: Iterable[FakeCluster], folder: Path) -> bool:
    """Run something in a process that dies before its effect of this number; say whether it did, or came to its end."""
    members, handed = tuple(members), folder / "members.pickle"

    def hand_over() -> None:
        handed.write_bytes(pickle.dumps([member.objects for member in members]))

    def run_and_die() -> None:
        death = DeathBeforeEffect(number, hand_over)
        for member in members:
            member.faults.append(death.hear_request)
        death.begin()
        run()
        death.end(0)

    process = multiprocessing.get_context("fork").Process(target=run_and_die)
    process.start()
    process.join(SECONDS)
    assert process.exitcode in {0, KILLED}, process.exitcode
    for member, objects in zip(members, pickle.loads(handed.read_bytes()), strict=True):
        member.objects.clear()
        member.objects.update(objects)
    return process.exitcode == KILLED


def main() -> None:
    """Run ``argosy`` with the arguments after the first, which is the number of the effect it dies before."""
    from reconciler.cli import main as argosy

    death, send = DeathBeforeEffect(int(sys.argv.pop(1)), lambda: None), KubeClient.send

    def send_if_alive(client: KubeClient, request: Request) -> Answer | Failure:
        death.hear_request(request)
        return send(client, request)

    KubeClient.send = send_if_alive  # type: ignore[method-assign, assignment]
    death.begin()
    argosy()


if __name__ == "__main__":
    main()
