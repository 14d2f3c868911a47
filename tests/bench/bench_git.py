"""Git: writing trees against ``git fast-import``, reading ten thousand files, the no-op.

``python -m tests.bench git [--manifests N] [--rounds N]``. CPU seconds include git's own processes; each figure is the
median of the rounds. The two writers of a row make the same commit in the same run, which is checked.
"""

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from reconciler.repository import open_repository, read_ref_fast
from reconciler.repository.pack import write_pack
from render.gitobjects import BLOB_MODE, TREE_MODE, Spliced, SplicedIds, TreeEntry, encode_tree, git_object_id

_TEMPLATES = 1000
_WHO = "A <a@example.com> 1 +0000"


class Cost(NamedTuple):
    """The cost of a piece of work."""

    wall: float
    cpu: float


def main(argv: list[str]) -> int:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench git")
    parser.add_argument("--manifests", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(argv)
    print(f"{options.manifests} manifests of 2 KB, median of {options.rounds}; CPU s, wall s in brackets")
    for share in (0.01, 0.1, 1.0):
        _compare_writers(options.manifests, share, options.rounds)
    _read_files(10_000, options.rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process: {peak:.0f} MB")
    return 0


def _compare_writers(manifests: int, share: float, rounds: int) -> None:
    ours, theirs, size = [], [], 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            head, cost, size = _written_by_us(Path(folder) / "ours", manifests, share)
            ours.append(cost)
            imported, cost = _written_by_fast_import(Path(folder) / "theirs", manifests, share)
            theirs.append(cost)
            assert head == imported, "the two writers disagree"
    mine, other = _median(ours), _median(theirs)
    print(
        f"write, {share:4.0%} distinct: own pack {mine.cpu:6.2f} ({mine.wall:.2f})  fast-import {other.cpu:6.2f} "
        f"({other.wall:.2f})  ratio {other.cpu / mine.cpu:4.1f}x  {size / 1e6:.1f} MB"
    )


def _distribution(manifests: int, share: float) -> Iterator[list[int]]:
    """Yield for each cluster the replicas of each template; ``share`` of them are of that cluster alone."""
    chance = random.Random(7)
    for cluster in range(manifests // _TEMPLATES):
        yield [cluster + 2 if chance.random() < share else 1 for _ in range(_TEMPLATES)]


def _segments() -> list[tuple[bytes, bytes]]:
    chance = random.Random(11)
    words = [b"name: %06d\n" % chance.randrange(10**6) for _ in range(4000)]
    return [
        (
            b"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%d\nspec:\n  replicas: " % number,
            b"\n" + b"".join(chance.choices(words, k=155)),
        )
        for number in range(_TEMPLATES)
    ]


def _written_by_us(folder: Path, manifests: int, share: float) -> tuple[str, Cost, int]:
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    segments = _segments()
    with _measured() as cost:
        blobs: dict[bytes, Spliced] = {}
        trees: dict[bytes, bytes] = {}
        ids = [SplicedIds(pair) for pair in segments]
        names = [b"app-%d.yaml" % number for number in range(_TEMPLATES)]
        known: dict[tuple[int, int], bytes] = {}
        top = []
        for cluster, replicas in enumerate(_distribution(manifests, share)):
            entries = []
            for number, count in enumerate(replicas):
                id_ = known.get((number, count))
                if id_ is None:
                    id_ = known[number, count] = ids[number].id_of((count,))
                    blobs[id_] = Spliced(segments[number], (count,))
                entries.append(TreeEntry(names[number], BLOB_MODE, id_))
            top.append(TreeEntry(b"cluster-%d" % cluster, TREE_MODE, _tree(trees, entries)))
        data = f"tree {_tree(trees, top).hex()}\nauthor {_WHO}\ncommitter {_WHO}\n\nm\n".encode()
        head = git_object_id("commit", data)
        pack = write_pack(folder / "objects/pack", blobs=blobs, trees=trees, commits={head: data})
    assert pack is not None
    return head.hex(), cost(), pack.stat().st_size


def _tree(trees: dict[bytes, bytes], entries: list[TreeEntry]) -> bytes:
    data = encode_tree(entries)
    id_ = git_object_id("tree", data)
    trees[id_] = data
    return id_


def _written_by_fast_import(folder: Path, manifests: int, share: float) -> tuple[str, Cost]:
    """Write the same through git, telling it each blob once and then by mark: its fastest way."""
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    segments = _segments()
    with _measured() as cost:
        stream: list[bytes] = []
        changes: list[bytes] = []
        marks: dict[tuple[int, int], int] = {}
        for cluster, replicas in enumerate(_distribution(manifests, share)):
            for number, count in enumerate(replicas):
                mark = marks.get((number, count))
                if mark is None:
                    mark = marks[number, count] = len(marks) + 1
                    data = b"%s%d%s" % (segments[number][0], count, segments[number][1])
                    stream.append(b"blob\nmark :%d\ndata %d\n%s\n" % (mark, len(data), data))
                changes.append(b"M 100644 :%d cluster-%d/app-%d.yaml\n" % (mark, cluster, number))
        commit = b"commit refs/heads/main\ncommitter %s\ndata 2\nm\n\n" % _WHO.encode()
        command = ["git", "-C", str(folder), "fast-import", "--quiet"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.writelines((*stream, commit, *changes))
    command = ["git", "-C", str(folder), "rev-parse", "main"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), cost()


def _read_files(files: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
        opened = open_repository(folder)
        segments = _segments()
        blobs = {}
        for number in range(files):
            data = b"%s%d%s" % (segments[number % _TEMPLATES][0], number, segments[number % _TEMPLATES][1])
            blobs[git_object_id("blob", data)] = data
        entries = [TreeEntry(b"%d.yaml" % number, BLOB_MODE, id_) for number, id_ in enumerate(blobs)]
        data = encode_tree(entries)
        tree = git_object_id("tree", data)
        commit = opened.commit_tree(tree, (), "m", {}, time=1)
        opened.store(blobs=blobs, trees={tree: data}, commits=[commit])
        opened.update_ref("refs/heads/main", commit.id, None)
        print(f"read {files} files:", _line(rounds, "snapshot", lambda: opened.snapshot(commit.id)), end="  ")
        print(_line(rounds, "contents", lambda: opened.read_blobs(blobs)), end="  ")
        print(_line(rounds, "which are stored already", lambda: opened.store(blobs=blobs)))
        print("no-op:", _line(rounds, "1000 refs read", lambda: [_tip(folder) for _ in range(1000)]), end="  ")
        print(_process(rounds, "process", "pass"), end="  ")
        print(_process(rounds, "that reads a ref", _NOOP.format(folder=str(folder))))


_NOOP = """
from pathlib import Path
from reconciler.repository import find_repository, read_ref_fast
read_ref_fast(find_repository(Path({folder!r})).git_dir, "refs/heads/main")
"""


def _tip(folder: Path) -> str | None:
    return read_ref_fast(folder, "refs/heads/main")


def _process(rounds: int, name: str, script: str) -> str:
    return _line(rounds * 3, name, lambda: subprocess.run([sys.executable, "-c", script], check=True))


def _line(rounds: int, name: str, work: Callable[[], object]) -> str:
    costs = []
    for _ in range(rounds):
        with _measured() as cost:
            work()
        costs.append(cost())
    median = _median(costs)
    return f"{name} {median.cpu * 1e3:.1f} ms ({median.wall * 1e3:.1f})"


def _median(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


@contextmanager
def _measured() -> Iterator[Callable[[], Cost]]:
    """Measure a block; what is yielded tells its cost once it has ended."""
    ended: list[Cost] = []
    begun = _spent()
    yield lambda: Cost(ended[0].wall - begun.wall, ended[0].cpu - begun.cpu)
    ended.append(_spent())


def _spent() -> Cost:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Cost(time.perf_counter(), sum(each.ru_utime + each.ru_stime for each in usage))
