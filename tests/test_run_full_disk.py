"""A full disk under ``argosy run``: it says so, does not end, and goes on once there is space again.

The disk is a small file system in memory, in a mount namespace of the controller's own; the test looks into it by way
of /proc. Where a machine has no such namespaces, whatever the controller writes is limited to nothing instead.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from .build import AUTHOR, Repository
from .controllers import LONGEST, a_fleet, is_rendered, pushed, rendered_source
from .waiting import SECONDS, eventually, running

pytestmark = pytest.mark.waits

ROOT = Path(__file__).parent.parent
SMALL = 'mount -t tmpfs -o size=8m none "$0" && exec "$@"'


@dataclass
class Disk:
    """The disk that a controller has its cache on; its log is a pipe into a file, which needs no space there."""

    process: "subprocess.Popen[str]"
    folder: Path
    log: Path
    is_mounted: bool

    @property
    def said(self) -> str:
        return self.log.read_text()

    def fill(self) -> None:
        if not self.is_mounted:
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            return
        with suppress(OSError), (self.inside / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)

    def free(self) -> None:
        if self.is_mounted:
            (self.inside / "ballast").unlink()
        else:
            endless = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, endless)

    @property
    def inside(self) -> Path:
        return Path(f"/proc/{self.process.pid}/root{self.folder}")


def has_namespaces(folder: Path) -> bool:
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SMALL, str(folder), "true"]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=SECONDS).returncode == 0
    except FileNotFoundError:
        return False


@contextmanager
def on_a_small_disk(folder: Path, *arguments: str) -> Iterator[Disk]:
    """Run a controller whose cache and temporary files are on a disk of its own."""
    disk, log = folder / "disk", folder / "run.log"
    disk.mkdir()
    is_mounted = has_namespaces(disk)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    own = {"XDG_CACHE_HOME": str(disk), "TMPDIR": str(disk), **AUTHOR}
    command = [sys.executable, "-m", "reconciler", "-v", "run", *arguments]
    if is_mounted:
        words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SMALL, str(disk)]
        command = [*words, *command]
    with (
        log.open("w") as file,
        running(["cat"], stdin=subprocess.PIPE, stdout=file) as sink,
        running(command, stderr=sink.stdin, cwd=ROOT, env=clean | own) as process,
    ):
        assert sink.stdin is not None
        yield Disk(process, disk, log, is_mounted)
        process.terminate()
        assert process.wait(timeout=SECONDS) == 0
        sink.stdin.close()


def test_a_full_disk_is_told_ends_nothing_and_is_over_once_there_is_space(tmp_path: Path) -> None:
    work, bare = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git"
    first = work.git("rev-parse", "HEAD")
    with on_a_small_disk(tmp_path, f"file://{bare}", "--bootstrap", "--poll", "200ms") as disk:
        is_rendered(bare, first)
        eventually(lambda: "pass ended code=0" in disk.said, "the end of its pass", seconds=LONGEST)
        disk.fill()
        commit = pushed(work, "x" * 20_000)
        eventually(lambda: "error: " in disk.said, "the error", seconds=LONGEST)
        assert rendered_source(bare) == first
        disk.free()
        is_rendered(bare, commit)
        eventually(lambda: "the last pass went well again" in disk.said, "that it is over", seconds=LONGEST)
    error = disk.said.partition("error: ")[2].partition("\n")[0]
    assert ("No space left" in error or "no space left" in error) is disk.is_mounted, error
    assert Repository(bare).git("rev-list", "--count", "argosy/rendered") == "2"
