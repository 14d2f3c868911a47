"""The scenarios that ``python -m tests.bench all`` runs: which benchmark with which arguments, and for how long.

Those of a ``curve`` are the points of the drawing of growth: the smaller ones cost little, and say how a figure grows.
The quick ones together take a few minutes; ``make bench-smoke`` runs these.
"""

from typing import NamedTuple

SERVERS = "real API servers (python -m tests.kubernetes builds them)"
IMITATED = "the program of tests/members (python -m tests.kubernetes builds it)"


class Scenario(NamedTuple):
    """A run of a benchmark: its name and arguments, the seconds that it may take, and what it needs."""

    words: str
    seconds: int = 600
    is_quick: bool = False
    needs: str = ""


def _rendered(
    shape: str, clusters: int, templates: int, runs: int, seconds: int = 600, *, is_quick: bool = False
) -> Scenario:
    words = f"render --shape {shape} --clusters {clusters} --templates {templates} --runs {runs}"
    return Scenario(words, seconds, is_quick)


SCENARIOS: tuple[Scenario, ...] = (
    _rendered("shared", 300, 100, 3, is_quick=True),
    _rendered("beside", 50, 200, 3, is_quick=True),
    _rendered("distinct", 50, 100, 3, is_quick=True),
    _rendered("shared", 1000, 10, 3),
    _rendered("shared", 1000, 100, 3),
    _rendered("shared", 10, 1000, 3),
    _rendered("shared", 100, 1000, 3),
    _rendered("shared", 1000, 1000, 5),
    _rendered("scattered", 1000, 1000, 3),
    _rendered("beside", 300, 1000, 5),
    _rendered("distinct", 1000, 1000, 1, 1800),
    _rendered("shared", 10_000, 1000, 1, 1800),
    _rendered("shared", 1000, 10_000, 1, 3600),
    Scenario("losses --runs 3", 1200),
    Scenario("rollouts", 900),
    Scenario("agent", 900),
    Scenario("repository passes", 7200),
    Scenario("repository history", 3600),
    Scenario("interrupted kills --seconds 2400", 3600),
    Scenario("interrupted kills --clusters 1000 --templates 1000 --times 10 --seconds 900", 1800),
    Scenario("interrupted full read-only --times 20", 2400),
    Scenario("backtest", 1200),
    Scenario("past", 1200),
    Scenario("pages", 900),
    Scenario("fleet change --members 100", 900, needs=IMITATED),
    Scenario("fleet change --members 1000", 3600, needs=IMITATED),
    Scenario("fleet change --members 100 --apps 1000 --parts 1 --changed 1000 --spread 10", 3600, needs=IMITATED),
    Scenario("fleet first --members 500 --apps 100 --parts 1", 3600, needs=IMITATED),
    Scenario("fleet shards --members 100 --apps 100 --changed 10", 1800, needs=IMITATED),
    Scenario("day", 3600, needs=IMITATED),
    Scenario("host", 3600),
    Scenario("run push", 1200, needs=SERVERS),
    Scenario("run storm", 900),
    Scenario("run long", 900),
    Scenario("run idle", 1800, needs=SERVERS),
)
