"""Division by Webster's averages: Karmada's own numbers, and the shortcuts against the plain procedure."""

from collections import Counter
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from render.scheduling.webster import (
    Seat,
    are_ties_in_descending_order,
    divide_replicas,
    seats_in_order_given,
    seats_of_each_party,
)

from .schedulable import ASCENDING, DESCENDING
from .tables import each_row


class Split(NamedTuple):
    why: str
    replicas: int
    weights: dict[str, int]
    want: dict[str, int]
    uid: str = ""


ONE_HEAVY = {"a": 2, "b": 1, "c": 1, "d": 1}
SPLITS = [
    Split("proportional weights are exact", 12, {"a": 3, "b": 2, "c": 1}, {"a": 6, "b": 4, "c": 2}),
    Split("one more goes to the largest average", 13, {"a": 3, "b": 2, "c": 1}, {"a": 7, "b": 4, "c": 2}),
    Split("two more go to the two largest", 14, {"a": 3, "b": 2, "c": 1}, {"a": 7, "b": 5, "c": 2}),
    Split("an ascending tie goes to the smaller name", 3, {"a": 1, "b": 1}, {"a": 2, "b": 1}, ASCENDING),
    Split("a descending tie goes to the greater name", 3, {"a": 1, "b": 1}, {"a": 1, "b": 2}, DESCENDING),
    Split("double weight gets double", 9, {"a": 1, "b": 2}, {"a": 3, "b": 6}),
    Split("a tie does not matter where averages differ", 9, {"a": 1, "b": 3}, {"a": 2, "b": 7}, DESCENDING),
    Split("a tie goes to the one with fewer seats", 2, {"a": 2, "b": 1}, {"a": 1, "b": 1}),
    Split("one replica goes to the heaviest", 1, {"a": 2, "b": 1}, {"a": 1, "b": 0}),
    Split("one replica among equals, ascending", 1, {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 0, "c": 0}),
    Split("one replica among equals, descending", 1, {"a": 1, "b": 1, "c": 1}, {"a": 0, "b": 0, "c": 1}, DESCENDING),
    Split("two left over, ascending", 5, {"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 1}),
    Split("two left over, descending", 5, {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 2, "c": 2}, DESCENDING),
    Split("5:3:2", 7, {"a": 5, "b": 3, "c": 2}, {"a": 4, "b": 2, "c": 1}),
    Split("too few for the light ones", 3, {"a": 10, "b": 1, "c": 1}, {"a": 3, "b": 0, "c": 0}),
    Split("a tie at fewer seats favours the light one", 2, {"a": 3, "b": 1}, {"a": 1, "b": 1}, DESCENDING),
    Split("3:1", 4, {"a": 3, "b": 1}, {"a": 3, "b": 1}),
    Split("capacities as weights", 5, {"a": 170, "b": 110, "c": 60}, {"a": 2, "b": 2, "c": 1}),
    Split("and one more", 6, {"a": 170, "b": 110, "c": 60}, {"a": 3, "b": 2, "c": 1}),
    Split("ties below a heavy one, ascending", 7, ONE_HEAVY, {"a": 3, "b": 2, "c": 1, "d": 1}),
    Split(
        "ties below a heavy one, descending",
        7,
        {"a": 2, "b": 1, "c": 1, "d": 1},
        {"a": 3, "b": 1, "c": 1, "d": 2},
        DESCENDING,
    ),
    Split("two of three, ascending", 8, ONE_HEAVY, {"a": 3, "b": 2, "c": 2, "d": 1}),
    Split("two of three, descending", 8, ONE_HEAVY, {"a": 3, "b": 1, "c": 2, "d": 2}, DESCENDING),
    Split("all three", 9, ONE_HEAVY, {"a": 3, "b": 2, "c": 2, "d": 2}),
    Split("six among four", 6, {"a": 1, "b": 1, "c": 1, "d": 1}, {"a": 2, "b": 2, "c": 1, "d": 1}),
    Split(
        "names compare as bytes",
        4,
        {"member1": 1, "member2": 1, "member10": 1},
        {"member1": 2, "member10": 1, "member2": 1},
    ),
    Split("fewer seats before the name", 5, {"a": 4, "b": 3, "c": 2, "d": 1}, {"a": 2, "b": 1, "c": 1, "d": 1}),
    Split("large votes", 4, {"a": 1200, "b": 900, "c": 400}, {"a": 2, "b": 1, "c": 1}),
    Split("weight 0 receives nothing", 4, {"a": 0, "b": 3}, {"a": 0, "b": 4}),
    Split("nothing to divide", 0, {"a": 1, "b": 3}, {"a": 0, "b": 0}),
    Split("no weights at all divide nothing", 4, {"a": 0, "b": 0}, {}),
    Split("no clusters at all", 4, {}, {}),
    Split("doubles that round to one number tie", 1, {"a": 2**53, "b": 2**53 + 1}, {"a": 1, "b": 0}),
    Split("a million by 2:1", 1_000_000, {"a": 2, "b": 1}, {"a": 666_667, "b": 333_333}),
]


@each_row("case", SPLITS, ids=lambda case: case.why)
def test_divide(case: Split) -> None:
    assert divide_replicas(case.replicas, case.weights, uid=case.uid) == case.want


def test_initial_seats_count_from_the_start_and_stay_without_weights() -> None:
    initial = {"leaver": 7, "a": 1, "b": 19}
    assert divide_replicas(5, {"a": 2, "b": 7}, initial=initial) == {"a": 6, "b": 19, "leaver": 7}
    assert divide_replicas(0, {"a": 2, "b": 7}, initial=initial) == {"a": 1, "b": 19, "leaver": 7}
    assert divide_replicas(5, {"a": 0}, initial=initial) == {"a": 1, "b": 19, "leaver": 7}


def test_the_tie_bit_is_the_lowest_of_an_fnv_1a_hash() -> None:
    uids = ("", ASCENDING, DESCENDING, "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002")
    assert [are_ties_in_descending_order(uid) for uid in uids] == [False, False, True, False, True]


@given(st.text())
def test_the_tie_bit_of_any_text(text: str) -> None:
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 % 2**32
    assert are_ties_in_descending_order(text) == bool(text and value & 1)


def test_seats_can_be_followed_one_by_one() -> None:
    assert list(seats_in_order_given(3, [2, 1])) == [
        Seat(party=0, held=0, average=2.0),
        Seat(party=1, held=0, average=1.0),
        Seat(party=0, held=1, average=2 / 3),
    ]
    assert list(seats_in_order_given(1, [1, 0, 1], descending=True)) == [Seat(party=2, held=0, average=1.0, tied=(0,))]


some_votes = st.lists(
    st.one_of(st.integers(0, 4), st.integers(0, 1000), st.integers(2**53 - 2, 2**53 + 2), st.just(2**31 - 1)),
    max_size=12,
)


@given(st.integers(0, 400), some_votes, st.booleans())
def test_the_shortcuts_give_every_seat_the_plain_procedure_gives(
    replicas: int, votes: list[int], descending: bool
) -> None:
    plain = Counter(seat.party for seat in seats_in_order_given(replicas, votes, descending=descending))
    assert seats_of_each_party(replicas, votes, descending=descending) == [plain[party] for party in range(len(votes))]


@given(st.integers(0, 10**9), some_votes, st.booleans())
def test_every_replica_is_given_and_one_more_takes_none_away(replicas: int, votes: list[int], descending: bool) -> None:
    fewer = seats_of_each_party(replicas, votes, descending=descending)
    more = seats_of_each_party(replicas + 1, votes, descending=descending)
    if any(votes):
        assert (sum(fewer), sum(more)) == (replicas, replicas + 1)
        assert all(before <= after for before, after in zip(fewer, more, strict=True))


@given(some_votes.filter(any), st.data())
def test_no_cluster_gets_more_than_its_room(votes: list[int], data: st.DataObject) -> None:
    replicas = data.draw(st.integers(0, min(sum(votes), 10**6)))
    assert all(seats <= room for seats, room in zip(seats_of_each_party(replicas, votes), votes, strict=True))
