"""Passes that are killed, or that find no space or no right to write: refs are then old or new, and nothing is broken.

``python -m tests.bench.interrupted PART FOLDER [OPTIONS]`` does that in a folder, which for a full and a read-only disk
has to be a small file system of its own, and prints the faults that it found, as JSON.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.build import AUTHOR, QUICK, Repository
from tests.processes import cpu_seconds, kill_all

from .bench_apply import ROOT
from .bench_render import make_fleet

MOST_SECONDS = 600.0
COLD_EVERY = 10
_FIRST_GUESS = 0.8
_TICK = 0.01
"""The seconds in which Linux counts what a process has used."""
_NO_SPACE = ("no space left on device", "make room on the disk")
_READ_ONLY = ("read-only file system", "file system is read-only")


@dataclass(kw_only=True)
class InterruptedFleet:
    """A fleet whose passes are interrupted, and the faults that were found."""

    repository: Repository
    draw: random.Random
    templates: int
    clusters: int
    faults: list[str] = field(default_factory=list)
    turn: int = 0
    stored_before: frozenset[tuple[str, int]] = frozenset()
    said: dict[str, int] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path, *, clusters: int, templates: int, seed: int) -> "InterruptedFleet":
        size = {"clusters": clusters, "templates": templates, "policies": 5, "shape": "scattered"}
        make_fleet(folder / "fleet", argparse.Namespace(**size))
        repository = Repository(folder / "fleet")
        fleet = cls(repository=repository, draw=random.Random(seed), templates=templates, clusters=clusters)
        assert fleet.ended("--bootstrap").returncode == 0
        return fleet

    def command(self, *options: str) -> list[str]:
        path = str(self.repository.path)
        return [sys.executable, "-m", "reconciler", "-C", path, "reconcile", "--allow-removal", "*=100000", *options]

    def environment(self) -> dict[str, str]:
        """The environment of a pass, whose temporary files and cache are beside the repository."""
        home = str(self.repository.path.parent)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        return {**kept, **AUTHOR, "TMPDIR": home, "XDG_CACHE_HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}

    def ended(self, *options: str) -> "subprocess.CompletedProcess[str]":
        """Run a pass to its end."""
        return subprocess.run(
            self.command(*options),
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )

    def killed(self, seconds: float, *, with_children: bool) -> tuple[bool, float]:
        """Begin a pass and kill it once it has used so many CPU seconds; say whether it was, and what it had used."""
        quiet, used = subprocess.DEVNULL, 0.0
        with subprocess.Popen(self.command(), cwd=ROOT, env=self.environment(), stdout=quiet, stderr=quiet) as process:
            while process.poll() is None:
                used = cpu_seconds(process.pid)
                if used >= seconds:
                    time.sleep(self.draw.uniform(0, _TICK))
                    if with_children:
                        kill_all(process.pid)
                    process.kill()
                    return process.wait() == -signal.SIGKILL, used
                time.sleep(_TICK)
        return False, used

    def tip(self) -> str:
        return self.repository.git("rev-parse", "argosy/rendered")

    @property
    def kinds(self) -> Mapping[str, tuple[int, Callable[[], None]]]:
        """The kinds of changes: an image, everything at once, a cluster's label, a template that comes or goes."""
        return {
            "image": (3, self._image),
            "override": (3, self._override),
            "label": (2, self._label),
            "template": (2, self._template),
            "weight": (2, self._weight),
        }

    def change(self) -> str:
        """Commit a change, and return its kind."""
        self.turn += 1
        names = tuple(self.kinds)
        kind = self.draw.choices(names, [self.kinds[each][0] for each in names])[0]
        self.kinds[kind][1]()
        self.stored_before = self.stored()
        return kind

    def note_fault(self, fault: str) -> None:
        """Keep a fault, and print it as soon as it is found."""
        self.faults.append(fault[:600])
        print(self.faults[-1], file=sys.stderr, flush=True)

    def _edit(self, path: str, pattern: str, replacement: str, count: int = 0) -> None:
        text = (self.repository.path / path).read_text()
        self.repository.commit({path: re.sub(pattern, replacement, text, count=count)}, f"turn {self.turn}")

    def _any_template(self) -> str:
        return f"apps/{self.draw.choice(sorted(path.name for path in (self.repository.path / 'apps').iterdir()))}"

    def _image(self) -> None:
        self._edit(self._any_template(), r"nginx:[\w.]+", f"nginx:1.{self.turn}")

    def _override(self) -> None:
        self._edit("policies/overrides.yaml", r"eu\d*\.example", f"eu{self.turn}.example")

    def _label(self) -> None:
        path = f"clusters/member{self.draw.randrange(self.clusters):04}.yaml"
        self._edit(path, r"stage: \"?\w+\"?", f"stage: s{self.turn}")

    def _template(self) -> None:
        path = self._any_template()
        text = (self.repository.path / path).read_text()
        name = f"more{self.turn}"
        self.repository.commit({path: None, f"apps/{name}.yaml": re.sub(r"\bapp\d+|\bmore\d+", name, text)}, name)

    def _weight(self) -> None:
        self._edit("policies/p00.yaml", r"weight: \d+", f"weight: {self.turn + 1}", count=1)

    def check(self, before: str, what: str) -> None:
        """Look for faults after a pass that was interrupted: a ref is where it was, or at the next commit.

        Where nothing was stored since the source was changed, git need not look at everything again.
        """
        after = self.tip()
        if before and after != before:
            source = self.repository.git("rev-parse", "HEAD")
            parent = self.repository.git("rev-parse", "--verify", "-q", f"{after}^", check=False)
            if parent != before or source not in self.repository.git("log", "-1", "--format=%B", after):
                self.note_fault(f"{what}: argosy/rendered went from {before} to {after}")
        if after == before and self.stored_before == self.stored():
            return
        found = subprocess.run(
            ["git", "-C", str(self.repository.path), "fsck", "--full", "--strict", "--no-dangling", "--no-progress"],
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
        if found.returncode or found.stdout or found.stderr:
            self.note_fault(f"{what}: git fsck: {found.stdout}{found.stderr}")

    def stored(self) -> frozenset[tuple[str, int]]:
        """Return the files of the objects, with the times at which they were written."""
        folder = self.repository.path / ".git" / "objects"
        files = (path for path in folder.rglob("*") if path.is_file())
        return frozenset((str(path), path.stat().st_mtime_ns) for path in files)

    def go_on(self, what: str) -> None:
        """Run the next pass, which has to come to its end, whatever was left behind."""
        run = self.ended()
        source = self.repository.git("rev-parse", "HEAD")
        said = self.repository.git("log", "-1", "--format=%B", "argosy/rendered") + run.stdout  # the latter: unchanged
        if run.returncode or source[:12] not in said:
            self.note_fault(f"{what}: the next pass ends with {run.returncode}: {run.stdout}{run.stderr}")

    def compare(self, what: str) -> None:
        """Compare the tree with that of a pass over everything, in a clone that has no cache."""
        target = self.repository.path.parent / "cold"
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(
            ["git", *QUICK, "clone", "-q", str(self.repository.path), str(target)], check=True, timeout=MOST_SECONDS
        )
        cold = Repository(target)
        cold.git("branch", "argosy/rendered", "origin/argosy/rendered~1")
        cold.git("remote", "remove", "origin")
        other = InterruptedFleet(repository=cold, draw=self.draw, templates=self.templates, clusters=self.clusters)
        run = other.ended()
        trees = [each.repository.git("rev-parse", "argosy/rendered^{tree}") for each in (self, other)]
        if trees[0] != trees[1]:
            self.note_fault(f"{what}: another tree than a pass over everything has, which ends with {run.returncode}")
        shutil.rmtree(target)

    def leftovers(self) -> list[str]:
        """The files that nothing will ever need: locks, and what was being written."""
        folder = self.repository.path / ".git"
        names = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        return [str(name) for name in names if re.search(r"\.lock$|(?:^|/)\.?tmp_|\.tmp", str(name))]


def killed_passes(fleet: InterruptedFleet, kills: int, seconds: float) -> int:
    """Kill passes until there are so many or the time is over; return how many were.

    Moments are seconds of CPU, so that a busy machine does not move them, and most are late, when objects are written
    and refs move. The seconds that a pass takes are learned for each kind of change.
    """
    began, count, whole = time.monotonic(), 0, dict.fromkeys(fleet.kinds, _FIRST_GUESS)
    while count < kills and time.monotonic() - began < seconds:
        kind = fleet.change()
        before, with_children = fleet.tip(), fleet.draw.random() < 0.5
        moment = fleet.draw.uniform(0.4 if fleet.draw.random() < 0.9 else 0.0, 1.1) * whole[kind]
        is_killed, used = fleet.killed(moment, with_children=with_children)
        whole[kind] = max(whole[kind], used) if is_killed else used
        if not is_killed:
            continue
        count += 1
        what = f"turn {fleet.turn}, killed after {moment:.2f} s{' with its children' if with_children else ''}"
        fleet.check(before, what)
        if fleet.draw.random() < 0.4:
            fleet.go_on(what)
        if count % COLD_EVERY == 0:
            fleet.go_on(what)
            fleet.compare(what)
            print(f"{count} kills: {len(fleet.faults)} faults, leftovers {fleet.leftovers()}", file=sys.stderr)
    fleet.go_on("the last")
    fleet.check("", "the last")
    return count


def full_disks(fleet: InterruptedFleet, turns: int, seconds: float) -> int:
    """Leave a pass less space than it needs, or just enough; return in how many turns it did not do."""
    began, short = time.monotonic(), 0
    ballast = fleet.repository.path.parent / "ballast"
    for _ in range(turns):
        if time.monotonic() - began > seconds:
            break
        fleet.change()
        room = int(2 ** fleet.draw.uniform(10, 20))
        _fill(ballast, room)
        before = fleet.tip()
        run = fleet.ended()
        what = f"turn {fleet.turn}, {room} bytes of space"
        if run.returncode:
            short += 1
            _check_message(fleet, what, run, _NO_SPACE)
        elif fleet.tip() == before:
            fleet.note_fault(f"{what}: exit 0, and nothing was committed")
        ballast.unlink()
        fleet.check(before, what)
        fleet.go_on(what)
    fleet.compare("after full disks")
    return short


def read_only(fleet: InterruptedFleet, turns: int, seconds: float) -> int:
    """Run passes over a repository that nobody may write to; return how many were refused."""
    began, refused = time.monotonic(), 0
    folder = str(fleet.repository.path.parent)
    for _ in range(turns):
        if time.monotonic() - began > seconds:
            break
        fleet.change()
        before = fleet.tip()
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True, timeout=60)
        run = fleet.ended()
        subprocess.run(["mount", "-o", "remount,rw", folder], check=True, timeout=60)
        what = f"turn {fleet.turn}, read-only"
        if run.returncode:
            refused += 1
            _check_message(fleet, what, run, _READ_ONLY)
        else:
            fleet.note_fault(f"{what}: exit 0")
        fleet.check(before, what)
        fleet.go_on(what)
    fleet.compare("after a read-only disk")
    return refused


