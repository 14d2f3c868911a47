"""The page of a report: what everything costs, on which machine, with its bar and what peers publish beside it."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from .bars import BARS
from .figures import Figure, amount
from .machine import LOOP_OF_BARS
from .report import Report, Run

_HEAD = """\
# What it costs

This page is made by a program, of figures that it measured on one machine. A figure is of whole commands, from start \
to exit, with all processes that these begin, unless it says otherwise. CPU seconds count, because other work on the \
same machine changes them least; where only the clock can tell, it says s instead of CPU s.

**The machine.** {machine}. Not everything is measured at once: above each table stand the last commit that changed \
the program before it was measured, the hour, and how busy and how fast the machine was then. The figures are of \
{begun}.

**Bars.** *Must* is the most that a figure may be, *aim* the most that it should be. Their seconds are those of a \
quiet machine on which a fixed loop takes {reference} s of CPU. *Here* is what was measured, and *there* what a time \
would be on that machine, by the loop that ran beside its scenario: an estimate, since two machines are not equally \
fast at everything. A bar is kept (*yes*) where both are no more than it must be; *there* says that only the estimate \
is, and **no** that neither is. A figure without a bar is there to be compared with later ones.

**Peers.** What others publish of something like it, with the shape that they give. Nobody measured it on this \
machine, and their figures count delivery, too.

```sh
make bench ARGS='all --json report.json'    # measure all of this, in some hours; --resume goes on after an end
make bench ARGS='all --given examples/what-it-costs/report.json --add report.json --write examples/what-it-costs'
make bench-smoke                            # a few minutes: has something become 1.5 times as slow?
```
"""
_TABLE = "| measure | here | there | must | aim | kept | remark |\n|---|---|---|---|---|---|---|\n"
_MISSED = "| scenario | measure | there | must | times |\n|---|---|---|---|---|\n"


class Group(NamedTuple):
    """Scenarios that belong together: the first words of their names, a heading and what has to be known of them."""

    words: tuple[str, ...]
    heading: str
    about: str


GROUPS = (
    Group(
        ("render",),
        "Rendering",
        """\
A pass reads the source, decides where everything goes, and commits what each cluster gets. Of N clusters and M \
templates it renders N times M manifests, from sources in which

* `shared`: a template is the same in all clusters of a class, and there are twelve classes, by overrides,
* `scattered`: one policy in ten divides replicas by the weight of each cluster, so that a tenth of all is distinct,
* `distinct`: every template does, so that hardly two clusters get the same,
* `beside`: each template has a policy of its own, in its own file.

*Cold* is the first pass, without any cache. *Fresh clone* is a pass over a changed template in a new clone, which has \
no cache either, but all former commits. All others go on from a pass before.

![CPU seconds of a pass over clusters and over templates](growth.svg)

The drawing is of `shared`, at the speed of the machine of the bars.""",
    ),
    Group(
        ("fleet", "day", "host", "agent", "run"),
        "Delivery",
        """\
A push to a Git repository goes to members under `argosy run`, or to agents. Members of `fleet` and `day` are imitated \
by one process beside it, which answers as Kubernetes does; its CPU is not counted, but it has the same cores, so that \
time on the clock contains it. Members of `run` are real API servers.""",
    ),
    Group(
        ("repository", "past", "backtest"),
        "A repository that grows",
        """\
Thousands of passes over the same fleet, or passes over a history of thousands of rendered commits.""",
    ),
    Group(
        ("interrupted",),
        "Passes that are interrupted",
        """\
