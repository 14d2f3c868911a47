"""Trying mutants in copies of a tree: which tests reach what, and whether one of them fails.

1. The tree is copied, uncommitted changes included; the original is never touched.
2. All tests run once, with a probe in every function that will be broken: it notes the tests that come by. What fails
   even now does not count later.
3. One mutant after the other is put into a copy. First run the tests that came by, then all others, the nearest by
   imports first, until one fails. A test that does not end any more has noticed as well.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Self

from tests.architecture import PACKAGES, House
from tests.waiting import SECONDS

from .mutants import Mutant, chosen, probed
from .plugin import CHOSEN, ENDED, REACHED

PLUGIN = "argosy_mutations"
BASELINE_SECONDS = 3600.0
LEAST_SECONDS, TIMES_AS_LONG = 60.0, 5.0
"""The bound of a run: so long, and so many times as long as its tests took unbroken."""
WAITING = 5.0
"""A run may last so many times its bound, which is for processor time: a busy machine is no endless loop."""
_FAR = 99


@dataclass(frozen=True, kw_only=True)
class Options:
    """The way to try; ``wide``: all other tests try, too, where those that came by noticed nothing."""

    count: int = 40
    seed: int = 0
    jobs: int = 1
    wide: bool = True


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome for one mutant; ``reached``: the number of tests that came by.

    ``caught_by``: the test that failed, or what else kept the tests from passing; empty for a survivor.
    """

    mutant: Mutant
    caught_by: str
    reached: int
    difference: str


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """The tests with nothing broken: seconds by test that passes, and the tests that reach each mutant."""

    seconds: Mapping[str, float]
    failed: frozenset[str]
    reached: Mapping[int, frozenset[str]]


