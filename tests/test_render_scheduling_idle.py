"""Workloads that ask for no replicas: where they are, under every strategy."""

from typing import Any

import pytest
from msgspec.structs import replace

from render.model import ObjectRef, TargetCluster
from render.scheduling.options import SchedulingOptions

from .schedulable import (
    AGGREGATED,
    DUPLICATED,
    DYNAMIC,
    EQUAL,
    a_binding,
    a_placement,
    scheduled,
    static,
    targets,
    with_room,
)

ARGOSY = SchedulingOptions()


@pytest.mark.parametrize("scheduling", [EQUAL, DYNAMIC, AGGREGATED, static(a=1, b=3), DUPLICATED], ids=str)
def test_a_workload_that_is_scaled_to_nothing_stays_where_it_was(scheduling: dict[str, Any]) -> None:
    """It leaves its clusters in Karmada; kubectl deletes no object whose replicas are set to 0."""
    room, placement = with_room(a=9, b=9), a_placement(scheduling)
    there = scheduled(a_binding(4, placement), room, ARGOSY).targets
    idle = a_binding(0, placement, there, applied_placement=placement)
    found = scheduled(idle, room, ARGOSY)
    assert found.targets == tuple(TargetCluster(each.name, 0) for each in there)
    again = scheduled(a_binding(0, placement, found.targets, applied_placement=placement), room, ARGOSY)
    assert again.targets == found.targets
    assert scheduled(idle, room, SchedulingOptions.karmada()).targets == ()
    more = scheduled(a_binding(4, placement, found.targets, applied_placement=placement), room, ARGOSY)
    assert more.targets == there


def test_a_workload_of_no_replicas_stays_only_where_it_may_be() -> None:
    idle = a_binding(0, a_placement(EQUAL, clusterAffinity={"clusterNames": ["b", "c"]}), targets(a=2, b=2))
    assert scheduled(idle, with_room(a=9, b=9, c=9), ARGOSY).targets == targets(b=0)
    assert scheduled(idle, with_room(c=9), ARGOSY).targets == targets(c=0)


@pytest.mark.parametrize("scheduling", [DYNAMIC, AGGREGATED, static(c=1, d=3)], ids=str)
def test_a_workload_of_no_replicas_that_may_stay_nowhere_goes_to_one_cluster(scheduling: dict[str, Any]) -> None:
    moved = a_placement(scheduling, clusterAffinity={"clusterNames": ["b", "c", "d"]})
    found = scheduled(a_binding(0, moved, targets(a=2)), with_room(a=9, b=9, c=9, d=9), ARGOSY)
    assert found.targets == (targets(d=0) if scheduling == static(c=1, d=3) else targets(b=0))


@pytest.mark.parametrize("scheduling", [EQUAL, DYNAMIC, AGGREGATED], ids=str)
def test_a_divided_workload_that_never_had_replicas_goes_nowhere(scheduling: dict[str, Any]) -> None:
    assert scheduled(a_binding(0, a_placement(scheduling)), with_room(a=9, b=9), ARGOSY).targets == ()


def test_a_divided_job_that_runs_nothing_has_no_completions_anywhere() -> None:
    job = replace(a_binding(0, a_placement(EQUAL), targets(a=2, b=2)), ref=ObjectRef("batch", "Job", "default", "sums"))
    assert scheduled(job, with_room(a=9, b=9), ARGOSY).targets == ()
