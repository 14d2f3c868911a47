"""A report: the figures of all scenarios with the machine they are from, and what became slower since another one.

The scenarios of a report may be of different commits and hours, each beside a fixed loop that says how fast the machine
was then: some are measured only now and then. ``with_runs_of`` puts newer ones in the places of older ones.

Two reports may be from two machines. So seconds are never compared: a figure is compared by what it is of a fixed loop,
which ran beside its scenario, and of another measure of the same scenario. It has become slower where it has by all of
them: a pass over a change is not slower because the cold pass beside it became faster.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, json
from msgspec.structs import replace

from .figures import TIMES, Figure
from .machine import LOOP_OF_BARS, Machine

STEP = 1.5
_LEAST = 0.02
"""Seconds below which a time says too little to be compared."""


class Run(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A scenario as it was run: its figures, or the reason why they are not all there.

    ``commit`` is the last one that changed the program ("": it was changed and not committed). ``loop`` has the CPU
    seconds of the fixed loop beside it, and ``load`` how many processes wanted a core at the end (None: nobody looked).
    """

    words: str
    commit: str
    begun: str
    seconds: float
    loop: float
    load: float | None = None
    figures: tuple[Figure, ...] = ()
    failed: str = ""

    @property
    def slowness(self) -> float:
        """The time that anything took, times that on the machine of the bars."""
        return self.loop / LOOP_OF_BARS

    def there(self, figure: Figure) -> Figure:
        """Return a figure as it would be on the machine of the bars."""
        return replace(figure, value=figure.value / self.slowness) if figure.unit in TIMES else figure


class Report(Struct, frozen=True, kw_only=True):
    """The runs of scenarios on a machine, in their order."""

    machine: Machine
    runs: tuple[Run, ...] = ()

    @classmethod
    def read(cls, path: Path) -> "Report":
        return json.decode(path.read_bytes(), type=cls)

    def text(self) -> str:
        """Return the file of the report."""
        return json.format(json.encode(self), indent=1).decode() + "\n"

    def with_runs_of(self, other: "Report") -> "Report":
        """Return this report with the runs of a newer one: a figure of both is the newer one's.

        ValueError where the other is from another machine, since a report is from one.
        """
        if not other.machine.is_like(self.machine):
            raise ValueError(f"one report is of {self.machine}, the other of {other.machine}")
        newer = {(each.scenario, each.measure) for run in other.runs for each in run.figures}
        kept = []
        for run in self.runs:
            figures = tuple(each for each in run.figures if (each.scenario, each.measure) not in newer)
            is_repeated = run.words in {each.words for each in other.runs if not each.failed}
            if figures or (run.failed and not is_repeated):
                kept.append(replace(run, figures=figures))
        measured = (run for run in other.runs if run.figures or run.failed)
        return replace(self, runs=(*kept, *measured))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of all runs."""
        return tuple(each for run in self.runs for each in run.figures)

    @property
    def figures_there(self) -> tuple[Figure, ...]:
        """The figures as they would be on the machine of the bars."""
        return tuple(run.there(each) for run in self.runs for each in run.figures)

    @property
    def loops(self) -> Mapping[str, float]:
        """CPU seconds of the fixed loop beside each scenario."""
        return {each.scenario: run.loop for run in self.runs for each in run.figures}

    @property
    def failed(self) -> Mapping[str, str]:
        """The scenarios that could not be measured, with the reason."""
        return {run.words: run.failed for run in self.runs if run.failed}

    @property
    def missed(self) -> tuple[Figure, ...]:
        """The figures, as they would be on the machine of the bars, that do not keep theirs."""
        return tuple(each for each in self.figures_there if not each.is_met)


class Comparison(NamedTuple):
    """A figure of two reports, and how many times as much it has become by what it is compared with."""

    figure: Figure
    before: Figure
    times: float

    @property
    def key(self) -> tuple[str, str]:
        return self.figure.scenario, self.figure.measure

    @property
    def is_step(self) -> bool:
        return self.times >= STEP

    def __str__(self) -> str:
        name = f"{self.figure.scenario}: {self.figure.measure}"
        return f"{self.times:5.2f} times  {name}: {self.before.value:g} {self.before.unit}, now {self.figure.value:g}"


def compared(now: Report, before: Report) -> Iterator[Comparison]:
    """Yield each figure that both reports have and that can be compared, with how much it has become."""
    known = {(each.scenario, each.measure): each for each in before.figures}
    for each in now.figures:
        other = known.get((each.scenario, each.measure))
        if other is not None and other.unit == each.unit and _says_enough(each, other):
            shares = list(_shares(each, now, other, before))
            if shares:
                yield Comparison(each, other, min(shares))


def lower_of_both(
    one: Mapping[tuple[str, str], Comparison], other: Mapping[tuple[str, str], Comparison]
) -> dict[tuple[str, str], Comparison]:
    """Return each comparison of one look, or that of another look where that is lower."""
    return {key: min(each, other.get(key, each), key=lambda found: found.times) for key, each in one.items()}


def _says_enough(each: Figure, other: Figure) -> bool:
    scale = 0.001 if "ms" in each.unit else 1.0
    return each.unit not in TIMES or max(each.value, other.value) * scale >= _LEAST


def _shares(each: Figure, now: Report, other: Figure, before: Report) -> Iterator[float]:
    """Yield how many times as much a figure is, by each thing that it can be compared with."""
    if each.unit not in TIMES:
        # What was nothing has become more by any number: one thing where there was none is a step.
        yield each.value / other.value if other.value else 1.0 + STEP * (each.value > 0)
        return
    loops = now.loops.get(each.scenario), before.loops.get(other.scenario)
    if loops[0] and loops[1] and other.value:
        yield (each.value / loops[0]) / (other.value / loops[1])
    beside = _beside(now, each), _beside(before, each)
    if beside[0] and beside[1] and other.value:
        yield (each.value / beside[0]) / (other.value / beside[1])


def _beside(report: Report, of: Figure) -> float | None:
    """Return the measure of a report that a figure is told beside, which may be a figure of another report."""
    found = (each for each in report.figures if (each.scenario, each.measure) == (of.scenario, of.beside))
    return next((each.value for each in found), None)
