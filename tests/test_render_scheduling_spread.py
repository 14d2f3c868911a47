"""Choosing clusters: their order, by cluster and by region, and what a region is worth."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from render.bits import mask_of
from render.cluster_index import ClusterIndex
from render.placement import SpreadConstraint, SpreadField
from render.scheduling.attempts import clusters_best_first
from render.scheduling.decisions import Refusal, ScheduledReason
from render.scheduling.region_groups import Group, heaviest_combination_of_groups, score_of_group
from render.scheduling.spread import ClusterSelection, select_clusters

from .schedulable import a_cluster
from .tables import each_row

NO_ROOM = "no enough resource when selecting {} clusters"
TOO_FEW_CLUSTERS = "the number of feasible clusters is less than spreadConstraint.MinGroups"
TOO_FEW_REGIONS = "the number of feasible region is less than spreadConstraint.MinGroups"
TOO_FEW_IN_REGIONS = "the number of clusters is less than the cluster spreadConstraint.MinGroups"


def spread(field: SpreadField, least: int, most: int) -> SpreadConstraint:
    return SpreadConstraint(spread_by_field=field, min_groups=least, max_groups=most)


def selection(candidates: Sequence[int], available: Sequence[int], needed: int | None = None) -> ClusterSelection:
    return ClusterSelection(
        candidates=candidates,
        available=available,
        scores={},
        replicas=needed or 0,
        is_duplicated=needed is None,
        needed=needed,
    )


class Ordered(NamedTuple):
    why: str
    available: dict[str, int]
    want: list[str]
    targets_now: tuple[str, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()


ORDERED = [
    Ordered("held first, then names among equals", {"a": 5, "b": 5, "c": 1}, ["c", "a", "b"], targets_now=("c",)),
    Ordered("the roomiest first", {"a": 1, "b": 5, "c": 3}, ["b", "c", "a"]),
    Ordered("names in byte order", {"m10": 5, "m2": 5}, ["m10", "m2"]),
    Ordered("a tier before what is held", {"a": 9, "b": 1}, ["b", "a"], targets_now=("a",), tiers=(("b",), ("a",))),
]


@pytest.mark.parametrize("case", ORDERED, ids=lambda case: case.why)
def test_the_order_of_candidates(case: Ordered) -> None:
    names = sorted(case.available)
    masks = [mask_of(map(names.index, tier)) for tier in case.tiers] or [-1]
    room = [case.available[name] for name in names]
    in_order = clusters_best_first(
        mask_of(range(len(names))), tiers=masks, targets_now=mask_of(map(names.index, case.targets_now)), available=room
    )
    assert [names[position] for position in in_order] == case.want


class ByCluster(NamedTuple):
    why: str
    room: dict[str, int]
    bounds: tuple[int, int]
    needed: int | None
    want: list[str] | str


THREE, FOUR = {"m1": 40, "m2": 30, "m3": 60}, {"m4": 50, "m2": 60, "m3": 80, "m1": 40}
UNEVEN = {"m1": 5, "m2": 4, "m3": 50, "m4": 60}
BY_CLUSTER = [
    ByCluster("the last makes way for a roomier one", THREE, (1, 2), 80, ["m1", "m3"]),
    ByCluster("any number fits: simply the first", THREE, (1, 2), None, ["m1", "m2"]),
    ByCluster("the roomiest of the rest", FOUR, (1, 2), 120, ["m4", "m3"]),
    ByCluster("no two hold that many", FOUR, (1, 2), 200, NO_ROOM.format(2)),
    ByCluster("too few clusters", {"m1": 40}, (2, 3), 1, TOO_FEW_CLUSTERS),
    ByCluster("both make way", UNEVEN, (1, 2), 100, ["m3", "m4"]),
    ByCluster("only the last makes way", UNEVEN, (1, 2), 65, ["m1", "m4"]),
    ByCluster("the evicted one is no better", {"m1": 1, "m2": 50, "m3": 40}, (2, 2), 90, ["m3", "m2"]),
    ByCluster("maxGroups omitted selects none", THREE, (1, 0), None, []),
    ByCluster("and has room for none", THREE, (1, 0), 5, NO_ROOM.format(0)),
    ByCluster("an equal one is no better", {"m1": 1, "m2": 5, "m3": 5}, (2, 2), 10, ["m3", "m2"]),
    ByCluster("as many as allowed, though fewer would do", THREE, (1, 3), 10, ["m1", "m2", "m3"]),
]


@each_row("case", BY_CLUSTER, ids=lambda case: case.why)
def test_spread_by_cluster(case: ByCluster) -> None:
    index = ClusterIndex(a_cluster(name) for name in case.room)
    room = [case.room[name] for name in index.names]
    wanted = selection([index.index_by_name[name] for name in case.room], room, case.needed)
    chosen = select_clusters(wanted, {SpreadField.CLUSTER: spread(SpreadField.CLUSTER, *case.bounds)}, index)
    assert answer(chosen, index) == case.want


def answer(chosen: Sequence[int] | Refusal, index: ClusterIndex) -> list[str] | str:
    if isinstance(chosen, Refusal):
        assert chosen.reason is ScheduledReason.SCHEDULER_ERROR
        return chosen.message
    return [index.names[position] for position in chosen]


class ByRegion(NamedTuple):
    why: str
    regions: tuple[int, int]
    clusters: tuple[int, int] | None
    want: list[str] | str


REGIONS = {"a": ("R1", 9), "b": ("R1", 8), "c": ("R1", 7), "d": ("R2", 9), "e": ("R2", 6)}
BY_REGION = [
    ByRegion("the best of each, then the best of all", (2, 2), (2, 3), ["a", "d", "b"]),
    ByRegion("one region takes all it can", (1, 1), (2, 9), ["a", "b", "c"]),
    ByRegion("two regions where one has too few", (1, 2), (4, 4), ["a", "d", "b", "c"]),
    ByRegion("one of each region even beyond the maximum", (2, 2), (1, 1), ["a", "d"]),
    ByRegion("without a maximum of clusters one of each", (2, 2), None, ["a", "d"]),
    ByRegion("too few regions", (3, 3), (3, 3), TOO_FEW_REGIONS),
    ByRegion("maxGroups of regions omitted", (1, 0), (1, 3), TOO_FEW_IN_REGIONS),
    ByRegion("too few clusters in any one region", (1, 1), (4, 5), TOO_FEW_IN_REGIONS),
]


@each_row("case", BY_REGION, ids=lambda case: case.why)
def test_spread_by_region(case: ByRegion) -> None:
    """R1 holds two replicas in three clusters, R2 in two: it weighs more."""
    index = ClusterIndex(a_cluster(name, region=region) for name, (region, _) in REGIONS.items())
    room = [REGIONS[name][1] for name in index.names]
    wanted = selection(sorted(range(5), key=lambda each: (-room[each], each)), room)
    constraints: dict[SpreadField | None, SpreadConstraint] = {
        SpreadField.REGION: spread(SpreadField.REGION, *case.regions)
    }
    if case.clusters:
        constraints[SpreadField.CLUSTER] = spread(SpreadField.CLUSTER, *case.clusters)
    assert answer(select_clusters(wanted, constraints, index), index) == case.want


@pytest.mark.parametrize("field", [SpreadField.ZONE, SpreadField.PROVIDER, None])
def test_other_constraints_alone_are_no_way_to_select(field: SpreadField | None) -> None:
    chosen = select_clusters(selection([0], [1]), {field: SpreadConstraint(max_groups=1)}, ClusterIndex(()))
    assert chosen == Refusal(ScheduledReason.SCHEDULER_ERROR, "just support cluster and region spread constraint")


class Worth(NamedTuple):
    why: str
    clusters: list[tuple[int, int]]
    replicas: int
    is_duplicated: bool
    want: int
    group_minimum: int = 1
    cluster_minimum: int = 1


NEAR, FAR = 100, 0
WORTH = [
    Worth("two of five hold all", [(NEAR, 60), (NEAR, 70), (NEAR, 40), (NEAR, 30), (NEAR, 10)], 50, True, 2100),
    Worth("four of four hold all", [(FAR, 60)] * 4, 50, True, 4000),
    Worth("two hold all and score", [(NEAR, 60), (NEAR, 70), (NEAR, 10), (NEAR, 10), (NEAR, 5)], 50, True, 2100),
    Worth("two hold all", [(FAR, 100), (FAR, 100), (FAR, 10), (FAR, 10)], 50, True, 2000),
    Worth("none holds all", [(50, 5), (50, 5)], 10, True, 0),
    Worth("short of its share", [(NEAR, 10)] * 4 + [(NEAR, 5)], 100, False, 45100, 2),
    Worth("its share in two", [(FAR, 40), (FAR, 30), (FAR, 10), (FAR, 10)], 100, False, 50000, 2),
    Worth(
        "its share in two that score", [(NEAR, 40), (NEAR, 40), (NEAR, 10), (NEAR, 10), (NEAR, 5)], 100, False, 50100, 2
    ),
    Worth("short, two of five score", [(NEAR, 10), (NEAR, 10), (FAR, 10), (FAR, 10), (FAR, 5)], 100, False, 45040, 2),
    Worth("half of seven is four", [(NEAR, 5), (FAR, 100)], 7, False, 4050, 2, 0),
    Worth("at least three clusters count", [(NEAR, 5), (FAR, 100), (FAR, 50)], 7, False, 4033, 2, 3),
    Worth("its share, though in too few clusters", [(NEAR, 9)], 4, False, 4100, 1, 3),
]


@each_row("case", WORTH, ids=lambda case: case.why)
def test_the_score_of_a_group(case: Worth) -> None:
    clusters = list(range(len(case.clusters)))
    scored = ClusterSelection(
        candidates=clusters,
        available=[room for _, room in case.clusters],
        scores={position: score for position, (score, _) in enumerate(case.clusters) if score},
        replicas=case.replicas,
        is_duplicated=case.is_duplicated,
        needed=None,
    )
    assert score_of_group(clusters, scored, case.group_minimum, case.cluster_minimum) == case.want


class Chosen(NamedTuple):
    why: str
    groups: dict[str, tuple[int, int]]
    bounds: tuple[int, int]
    target: int
    want: tuple[str, ...]


SIX = {"R1": (1, 80), "R3": (1, 80), "R2": (1, 60), "R5": (2, 60), "R4": (5, 50), "R6": (3, 50)}
RISING = {"R1": (1, 80), "R2": (4, 40), "R3": (1, 30), "R4": (3, 30), "R5": (3, 20), "R6": (5, 10)}
ONES = {"R1": (1, 60), "R2": (1, 50), "R3": (1, 40), "R4": (3, 30), "R5": (3, 20), "R6": (3, 10)}
PREFIX = {"R1": (1, 100), "R2": (1, 90), "R3": (4, 10)}
CHOSEN = [
    Chosen("a group alone", {"R1": (1, 80)}, (1, 3), 1, ("R1",)),
    Chosen("fewer groups than asked for", {"R1": (1, 80)}, (2, 3), 1, ()),
    Chosen("the heaviest that suffice", SIX, (1, 3), 10, ("R5", "R4", "R6")),
    Chosen("the beginning of the heaviest suffices", RISING, (2, 6), 5, ("R1", "R2")),
    Chosen("weight before size", ONES, (1, 3), 6, ("R1", "R4", "R5")),
    Chosen("two that suffice", {"R1": (1, 60), "R2": (2, 50), "R3": (3, 40), "R4": (4, 30)}, (1, 2), 5, ("R1", "R4")),
    Chosen(
        "by weight then name", {"R4": (1, 60), "R3": (3, 50), "R1": (3, 40), "R2": (4, 30)}, (1, 2), 5, ("R3", "R1")
    ),
    Chosen("one of a heavier path", {"R1": (2, 3000), "R2": (2, 2000), "R3": (1, 1000)}, (1, 3), 2, ("R1",)),
    Chosen("the name breaks a tie", {"R1": (2, 1000), "R2": (2, 1000)}, (1, 1), 2, ("R1",)),
    Chosen("more clusters break a tie", {"R1": (2, 1000), "R2": (3, 1000)}, (1, 1), 2, ("R2",)),
    Chosen("two suffice", PREFIX, (2, 3), 2, ("R1", "R2")),
    Chosen("two do not", PREFIX, (2, 3), 4, ("R1", "R2", "R3")),
    Chosen("a maximum of none", PREFIX, (1, 0), 1, ()),
    Chosen("all are needed and allowed", {"R1": (1, 1), "R2": (1, 2)}, (2, 2), 2, ("R2", "R1")),
    Chosen("all are needed and too few", {"R1": (1, 1), "R2": (1, 2)}, (2, 2), 3, ()),
    Chosen("all are needed and too many", {"R1": (1, 1), "R2": (1, 2)}, (2, 1), 1, ()),
]


@each_row("case", CHOSEN, ids=lambda case: case.why)
def test_the_choice_of_groups(case: Chosen) -> None:
    groups = [Group(name, value, weight) for name, (value, weight) in case.groups.items()]
    assert heaviest_combination_of_groups(groups, *case.bounds, case.target) == case.want


some_groups = st.dictionaries(
    st.sampled_from(("a", "b", "c", "d", "e", "f")), st.tuples(st.integers(1, 4), st.integers(0, 5)), max_size=6
)


@given(some_groups, st.integers(1, 3), st.integers(0, 3), st.integers(0, 8))
def test_chosen_groups_suffice_whatever_order_they_come_in(
    groups: Mapping[str, tuple[int, int]], least: int, extra: int, target: int
) -> None:
    made = [Group(name, *numbers) for name, numbers in groups.items()]
    chosen = heaviest_combination_of_groups(made, least, least + extra, target)
    assert chosen == heaviest_combination_of_groups(made[::-1], least, least + extra, target)
    if chosen:
        assert least <= len(chosen) <= least + extra
        assert sum(groups[name][0] for name in chosen) >= target


def by_listing(groups: Sequence[Group], minimum: int, maximum: int, target: int) -> tuple[str, ...]:
    """The choice of groups as Karmada makes it: list all combinations, sort them, look for the winner's beginnings."""
    listed: list[tuple[Group, ...]] = []

    def extend(path: tuple[Group, ...], later: Sequence[Group]) -> None:
        if path and sum(each.value for each in path) >= target and minimum <= len(path) <= maximum:
            listed.append(tuple(sorted(path, key=lambda each: (-each.weight, each.name))))
        elif len(path) < maximum:
            for position, group in enumerate(later):
                extend((*path, group), later[position + 1 :])

    extend((), sorted(groups, key=lambda each: (each.value, -each.weight, each.name)))
    listed.sort(key=lambda path: (-sum(each.weight for each in path), -sum(each.value for each in path)))
    best = listed[0] if listed else ()
    for path in listed[1:]:
        if len(path) < len(best) and best[: len(path)] == path:
            best = path
    return tuple(each.name for each in best)


@settings(max_examples=200)
@given(some_groups, st.integers(0, 3), st.integers(0, 3), st.integers(0, 10))
def test_the_best_groups_are_those_karmada_finds_by_listing_all(
    groups: Mapping[str, tuple[int, int]], least: int, extra: int, target: int
) -> None:
    made = [Group(name, *numbers) for name, numbers in groups.items()]
    bounds = (least, least + extra, target)
    assert heaviest_combination_of_groups(made, *bounds) == by_listing(made, *bounds)


def test_many_regions_are_no_reason_to_wait() -> None:
    groups = [Group(f"r{number:02}", 30 + number % 3, number % 7) for number in range(60)]
    assert len(heaviest_combination_of_groups(groups, 2, 40, 900)) == 30
