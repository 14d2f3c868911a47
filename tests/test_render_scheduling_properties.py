"""The promises of scheduling, whatever the fleet: nothing moves without a reason in the source."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from render.binding import Binding
from render.cluster import Cluster, ResourceSummary, Taint
from render.cluster_index import ClusterIndex
from render.model import TargetCluster
from render.placement import Placement
from render.resources import ReplicaRequirements
from render.scheduling.batch import schedule_all
from render.scheduling.decisions import SchedulingDecision, binding_with_decision
from render.scheduling.options import SchedulingOptions

from .schedulable import (
    AGGREGATED,
    DEPLOYMENT,
    DUPLICATED,
    DYNAMIC,
    EQUAL,
    a_binding,
    a_cluster,
    a_placement,
    static,
    targets,
)

NAMES = ("a1", "a2", "a3", "b1", "b2", "c1", "c2")
DIVIDED = (DYNAMIC, AGGREGATED, EQUAL, static(a1=3, a2=2, b1=1))
GROUPS: list[dict[str, Any]] = [
    {"affinityName": "g1", "labelSelector": {"matchLabels": {"zone": "a"}}},
    {"affinityName": "g2", "exclude": ["a1", "b1"]},
]
OVERFLOWING = [{**GROUPS[0], "overflowAffinities": [{"affinityName": "o1", "clusterNames": ["b1", "b2"]}]}]
AFFINITIES: tuple[dict[str, Any], ...] = (
    {},
    {"clusterAffinity": {"exclude": ["a1"]}},
    {"clusterAffinities": GROUPS},
    {"clusterAffinities": OVERFLOWING},
)


def by(field: str, least: int, most: int) -> dict[str, Any]:
    return {"spreadByField": field, "minGroups": least, "maxGroups": most}


SPREADS: tuple[list[dict[str, Any]], ...] = (
    [],
    [by("cluster", 1, 2)],
    [by("cluster", 2, 4)],
    [by("region", 1, 2), by("cluster", 1, 3)],
    [by("region", 2, 2), by("cluster", 2, 4)],
)


def rules_of(scheduling: dict[str, Any] | None, affinity: dict[str, Any], spread: list[dict[str, Any]]) -> Placement:
    """A placement Karmada admits: only division by capacity may overflow."""
    if affinity is AFFINITIES[-1] and scheduling not in (DYNAMIC, AGGREGATED):
        affinity = AFFINITIES[-2]
    return a_placement(scheduling, **affinity, spreadConstraints=spread)


placements = st.builds(
    rules_of,
    st.sampled_from((*DIVIDED, DUPLICATED, None)),
    st.sampled_from(AFFINITIES),
    st.sampled_from(SPREADS),
)
bindings_of_a_fleet = st.lists(
    st.tuples(st.integers(0, 12), placements, st.integers(0, 2), st.booleans()), min_size=1, max_size=5
).map(
    lambda rows: [
        a_binding(count, rules, name=f"w{number}", priority=priority)
        if is_workload
        else a_binding(0, rules, name=f"w{number}", priority=priority, requirements=None)
        for number, (count, rules, priority, is_workload) in enumerate(rows)
    ]
)
some_room = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 15), min_size=1)


def fleet(room: Mapping[str, int], *, is_declared: bool = True, apis: Iterable[str] = NAMES) -> list[Cluster]:
    """Clusters in a region and zone of their first letter; those not in ``apis`` serve nothing."""
    served = set(apis)
    return [
        a_cluster(
            name,
            region=name[0],
            labels={"zone": name[0]},
            api_enablements=DEPLOYMENT if name in served else frozenset(),
            resource_summary=ResourceSummary(allocatable={"pods": str(pods)}, is_declared=is_declared),
        )
        for name, pods in room.items()
    ]


def decided(bindings: Sequence[Binding], clusters: Iterable[Cluster]) -> list[Binding]:
    """The bindings after one pass, in their order."""
    by_ref = {each.ref: each for each in schedule_all(bindings, ClusterIndex(clusters)).decisions}
    return [binding_with_decision(binding, by_ref[binding.ref]) for binding in bindings]


def counts(held: Iterable[TargetCluster]) -> dict[str, int]:
    return {target.name: target.replicas for target in held}


def is_divided(binding: Binding) -> bool:
    scheduling = binding.placement.replica_scheduling if binding.placement else None
    return binding.is_workload and scheduling is not None and scheduling.type == "Divided"


def is_placed(binding: Binding) -> bool:
    return any(condition.reason == "Success" for condition in binding.conditions)


@given(bindings_of_a_fleet, some_room)
def test_a_second_pass_changes_nothing(bindings: list[Binding], room: dict[str, int]) -> None:
    once = decided(bindings, fleet(room))
    assert decided(once, fleet(room)) == once


@given(bindings_of_a_fleet, some_room)
def test_nor_does_it_where_capacity_is_observed_and_not_yet_again(
    bindings: list[Binding], room: dict[str, int]
) -> None:
    first = schedule_all(bindings, ClusterIndex(fleet(room, is_declared=False)))
    by_ref = {each.ref: each for each in first.decisions}
    once = [binding_with_decision(binding, by_ref[binding.ref]) for binding in bindings]
    later = [
        replace(
            each,
            resource_summary=replace(each.resource_summary, reserved=first.reserved_resources_by_cluster()[each.name]),
        )
        for each in fleet(room, is_declared=False)
        if each.resource_summary
    ]
    assert decided(once, later) == once


@given(bindings_of_a_fleet, some_room, st.randoms(use_true_random=False))
def test_the_order_of_input_does_not_matter(
    bindings: list[Binding], room: dict[str, int], shuffling: random.Random
) -> None:
    clusters = fleet(room)
    mixed, mixed_clusters = bindings.copy(), clusters.copy()
    shuffling.shuffle(mixed)
    shuffling.shuffle(mixed_clusters)
    first = schedule_all(bindings, ClusterIndex(clusters)).decisions
    assert schedule_all(mixed, ClusterIndex(mixed_clusters)).decisions == first


@given(bindings_of_a_fleet, some_room)
def test_replicas_are_conserved(bindings: list[Binding], room: dict[str, int]) -> None:
    for binding in decided(bindings, fleet(room)):
        held = counts(binding.targets)
        if is_placed(binding) and is_divided(binding):
            assert sum(held.values()) == binding.replicas
        elif is_placed(binding):
            assert set(held.values()) <= {binding.replicas}
        else:
            assert held == {}


@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "not declared"])
def test_facts_alone_move_no_replica(is_declared: bool) -> None:
    """Room and served APIs walk at random; who has a place keeps it, whoever else finds one."""
    for seed in range(100):
        walk = random.Random(seed)
        scheduling: list[dict[str, Any] | None] = [*DIVIDED, DUPLICATED, None]
        rules: list[Placement] = [
            rules_of(walk.choice(scheduling), walk.choice(AFFINITIES), walk.choice(SPREADS)) for _ in range(6)
        ]
        bindings = [
            a_binding(
                walk.randrange(12), each, name=f"w{number}", requirements=ReplicaRequirements() if number else None
            )
            for number, each in enumerate(rules)
        ]
        now = decided(bindings, fleet({name: walk.randrange(16) for name in NAMES}, is_declared=is_declared))
        for _ in range(4):
            apis = [name for name in NAMES if walk.random() < 0.7]
            room = {name: walk.randrange(16) for name in NAMES}
            then = decided(now, fleet(room, is_declared=is_declared, apis=apis))
            for before, after in zip(now, then, strict=True):
                held = counts(after.targets)
                assert {name: held.get(name) for name in counts(before.targets)} == counts(before.targets), seed
                assert held == counts(before.targets) or not is_divided(before) or not is_placed(before), seed
            now = then


@given(st.sampled_from(DIVIDED), some_room, st.integers(0, 12), st.integers(1, 9))
def test_scaling_up_takes_from_no_target_and_down_gives_to_none(
    scheduling: dict[str, Any], room: dict[str, int], replicas: int, more: int
) -> None:
    """Without constraints or overflow; static weights divide anew, yet over the same clusters by the same weights."""
    clusters, rules = fleet(room, is_declared=False), a_placement(scheduling)
    (small,) = decided([a_binding(replicas, rules)], clusters)
    (large,) = decided([replace(small, replicas=replicas + more)], clusters)
    if is_placed(small) and is_placed(large):
        held = counts(large.targets)
        assert all(held[name] >= count for name, count in counts(small.targets).items())
        (again,) = decided([replace(large, replicas=replicas)], clusters)
        assert all(count <= held[name] for name, count in counts(again.targets).items())


@given(bindings_of_a_fleet, some_room, st.integers(0, 15))
def test_a_cluster_nothing_may_use_changes_nothing(bindings: list[Binding], room: dict[str, int], pods: int) -> None:
    (added,) = fleet({"b3": pods})
    unusable = replace(added, taints=(Taint(key="out", effect="NoSchedule"),))
    before, after = (
        schedule_all(bindings, ClusterIndex(clusters)).decisions for clusters in (fleet(room), [*fleet(room), unusable])
    )
    assert [_without_message(each) for each in before] == [_without_message(each) for each in after]


def _without_message(decision: SchedulingDecision) -> SchedulingDecision:
    """Messages count the clusters there are."""
    assert decision.condition is not None
    return replace(decision, condition=replace(decision.condition, message=""))


@given(bindings_of_a_fleet, some_room, st.integers(0, 15))
def test_a_new_cluster_is_used_only_by_what_is_everywhere_or_nowhere(
    bindings: list[Binding], room: dict[str, int], pods: int
) -> None:
    once = decided(bindings, fleet(room))
    grown = decided(once, [*fleet(room), *fleet({"b3": pods})])
    for before, after in zip(once, grown, strict=True):
        held = counts(after.targets)
        if is_divided(before) and is_placed(before):
            assert held == counts(before.targets)
        else:
            assert held | counts(before.targets) == held


@settings(max_examples=50)
@given(bindings_of_a_fleet, some_room)
def test_karmadas_mode_is_as_orderly(bindings: list[Binding], room: dict[str, int]) -> None:
    options, index = SchedulingOptions.karmada(), ClusterIndex(fleet(room))
    first = schedule_all(bindings, index, options).decisions
    assert schedule_all(bindings[::-1], index, options).decisions == first
    assert all(
        sum(counts(each.targets).values()) == binding.replicas
        for each in first
        for binding in bindings
        if each.ref == binding.ref and each.is_scheduled and is_divided(binding)
    )


def test_targets_that_stay_feasible_stay_whatever_else_is_better() -> None:
    binding = a_binding(6, a_placement(AGGREGATED), targets(a1=2, a2=4))
    clusters = fleet({"a1": 0, "a2": 0, "b1": 99}, apis=("b1",))
    assert decided([binding], clusters) == [binding]
