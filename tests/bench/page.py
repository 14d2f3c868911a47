"""The page of a report: what everything costs, on which machine, with its bar and what peers publish beside it."""

from collections.abc import Iterator
from itertools import groupby

from .figures import TIMES, Figure, amount
from .machine import LOOP_OF_BARS, Machine
from .report import Report, Run

_HEAD = """\
# What it costs

This page is made by a program, of figures that it measured on one machine. They are of whole commands, from start to \
exit, with all processes that these begin. CPU seconds count, because other work on the same machine changes them least.

**The machine.** {machine}. The figures are of {begun}, and took {minutes} minutes; each table \
names the commit that it is of.

**Bars.** *Must* is the most that a figure may be, *aim* the most that it should be. Their seconds are those of a \
quiet machine on which a fixed loop takes {reference} s of CPU; here it takes {loop} s, and this machine is {slower}. \
*There* is what a time would be on that machine, by the loop that ran beside its scenario. A bar is kept where that is \
no more than it must be.

**Peers.** What others publish of something like it, with the shape that they give. Nobody measured it on this \
machine, and their figures count delivery, too.

```sh
make bench ARGS='all --write examples/what-it-costs'   # all of this again
make bench-smoke                                       # a few minutes: has something become 1.5 times as slow?
```

## How rendering grows

![CPU seconds of a pass over clusters and over templates](growth.svg)

Fleets of this drawing share most of their results among clusters, as most fleets do. `distinct`, below, is a fleet in \
which no two clusters get the same.
"""
_TABLE = "| measure | here | there | must | aim | kept |\n|---|---|---|---|---|---|\n"


def page_of(report: Report) -> str:
    """Return the page of a report."""
    machine = report.machine
    head = _HEAD.format(
        machine=machine,
        begun=" to ".join(sorted({run.begun[:10] for run in report.runs})),
        minutes=f"{sum(run.seconds for run in report.runs) / 60:.0f}",
        reference=amount(LOOP_OF_BARS),
        loop=amount(machine.loop),
        slower=_speed(machine),
    )
    parts = "".join(_section(run, name, figures) for run in report.runs for name, figures in _by_scenario(run))
    return head + parts + "".join(_failures(report))


def _by_scenario(run: Run) -> Iterator[tuple[str, list[Figure]]]:
    for name, figures in groupby(run.figures, lambda each: each.scenario):
        yield name, [*figures]


def _speed(machine: Machine) -> str:
    times = machine.loop / LOOP_OF_BARS
    return f"{amount(times)} times as slow" if times >= 1 else f"{amount(1 / times)} times as fast"


def _section(run: Run, name: str, figures: list[Figure]) -> str:
    times = run.loop / LOOP_OF_BARS
    rows = "".join(_row(each, times) for each in figures)
    peers = "".join(f"\n* {each.measure}: {each.peer}" for each in figures if each.peer)
    made = f"`{run.words}`, commit `{run.commit[:12]}`, {run.begun[:16].replace('T', ' ')} UTC"
    return f"\n## {name[0].upper()}{name[1:]}\n\n{made}\n\n{_TABLE}{rows}" + (f"{peers}\n" if peers else "")


def _row(each: Figure, times: float) -> str:
    there = each.value / times if each.unit in TIMES else each.value
    bars = ("" if bar is None else amount(bar) for bar in (each.must, each.aim))
    kept = "" if each.must is None else "yes" if there <= each.must else "**no**"
    cells = (each.measure, f"{amount(each.value)} {each.unit}".strip(), amount(there), *bars, kept)
    return f"| {' | '.join(cells)} |\n"


def _failures(report: Report) -> Iterator[str]:
    """Yield what could not be measured, if there is something."""
    if report.failed:
        yield "\n## What is not here\n\n"
        yield from (f"* `{name}`: {reason}\n" for name, reason in report.failed.items())
