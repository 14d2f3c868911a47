"""Work shared by forked processes: results in order, whoever made them, and no process left behind."""

import os
import signal
import threading

import pytest

from reconciler.repository import processes
from reconciler.repository.processes import results_in_order, usable_processors
from render.errors import ReconcileError

from .waiting import SECONDS

ITEMS = tuple(range(23))


class Forked(list[int]):
    """The processes that a test had forked."""

    def assert_none_is_left(self) -> None:
        assert self
        for process in self:
            with pytest.raises(ChildProcessError):
                os.waitpid(process, os.WNOHANG)


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> Forked:
    """Count forks: the threads that a runner of tests may have do nothing that a forked process would miss."""
    found, fork = Forked(), os.fork

    def recorded_fork() -> int:
        process = fork()
        found.append(process)
        return process

    monkeypatch.setattr(os, "fork", recorded_fork)
    monkeypatch.setattr(processes, "_has_threads", lambda: False)
    return found


def text_of_square(number: int) -> bytes:
    return b"%d " % number**2 * (number * 1000)


def process_of_item(_number: int) -> bytes:
    return b"%d" % os.getpid()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 40])
def test_results_come_in_the_order_of_the_items_whatever_the_number_of_processes(count: int) -> None:
    assert list(results_in_order(text_of_square, ITEMS, count)) == list(map(text_of_square, ITEMS))


@pytest.mark.parametrize(("count", "others"), [(1, 0), (2, 2), (3, 3)])
def test_so_many_processes_share_the_work_as_are_asked_for(count: int, others: int) -> None:
    found = {int(each) for each in results_in_order(process_of_item, ITEMS, count)}
    assert len(found - {os.getpid()}) == others
    assert (os.getpid() in found) == (others == 0)


def test_a_process_with_threads_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    done = threading.Event()
    other = threading.Thread(target=done.wait, kwargs={"timeout": SECONDS})
    other.start()
    try:
        assert set(results_in_order(process_of_item, ITEMS, 4)) == {b"%d" % os.getpid()}
    finally:
        done.set()
        other.join(timeout=SECONDS)


def test_an_error_is_that_of_the_item_that_led_to_it(forked: Forked) -> None:
    def work(number: int) -> bytes:
        return b"%d" % (1 // (number - 7))

    found = results_in_order(work, ITEMS, 3)
    taken: list[bytes] = []
    with pytest.raises(ZeroDivisionError):
        taken.extend(found)
    forked.assert_none_is_left()


def test_an_item_that_fails_in_a_process_alone_is_done_again_by_this_one(forked: Forked) -> None:
    mine = os.getpid()

    def work(number: int) -> bytes:
        if number == 4 and os.getpid() != mine:
            raise MemoryError
        return b"%d" % number

    assert list(results_in_order(work, ITEMS, 3)) == [b"%d" % number for number in ITEMS]
    forked.assert_none_is_left()


def test_a_process_that_the_system_ended_is_an_error(forked: Forked) -> None:
    mine = os.getpid()

    def work(number: int) -> bytes:
        if number == 5 and os.getpid() != mine:
            os.kill(os.getpid(), signal.SIGKILL)
        return b"%d" % number

    with pytest.raises(ReconcileError, match="a process that this one shares work with was ended"):
        list(results_in_order(work, ITEMS, 2))
    forked.assert_none_is_left()


def test_whoever_needs_no_more_results_leaves_no_process_behind(forked: Forked) -> None:
    found = results_in_order(text_of_square, ITEMS, 3)
    assert next(found) == b""
    found.close()
    forked.assert_none_is_left()


def test_no_more_processes_are_used_than_this_one_may_use() -> None:
    assert 1 <= usable_processors() <= 8
    assert usable_processors() <= len(os.sched_getaffinity(0))
