"""The free capacity of every cluster during one pass, and how many replicas of a request fit each.

A resource is a column: its free amount by cluster index. An estimate is a column too, found once per distinct request
and patched where a placement has taken something since. What a placement takes is noted first and subtracted when the
next estimate is asked for, so that a pass which never asks never pays.
"""

from collections.abc import Sequence

from render.cluster import Cluster, ResourceSummary
from render.cluster_index import ClusterIndex
from render.quantity import milli, parse_quantity, rounded_up
from render.resources import Component, ReplicaRequirements

from .models import Nodes, modelled_nodes, placed_on, room_on, sets_on
from .requests import CPU, Request, request_of, request_of_set

UNLIMITED = 2**31 - 1
PODS = "pods"

Shares = Sequence[tuple[int, int]]


class Estimate:
    """How many replicas fit, by cluster index, and up to which change of the columns it counts."""

    __slots__ = ("changes", "values")

    def __init__(self, values: list[int], changes: int) -> None:
        self.values = values
        self.changes = changes


class Capacity:
    """What is left of each cluster's capacity; ``take`` lowers it."""

    __slots__ = ("_changed", "_columns", "_estimates", "_index", "_nodes", "_taken", "_uses_models")

    def __init__(self, index: ClusterIndex, *, uses_models: bool = True) -> None:
        self._index = index
        self._uses_models = uses_models
        self._columns: dict[str, list[int]] = {}
        self._nodes: dict[int, list[Nodes]] | None = None
        self._estimates: dict[Request | None, Estimate] = {}
        self._taken: list[tuple[Request, Shares]] = []
        self._changed: list[int] = []

    def replicas(self, requirements: ReplicaRequirements | None) -> Sequence[int]:
        """Return how many replicas fit each cluster, by index; valid until the next call of ``take``.

        Without requirements only pods count, with empty ones a resource model counts as well.
        """
        self._settle()
        request = None if requirements is None else request_of(requirements)
        known = self._estimates.get(request)
        if known is None or len(self._changed) - known.changes > len(self._index.clusters) // 4:
            known = self._estimates[request] = Estimate(self._estimated(request), len(self._changed))
        elif known.changes < len(self._changed):
            for position in set(self._changed[known.changes :]):
                known.values[position] = self._estimated_at(position, request)
            known.changes = len(self._changed)
        return known.values

    def component_sets(self, components: tuple[Component, ...]) -> Sequence[int]:
        """Return how many full sets of components fit each cluster, by index."""
        self._settle()
        request, pods = request_of_set(components)
        sets = self._by_columns(request, max(pods, 1))
        parts = [(request_of(each.requirements), each.replicas) for each in components]
        for position, nodes in self._modelled().items():
            sets[position] = sets_on(nodes, parts, sets[position])
        return sets

    def take(self, requirements: ReplicaRequirements | None, shares: Shares) -> None:
        """Note that clusters now hold more replicas: pairs of a cluster's index and their number."""
        self._taken.append((request_of(requirements), shares))

    def _settle(self) -> None:
        for request, shares in self._taken:
            columns = [(self._column(name), amount) for name, amount in ((PODS, 1), *request)]
            for position, replicas in shares:
                for column, amount in columns:
                    column[position] -= amount * replicas
                self._changed.append(position)
            nodes_by_cluster = self._modelled()
            for position, replicas in shares if nodes_by_cluster else ():
                if position in nodes_by_cluster:
                    nodes_by_cluster[position] = placed_on(nodes_by_cluster[position], request, replicas)
        self._taken.clear()

    def _estimated(self, request: Request | None) -> list[int]:
        values = self._by_columns(request or (), 1)
        for position in self._modelled() if request is not None else ():
            values[position] = self._estimated_at(position, request)
        return values

    def _estimated_at(self, position: int, request: Request | None) -> int:
        pods = min(max(self._column(PODS)[position], 0), UNLIMITED)
        nodes = None if request is None else self._modelled().get(position)
        if request is not None and nodes is not None:
            return min(pods, room_on(nodes, request))
        room = (self._column(name)[position] // amount for name, amount in request or ())
        return max(min((pods, *room)), 0)

    def _by_columns(self, request: Request, pods: int) -> list[int]:
        values = [free // pods if free < UNLIMITED else UNLIMITED for free in self._column(PODS)]
        for name, amount in request:
            values = [
                known if known < (room := free // amount) else room
                for known, free in zip(values, self._column(name), strict=True)
            ]
        return [max(value, 0) for value in values] if min(values, default=0) < 0 else values

    def _column(self, resource: str) -> list[int]:
        column = self._columns.get(resource)
        if column is None:
            column = [_free(cluster.resource_summary, resource) for cluster in self._index.clusters]
            self._columns[resource] = column
        return column

    def _modelled(self) -> dict[int, list[Nodes]]:
        if self._nodes is None:
            self._nodes = _modelled(self._index.clusters) if self._uses_models else {}
        return self._nodes


def _modelled(clusters: Sequence[Cluster]) -> dict[int, list[Nodes]]:
    nodes = ((position, modelled_nodes(cluster)) for position, cluster in enumerate(clusters))
    return {position: each for position, each in nodes if each is not None}


def _free(summary: ResourceSummary | None, resource: str) -> int:
    """Return what is allocatable and neither allocated nor being allocated, in the resource's units."""
    if summary is None or resource not in summary.allocatable:
        return 0
    free = parse_quantity(summary.allocatable[resource])
    for used in (summary.allocated, summary.allocating):
        if resource in used:
            free -= parse_quantity(used[resource])
    return milli(free) if resource == CPU else rounded_up(free)
