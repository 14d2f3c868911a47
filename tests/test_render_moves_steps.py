"""Steps of moves: the replicas that each cluster gets, between those that it has and those that it is to end with."""

from collections.abc import Mapping
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from render.limits import Limit
from render.moves.steps import Move, clusters_waited_for, limits_of_move, replicas_of_next_step
from render.settings.moves import MoveSettings

from .tables import each_row

TWO_MORE = MoveSettings(surge=Limit(2))
NO_SURGE = MoveSettings(surge=Limit(0), max_unavailable=Limit(2))


class Step(NamedTuple):
    why: str
    asked: Mapping[str, int]
    given: Mapping[str, int]
    ready: Mapping[str, int]
    want: Mapping[str, int]
    waits: tuple[str, ...] = ()
    settings: MoveSettings = TWO_MORE
    unwell: frozenset[str] = frozenset()
    ailing: frozenset[str] = frozenset()
    is_whole: bool = False
    is_ordered: bool = False
    is_under_way: bool = False


STEPS = [
    Step("successors come first, as many as may be more", {"b": 6}, {"a": 6}, {}, {"a": 6, "b": 2}, ("b",)),
    Step(
        "as many go as successors are ready, and the next ones come at once",
        {"b": 6},
        {"a": 6, "b": 2},
        {"a": 6, "b": 2},
        {"a": 4, "b": 4},
        ("b",),
    ),
    Step(
        "one that is not ready holds its own place",
        {"b": 6},
        {"a": 6, "b": 2},
        {"a": 6, "b": 1},
        {"a": 5, "b": 3},
        ("b",),
    ),
    Step("none goes while none is ready", {"b": 6}, {"a": 6, "b": 2}, {"a": 6, "b": 0}, {"a": 6, "b": 2}, ("b",)),
    Step("none goes while nobody knows", {"b": 6}, {"a": 6, "b": 2}, {"a": 6}, {"a": 6, "b": 2}, ("b",)),
    Step("the last ones go when all others are ready", {"b": 6}, {"a": 2, "b": 6}, {"a": 2, "b": 6}, {"b": 6}),
    Step("what is not ready goes at once", {"b": 6}, {"a": 6}, {"a": 1}, {"a": 1, "b": 6}, ("b",)),
    Step("nothing goes that nobody knows", {"a": 3, "b": 3}, {"a": 6}, {}, {"a": 6, "b": 2}, ("a", "b")),
    Step(
        "without a surge, as many go first as may be missing",
        {"b": 6},
        {"a": 6},
        {"a": 6},
        {"a": 4, "b": 2},
        ("b",),
        settings=NO_SURGE,
    ),
    Step("and none while nobody knows", {"b": 6}, {"a": 6}, {}, {"a": 6}, settings=NO_SURGE),
    Step("scaling up takes as many as are asked for", {"a": 9}, {"a": 3}, {}, {"a": 9}, ("a",)),
    Step("scaling down is at once", {"a": 2, "b": 1}, {"a": 3, "b": 3}, {}, {"a": 2, "b": 1}),
    Step(
        "but for what would leave fewer healthy than are asked for",
        {"a": 2, "b": 1},
        {"a": 3, "b": 3},
        {"a": 0, "b": 3},
        {"a": 2, "b": 3},
        ("a",),
    ),
    Step(
        "nor of replicas of which some are known not to be ready",
        {"a": 2, "b": 1},
        {"a": 3, "b": 3},
        {"b": 3},
        {"a": 2, "b": 3},
        ("a",),
        ailing=frozenset({"a"}),
    ),
    Step(
        "a move that ends is no scaling",
        {"b": 3},
        {"a": 3, "b": 3},
        {"a": 3},
        {"a": 3, "b": 3},
        ("b",),
        is_under_way=True,
    ),
    Step(
        "moved and scaled up at once, all that were there stay until the sum is healthy",
        {"a": 3, "b": 9},
        {"a": 6, "b": 8},
        {"a": 6, "b": 5},
        {"a": 6, "b": 8},
        ("b",),
    ),
    Step(
        "a cluster that is down counts for nothing, and holds up no successor",
        {"b": 6},
        {"a": 6},
        {"a": 6},
        {"a": 6, "b": 6},
        ("b",),
        unwell=frozenset({"a"}),
    ),
    Step(
        "its copies go once all others are ready",
        {"b": 6},
        {"a": 6, "b": 6},
        {"a": 6, "b": 6},
        {"b": 6},
        unwell=frozenset({"a"}),
    ),
    Step(
        "a successor that is down gets no more, and another one goes on",
        {"b": 3, "c": 3},
        {"a": 6, "b": 1, "c": 1},
        {"a": 6, "c": 1},
        {"a": 5, "b": 1, "c": 3},
        ("b", "c"),
        unwell=frozenset({"b"}),
    ),
    Step(
        "room is for those first that can use it",
        {"b": 3, "c": 3},
        {"a": 6, "b": 1, "c": 1},
        {"a": 6, "b": 0, "c": 1},
        {"a": 5, "b": 1, "c": 2},
        ("b", "c"),
    ),
    Step("several clusters share the room", {"b": 3, "c": 3}, {"a": 6}, {}, {"a": 6, "b": 1, "c": 1}, ("b", "c")),
    Step(
        "of ordered replicas any may be the ready ones",
        {"b": 4},
        {"a": 4},
        {"a": 2},
        {"a": 4, "b": 2},
        ("b",),
        is_ordered=True,
    ),
    Step(
        "copies come at once",
        {"b": 1, "c": 1},
        {"a": 1, "b": 1},
        {"a": 1, "b": 1},
        {"a": 1, "b": 1, "c": 1},
        ("c",),
        is_whole=True,
    ),
    Step(
        "and go when all others are healthy",
        {"b": 1, "c": 1},
        {"a": 1, "b": 1, "c": 1},
        {"a": 1, "b": 1, "c": 1},
        {"b": 1, "c": 1},
        is_whole=True,
        is_under_way=True,
    ),
]


