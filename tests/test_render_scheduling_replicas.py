"""Assigning replicas, as Karmada's tables have it; allocations are free room, without what is held."""

from typing import Any, NamedTuple

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.parsing.placements import parse_placement
from render.scheduling.decisions import SUCCESS_MESSAGE
from render.scheduling.options import SchedulingOptions

from .schedulable import (
    AGGREGATED,
    ASCENDING,
    DESCENDING,
    DUPLICATED,
    DYNAMIC,
    EQUAL,
    a_binding,
    a_cluster,
    a_placement,
    replicas_of,
    scheduled,
    static,
    targets,
    with_room,
)
from .tables import each_row

TOO_FEW = "failed to assign replicas: failed to {}: Clusters available replicas {} are not enough to schedule."
ALL_OR_NOTHING = "failed to assign replicas: Clusters available replicas are not enough to schedule."
FRESH = {"reschedule_triggered_at": "2025-01-02T00:00:00Z", "last_scheduled_at": "2025-01-01T00:00:00Z"}


class Assigned(NamedTuple):
    why: str
    scheduling: dict[str, Any]
    replicas: int
    room: dict[str, int]
    want: dict[str, int] | str
    current: dict[str, int] = {}  # noqa: RUF012  # a NamedTuple's default, never changed
    fields: dict[str, Any] = {}  # noqa: RUF012  # as above


def ascending(**fields: Any) -> dict[str, Any]:
    return {"uid": ASCENDING, **fields}


def descending(**fields: Any) -> dict[str, Any]:
    return {"uid": DESCENDING, **fields}


