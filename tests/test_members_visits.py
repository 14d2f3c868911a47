"""Visits to members: a member that hangs takes no other's place, and what came of each is known once."""

import threading

import pytest

from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.visits import SILENT_SECONDS, Visit, Visits

from .fakes import FakeCluster
from .waiting import SECONDS, happened

pytestmark = pytest.mark.waits

HEALTHY, HANGING = [f"healthy-{number}" for number in range(17)], [f"hanging-{number}" for number in range(3)]


def far() -> float:
    """A time that no test gets to."""
    return float("inf")


def test_hanging_members_take_no_place_from_healthy_ones() -> None:
    """All seventeen are done before one of the three is, though two places are fewer than three."""
    over = threading.Event()

    def call(visit: Visit[str]) -> str:
        if visit.name in HANGING:
            happened(over, "the end of all healthy ones")
        return visit.name

    visits, ended = Visits(call, [*HANGING, *HEALTHY], limit=2), list[str]()
    while not visits.are_over:
        if visit := visits.next_ended_visit(far()):
            ended.append(visit.name)
        if len(ended) == len(HEALTHY):
            over.set()
    assert sorted(ended[: len(HEALTHY)]) == sorted(HEALTHY)
    assert sorted(ended) == sorted([*HEALTHY, *HANGING])


def test_no_more_are_visited_at_once_than_there_are_places() -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def call(_visit: Visit[None]) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        with lock:
            under_way -= 1

    visits = Visits(call, HEALTHY, limit=3)
    while not visits.are_over:
        visits.next_ended_visit(far())
    assert most <= 3


def test_a_member_that_is_heard_keeps_its_place() -> None:
    clock = iter([0.0, 1.0, 5.0, 5.0])
    visit: Visit[None] = Visit(name="eu", clock=lambda: next(clock), began=0.0)
    assert visit.silent_at == SILENT_SECONDS
    client = visit.heard_through(FakeCluster())
    client.send(Request(method="GET", path="/version"))
    assert (visit.first_heard, visit.silent_at) == (0.0, SILENT_SECONDS)
    client.send(Request(method="GET", path="/version"))
    assert (visit.first_heard, visit.silent_at) == (0.0, 1.0 + SILENT_SECONDS)


@pytest.mark.parametrize(("status", "heard"), [(0, None), (503, 7.0)])
def test_a_refusal_is_an_answer_and_silence_is_none(status: int, heard: float | None) -> None:
    member = FakeCluster(faults=[lambda _: Failure(kind=FailureKind.UNAVAILABLE, message="no", status=status)])
    visit: Visit[None] = Visit(name="eu", clock=lambda: 7.0, began=0.0)
    visit.heard_through(member).send(Request(method="GET", path="/version"))
    assert visit.first_heard == heard


def test_a_visit_that_was_given_up_ends_unheard() -> None:
    go_on = threading.Event()

    def call(visit: Visit[str]) -> str:
        happened(go_on, "the others")
        return visit.name

    visits = Visits(call, ["a", "b"], limit=2)
    assert visits.next_ended_visit(0.0) is None
    visits.give_up(visits.begun["a"])
    go_on.set()
    assert [visit.name for visit in iter(lambda: visits.next_ended_visit(far()), None)] == ["b"]
    assert visits.are_over
    assert visits.begun["a"].wait(SECONDS)


def test_nothing_is_waited_for_where_all_that_was_left_is_given_up() -> None:
    visits = Visits(lambda visit: visit.name, ["a"], limit=1)
    assert visits.next_ended_visit(float("-inf")) is None or visits.are_over
    for visit in tuple(visits.under_way.values()):
        assert visit.wait(SECONDS)
        visits.give_up(visit)
    assert visits.next_ended_visit(far()) is None


def test_an_error_in_a_visit_is_raised_where_it_is_awaited() -> None:
    def call(_visit: Visit[Answer]) -> Answer:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        Visits(call, ["a"], limit=1).next_ended_visit(far())
