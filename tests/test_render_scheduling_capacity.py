"""The replicas that fit a cluster, and the room that is left as a pass goes on."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.cluster import Cluster, ResourceModel, ResourceModelRange, ResourceSummary
from render.cluster_index import ClusterIndex
from render.resources import Component, ReplicaRequirements
from render.scheduling.capacity import Capacity
from render.scheduling.resource_models import modelled_nodes, nodes_after_placing, replicas_that_fit_nodes

from .schedulable import a_cluster, with_room
from .tables import each_row

MOST = "9223372036854775807"
GRADES = ["0 0", "1 4Gi", "2 16Gi", "4 32Gi", "8 64Gi", "16 128Gi", "32 256Gi", "64 512Gi", "128 1Ti"]
CPUS = ["0", "1", "2"]


def models(*minima: str) -> tuple[ResourceModel, ...]:
    """Grades from the minima of cpu and, where given, memory."""
    names = ("cpu", "memory")
    return tuple(
        ResourceModel(
            grade=grade,
            ranges=tuple(
                ResourceModelRange(name=name, min=least, max=MOST)
                for name, least in zip(names, minimum.split(), strict=False)
            ),
        )
        for grade, minimum in enumerate(minima)
    )


def requests(**amounts: str) -> ReplicaRequirements:
    return ReplicaRequirements(
        resource_request={name.replace("__", "/").replace("_", "."): text for name, text in amounts.items()}
    )


def summary(*, pods: str = "10000", modelings: dict[int, int] | None = None, **allocatable: str) -> ResourceSummary:
    return ResourceSummary(allocatable={"pods": pods, **allocatable}, modelings=tuple((modelings or {}).items()))


class Estimated(NamedTuple):
    why: str
    summary: ResourceSummary | None
    requirements: ReplicaRequirements | None
    want: int
    models: tuple[ResourceModel, ...] = ()


PARTLY_USED = ResourceSummary(
    allocatable={"cpu": "4", "pods": "110"}, allocated={"cpu": "950m", "pods": "11"}, allocating={"pods": "0"}
)
DEFAULT = models(*GRADES)
LARGE = requests(cpu="3", memory="20Gi")
ESTIMATED = [
    Estimated("what is used is no room", PARTLY_USED, requests(cpu="500m"), 6),
    Estimated(
        "no pods left", ResourceSummary(allocatable={"cpu": "4", "pods": "9"}, allocated={"pods": "9"}), LARGE, 0
    ),
    Estimated(
        "pods alone, where nothing is asked for",
        ResourceSummary(allocatable={"pods": "110"}, allocated={"pods": "10"}, allocating={"pods": "5"}),
        None,
        95,
    ),
    Estimated("pods bound the rest", summary(cpu="4", pods="3"), requests(cpu="500m"), 3),
    Estimated("a resource the cluster has not", summary(cpu="4"), requests(nvidia_com__gpu="1"), 0),
    Estimated(
        "less left than one replica",
        ResourceSummary(allocatable={"cpu": "4", "pods": "9"}, allocated={"cpu": "1"}, allocating={"cpu": "2900m"}),
        requests(cpu="200m"),
        0,
    ),
    Estimated(
        "overcommitted already",
        ResourceSummary(allocatable={"cpu": "4", "pods": "9"}, allocated={"cpu": "5"}),
        requests(cpu="200m"),
        0,
    ),
    Estimated("nothing is known", None, requests(cpu="500m"), 0),
    Estimated("the scarcest resource decides", summary(cpu="10", memory="3Gi"), requests(cpu="1", memory="1Gi"), 3),
    Estimated("what is asked nothing of does not matter", summary(cpu="10"), requests(cpu="1", memory="0"), 10),
    Estimated(
        "what is placed since it was observed",
        ResourceSummary(allocatable={"cpu": "4", "pods": "9"}, reserved={"cpu": "2", "pods": "2"}),
        requests(cpu="500m"),
        4,
    ),
    Estimated("nodes of two grades", summary(modelings={2: 1, 3: 6}), LARGE, 6, DEFAULT),
    Estimated("the smaller grade fits none", summary(modelings={2: 4, 3: 4}), LARGE, 4, DEFAULT),
    Estimated("a large node", summary(modelings={6: 1}), LARGE, 10, DEFAULT),
    Estimated("a large node, large replicas", summary(modelings={6: 1}), requests(cpu="5", memory="60Gi"), 4, DEFAULT),
    Estimated("the lowest grade has nothing", summary(modelings={0: 50}), requests(cpu="1"), 0, DEFAULT),
    Estimated("but pods", summary(modelings={0: 2}), requests(), 220, DEFAULT),
    Estimated("a resource the model has not", summary(modelings={6: 3}), requests(nvidia_com__gpu="1"), 0, DEFAULT),
    Estimated("pods bound nodes too", summary(pods="5", modelings={6: 1}), requests(cpu="1"), 5, DEFAULT),
    Estimated("a model of cpu alone", summary(modelings={0: 1, 1: 1, 2: 1}), requests(cpu="1500m"), 1, models(*CPUS)),
    Estimated("counts of one grade add up", summary(modelings={2: 1}), requests(cpu="1"), 2, models(*CPUS)),
    Estimated("a grade the model has not", summary(modelings={7: 9}), requests(cpu="1"), 0, models(*CPUS)),
    Estimated(
        "a negative count: sums decide", summary(cpu="7", modelings={1: -1}), requests(cpu="1"), 7, models(*CPUS)
    ),
    Estimated("counts without a model: sums decide", summary(cpu="7", modelings={1: 1}), requests(cpu="1"), 7),
    Estimated("a model knows more than sums", summary(cpu="1", modelings={2: 2}), requests(cpu="1"), 4, models(*CPUS)),
    Estimated("nothing asked for: no model", summary(pods="9", modelings={0: 1}), None, 9, models(*CPUS)),
]


@each_row("case", ESTIMATED, ids=lambda case: case.why)
def test_how_many_replicas_fit(case: Estimated) -> None:
    index = ClusterIndex((Cluster(name="m", resource_summary=case.summary, resource_models=case.models),))
    assert list(Capacity(index).replicas(case.requirements)) == [case.want]


def test_resource_models_can_be_left_out() -> None:
    made = Cluster(name="m", resource_summary=summary(cpu="1", modelings={2: 2}), resource_models=models(*CPUS))
    assert list(Capacity(ClusterIndex((made,)), uses_models=False).replicas(requests(cpu="1"))) == [1]


def test_what_is_taken_is_gone_for_every_request() -> None:
    index = ClusterIndex(
        Cluster(name=name, resource_summary=summary(cpu="10", memory="10Gi", pods="100")) for name in ("a", "b", "c")
    )
    capacity = Capacity(index)
    small, large = requests(cpu="1"), requests(cpu="2", memory="5Gi")
    assert [list(capacity.replicas(each)) for each in (small, large)] == [[10, 10, 10], [2, 2, 2]]
    capacity.note_placed_replicas(large, {1: 1})
    assert [list(capacity.replicas(each)) for each in (small, large, None)] == [
        [10, 8, 10],
        [2, 1, 2],
        [100, 99, 100],
    ]
    capacity.note_placed_replicas(small, {0: 4, 1: 9, 2: 0})
    assert [list(capacity.replicas(each)) for each in (small, large)] == [[6, 0, 10], [2, 0, 2]]


def test_what_is_taken_from_a_modelled_cluster_goes_from_its_nodes() -> None:
    """Three nodes of 2 CPUs hold three replicas of 1500m, then half a CPU of each is left."""
    made = Cluster(name="m", resource_summary=summary(modelings={2: 3}), resource_models=models(*CPUS))
    capacity = Capacity(ClusterIndex((made,)))
    wide, narrow = requests(cpu="1500m"), requests(cpu="500m")
    capacity.note_placed_replicas(wide, {0: 2})
    assert [list(capacity.replicas(each)) for each in (wide, narrow)] == [[1], [6]]
    capacity.note_placed_replicas(wide, {0: 1})
    assert [list(capacity.replicas(each)) for each in (wide, narrow)] == [[0], [3]]


@given(st.dictionaries(st.integers(0, 2), st.integers(0, 4)), st.lists(st.integers(1, 30), max_size=5))
def test_nodes_hold_what_they_have_room_for(counts: dict[int, int], takes: list[int]) -> None:
    made = Cluster(name="m", resource_summary=summary(modelings=counts), resource_models=models(*CPUS))
    nodes, request = modelled_nodes(made) or [], (("cpu", 300),)
    for replicas in takes:
        room = replicas_that_fit_nodes(nodes, request)
        nodes = nodes_after_placing(nodes, request, replicas)
        assert replicas_that_fit_nodes(nodes, request) == max(room - replicas, 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3), st.booleans()), max_size=12))
def test_an_estimate_kept_up_to_date_is_the_one_found_anew(takes: list[tuple[int, int, bool]]) -> None:
    index = ClusterIndex(
        Cluster(name=name, resource_summary=summary(cpu="20", pods="40")) for name in ("a", "b", "c", "d", "e")
    )
    kept, request, other = Capacity(index), requests(cpu="700m"), requests(cpu="1")
    for position, replicas, is_looked_at in takes:
        kept.note_placed_replicas(other, {position: replicas})
        if is_looked_at:
            kept.replicas(request)
    anew = Capacity(index)
    for position, replicas, _ in takes:
        anew.note_placed_replicas(other, {position: replicas})
    assert list(kept.replicas(request)) == list(anew.replicas(request))


def test_what_a_pass_took_is_reserved_until_the_cluster_is_observed_again() -> None:
    observed = ResourceSummary(allocatable={"cpu": "10", "memory": "8Gi", "pods": "50"}, reserved={"cpu": "500m"})
    declared = ResourceSummary(allocatable={"cpu": "10"}, is_declared=True)
    capacity = Capacity(
        ClusterIndex((a_cluster("a", resource_summary=observed), a_cluster("b", resource_summary=declared)))
    )
    capacity.note_placed_replicas(requests(cpu="1500m", memory="1Gi"), {0: 2, 1: 2})
    assert capacity.reserved_resources_by_cluster() == {"a": {"cpu": "3500m", "memory": "2Gi", "pods": "2"}}


def test_what_was_reserved_stays_so_where_nothing_is_taken() -> None:
    observed = ResourceSummary(allocatable={"pods": "50"}, reserved={"pods": "3", "cpu": "1"})
    assert Capacity(ClusterIndex((a_cluster("a", resource_summary=observed),))).reserved_resources_by_cluster() == {
        "a": {"cpu": "1", "pods": "3"}
    }


class Sets(NamedTuple):
    why: str
    components: dict[str, tuple[int, str]]
    cluster: Cluster
    want: int


ROOMY = Cluster(name="m", resource_summary=summary(cpu="10", pods="100"))
NODES = Cluster(name="m", resource_summary=summary(cpu="100", modelings={2: 3}), resource_models=models(*CPUS))
SETS = [
    Sets("a driver and two executors", {"driver": (1, "1"), "executor": (2, "2")}, ROOMY, 2),
    Sets("pods bound sets", {"driver": (1, "10m")}, Cluster(name="m", resource_summary=summary(cpu="9", pods="3")), 3),
    Sets("components without replicas", {"driver": (0, "1")}, Cluster(name="m", resource_summary=summary(pods="3")), 3),
    Sets("a set must fit the nodes", {"driver": (1, "1"), "executor": (1, "1500m")}, NODES, 2),
    Sets("nothing is known", {"driver": (1, "1")}, Cluster(name="m"), 0),
]


@each_row("case", SETS, ids=lambda case: case.why)
def test_how_many_full_sets_of_components_fit(case: Sets) -> None:
    components = tuple(
        Component(name=name, replicas=replicas, requirements=requests(cpu=cpu))
        for name, (replicas, cpu) in case.components.items()
    )
    assert list(Capacity(ClusterIndex((case.cluster,))).component_sets(components)) == [case.want]


def test_room_beyond_what_replicas_can_be_is_cut_off() -> None:
    index: Any = with_room(a=2**40)
    assert list(Capacity(index).replicas(None)) == [2**31 - 1]


@pytest.mark.parametrize("room", [summary(cpu="40", memory="400Gi"), summary(modelings={2: 3, 3: 6}, cpu="40")])
@given(taken=st.lists(st.tuples(st.sampled_from([LARGE, requests(cpu="1")]), st.integers(1, 4)), max_size=6))
def test_what_is_given_back_fits_again(room: ResourceSummary, taken: list[tuple[ReplicaRequirements, int]]) -> None:
    capacity = Capacity(ClusterIndex([a_cluster("m", resource_summary=room, resource_models=DEFAULT)]))
    asked = (LARGE, requests(cpu="1"), None)
    before = [list(capacity.replicas(each)) for each in asked]
    for requirements, replicas in taken:
        capacity.note_placed_replicas(requirements, {0: replicas})
        capacity.replicas(requirements)
    for requirements, replicas in taken:
        capacity.note_placed_replicas(requirements, {0: replicas}, -1)
    assert [list(capacity.replicas(each)) for each in asked] == before