@each_row("case", STEPS, ids=lambda case: case.why)
def test_a_step(case: Step) -> None:
    move = Move(
        asked=case.asked,
        given=case.given,
        ready=case.ready,
        ailing=case.ailing,
        unwell=case.unwell,
        is_whole=case.is_whole,
        is_ordered=case.is_ordered,
        is_under_way=case.is_under_way,
    )
    found = replicas_of_next_step(move, case.settings)
    assert (found, clusters_waited_for(move, found)) == (dict(case.want), case.waits)


CLUSTERS = "abcde"
COUNTS = st.dictionaries(st.sampled_from(CLUSTERS), st.integers(0, 9), max_size=5)
SETTINGS = st.builds(
    MoveSettings,
    surge=st.builds(Limit, st.integers(0, 4)) | st.builds(Limit, st.integers(0, 100), st.just(value=True)),
    max_unavailable=st.builds(Limit, st.integers(0, 3)) | st.builds(Limit, st.integers(0, 50), st.just(value=True)),
)


MOVES = st.builds(
    Move,
    asked=COUNTS.filter(bool),
    given=COUNTS,
    ready=COUNTS,
    ailing=st.frozensets(st.sampled_from(CLUSTERS)),
    unwell=st.frozensets(st.sampled_from(CLUSTERS)),
    is_ordered=st.booleans(),
    is_under_way=st.booleans(),
)


@given(move=MOVES, settings=SETTINGS)
def test_no_step_takes_health_that_is_needed(move: Move, settings: MoveSettings) -> None:
    """A step that takes healthy replicas away leaves as many as are asked for, but for those that may be missing.

    Replicas are healthy that are seen ready, where the cluster is known to be well.
    """
    asked, stood, unwell = move.asked, move.given, move.unwell
    found = replicas_of_next_step(move, settings)
    seen = {name: min(move.ready[name], stood[name]) for name in move.ready.keys() & stood.keys() - unwell}
    healthy = sum(seen.values())
    after = sum(
        max(0, count - max(0, stood[name] - found.get(name, 0))) if move.is_ordered else min(count, found.get(name, 0))
        for name, count in seen.items()
    )
    total, (surge, unavailable) = sum(asked.values()), limits_of_move(sum(asked.values()), settings)
    is_scaled = not move.is_under_way and all(count <= stood.get(name, 0) for name, count in asked.items())
    if not is_scaled or seen.keys() == stood.keys():
        assert after == healthy or after >= total - unavailable
    standing = sum(count for name, count in found.items() if name not in unwell)
    assert standing <= max(total + surge, sum(count for name, count in stood.items() if name not in unwell))
    for name in found.keys() | stood.keys() | asked.keys():
        bounds = sorted((asked.get(name, 0), stood.get(name, 0)))
        assert bounds[0] <= found.get(name, 0) <= bounds[1]


@given(asked=COUNTS.filter(bool), stood=COUNTS, settings=SETTINGS, is_ordered=st.booleans())
def test_steps_end_where_everything_gets_ready(
    asked: dict[str, int],
    stood: dict[str, int],
    settings: MoveSettings,
    is_ordered: bool,
) -> None:
    replicas = {name: count for name, count in stood.items() if count}
    for _ in range(200):
        if replicas == asked:
            return
        move = Move(asked=asked, given=replicas, ready=replicas, is_ordered=is_ordered, is_under_way=True)
        replicas = replicas_of_next_step(move, settings)
    raise AssertionError(f"{replicas} never becomes {asked}")
