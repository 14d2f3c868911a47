"""The time for which slow members are waited for: a row for each rule."""

import math
from typing import NamedTuple

import pytest

from reconciler.members.patience import VisitTimes, time_to_stop_waiting

from .tables import each_row

QUICK = VisitTimes(began=10.0, heard=10.1, ended=10.3, is_answered=True)
SLOWER = VisitTimes(began=10.0, heard=10.8, ended=14.0, is_answered=True)
REFUSED = VisitTimes(began=10.0, heard=10.1, ended=30.0)


class Wait(NamedTuple):
    why: str
    visits: tuple[VisitTimes, ...]
    want: float


SILENT, ANSWERING = VisitTimes(began=10.0), VisitTimes(began=10.0, heard=10.2)
FAILED, BACK = VisitTimes(began=10.0, failed_before=True), VisitTimes(began=10.0, heard=10.2, failed_before=True)

WAITS = [
    Wait("nobody is held up as long as nobody is done", (SILENT, ANSWERING), math.inf),
    Wait("a member that is refused is nobody to be held up", (REFUSED, SILENT), math.inf),
    Wait("nobody is waited for when all are done", (QUICK, SLOWER), -math.inf),
    Wait("a silent member has a second in any case", (QUICK, SILENT), 11.0),
    Wait("or twice the time of the slowest first answer", (QUICK, SLOWER, SILENT), 11.6),
    Wait("one that answers has a second in any case", (QUICK, ANSWERING), 11.0),
    Wait("or twice the time of the slowest", (QUICK, SLOWER, ANSWERING), 18.0),
    Wait("one that began later has as much", (QUICK, VisitTimes(began=20.0)), 21.0),
    Wait(
        "one that failed the last time has a quarter of a second",
        (VisitTimes(began=10.0, heard=10.1, ended=10.2, is_answered=True), FAILED),
        10.25,
    ),
    Wait("or as much as the slowest, and no more", (SLOWER, FAILED), 14.0),
    Wait("which is so after its first answer, too", (SLOWER, BACK), 14.0),
    Wait("the most patient rule counts", (SLOWER, FAILED, ANSWERING, SILENT), 18.0),
]


@each_row("case", WAITS, ids=lambda case: case.why)
def test_waiting_ends(case: Wait) -> None:
    assert time_to_stop_waiting(case.visits) == pytest.approx(case.want)


def test_a_caller_may_have_more_patience_with_ordinary_members() -> None:
    assert time_to_stop_waiting([QUICK, SILENT], 5.0) == 15.0
    assert time_to_stop_waiting([SLOWER, FAILED], 5.0) == 14.0
