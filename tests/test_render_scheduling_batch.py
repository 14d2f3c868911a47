"""A whole pass: one order, working capacity, kinds that arrive with it, neighbours, and places that are kept."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from render.binding import Binding, Condition
from render.cluster import Cluster, ResourceSummary
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, TargetCluster
from render.resources import Component, ReplicaRequirements
from render.scheduling.batch import BatchContext, ScheduledBatch, schedule_all
from render.scheduling.decisions import ScheduledReason, Trigger, binding_with_decision
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
    replicas_of,
    targets,
    with_room,
)

KARMADA = SchedulingOptions.karmada()


def by_name(batch: ScheduledBatch) -> dict[str, dict[str, int]]:
    return {decision.ref.name: replicas_of(decision) for decision in batch.decisions}


def after(bindings: Iterable[Binding], batch: ScheduledBatch) -> list[Binding]:
    decisions = {decision.ref: decision for decision in batch.decisions}
    return [binding_with_decision(binding, decisions[binding.ref]) for binding in bindings]


def declared(**room: int) -> ClusterIndex:
    """Clusters whose room the source declares."""
    return ClusterIndex(
        a_cluster(name, resource_summary=ResourceSummary(allocatable={"pods": str(pods)}, is_declared=True))
        for name, pods in room.items()
    )


def test_what_has_begun_as_a_whole_is_refused_no_more() -> None:
    """Nothing of it is scheduled any more, so nothing else would end the refusal."""
    refusal = Condition(type="Scheduled", status="False", reason=ScheduledReason.UNSCHEDULABLE, message="no room")
    begun = a_binding(4, a_placement(DYNAMIC), targets(a=3, b=1), begun=targets(a=3, b=1), conditions=(refusal,))
    for options, trigger in ((None, Trigger.REFUSAL_OUTDATED), (KARMADA, Trigger.NONE)):
        (decision,) = schedule_all([begun], with_room(a=0, b=0, c=9), options).decisions
        assert (decision.trigger, decision.targets) == (trigger, begun.targets)
        assert decision.is_scheduled is (trigger is Trigger.REFUSAL_OUTDATED)


def fifty() -> list[Binding]:
    rules = a_placement(AGGREGATED)
    return [a_binding(1, rules, name=f"app-{number:02}") for number in range(50)]


def test_fifty_deployments_and_room_for_thirty() -> None:
    bindings, index = fifty(), declared(eu=10, us=12, ap=8)
    batch = schedule_all(bindings, index)
    placed = [decision for decision in batch.decisions if decision.is_scheduled]
    refused = [decision for decision in batch.decisions if not decision.is_scheduled]
    assert [decision.ref.name for decision in placed] == [f"app-{number:02}" for number in range(30)]
    assert {decision.condition and decision.condition.reason for decision in refused} == {ScheduledReason.UNSCHEDULABLE}
    used: dict[str, int] = {}
    for decision in placed:
        for target in decision.targets:
            used[target.name] = used.get(target.name, 0) + target.replicas
    assert used == {"eu": 10, "us": 12, "ap": 8}


def test_the_twenty_stay_out_until_there_is_room() -> None:
    """Declared capacity has no record of what is placed, so what bindings hold counts."""
    bindings, index = fifty(), declared(eu=10, us=12, ap=8)
    done = after(bindings, schedule_all(bindings, index))
    assert after(done, schedule_all(done, index)) == done
    fewer = done[5:]
    again = schedule_all(fewer, index)
    assert sum(decision.is_scheduled for decision in again.decisions) == 5


def test_observed_capacity_keeps_what_was_placed_since_in_reserve() -> None:
    bindings = fifty()
    batch = schedule_all(bindings, with_room(eu=10, us=12, ap=8))
    reserved = batch.reserved_resources_by_cluster()
    assert reserved == {"ap": {"pods": "8"}, "eu": {"pods": "10"}, "us": {"pods": "12"}}
    later = ClusterIndex(
        a_cluster(name, resource_summary=ResourceSummary(allocatable={"pods": str(pods)}, reserved=reserved[name]))
        for name, pods in (("eu", 10), ("us", 12), ("ap", 8))
    )
    done = after(bindings, batch)
    assert after(done, schedule_all(done, later)) == done


def test_only_declared_capacity_is_relieved_of_what_is_held() -> None:
    """Four of a binding are in either cluster; what was observed has them in already."""
    index = ClusterIndex(
        a_cluster(name, resource_summary=ResourceSummary(allocatable={"pods": "5"}, is_declared=name == "said"))
        for name in ("said", "seen")
    )
    held = a_binding(8, a_placement(DYNAMIC), targets(said=4, seen=4), name="a")
    new = a_binding(6, a_placement(DYNAMIC), name="b")
    assert by_name(schedule_all((held, new), index))["b"] == {"said": 1, "seen": 5}


def test_declared_room_that_is_given_up_is_free_at_once() -> None:
    """The room it leaves to others would otherwise be theirs in the next pass, though nothing is new then."""
    bindings = [
        a_binding(4, a_placement(DYNAMIC), name="a"),
        a_binding(2, a_placement(DYNAMIC), targets(m=6), name="b"),
    ]
    batch = schedule_all(bindings, declared(m=6))
    assert by_name(batch) == {"b": {"m": 2}, "a": {"m": 4}}
    done = after(bindings, batch)
    assert after(done, schedule_all(done, declared(m=6))) == done


def test_observed_room_that_is_given_up_is_free_once_it_is_seen() -> None:
    bindings = [
        a_binding(4, a_placement(DYNAMIC), name="a"),
        a_binding(2, a_placement(DYNAMIC), targets(m=6), name="b"),
    ]
    assert by_name(schedule_all(bindings, with_room(m=0))) == {"b": {"m": 2}, "a": {}}


def test_without_reserving_every_binding_sees_all_the_room() -> None:
    options = SchedulingOptions(reserves_capacity=False)
    batch = schedule_all(fifty(), declared(eu=10, us=12, ap=8), options)
    assert all(decision.is_scheduled for decision in batch.decisions)
    assert {target.name for decision in batch.decisions for target in decision.targets} == {"us"}


def test_a_refusal_says_what_is_left_when_all_others_are_served() -> None:
    rules = a_placement(DYNAMIC)
    batch = schedule_all((a_binding(2, rules, name="a"), a_binding(1, rules, name="b")), with_room(m=1))
    assert by_name(batch) == {"b": {"m": 1}, "a": {}}
    condition = batch.decisions[1].condition
    assert condition is not None
    assert condition.message == (
        "failed to assign replicas: failed to scale up: Clusters available replicas 0 are not enough to schedule."
    )


def test_what_rests_holds_its_room() -> None:
    unscheduled = a_binding(7, a_placement(DYNAMIC), targets(a=7), name="released", policy="")
    batch = schedule_all(
        (a_binding(5, a_placement(DYNAMIC)),), declared(a=10), context=BatchContext(unscheduled=(unscheduled,))
    )
    assert not batch.decisions[0].is_scheduled
    assert [decision.ref.name for decision in batch.decisions] == ["web"]


def test_priority_comes_first_then_the_name() -> None:
    rules = a_placement(DYNAMIC)
    bindings = [
        a_binding(4, rules, name="b"),
        a_binding(4, rules, name="c", priority=5),
        a_binding(4, rules, name="a"),
    ]
    batch = schedule_all(bindings, with_room(m=9))
    assert by_name(batch) == {"c": {"m": 4}, "a": {"m": 4}, "b": {}}
    assert list(by_name(batch)) == ["c", "a", "b"]


def test_growth_takes_only_what_is_new() -> None:
    """Five are in the observed capacity already; of the ten free four are taken, six are left."""
    rules = a_placement(DYNAMIC)
    grown = a_binding(9, rules, targets(m=5), name="a")
    batch = schedule_all((grown, a_binding(6, rules, name="b"), a_binding(1, rules, name="c")), with_room(m=10))
    assert by_name(batch) == {"a": {"m": 9}, "b": {"m": 6}, "c": {}}


def test_static_and_duplicated_placements_take_room_too() -> None:
    bindings = (
        a_binding(4, a_placement(EQUAL), name="a"),
        a_binding(3, a_placement(DUPLICATED), name="b"),
        a_binding(0, a_placement(), name="c", requirements=None),
        a_binding(6, a_placement(DYNAMIC), name="d"),
        a_binding(5, a_placement(DYNAMIC), name="e"),
    )
    assert by_name(schedule_all(bindings, with_room(m=13)))["d"] == {"m": 6}
    assert by_name(schedule_all(bindings, with_room(m=13)))["e"] == {}


def test_a_set_of_components_takes_the_room_of_all_of_them() -> None:
    one: dict[str, Any] = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}
    components = tuple(
        Component(name=name, replicas=replicas, requirements=ReplicaRequirements())
        for name, replicas in (("driver", 1), ("executor", 3))
    )
    job = a_binding(0, a_placement(**one), name="a", requirements=None, components=components)
    bindings = (job, a_binding(2, a_placement(DYNAMIC), name="b"))
    batch = schedule_all(bindings, declared(m=5))
    assert by_name(batch) == {"a": {"m": 0}, "b": {}}
    done = after(bindings, batch)
    assert after(done, schedule_all(done, declared(m=5))) == done


CRD = ObjectRef("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com")


def test_a_kind_is_served_where_its_crd_goes_in_the_same_pass() -> None:
    served = DEPLOYMENT | {("apiextensions.k8s.io/v1", "CustomResourceDefinition")}
    index = ClusterIndex(a_cluster(name, api_enablements=served) for name in ("eu", "us", "ap"))
    crd = Binding(
        ref=CRD,
        api_version="apiextensions.k8s.io/v1",
        placement=a_placement(clusterAffinity={"clusterNames": ["eu", "us"]}),
    )
    widget = Binding(
        ref=ObjectRef("example.com", "Widget", "shop", "w"), api_version="example.com/v1", placement=a_placement()
    )
    context = BatchContext(apis_by_crd={CRD: (("example.com/v1", "Widget"),)})
    with_crd = schedule_all((widget, crd), index, context=context)
    assert [list(replicas_of(decision)) for decision in with_crd.decisions] == [["eu", "us"], ["eu", "us"]]
    as_karmada = schedule_all((widget, crd), index, SchedulingOptions(requires_recorded_apis=True), context)
    assert by_name(as_karmada) == {"widgets.example.com": {"eu": 0, "us": 0}, "w": {}}
    (alone,) = schedule_all((widget,), index).decisions
    assert alone.condition is not None
    assert alone.condition.message == "0/3 clusters are available: 3 cluster(s) did not have the API resource."


def neighbour(name: str, held: Mapping[str, int] | None = None, **fields: Any) -> Binding:
    return a_binding(2, a_placement(DUPLICATED), targets(**(held or {})), name=name, **fields)


def test_workloads_of_an_affinity_group_meet_where_all_of_them_are() -> None:
    rb1, rb2 = (
        neighbour("x1", {"m1": 2, "m2": 2}, affinity_group="app=x", scheduling_suspended=True),
        neighbour("x2", {"m2": 2, "m3": 2}, affinity_group="app=x", scheduling_suspended=True),
    )
    new = neighbour("new", affinity_group="app=x")
    elsewhere = replace(new, ref=replace(new.ref, namespace="other"))
    index = with_room(m1=9, m2=9, m3=9)
    found = {
        str(each.ref): list(replicas_of(each)) for each in schedule_all((rb1, rb2, new, elsewhere), index).decisions
    }
    assert found["Deployment.apps shop/new"] == ["m2"]
    assert found["Deployment.apps other/new"] == ["m1", "m2", "m3"]
    off = schedule_all((rb1, rb2, new), index, SchedulingOptions(honours_workload_affinity=False))
    assert by_name(off)["new"] == {"m1": 2, "m2": 2, "m3": 2}


def test_the_first_of_an_affinity_group_goes_anywhere_and_the_next_follows() -> None:
    rules = a_placement(AGGREGATED)
    bindings = [a_binding(2, rules, name=name, affinity_group="app=x") for name in ("a", "b")]
    batch = schedule_all(bindings, with_room(m1=9, m2=8))
    assert by_name(batch) == {"a": {"m1": 2}, "b": {"m1": 2}}


def test_workloads_of_an_anti_affinity_group_avoid_each_other() -> None:
    bindings = [
        a_binding(1, a_placement(AGGREGATED), name=name, anti_affinity_group="app=x") for name in ("a", "b", "c")
    ]
    batch = schedule_all(bindings, with_room(m1=9, m2=8))
    assert by_name(batch) == {"a": {"m1": 1}, "b": {"m2": 1}, "c": {}}
    assert batch.decisions[2].condition is not None
    assert batch.decisions[2].condition.message == (
        "0/2 clusters are available: 2 cluster already has workload with the same anti-affinity group."
    )


SPREAD = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]}
REGIONS = {
    "spreadConstraints": [
        {"spreadByField": "region", "minGroups": 1, "maxGroups": 1},
        {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2},
    ]
}


def in_regions(**room: int) -> ClusterIndex:
    """Clusters whose region is the first letter of their name."""
    return ClusterIndex(a_cluster(name, pods, region=name[0]) for name, pods in room.items())


def moved(binding: Binding, index: ClusterIndex, options: SchedulingOptions | None = None) -> dict[str, int]:
    (decision,) = schedule_all((binding,), index, options).decisions
    assert decision.trigger is Trigger.DUPLICATED_OR_NON_WORKLOAD
    return replicas_of(decision)


def test_duplicated_workloads_keep_their_region_when_another_gets_roomier() -> None:
    binding = a_binding(3, a_placement(DUPLICATED, **REGIONS), targets(a1=3))
    index = in_regions(a1=0, b1=9, b2=9)
    assert moved(binding, index) == {"a1": 3}
    assert moved(binding, index, KARMADA) == {"b1": 3, "b2": 3}


def test_they_are_added_to_where_constraints_leave_room() -> None:
    binding = a_binding(3, a_placement(DUPLICATED, **REGIONS), targets(a1=3))
    assert moved(binding, in_regions(a1=1, a2=1, a3=2, b1=9)) == {"a1": 3, "a3": 3}


def test_one_cluster_of_each_region_is_kept_even_beyond_the_maximum_of_clusters() -> None:
    spread = [
        {"spreadByField": "region", "minGroups": 2, "maxGroups": 2},
        {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1},
    ]
    binding = a_binding(3, a_placement(DUPLICATED, spreadConstraints=spread), targets(a1=3, b1=3))
    assert moved(binding, in_regions(a1=0, b1=0, c1=9, c2=9)) == {"a1": 3, "b1": 3}


def test_within_a_maximum_of_clusters_nothing_changes_by_room() -> None:
    rules = a_placement(DUPLICATED, **SPREAD)
    binding = a_binding(3, rules, targets(a=3, b=3))
    assert moved(binding, with_room(a=0, b=0, c=99)) == {"a": 3, "b": 3}
    assert moved(a_binding(3, rules, targets(b=3)), with_room(a=1, b=0, c=99)) == {"b": 3, "c": 3}


def test_constraints_that_select_nothing_are_told_again() -> None:
    rules = a_placement(DUPLICATED, spreadConstraints=[{"spreadByField": "zone", "minGroups": 1, "maxGroups": 1}])
    binding = a_binding(3, rules, targets(a=3))
    (decision,) = schedule_all((binding,), ClusterIndex((a_cluster("a", 9, zones=("z",)),))).decisions
    assert decision.targets == binding.targets
    assert decision.condition is not None
    assert decision.condition.message == (
        "failed to select clusters: just support cluster and region spread constraint"
    )


def test_where_constraints_no_longer_hold_clusters_are_chosen_anew() -> None:
    binding = a_binding(3, a_placement(DUPLICATED, **REGIONS), targets(a1=3, b1=3))
    assert moved(binding, in_regions(a1=1, b1=9, b2=9)) == {"b1": 3, "b2": 3}


def test_a_new_cluster_gets_duplicated_workloads_and_objects_at_once() -> None:
    bindings = (
        a_binding(3, a_placement(DUPLICATED), targets(a=3)),
        a_binding(0, a_placement(), (TargetCluster("a"),), name="settings", requirements=None),
    )
    assert by_name(schedule_all(bindings, with_room(a=0, b=0))) == {
        "web": {"a": 3, "b": 3},
        "settings": {"a": 0, "b": 0},
    }


def test_an_unchanged_pass_hands_back_the_very_same_targets() -> None:
    divided, duplicated = targets(a=2, b=1), targets(a=3, b=3)
    bindings = (
        a_binding(3, a_placement(EQUAL), divided, name="a"),
        a_binding(3, a_placement(DUPLICATED), duplicated, name="b"),
    )
    first, second = schedule_all(bindings, ClusterIndex((Cluster(name="a"), Cluster(name="b")))).decisions
    assert first.targets is divided
    assert second.targets is duplicated


@pytest.mark.parametrize("name", ["before", "zero"])
def test_copies_of_no_replicas_are_where_the_copies_were(name: str) -> None:
    """Karmada takes them out of their clusters; both select the same ones, whichever is decided first."""
    settings = a_binding(0, a_placement(), name="middle", requirements=None)
    idle = a_binding(0, a_placement(DUPLICATED), name=name)
    room = with_room(a=1, b=1)
    everywhere = {"a": 0, "b": 0}
    assert by_name(schedule_all([settings, idle], room)) == {"middle": everywhere, name: everywhere}
    as_in_karmada = schedule_all([settings, idle], room, SchedulingOptions.karmada())
    assert by_name(as_in_karmada) == {"middle": everywhere, name: {}}
