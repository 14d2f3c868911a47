"""Work shared by forked processes: results in order, whoever made them, and no process left behind."""

import os
import signal
import threading

import pytest

from reconciler.repository.processes import results_in_order, usable_processors
from render.errors import ReconcileError

ITEMS = tuple(range(23))


def text_of_square(number: int) -> bytes:
    return b"%d " % number**2 * (number * 1000)


def process_of_item(_number: int) -> bytes:
    return b"%d" % os.getpid()


@pytest.mark.parametrize("processes", [0, 1, 2, 3, 8, 40])
def test_results_come_in_the_order_of_the_items_whatever_the_number_of_processes(processes: int) -> None:
    assert list(results_in_order(text_of_square, ITEMS, processes)) == list(map(text_of_square, ITEMS))


@pytest.mark.parametrize(("processes", "others"), [(1, 0), (2, 2), (3, 3)])
def test_so_many_processes_share_the_work_as_are_asked_for(processes: int, others: int) -> None:
    found = {int(each) for each in results_in_order(process_of_item, ITEMS, processes)}
    assert len(found - {os.getpid()}) == others
    assert (os.getpid() in found) == (others == 0)


def test_a_process_with_threads_works_alone() -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert set(results_in_order(process_of_item, ITEMS, 4)) == {b"%d" % os.getpid()}
    finally:
        done.set()
        other.join()


def test_an_error_is_that_of_the_item_that_led_to_it() -> None:
    def work(number: int) -> bytes:
        return b"%d" % (1 // (number - 7))

    found = results_in_order(work, ITEMS, 3)
    taken: list[bytes] = []
    with pytest.raises(ZeroDivisionError):
        taken.extend(found)
    assert_no_process_is_left()


def test_an_item_that_fails_in_a_process_alone_is_done_again_by_this_one() -> None:
    mine = os.getpid()

    def work(number: int) -> bytes:
        if number == 4 and os.getpid() != mine:
            raise MemoryError
        return b"%d" % number

    assert list(results_in_order(work, ITEMS, 3)) == [b"%d" % number for number in ITEMS]
    assert_no_process_is_left()


def test_a_process_that_the_system_ended_is_an_error() -> None:
    mine = os.getpid()

    def work(number: int) -> bytes:
        if number == 5 and os.getpid() != mine:
            os.kill(os.getpid(), signal.SIGKILL)
        return b"%d" % number

    with pytest.raises(ReconcileError, match="a process that this one shares work with was ended"):
        list(results_in_order(work, ITEMS, 2))
    assert_no_process_is_left()


def test_whoever_needs_no_more_results_leaves_no_process_behind() -> None:
    found = results_in_order(text_of_square, ITEMS, 3)
    assert next(found) == b""
    found.close()
    assert_no_process_is_left()


def test_no_more_processes_are_used_than_this_one_may_use() -> None:
    assert 1 <= usable_processors() <= 8
    assert usable_processors() <= len(os.sched_getaffinity(0))


def assert_no_process_is_left() -> None:
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
