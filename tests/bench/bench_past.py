"""History and blame of one object over 10,000 rendered commits, 200 objects and 50 clusters: the whole commands.

As in ``bench_backtest`` nobody runs 10,000 passes: one renders the fleet, and this benchmark writes what passes would
have committed for an image after the other. Seconds of CPU count, for they are the same on a machine that is shared.

The newest twenty changes and a blame have their bars. All changes ask for every commit to be compared with the one
before: that takes git itself two seconds (``git log --raw`` with the same paths, on the machine on which history takes
2.7), which is the floor of reading a hundred thousand trees. What is above it has a bar, too.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from reconciler.repository import open_repository
from render.timing import instant_text
from tests.backtesting import commit_at
from tests.build import Repository
from tests.simulation import BEGIN

from .bench_backtest import History, LivedFleet, measured, run, source_of, workload_file
from .figures import CPU, Figure, figure

_OBJECT = "deploy/app0007"


class Question(NamedTuple):
    """A question, the command that answers it, and the number of changes that it has to find."""

    what: str
    words: tuple[str, ...]
    least: int


def lived_fleet(folder: Path, given: argparse.Namespace) -> Repository:
    """A repository in which so many images changed, each by a source commit and a rendered one."""
    made = Repository.create(folder / "fleet")
    commit_at(made, source_of(given.clusters, given.objects), BEGIN)
    run(made.path, "-q", "reconcile", "--bootstrap", "--now", instant_text(BEGIN + timedelta(minutes=1)))
    rng = random.Random(given.seed)
    with open_repository(str(made.path)) as repository:
        fleet = LivedFleet(history=History(repository=repository), rng=rng, names=[])
        source, rendered = map(fleet.history.branch, ("main", "argosy/rendered"))
        for number in range(1, given.commits):
            at, app = BEGIN + timedelta(hours=1, minutes=number), rng.randrange(given.objects)
            commit = fleet.history.commit(source, workload_file(app, f"app:{number}"), at, f"Image {number}")
            fleet.render(rendered, commit, app, b"app:%d" % number, at)
        fleet.history.write(source, rendered)
    made.git("reset", "-q", "--hard")
    if given.gc:
        made.git("gc", "-q")
    return made


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield what each question takes."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench past")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--objects", type=int, default=200)
    parser.add_argument("--clusters", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gc", action="store_true", help="measure what git gc leaves")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="", metavar="FOLDER", help="make the repository there, and leave it")
    given = parser.parse_args(arguments)
    questions = (
        Question("the newest changes of an object", ("history", _OBJECT), 20),
        Question(
            "all changes of an object",
            ("history", _OBJECT, "--limit", "0"),
            given.commits // given.objects // 2,
        ),
        Question("blame of an object", ("blame", _OBJECT), 1),
    )
    scenario = f"past, {given.commits} rendered commits, {given.objects} objects x {given.clusters} clusters"
    with tempfile.TemporaryDirectory() as name:
        made = lived_fleet(Path(given.keep or name), given)
        for each in questions:
            yield _figure_of_answer(scenario, made, each, given.runs)


def _figure_of_answer(scenario: str, made: Repository, question: Question, runs: int) -> Figure:
    """Ask several times, and return the fewest seconds that an answer took."""
    taken = []
    for _ in range(runs):
        out, took = measured(made.path, *question.words, "-o", "json")
        found = json.loads(out)
        count = len(found.get("events", found.get("clusters", ())))
        if count < question.least:
            sys.exit(f"argosy {' '.join(question.words)} finds {count}, and not {question.least}")
        taken.append(took)
    best = min(taken, key=lambda each: each.cpu)
    return figure(scenario, question.what, best.cpu, CPU, remark=f"{count} found, {best}")
