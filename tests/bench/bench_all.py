"""All benchmarks that have figures, in one report: each scenario with its bar, and what a peer publishes beside it.

Every scenario runs in a process of its own, with the time of a fixed loop before and after it. ``--write FOLDER``
writes the report, a page and a drawing of growth. ``--given REPORT --add REPORT`` puts the figures of one report into
another, so that what is measured now and then stands beside what is measured often.

``--compare REPORT`` says what has become slower since another report, which may be from another machine, and fails
where something takes 1.5 times as much of its time. A machine that others use may have been slow just then: what seems
to be slower is measured again, twice at most, and counts by the best of its turns.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.kubernetes import programs
from tests.members.program import is_built

from .bench_apply import ROOT, compile_modules, environment
from .figures import Figure, figures_in
from .growth_drawing import drawing_of_growth
from .machine import seconds_of_loop, this_machine
from .page import page_of
from .report import Report, Run, compared, lower_of_both
from .scenarios import IMITATED, SCENARIOS, SERVERS, Scenario

REPORT, PAGE, DRAWING = "report.json", "README.md", "growth.svg"
_PROGRAM = ("render", "overrides", "reconciler")
_MORE_LOOKS = 2


def main(arguments: Sequence[str]) -> int:
    """Run scenarios; 1 where one could not run, keeps no bar or, with ``--compare``, is slower than before."""
    parser = _parser()
    options = parser.parse_args(arguments)
    chosen = [each for each in SCENARIOS if _is_chosen(each, options)]
    if options.list:
        print(*(each.words for each in chosen), sep="\n")
        return 0
    report = Report.read(options.given) if options.given else _measured(chosen, options)
    try:
        for path in options.add:
            report = report.with_runs_of(Report.read(path))
    except ValueError as error:
        parser.error(str(error))
    _keep(report, options)
    told = sys.stderr if options.json == "-" else sys.stdout
    for name, reason in report.failed.items():
        print(f"{name}: {reason}", file=told)
    if options.compare:
        return _told_steps(report, options) or min(len(report.failed), 1)
    for each in report.missed:
        print(f"{each.scenario}: {each.measure}: {each.value:g} {each.unit}, {each.verdict}", file=told)
    return 1 if report.missed or report.failed else 0


def _keep(report: Report, options: argparse.Namespace) -> None:
    """Print or write a report as it is asked for."""
    if options.json == "-":
        print(report.text(), end="")
    elif options.json:
        Path(options.json).write_text(report.text(), encoding="utf-8")
    if options.write:
        write(report, options.write)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench all", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="WORDS", help="scenarios with these words")
    parser.add_argument("--quick", action="store_true", help="a few small scenarios, in a few minutes")
    parser.add_argument("--list", action="store_true", help="print the scenarios, and run none")
    parser.add_argument(
        "--json", nargs="?", const="-", default="", metavar="FILE", help="write the report, or print it"
    )
    parser.add_argument("--resume", action="store_true", help="run only what FILE lacks")
    parser.add_argument("--patience", type=float, default=1.0, metavar="TIMES", help="on a busy machine, wait longer")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the report, a page and a drawing there")
    parser.add_argument("--compare", type=Path, metavar="REPORT", help="fail where something takes 1.5 times as much")
    parser.add_argument("--given", type=Path, metavar="REPORT", help="measure nothing; take this report")
    parser.add_argument(
        "--add", type=Path, action="append", default=[], metavar="REPORT", help="put its figures in place of older ones"
    )
    return parser


def _is_chosen(scenario: Scenario, options: argparse.Namespace) -> bool:
    return (scenario.is_quick or not options.quick) and all(words in scenario.words for words in options.only)


def write(report: Report, folder: Path) -> None:
    """Write a report, its page and its drawing."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {REPORT: report.text(), PAGE: page_of(report), DRAWING: drawing_of_growth(report.figures_there)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _measured(chosen: Sequence[Scenario], options: argparse.Namespace) -> Report:
    """Run scenarios one after the other, each beside the fixed loop; with a file, the report is there after each."""
    compile_modules()
    is_shown, path = options.json == "-", Path(options.json)
    known = Report.read(path) if options.resume and path.is_file() else Report(machine=this_machine())
    runs = {run.words: run for run in known.runs if not run.failed}
    print(known.machine, file=sys.stderr)
    for scenario in chosen:
        if scenario.words not in runs:
            patient = scenario._replace(seconds=int(options.patience * scenario.seconds))
            runs[scenario.words] = _run(patient, is_shown=not is_shown)
            known = Report(machine=known.machine, runs=tuple(runs.values()))
            if options.json and not is_shown:
                path.write_text(known.text(), encoding="utf-8")
    return known


def _run(scenario: Scenario, *, is_shown: bool) -> Run:
    begun, begun_at = time.monotonic(), datetime.now(UTC)
    loop = seconds_of_loop()
    figures, reason = _figures_of(scenario, is_shown=is_shown)
    return Run(
        words=scenario.words,
        commit=_commit(),
        begun=begun_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(time.monotonic() - begun),
        loop=round((loop + seconds_of_loop()) / 2, 4),
        load=round(os.getloadavg()[0], 1),
        figures=tuple(figures),
        failed=reason,
    )


def _figures_of(scenario: Scenario, *, is_shown: bool) -> tuple[list[Figure], str]:
    """Run a scenario; return its figures, and why there are not all of them."""
    lacking = _lacks(scenario)
    if lacking:
        return [], f"needs {lacking}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures"
        command = [sys.executable, "-m", "tests.bench", *scenario.words.split(), "--figures", str(path)]
        out = None if is_shown else sys.stderr
        try:
            code = subprocess.run(
                command, cwd=ROOT, env=environment(), timeout=scenario.seconds, stdout=out, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            return list(figures_in(path)), f"took longer than {scenario.seconds} s"
        found = list(figures_in(path))
        is_whole = code == (0 if all(each.is_met for each in found) else 1) and bool(found)
        return found, "" if is_whole else f"ended with code {code}"


def _lacks(scenario: Scenario) -> str:
    """Return what is not there that a scenario needs."""
    is_there = {"": True, SERVERS: programs.installed("kube-apiserver") is not None, IMITATED: is_built()}
    return "" if is_there[scenario.needs] else scenario.needs


def _told_steps(report: Report, options: argparse.Namespace) -> int:
    """Print what has become slower, and by how much everything has changed; 1 where something is a step."""
    before = Report.read(options.compare)
    found = {each.key: each for each in compared(report, before)}
    for _ in range(0 if options.given else _MORE_LOOKS):
        doubted = {each.figure.scenario for each in found.values() if each.is_step}
        if doubted:
            print(f"measured again, since they seem to be slower: {', '.join(sorted(doubted))}")
            words = {run.words for run in report.runs if doubted & {each.scenario for each in run.figures}}
            again = _measured([each for each in SCENARIOS if each.words in words], _without_files(options))
            found = lower_of_both(found, {each.key: each for each in compared(again, before)})
    for each in sorted(found.values(), key=lambda each: -each.times):
        print(f"{'SLOWER ' if each.is_step else '       '}{each}")
    steps = sum(each.is_step for each in found.values())
    print(f"{len(found)} figures compared, {steps} of them are a step")
    return 1 if steps or not found else 0


def _without_files(options: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), "json": "", "resume": False})


def _commit() -> str:
    """Return the last commit that changed the program, "" where it is changed and not committed."""
    if _git("status", "--porcelain", "--", *_PROGRAM):
        return ""
    return _git("log", "-1", "--format=%H", "--", *_PROGRAM)


def _git(*words: str) -> str:
    command = ["git", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