class Copy:
    """A copy of a tree, to break things in."""

    def __init__(self, folder: Path) -> None:
        self.root, self.folder = folder / "tree", folder
        self._support = folder / "support"
        self._python = folder / "python"
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    @classmethod
    def of(cls, root: Path, folder: Path) -> Self:
        """Copy what Git tracks or would."""
        made = cls(folder)
        _copy_tracked(root, made.root)
        made._support.mkdir()
        shutil.copy(Path(__file__).with_name("plugin.py"), made._support / f"{PLUGIN}.py")
        make_environment(made._python, made.root)
        return made

    def another(self, folder: Path) -> Self:
        """Copy everything, with what Python has compiled."""
        made = type(self)(folder)
        shutil.copytree(self.root, made.root, symlinks=True)
        shutil.copytree(self._support, made._support)
        make_environment(made._python, made.root)
        return made

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    @contextmanager
    def changed(self, texts: Mapping[str, bytes]) -> Iterator[None]:
        """Have these files hold something else for a while."""
        before = {path: (self.read(path), (self.root / path).stat()) for path in texts}
        for path, text in texts.items():
            (self.root / path).write_bytes(text)
        try:
            yield
        finally:
            for path, (text, status) in before.items():
                (self.root / path).write_bytes(text)
                os.utime(self.root / path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def failure(self, tests: Iterable[str], files: Sequence[str], seconds: float) -> str:
        """Run these tests, stop at the first that fails and return its name; empty when all pass."""
        (self.folder / CHOSEN).write_text(json.dumps(sorted(tests)), encoding="utf-8")
        (self.folder / ENDED).unlink(missing_ok=True)
        code = self.pytest(["-x", *files], seconds=seconds, environment={"PYTHONDONTWRITEBYTECODE": "1"})
        failed = (test for outcome, _, test in _noted(self.folder / ENDED) if outcome == "failed")
        if code is None:
            return f"no end within {seconds:.0f} s"
        return next(failed, f"pytest, which ended with {code}") if code else ""

    def pytest(self, options: Sequence[str], *, seconds: float, environment: Mapping[str, str]) -> int | None:
        """Run pytest in the copy; return how it ended, None when it did not in time."""
        if self._is_stopped:
            return None
        python = str(self._python / "bin" / "python")
        command = [python, "-m", "pytest", "-q", "-p", PLUGIN, "-p", "no:cacheprovider", *options]
        whole = {
            **os.environ,
            "ARGOSY_E2E": "off",
            "MUTATIONS_FOLDER": str(self.folder),
            "PYTHONPATH": str(self._support),
            **environment,
        }
        with (self.folder / "output.txt").open("wb") as output:
            limited = ["sh", "-c", 'ulimit -t "$1"; shift; exec "$@"', "sh", f"{seconds:.0f}", *command]
            self._process = subprocess.Popen(
                limited, cwd=self.root, env=whole, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code = self._process.wait(timeout=seconds * WAITING)
            except subprocess.TimeoutExpired:
                return None
            else:
                return None if code in {-signal.SIGXCPU, -signal.SIGKILL} else code
            finally:
                self._end()

    def stop(self) -> None:
        """End what runs, and let nothing run any more."""
        self._is_stopped = True
        self._end()

    def _end(self) -> None:
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=SECONDS)


def make_environment(folder: Path, tree: Path) -> None:
    """Make an environment like this one whose own packages are those of the tree, in whatever process."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    installed = [str(tree), *(path for path in sys.path if Path(path).name == "site-packages")]
    (packages / "tree.pth").write_text("".join(f"{path}\n" for path in installed), encoding="utf-8")
    old, new = sys.executable.encode(), str(folder / "bin" / "python").encode()
    for program in Path(sys.executable).parent.iterdir():
        target = folder / "bin" / program.name
        if target.exists():
            continue
        content = program.read_bytes()
        if content.startswith(b"#!" + old):
            target.write_bytes(content.replace(old, new, 1))
            target.chmod(0o755)
        else:
            target.symlink_to(program.resolve())


def _copy_tracked(root: Path, folder: Path) -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    for name in filter(None, listed.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (root / name).is_file():
            shutil.copy2(root / name, target, follow_symlinks=False)


def tried(root: Path, paths: Sequence[str], options: Options) -> Iterator[Verdict]:
    """Break lines below these paths, all of production without any, and yield what comes of each."""
    with tempfile.TemporaryDirectory(prefix="argosy-mutations-") as name:
        folder = Path(name)
        first = Copy.of(root, folder / "0")
        mutants = chosen(production(first.root, paths), options.count, options.seed)
        baseline = looked_at(first, mutants, options)
        trial = Trial(baseline=baseline, nearness=Nearness(House.at(first.root)), wide=options.wide)
        copies = [first, *(first.another(folder / str(number)) for number in range(1, options.jobs))]
        free = SimpleQueue[Copy]()
        for copy in copies:
            free.put(copy)

        def verdict(number: int) -> Verdict:
            copy = free.get(timeout=BASELINE_SECONDS)
            try:
                return trial.verdict(copy, number, mutants[number])
            finally:
                free.put(copy)

        pool = ThreadPoolExecutor(options.jobs)
        try:
            yield from pool.map(verdict, range(len(mutants)))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in copies:
                copy.stop()
            pool.shutdown()


def production(root: Path, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the files that may be broken, by path."""
    files = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    named = {path.relative_to(root).as_posix(): path for path in files}
    wanted = [path.rstrip("/") for path in paths]
    return {
        name: path.read_bytes()
        for name, path in named.items()
        if not wanted or any(name == each or name.startswith(f"{each}/") for each in wanted)
    }


def looked_at(copy: Copy, mutants: Sequence[Mutant], options: Options) -> Baseline:
    """Run all tests once, with a probe where each mutant will be."""
    calls: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, mutant in enumerate(mutants):
        calls[mutant.path].append((mutant.line, f'__import__("{PLUGIN}").hit({number})'))
    together = ["-n", str(options.jobs), "--dist", "loadgroup"] if options.jobs > 1 else []
    with copy.changed({path: probed(copy.read(path), each) for path, each in calls.items()}):
        # What is compiled now, tests above all, serves every run to come.
        copy.pytest(together, seconds=BASELINE_SECONDS, environment={"PYTHONDONTWRITEBYTECODE": ""})
    return _baseline(copy.folder)


def _baseline(folder: Path) -> Baseline:
    seconds: dict[str, float] = defaultdict(float)
    failed, reached = set[str](), defaultdict[int, set[str]](set)
    for outcome, took, test in _noted(folder / ENDED):
        seconds[test] += float(took)
        if outcome != "passed":
            failed.add(test)
    for number, test in _noted(folder / REACHED):
        reached[int(number)].add(test)
    passing = {test: took for test, took in seconds.items() if test not in failed}
    by_mutant = {number: frozenset(tests.intersection(passing)) for number, tests in reached.items()}
    return Baseline(seconds=passing, failed=frozenset(failed), reached=by_mutant)


def _noted(path: Path) -> Iterator[list[str]]:
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield line.split("\t")


class Nearness:
    """The distances of files of tests from a module, by imports."""

    def __init__(self, house: House) -> None:
        together = {**house.modules, **{module.name: module for module in house.tests}}
        self._house = House(modules=together, tests=())
        self._name_by_path = {module.path: module.name for module in together.values()}

    def ordered(self, files: Iterable[str], path: str) -> list[str]:
        """Sort files by the imports between them and a module; those without any come last."""
        distances, front = {self._name_by_path[path]: 0}, [self._name_by_path[path]]
        for name in front:
            for importer in sorted(self._house.importers[name]):
                if importer not in distances:
                    distances[importer] = distances[name] + 1
                    front.append(importer)
        return sorted(files, key=lambda file: (distances.get(self._name_by_path.get(file, ""), _FAR), file))


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Everything by which mutants are judged."""

    baseline: Baseline
    nearness: Nearness
    wide: bool

    def verdict(self, copy: Copy, number: int, mutant: Mutant) -> Verdict:
        """Put a mutant in place and run tests until one fails."""
        source = copy.read(mutant.path)
        near = self.baseline.reached.get(number, frozenset())
        rounds = [near, frozenset(self.baseline.seconds) - near] if self.wide or not near else [near]
        with copy.changed({mutant.path: mutant.applied(source)}):
            failures = (self._failure(copy, tests, mutant) for tests in rounds)
            caught_by = next(filter(None, failures), "")
        return Verdict(mutant=mutant, caught_by=caught_by, reached=len(near), difference=mutant.difference(source))

    def _failure(self, copy: Copy, tests: frozenset[str], mutant: Mutant) -> str:
        """Return the test that fails, and does so again: one that needed more quiet than there was noticed nothing."""
        while tests:
            failed = self._first_failure(copy, tests, mutant)
            if failed not in tests or self._first_failure(copy, frozenset({failed}), mutant):
                return failed
            tests -= {failed}
        return ""

    def _first_failure(self, copy: Copy, tests: frozenset[str], mutant: Mutant) -> str:
        files = self.nearness.ordered({test.partition("::")[0] for test in tests}, mutant.path)
        seconds = LEAST_SECONDS + TIMES_AS_LONG * sum(self.baseline.seconds[test] for test in tests)
        return copy.failure(tests, files, seconds)
