"""Figures of benchmarks as values: what was measured, the bar that it must keep, and what a peer publishes of the like.

A benchmark that has figures yields them from ``figures(arguments)``. ``python -m tests.bench NAME`` prints each as it
comes, and ``python -m tests.bench all`` gathers those of all.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, json

from .bars import BARS, NO_BAR

SECONDS = "s"
CPU = "CPU s"
MEMORY = "MiB"
BYTES = "B"
TIMES = frozenset({SECONDS, CPU, "CPU ms"})
"""Units that another machine changes."""


class Figure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measure of a scenario: less is better, and ``must`` and ``aim`` are the most that it should be.

    ``beside`` is another measure of the same scenario, which the figure is a share of: a pass over a change beside one
    over everything. It tells a slower machine from a slower program.
    """

    scenario: str
    measure: str
    value: float
    unit: str
    must: float | None = None
    aim: float | None = None
    peer: str = ""
    beside: str = ""
    remark: str = ""

    @property
    def is_met(self) -> bool:
        """Say whether it keeps its bar, as what has none does."""
        return self.must is None or self.value <= self.must

    @property
    def verdict(self) -> str:
        """The bar and whether it is kept, in words; none without a bar."""
        if self.must is None:
            return ""
        aim = "" if self.aim is None else f", aim {amount(self.aim)}"
        return f"{'ok' if self.is_met else 'MORE'}: must {amount(self.must)}{aim}"


def figure(scenario: str, measure: str, value: float, unit: str, *, beside: str = "", remark: str = "") -> Figure:
    """Return a figure with the bar that the table has for it."""
    bar = BARS.get(scenario, {}).get(measure, NO_BAR)
    return Figure(
        scenario=scenario,
        measure=measure,
        value=round(value, 4),
        unit=unit,
        must=bar.must,
        aim=bar.aim,
        peer=bar.peer,
        beside=beside,
        remark=remark,
    )


def amount(value: float) -> str:
    """Return a number as people read it: three digits that say something, and thousands apart.

    >>> [amount(value) for value in (0.1234, 2.345, 45.67, 1234.5, 3, 0)]
    ['0.123', '2.35', '45.7', '1,234', '3', '0']
    """
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{3 if abs(value) < 1 else 2 if abs(value) < 10 else 1}f}"


def told(figures: Iterable[Figure], appended_to: Path | None = None) -> int:
    """Print figures as they come, and append each to a file as a line; 1 where one does not keep its bar."""
    scenario, missed = "", 0
    for each in figures:
        if each.scenario != scenario:
            scenario = each.scenario
            print(scenario)
        print(_line(each), flush=True)
        if appended_to:
            with appended_to.open("ab") as file:
                file.write(json.encode(each) + b"\n")
        missed += not each.is_met
    return min(missed, 1)


def figures_in(path: Path) -> Iterator[Figure]:
    """Yield the figures that were appended to a file, if it is there."""
    for line in path.read_bytes().splitlines() if path.exists() else ():
        yield json.decode(line, type=Figure)


def _line(each: Figure) -> str:
    said = f"  {each.measure:36} {amount(each.value):>9} {each.unit:6}"
    more = "; ".join(part for part in (each.verdict, each.remark) if part)
    return f"{said} {more}".rstrip()