NONE3 = {"a": 0, "b": 0, "c": 0}
STATIC = [
    Assigned("weights need no room", static(a=3, b=2, c=1), 12, NONE3, {"a": 6, "b": 4, "c": 2}),
    Assigned("a cluster no weight names gets none", static(a=1, b=1), 5, NONE3, {"a": 3, "b": 2}),
    Assigned("weights that name no selected cluster are equal", static(x=5), 4, NONE3, {"a": 2, "b": 1, "c": 1}),
    Assigned("a cluster without a share is left out", static(a=10, b=1, c=1), 3, NONE3, {"a": 3}),
    Assigned("equal weights without a preference", EQUAL, 4, NONE3, {"a": 2, "b": 1, "c": 1}),
    Assigned("ties by the UID", EQUAL, 5, {"a": 0, "b": 0}, {"a": 2, "b": 3}, {}, descending()),
    Assigned("what is held does not matter", EQUAL, 9, {"a": 0, "c": 0}, {"a": 5, "c": 4}, {"a": 3, "b": 3, "c": 3}),
    Assigned("nothing to run is nowhere", EQUAL, 0, NONE3, {}),
    Assigned("nothing to run and nothing asked for is everywhere", EQUAL, 0, NONE3, NONE3, {}, {"requirements": None}),
]
DYNAMICALLY = [
    Assigned("in proportion", DYNAMIC, 12, {"a": 18, "b": 12, "c": 6}, {"a": 6, "b": 4, "c": 2}),
    Assigned("nearly in proportion", DYNAMIC, 12, {"a": 20, "b": 12, "c": 6}, {"a": 6, "b": 4, "c": 2}),
    Assigned("the middle one", DYNAMIC, 12, {"a": 6, "b": 12, "c": 6}, {"a": 3, "b": 6, "c": 3}),
    Assigned("rising", DYNAMIC, 12, {"a": 6, "b": 12, "c": 18}, {"a": 2, "b": 4, "c": 6}),
    Assigned("equal shares of unequal room", DYNAMIC, 12, {"a": 8, "b": 8, "c": 10}, {"a": 4, "b": 4, "c": 4}),
    Assigned("all or nothing", DYNAMIC, 12, {"a": 3, "b": 3, "c": 3}, TOO_FEW.format("scale up", 9)),
    Assigned("a full one gets none", DYNAMIC, 3, {"a": 0, "b": 5}, {"b": 3}),
    Assigned("ties ascending", DYNAMIC, 7, {"a": 5, "b": 5, "c": 5}, {"a": 3, "b": 2, "c": 2}, {}, ascending()),
    Assigned("ties descending", DYNAMIC, 7, {"a": 5, "b": 5, "c": 5}, {"a": 2, "b": 2, "c": 3}, {}, descending()),
    Assigned(
        "only what is new is divided",
        DYNAMIC,
        24,
        {"a": 10, "b": 10, "c": 10},
        {"a": 6, "b": 8, "c": 10},
        {"a": 2, "b": 4, "c": 6},
    ),
    Assigned(
        "the new ones do not fit",
        DYNAMIC,
        24,
        {"a": 1, "b": 1, "c": 1},
        TOO_FEW.format("scale up", 3),
        {"a": 2, "b": 4, "c": 6},
    ),
    Assigned("fewer, by what they hold", DYNAMIC, 6, NONE3, {"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 4, "c": 6}),
    Assigned("fewer, with a tie", DYNAMIC, 6, NONE3, {"a": 2, "b": 2, "c": 2}, {"a": 3, "b": 3, "c": 4}),
    Assigned("one left", DYNAMIC, 1, NONE3, {"b": 1}, {"a": 2, "b": 3}),
    Assigned("none left", DYNAMIC, 0, NONE3, {}, {"a": 2, "b": 3}),
    Assigned("unchanged however full", DYNAMIC, 6, {"a": 100, "b": 0}, {"b": 6}, {"b": 6}, {"applied_placement": None}),
    Assigned(
        "unchanged in its order",
        DYNAMIC,
        6,
        {"a": 100, "b": 0},
        {"b": 4, "a": 2},
        {"b": 4, "a": 2},
        {"applied_placement": None},
    ),
    Assigned("fresh forgets", DYNAMIC, 6, {"a": 100, "b": 0}, {"a": 6}, {"b": 6}, FRESH),
    Assigned(
        "fresh counts what is held as room", DYNAMIC, 10, {"a": 10, "b": 4}, {"a": 6, "b": 4}, {"b": 6, "a": 4}, FRESH
    ),
    Assigned(
        "fresh may not fit",
        DYNAMIC,
        11,
        {"a": 1, "b": 1},
        TOO_FEW.format("do fresh scale", 10),
        {"b": 6, "a": 2},
        FRESH,
    ),
    Assigned("growth goes where room is", DYNAMIC, 8, {"a": 0, "b": 10}, {"a": 4, "b": 4}, {"a": 4}),
    Assigned("what a lost cluster held is missing", DYNAMIC, 12, {"a": 3, "b": 3}, {"a": 9, "b": 3}, {"a": 6, "c": 6}),
    Assigned(
        "a lost third, ascending",
        DYNAMIC,
        9,
        {"b": 10, "c": 10},
        {"b": 5, "c": 4},
        {"a": 3, "b": 3, "c": 3},
        ascending(),
    ),
    Assigned(
        "a lost third, descending",
        DYNAMIC,
        9,
        {"b": 10, "c": 10},
        {"b": 4, "c": 5},
        {"a": 3, "b": 3, "c": 3},
        descending(),
    ),
    Assigned(
        "a lost third and fewer replicas", DYNAMIC, 5, {"b": 10, "c": 10}, {"b": 3, "c": 2}, {"a": 3, "b": 3, "c": 3}
    ),
    Assigned("all clusters are new", DYNAMIC, 5, {"d": 5}, {"d": 5}, {"a": 3, "b": 2}),
    Assigned("only one has room for more", DYNAMIC, 6, {"a": 4, "b": 0}, {"a": 3, "b": 3}, {"b": 3}),
]
AGGREGATEDLY = [
    Assigned("one holds all", AGGREGATED, 12, {"a": 12, "b": 8, "c": 10}, {"a": 12}),
    Assigned("the two roomiest", AGGREGATED, 12, {"a": 6, "b": 8, "c": 10}, {"b": 5, "c": 7}),
    Assigned("equal ones by name", AGGREGATED, 12, {"a": 6, "b": 6, "c": 6}, {"a": 6, "b": 6}),
    Assigned("all or nothing", AGGREGATED, 12, {"a": 3, "b": 3, "c": 3}, TOO_FEW.format("scale up", 9)),
    Assigned("growth over all", AGGREGATED, 24, {"a": 4, "c": 8, "d": 12}, {"a": 7, "c": 7, "d": 10}, {"a": 4, "b": 8}),
    Assigned("where it is already first", AGGREGATED, 8, {"a": 100, "b": 3}, {"b": 8}, {"b": 5}),
    Assigned("then the roomiest", AGGREGATED, 12, {"a": 100, "b": 3}, {"a": 7, "b": 5}, {"b": 5}),
    Assigned("where it is may be full", AGGREGATED, 12, {"a": 100, "b": 0}, {"a": 7, "b": 5}, {"b": 5}),
    Assigned(
        "one of those it is in holds all",
        AGGREGATED,
        10,
        {"a": 10, "b": 4, "c": 50},
        {"a": 7, "b": 3},
        {"a": 2, "b": 3},
    ),
    Assigned("fewer, one is enough", AGGREGATED, 6, {"a": 0, "b": 0}, {"b": 6}, {"a": 4, "b": 8}),
    Assigned("fewer, one is just enough", AGGREGATED, 8, {"a": 0, "b": 0}, {"b": 8}, {"a": 4, "b": 8}),
    Assigned("fewer, both", AGGREGATED, 10, {"a": 0, "b": 0}, {"a": 3, "b": 7}, {"a": 4, "b": 8}),
    Assigned("fewer of three equal", AGGREGATED, 5, NONE3, {"a": 3, "b": 2}, {"a": 4, "b": 4, "c": 4}),
    Assigned("fresh takes the roomiest", AGGREGATED, 10, {"a": 10, "b": 4}, {"a": 10}, {"b": 6, "a": 4}, FRESH),
]
OTHERWISE = [
    Assigned("Duplicated asks for no room", DUPLICATED, 2, {"a": 0, "b": 0}, {"a": 2, "b": 2}),
    Assigned(
        "Divided without a preference",
        {"replicaSchedulingType": "Divided"},
        2,
        {"a": 5},
        "failed to assign replicas: unsupported replica scheduling strategy, replicaSchedulingType: Divided, "
        "replicaDivisionPreference: , please try another scheduling strategy",
    ),
]
CASES = STATIC + DYNAMICALLY + AGGREGATEDLY + OTHERWISE


@each_row("case", CASES, ids=lambda case: f"{case.scheduling.get('replicaDivisionPreference')} {case.why}")
def test_assignment(case: Assigned) -> None:
    binding = a_binding(case.replicas, a_placement(case.scheduling), targets(**case.current), **case.fields)
    decision = scheduled(binding, with_room(**case.room))
    assert decision.condition is not None
    if isinstance(case.want, str):
        assert (decision.condition.message, decision.targets) == (case.want, binding.targets)
    else:
        assert decision.condition.message == SUCCESS_MESSAGE
        assert list(replicas_of(decision).items()) == list(case.want.items())


def test_without_a_strategy_every_cluster_gets_all() -> None:
    assert replicas_of(scheduled(a_binding(3, a_placement()), with_room(a=0, b=0))) == {"a": 3, "b": 3}


def test_a_non_workload_goes_everywhere_without_replicas_whatever_the_strategy() -> None:
    binding = a_binding(0, a_placement(static(a=1, b=2)), requirements=None)
    assert replicas_of(scheduled(binding, with_room(a=0, b=0))) == {"a": 0, "b": 0}


def test_empty_workloads_are_propagated_on_request() -> None:
    options = SchedulingOptions(propagates_empty_workloads=True)
    assert replicas_of(scheduled(a_binding(0, a_placement(EQUAL)), with_room(a=0, b=0), options)) == {"a": 0, "b": 0}
    one = a_binding(1, a_placement(static(a=1, b=3)))
    assert replicas_of(scheduled(one, with_room(a=0, b=0), options)) == {"a": 0, "b": 1}


def test_weights_of_several_rules_take_the_heaviest() -> None:
    weights = [
        {"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in (("a", 1), ("b", 1), ("a", 2))
    ]
    rules = parse_placement({"replicaScheduling": {**EQUAL, "weightPreference": {"staticWeightList": weights}}})
    assert replicas_of(scheduled(a_binding(3, rules), with_room(a=0, b=0))) == {"a": 2, "b": 1}


class Overflowing(NamedTuple):
    why: str
    replicas: int
    room: dict[str, int]
    want: dict[str, int] | str
    current: dict[str, int] = {}  # noqa: RUF012  # a NamedTuple's default, never changed


OVERFLOWING = [
    Overflowing("the primary has room", 5, {"m1": 10, "m2": 10}, {"m1": 5}),
    Overflowing("the rest flows over", 5, {"m1": 2, "m2": 10}, {"m1": 2, "m2": 3}),
    Overflowing("both are full", 10, {"m1": 2, "m2": 2}, ALL_OR_NOTHING),
    Overflowing("what is held counts as room", 8, {"m1": 2, "m2": 10}, {"m1": 5, "m2": 3}, {"m1": 3}),
    Overflowing("fewer leave the overflow first", 3, {"m1": 0, "m2": 7}, {"m1": 2, "m2": 1}, {"m1": 2, "m2": 3}),
    Overflowing("then it is empty", 2, {"m1": 0, "m2": 7}, {"m1": 2}, {"m1": 2, "m2": 3}),
]


def overflow_binding(replicas: int, current: dict[str, int], **fields: Any) -> Binding:
    overflow = [{"affinityName": "over", "clusterNames": ["m2"]}]
    term = {"affinityName": "main", "clusterNames": ["m1"], "overflowAffinities": overflow}
    observed = "main" if current else ""
    return a_binding(
        replicas,
        a_placement(AGGREGATED, clusterAffinities=[term]),
        targets(**current),
        observed_affinity=observed,
        **fields,
    )


@each_row("case", OVERFLOWING, ids=lambda case: case.why)
def test_overflow(case: Overflowing) -> None:
    decision = scheduled(overflow_binding(case.replicas, case.current), with_room(**case.room))
    assert decision.condition is not None
    if isinstance(case.want, str):
        assert decision.condition.message == case.want
    else:
        assert list(replicas_of(decision).items()) == list(case.want.items())


def test_a_non_workload_never_overflows() -> None:
    binding = overflow_binding(0, {}, requirements=None)
    assert replicas_of(scheduled(binding, with_room(m1=1, m2=1))) == {"m1": 0}


def test_of_equally_roomy_clusters_those_held_come_first() -> None:
    """Aggregated fills the first ones; a candidate that holds the binding stands before any other."""
    index = ClusterIndex((a_cluster("a", 6), a_cluster("b", 6), a_cluster("c", 0)))
    binding = a_binding(6, a_placement(AGGREGATED), targets(b=1), **FRESH)
    assert replicas_of(scheduled(binding, index)) == {"b": 6}