def _check_message(
    fleet: InterruptedFleet, what: str, run: "subprocess.CompletedProcess[str]", words: Sequence[str]
) -> None:
    """Hold a message to what somebody needs: the reason, in its words, no traceback, and the code of its kind."""
    said = run.stderr.strip()
    fleet.said[said] = fleet.said.get(said, 0) + 1
    is_named = any(each in said.lower() for each in words)
    if not is_named or "Traceback" in said or "bug" in said or run.returncode not in {3, 4}:
        fleet.note_fault(f"{what}: exit {run.returncode}: {said}")


def _fill(path: Path, room: int) -> None:
    """Write a file until so many bytes are free in its file system, to a page."""
    status = os.statvfs(path.parent)
    with suppress(OSError), path.open("wb", buffering=0) as file:
        for _ in range(max(0, status.f_bavail * status.f_frsize - room) // 4096):
            file.write(b"x" * 4096)


PARTS: dict[str, Callable[[InterruptedFleet, int, float], int]] = {
    "kills": killed_passes,
    "full": full_disks,
    "read-only": read_only,
}


def in_folder(part: str, folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run a part over a new fleet; return how many passes were interrupted, the faults, and what was said."""
    fleet = InterruptedFleet.create(folder, clusters=given.clusters, templates=given.templates, seed=given.seed)
    count = PARTS[part](fleet, given.times, given.seconds)
    return {"count": count, "turns": fleet.turn, "faults": fleet.faults, "said": fleet.said, "left": fleet.leftovers()}


def on_a_small_disk(part: str, folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run a part on a file system in memory, in a mount namespace of its own."""
    mounted = f'mount -t tmpfs -o size={given.size}m none "$0" && exec "$@"'
    inside = [sys.executable, "-m", "tests.bench.interrupted", part, str(folder), *arguments_of(given)]
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, str(folder), *inside]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False, timeout=2 * MOST_SECONDS)
    if run.returncode:
        return {"count": 0, "turns": 0, "faults": [f"{part}: exit {run.returncode}"], "said": {}, "left": []}
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def arguments_of(given: argparse.Namespace) -> Iterator[str]:
    """Yield the options of a run once more, for the process inside."""
    for name in ("clusters", "templates", "times", "seconds", "seed", "size"):
        yield from (f"--{name}", str(getattr(given, name)))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser the options of every part."""
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--templates", type=int, default=200)
    parser.add_argument("--times", type=int, default=200, help="kills, or turns with a disk that is full or read-only")
    parser.add_argument("--seconds", type=float, default=900.0, help="end each part after so long, with fewer of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=256, help="MiB of the small disk")


def main(arguments: Sequence[str]) -> int:
    """Run a part in a folder, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.interrupted")
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("folder", type=Path)
    add_options(parser)
    given = parser.parse_args(arguments)
    os.environ["TMPDIR"] = str(given.folder)
    print(json.dumps(in_folder(given.part, given.folder, given)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
