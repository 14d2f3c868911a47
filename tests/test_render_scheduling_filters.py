"""Filters: every one has a row that says which cluster it rejects, for what reason, and whether a target may stay."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace

from reconciler.reference.topics import load_topic
from render.binding import Binding, GracefulEvictionTask
from render.bits import indexes_of_mask
from render.cluster import Taint
from render.cluster_index import ClusterIndex
from render.scheduling.filtering import FilterResult, filter_clusters, rejections_by_filter
from render.scheduling.filters import FILTERS
from render.scheduling.options import SchedulingOptions
from render.scheduling.scheduler import Scheduler
from tests.schedulable import DYNAMIC, a_binding, a_cluster, a_placement, targets

from .tables import each_row

ANYWHERE = a_placement(DYNAMIC)
BY_REGION = a_placement(DYNAMIC, spreadConstraints=[{"spreadByField": "region", "minGroups": 1, "maxGroups": 1}])
ONLY_B = a_placement(DYNAMIC, clusterAffinity={"clusterNames": ["b"]})


class Filtered(NamedTuple):
    """A binding that may not go to the cluster ``a``, and may go to ``b``.

    ``stays``: it may stay in ``a`` where it is a target already. ``keeps_last_copy``: it may stay where no other
    cluster takes it.
    """

    why: str
    filter: str
    reason: str
    binding: Binding
    cluster: Mapping[str, Any] = MappingProxyType({})
    other: Binding | None = None
    stays: bool = False
    keeps_last_copy: bool = False


FILTERED = [
    Filtered(
        "a kind that is not served",
        "APIEnablement",
        "cluster(s) did not have the API resource",
        a_binding(2, ANYWHERE),
        {"api_enablements": frozenset()},
        stays=True,
    ),
    Filtered(
        "a taint that is not tolerated",
        "TaintToleration",
        "cluster(s) had untolerated taint {gpu:NoSchedule}",
        a_binding(2, ANYWHERE),
        {"taints": (Taint(key="gpu", effect="NoSchedule"),)},
        stays=True,
    ),
    Filtered(
        "a taint that evicts",
        "TaintToleration",
        "cluster(s) had untolerated taint {gpu:NoExecute}",
        a_binding(2, ANYWHERE),
        {"taints": (Taint(key="gpu", effect="NoExecute"),)},
        keeps_last_copy=True,
    ),
    Filtered(
        "an affinity for another cluster",
        "ClusterAffinity",
        "cluster(s) did not match the placement cluster affinity constraint",
        a_binding(2, ONLY_B),
        keeps_last_copy=True,
    ),
    Filtered(
        "no region to spread by",
        "SpreadConstraint",
        "cluster(s) did not have region property",
        a_binding(2, BY_REGION),
        {"region": ""},
        keeps_last_copy=True,
    ),
    Filtered(
        "an eviction",
        "ClusterEviction",
        "cluster(s) is in the process of eviction",
        a_binding(2, ANYWHERE, eviction_tasks=(GracefulEvictionTask(from_cluster="a"),)),
    ),
    Filtered(
        "a workload of the same affinity group elsewhere",
        "WorkloadAffinity",
        "ResourceBinding with the same affinity group does not target this cluster",
        a_binding(2, ANYWHERE, affinity_group="shop"),
        other=a_binding(1, ANYWHERE, targets(b=1), name="api", affinity_group="shop"),
        stays=True,
    ),
    Filtered(
        "a workload of the same anti-affinity group there",
        "WorkloadAntiAffinity",
        "cluster already has workload with the same anti-affinity group",
        a_binding(2, ANYWHERE, anti_affinity_group="shop"),
        other=a_binding(1, ANYWHERE, targets(a=1), name="api", anti_affinity_group="shop"),
        stays=True,
    ),
    Filtered(
        "an object that its chart does not make there",
        "Values",
        "cluster(s) for which the object is not made",
        a_binding(2, ANYWHERE, absent_in=frozenset({"a"})),
    ),
    Filtered(
        "a cluster that nobody knows to be well",
        "ClusterHealth",
        "cluster(s) of which nobody knows that they are well",
        a_binding(2, ANYWHERE, unproven=frozenset({"a"})),
        stays=True,
    ),
]


def filtered(row: Filtered, binding: Binding) -> tuple[FilterResult, ClusterIndex]:
    fields = {"region": "eu", **row.cluster}
    index = ClusterIndex((a_cluster("a", **fields), a_cluster("b", region="us"), a_cluster("c", is_terminating=True)))
    state = Scheduler(index, SchedulingOptions()).state
    if row.other is not None:
        state.workload_groups.note_placed_workload(row.other, state.targets.indexed_targets(row.other.targets).clusters)
    task = state.task(binding)
    return filter_clusters(state, task, task.rules.groups[0]), index


@each_row("row", FILTERED, ids=lambda row: row.why)
def test_a_filter_alone_rejects_a_cluster_for_its_reason(row: Filtered) -> None:
    result, index = filtered(row, row.binding)
    rejected = [
        (each.plugin, each.reason, indexes_of_mask(each.clusters)) for each in rejections_by_filter(result, index)
    ]
    assert (rejected, indexes_of_mask(result.feasible)) == ([(row.filter, row.reason, [0])], [1])


@each_row("row", FILTERED, ids=lambda row: row.why)
def test_a_current_target_stays_where_the_filter_exempts_it(row: Filtered) -> None:
    result, _ = filtered(row, replace(row.binding, targets=targets(a=2)))
    assert indexes_of_mask(result.feasible) == ([0, 1] if row.stays else [1])


@each_row("row", FILTERED, ids=lambda row: row.why)
def test_a_last_copy_stays_where_the_filter_judges_what_a_cluster_has_become(row: Filtered) -> None:
    result, _ = filtered(row, replace(row.binding, targets=targets(a=2), staying=frozenset({"a"})))
    assert indexes_of_mask(result.feasible) == ([0, 1] if row.stays or row.keeps_last_copy else [1])


def test_every_filter_has_a_row_here() -> None:
    assert {row.filter for row in FILTERED} == {each.name for each in FILTERS}


def test_every_filter_is_explained_where_people_name_it() -> None:
    """PolicyTests name filters, so ``argosy help policy-tests`` has a whole sentence about each."""
    explained = {
        entry.name: entry.about for section in load_topic("policy-tests").sections for entry in section.entries
    }
    assert {each.name: explained.get(each.name) for each in FILTERS} == {each.name: each.meaning for each in FILTERS}
    assert [each.name for each in FILTERS if not re.fullmatch(r"[A-Z].* .*[a-z]\.", each.meaning)] == []
