"""The results of many members that are asked at once, each within its time: one that does not end in it has failed."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from .boundary import result_or_failure
from .exchange import Failure, FailureKind
from .visits import MemberReach, Visits

_GRACE = 2.0
_Result = TypeVar("_Result")


def results_of_members(
    names: Iterable[str], call: Callable[[str], _Result | Failure], reach: MemberReach, *, began: float | None = None
) -> dict[str, _Result | Failure]:
    """Call for every member in a thread of its own; one that does not end in time is left behind.

    They are in the order of the names. The time began at ``began`` on the clock of the reach (None: now).
    """
    asked = list(names)
    visits: Visits[_Result | Failure] = reach.visits(lambda visit: result_or_failure(lambda: call(visit.name)), names)
    outcomes: dict[str, _Result | Failure] = {}
    end = (reach.clock() if began is None else began) + reach.timeout + _GRACE
    while not visits.are_over:
        visit = visits.next_ended_visit(end)
        if visit is not None and visit.result is not None:
            outcomes[visit.name] = visit.result
        if reach.clock() >= end:
            for name in (*visits.under_way, *visits.waiting):
                outcomes[name] = _failure_of_overdue_member(reach)
            break
    return {name: outcomes[name] for name in asked if name in outcomes}


def _failure_of_overdue_member(reach: MemberReach) -> Failure:
    return Failure(
        kind=FailureKind.DEADLINE,
        message=f"it was not read within {reach.timeout:g} s",
        hint="see what is slow there, or give it more time with --timeout",
    )
