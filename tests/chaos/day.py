"""A long day of the controller: pushes, drift, outages of members and of Git, and kills, at random moments."""

import random
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from tests.build import Repository
from tests.controllers import Controller, controller, rendered_source
from tests.processes import kill_all
from tests.waiting import eventually

from .fleet import ChaosFleet, Objects
from .objects import SPACE

_DRIFT = '{"data": {"turn": "by hand", "added": "by hand"}}'
_WITHOUT_ADDITION = '{"data": {"added": null}}'
_ALWAYS = tuple(f"always-{number}" for number in range(8))
_MOST_SECONDS = 7200.0


class Day:
    """The controller over the fleet, and what happens to it."""

    def __init__(self, fleet: ChaosFleet, seed: int) -> None:
        self.fleet, self.draw, self.stack = fleet, random.Random(seed), ExitStack()
        self.bare = Repository.create(fleet.folder / "served" / "fleet.git", bare=True)
        self.away = self.bare.path.with_name("away.git")
        self.counts: dict[str, int] = {}
        self._mend: list[tuple[float, Callable[[], None]]] = []

    def run(self, seconds: float) -> list[str]:
        """Let it happen for so long, and bring all to the newest turn; return what was not as it must be."""
        with self.stack:
            self.push()
            self.controller, self.own = self._began()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self._something()
                moment = time.monotonic() + self.draw.uniform(0.5, 4)
                eventually(partial(_is_past, moment), "the next happening", pause=0.1)
                self._mend_what_is_due(time.monotonic())
            self._mend_what_is_due(float("inf"))
            found = list(self._found())
        print(f"    {', '.join(f'{count} {what}' for what, count in sorted(self.counts.items()))}", flush=True)
        return found

    def push(self) -> str:
        """Commit the next turn, and push it."""
        commit = self.fleet.begin() if not self.fleet.turn and "pushes" not in self.counts else self.fleet.change()
        self.fleet.repository.git("push", "-q", str(self.bare.path), "HEAD:main")
        self._count("pushes")
        return commit

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def _began(self) -> tuple[Controller, ExitStack]:
        stack, home = ExitStack(), self.fleet.folder / "runner"
        home.mkdir(exist_ok=True)
        options = ("--bootstrap", "--drift", "5s", "--poll", "1s", "--kubeconfigs", str(self.fleet.kubeconfigs))
        address = f"file://{self.bare.path}"
        return stack.enter_context(controller(home, address, *options, seconds=_MOST_SECONDS)), stack

    def _something(self) -> None:
        happenings = (
            *[self._push] * 4,
            *[self._drift] * 3,
            self._kill,
            self._member_away,
            self._member_restarts,
            self._git_away,
        )
        self.draw.choice(happenings)()

    def _push(self) -> None:
        if self.bare.path.exists():
            self.push()

    def _drift(self) -> None:
        """Change an object of a member by hand, or delete it."""
        member = self.draw.choice(self.fleet.servers).member
        name = self.draw.choice(_ALWAYS)
        with suppress(AssertionError, OSError):
            if self.draw.random() < 0.5:
                member.kubectl("patch", "-n", SPACE, "configmap", name, "--type=merge", f"-p={_DRIFT}")
            else:
                member.kubectl("delete", "-n", SPACE, "configmap", name, "--ignore-not-found")
            self._count("drifts")

    def _kill(self) -> None:
        """Kill the controller with its passes, and begin another."""
        kill_all(self.controller.process.pid)
        self.controller.process.wait(timeout=30)
        self.own.close()
        self._count("kills")
        self.controller, self.own = self._began()

    def _member_away(self) -> None:
        if not self._mend:
            server = self.draw.choice(self.fleet.servers)
            server.stop()
            self._mend.append((time.monotonic() + self.draw.uniform(2, 15), server.start))
            self._count("members away")

    def _member_restarts(self) -> None:
        if not self._mend:
            member = self.draw.choice(self.fleet.servers).member
            member.stop_server()
            self._mend.append((time.monotonic() + self.draw.uniform(0, 5), member.start_server))
            self._count("members restarted")

    def _git_away(self) -> None:
        if not self._mend:
            self.bare.path.rename(self.away)
            self._mend.append((time.monotonic() + self.draw.uniform(2, 15), self._git_back))
            self._count("outages of Git")

    def _git_back(self) -> None:
        self.away.rename(self.bare.path)

    def _mend_what_is_due(self, moment: float) -> None:
        due = [mend for when, mend in self._mend if when <= moment]
        self._mend = [(when, mend) for when, mend in self._mend if when > moment]
        for mend in due:
            mend()

    def _take_additions_back(self) -> None:
        """Remove the keys that people added: they stay, whoever applies, and the reference has none."""
        for server in self.fleet.servers:
            for name in _ALWAYS:
                with suppress(AssertionError):  # it may be deleted, and then it comes back without
                    server.member.kubectl(
                        "patch", "-n", SPACE, "configmap", name, "--type=merge", f"-p={_WITHOUT_ADDITION}"
                    )

    def _found(self) -> list[str]:
        self._take_additions_back()
        commit = self.push()
        is_rendered = partial(self._is_rendered, commit)
        try:
            eventually(is_rendered, "the newest turn rendered", seconds=120, pause=1)
        except AssertionError as error:
            return [str(error), *self._log().splitlines()[-20:]]
        wanted = self.fleet.refer(self.bare)
        found: list[str] = []
        try:
            is_as_wanted = partial(self._are_as, wanted)
            eventually(is_as_wanted, "the newest turn in every member", seconds=120, pause=1)
        except AssertionError as error:
            found = [str(error), *self._differences(wanted)]
        code = self.controller.ended()
        if code:
            found.append(f"the controller ended with {code}")
        found += [line for line in self._log().splitlines() if line.startswith("Traceback") or "a bug" in line]
        self.own.close()
        checked = self.bare.git("fsck", "--full", "--strict", "--no-dangling", check=False)
        return [*found, *([f"git fsck: {checked}"] if checked else [])]

    def _log(self) -> str:
        return "".join(path.read_text() for path in sorted((self.fleet.folder / "runner").glob("run-*.log")))

    def _is_rendered(self, commit: str) -> bool:
        return rendered_source(self.bare.path) == commit

    def _are_as(self, wanted: Objects) -> bool:
        return not self._differences(wanted)

    def _differences(self, wanted: Objects) -> list[str]:
        return [line for server in self.fleet.servers for line in self.fleet.differences(wanted, server.member)]


def _is_past(moment: float) -> bool:
    return time.monotonic() >= moment


def run_day(fleet: ChaosFleet, seconds: float, seed: int) -> list[str]:
    """Let a day of so many seconds pass, and return what was not as it must be."""
    shutil.rmtree(Path(fleet.folder / "served"), ignore_errors=True)
    (fleet.folder / "served").mkdir()
    return Day(fleet, seed).run(seconds)