Passes that are killed (`kill -9`) while they work, or that find a full or a read-only disk. A fault is a branch that \
is neither where it was nor at the next commit, anything that `git fsck` finds, a next pass that does not come to its \
end, or another tree than a pass over everything has.""",
    ),
    Group(
        ("pages", "losses", "rollouts"),
        "Pages, losses and rollouts",
        "What the web pages of a fleet cost, the question of what a loss would do, and rollouts that are under way.",
    ),
)


def page_of(report: Report) -> str:
    """Return the page of a report."""
    head = _HEAD.format(
        machine=report.machine,
        begun=" to ".join(dict.fromkeys((_first_day(report), _last_day(report)))),
        reference=amount(LOOP_OF_BARS),
    )
    sections = [(run, name, figures) for run in report.runs for name, figures in _by_scenario(run)]
    parts = [head, *_bars(report)]
    for group in (*GROUPS, Group((), "Others", "")):
        found = [each for each in sections if _group_of(each[1]) == group.heading]
        if found:
            parts.append(f"\n## {group.heading}\n" + (f"\n{group.about}\n" if group.about else ""))
            parts += [_section(*each) for each in found]
    return "".join(parts) + "".join(_failures(report))


def _first_day(report: Report) -> str:
    return min((run.begun[:10] for run in report.runs), default="no day")


def _last_day(report: Report) -> str:
    return max((run.begun[:10] for run in report.runs), default="no day")


def _group_of(scenario: str) -> str:
    first = scenario.split(maxsplit=1)[0].rstrip(",")
    return next((each.heading for each in GROUPS if first in each.words), "Others")


def _by_scenario(run: Run) -> Iterator[tuple[str, list[Figure]]]:
    for name, figures in groupby(run.figures, lambda each: each.scenario):
        yield name, [*figures]


def _bars(report: Report) -> Iterator[str]:
    """Yield how many bars are kept, and those that are not, the worst first."""
    barred = [each for each in report.figures_there if each.must is not None]
    if barred:
        missed = sorted(report.missed, key=lambda each: -_times(each))
        yield f"\n## Bars: {len(barred) - len(missed)} of {len(barred)} kept\n"
        rows = "".join(_row_of_missed(each) for each in missed)
        yield f"\nThese are not:\n\n{_MISSED}{rows}" if missed else ""


def _times(figure: Figure) -> float:
    return figure.value / figure.must if figure.must else float("inf")


def _row_of_missed(each: Figure) -> str:
    times = amount(_times(each)) if each.must else ""
    cells = (each.scenario, each.measure, _quantity(each), amount(each.must or 0), times)
    return f"| {' | '.join(cells)} |\n"


def _quantity(figure: Figure) -> str:
    return f"{amount(figure.value)} {figure.unit}".strip()


def _section(run: Run, name: str, figures: list[Figure]) -> str:
    rows = "".join(_row(run, each) for each in figures)
    peers = "".join(f"\n* {each.measure}: {each.peer}" for each in figures if each.peer)
    return f"\n### {name[0].upper()}{name[1:]}\n\n{_origin(run)}\n\n{_TABLE}{rows}" + (f"{peers}\n" if peers else "")


def _origin(run: Run) -> str:
    """Return what was run, when, of which commit, and how the machine was."""
    load = "load not noted" if run.load is None else f"load {run.load:.1f}"
    when = f"{run.begun[:16].replace('T', ' ')} UTC, {_in_minutes(run.seconds)}"
    commit = f"commit `{run.commit[:12]}`" if run.commit else "a program that was not committed"
    return f"`{run.words}`, {commit}, {when}; {load}, {_speed(run.slowness)}"


def _in_minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _speed(times: float) -> str:
    return f"{amount(times)} times as slow" if times >= 1 else f"{amount(1 / times)} times as fast"


def _row(run: Run, each: Figure) -> str:
    there = run.there(each)
    bars = ("" if bar is None else amount(bar) for bar in (each.must, each.aim))
    cells = (each.measure, _quantity(each), amount(there.value), *bars, _kept(each, there), each.remark)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"


def _kept(here: Figure, there: Figure) -> str:
    """Return whether a bar is kept, "" where there is none."""
    if here.must is None:
        return ""
    return "**no**" if not there.is_met else "yes" if here.is_met else "there"


def _failures(report: Report) -> Iterator[str]:
    """Yield what could not be measured, and the scenarios with a bar that were not."""
    measured = {each.scenario for each in report.figures}
    unmeasured = [name for name in BARS if name not in measured]
    if report.failed or unmeasured:
        yield "\n## What is not here\n\n"
        yield from (f"* `{name}`: {reason}\n" for name, reason in report.failed.items())
        yield from (f"* {name}: has bars, and was not measured\n" for name in unmeasured)
