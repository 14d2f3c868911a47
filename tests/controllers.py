"""``argosy run`` as a process of its own, for tests: started, watched through its log, and ended."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM, Signals

from reconciler.repository import open_repository

from .build import AUTHOR, Repository, a_cluster, a_config_map, a_policy, on_clusters
from .prepared import ROOT, Begun, prepared
from .processes import bound_to_this_process
from .waiting import SECONDS, eventually, running

EVERYWHERE = a_policy(
    "all", selectors=({"apiVersion": "v1", "kind": "ConfigMap"},), placement=on_clusters("member1", "member2")
)
LONGEST = 40.0
SETTINGS = "config-map.yaml"


@dataclass(frozen=True)
class Controller:
    """A running ``argosy run``, and the file of its log."""

    process: "Begun | subprocess.Popen[str]"
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text()

    def says(self, words: str, *, times: int = 1) -> None:
        what = f"{words!r} in the log"
        try:
            eventually(lambda: self.said.count(words) >= times or self._ended(), what, seconds=LONGEST)
        except AssertionError as error:
            raise AssertionError(f"{error}; the log is:\n{self.said}") from None
        assert self.said.count(words) >= times, self.said

    def _ended(self) -> bool:
        return self.process.poll() is not None

    def signal(self, number: Signals) -> None:
        self.process.send_signal(number)

    def ended(self, number: Signals = SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.signal(number)
        return self.process.wait(timeout=SECONDS)


@contextmanager
def controller(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = ("-v",),
    seconds: float = SECONDS,
    is_measured: bool = False,
) -> Iterator[Controller]:
    """Run ``argosy run`` for as long as the block, which may take so many seconds; its cache is in the folder.

    One whose memory is measured has imported nothing but what it needs.
    """
    log = folder / f"run-{len(list(folder.glob('run-*.log')))}.log"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    own = {"XDG_CACHE_HOME": str(folder / "cache"), **AUTHOR, **(environment or {})}
    command, whole = [*options, "run", *arguments], clean | own
    with log.open("w") as file, ExitStack() as stack:
        process: Begun | subprocess.Popen[str]
        if is_measured:
            program = bound_to_this_process([sys.executable, "-m", "reconciler", *command])
            fresh = running(program, seconds=seconds, stderr=file, cwd=ROOT, env=whole)
            process = stack.enter_context(fresh)
        else:
            begun = prepared().running(command, environment=whole, stderr=file, seconds=seconds)
            process = stack.enter_context(begun)
        yield Controller(process, log)


def a_fleet(path: Path, text: str = "one") -> Repository:
    """A bare repository with a fleet of two clusters on its branch main, and a clone beside it to push from."""
    bare = Repository.create(path, bare=True)
    work = Repository.create(path.with_name(f"{path.stem}-work"))
    work.git("remote", "add", "origin", str(bare.path))
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in ("member1", "member2")}
    work.commit({**clusters, "policy.yaml": EVERYWHERE, SETTINGS: a_config_map("settings", text=text)}, "the fleet")
    work.git("push", "-q", "-u", "origin", "main")
    return work


def pushed(work: Repository, text: str) -> str:
    """Change the fleet's object and push that."""
    commit = work.commit({SETTINGS: a_config_map("settings", text=text)})
    work.git("push", "-q")
    return commit


def rendered_source(bare: Path) -> str:
    """The source of the newest rendered commit; empty where there is none."""
    return Repository(bare).git(
        "log", "-1", "--format=%(trailers:key=Argosy-Source,valueonly)", "argosy/rendered", check=False
    )


def is_rendered(bare: Path, commit: str) -> None:
    """Wait until a source commit is rendered."""
    seen = {"": ""}

    def source() -> str:
        with open_repository(str(bare)) as repository:
            tip = repository.tip("refs/heads/argosy/rendered") or ""
        if tip not in seen:
            seen[tip] = rendered_source(bare)
        return seen[tip]

    eventually(lambda: source() == commit, f"the rendered commit of {commit}", seconds=LONGEST)
