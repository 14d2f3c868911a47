"""The free capacity of every cluster during one pass, and the replicas of a request that fit each.

A resource is a column: its free amount by cluster index. An estimate is a column too, found once per distinct request
and patched where a placement has taken something since. A placement is only noted at first, and subtracted when the
next estimate is asked for, so that a pass which never asks never pays.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from fractions import Fraction

from render.cluster import Cluster, ResourceSummary
from render.cluster_index import ClusterIndex
from render.quantity import QuantityFormat, amount_rounded_up, format_quantity, milli_value_of_amount, parse_quantity
from render.resources import Component, ReplicaRequirements

from .requests import CPU, Request, request_of_replica, request_of_set
from .resource_models import (
    Nodes,
    component_sets_that_fit_nodes,
    modelled_nodes,
    nodes_after_placing,
    replicas_that_fit_nodes,
)

UNLIMITED = 2**31 - 1
PODS = "pods"
NODES = "nodes"

Shares = Mapping[int, int]
"""Replicas by the index of their cluster."""


class Estimate:
    """The replicas that fit, by cluster index, and the number of column changes already counted in."""

    __slots__ = ("changes", "values")

    def __init__(self, values: list[int], changes: int) -> None:
        self.values = values
        self.changes = changes


class Capacity:
    """The capacity left in each cluster; ``note_placed_replicas`` lowers it, or raises it by the room given back."""

    __slots__ = (
        "_changed",
        "_columns",
        "_estimates",
        "_index",
        "_nodes",
        "_placed",
        "_reserved",
        "_taken",
        "_uses_models",
    )

    def __init__(self, index: ClusterIndex, *, uses_models: bool = True) -> None:
        self._index = index
        self._uses_models = uses_models
        self._columns: dict[str, list[int]] = {}
        self._nodes: dict[int, list[Nodes]] | None = None
        self._placed: dict[int, dict[Request, int]] = {}
        self._estimates: dict[Request | None, Estimate] = {}
        self._taken: dict[Request, list[tuple[Shares, int]]] = {}
        self._changed: list[int] = []
        self._reserved = {
            position
            for position, cluster in enumerate(index.clusters)
            if cluster.resource_summary is not None and cluster.resource_summary.reserved
        }

    @property
    def has_models(self) -> bool:
        """Say whether the room of some cluster depends on its nodes."""
        return bool(self._nodes_of_modelled_clusters())

    def copy(self) -> "Capacity":
        """Return capacity that goes on by itself from what is left now."""
        self._subtract_taken()
        other = copy(self)
        other.detach()
        return other

    def detach(self) -> None:
        """Share no more with what this was copied from; estimates are made anew."""
        self._estimates, self._taken, self._changed = {}, {}, []
        self._columns = {name: list(column) for name, column in self._columns.items()}
        self._nodes = None if self._nodes is None else dict(self._nodes)
        self._placed = {position: dict(placed) for position, placed in self._placed.items()}

    def replicas(self, requirements: ReplicaRequirements | None) -> Sequence[int]:
        """Return how many replicas fit each cluster, by index; valid until the next call of ``note_placed_replicas``.

        Without requirements only pods count, with empty ones a resource model counts as well.
        """
        self._subtract_taken()
        request = None if requirements is None else request_of_replica(requirements)
        known = self._estimates.get(request)
        # Patching one cluster after the other costs more than a new column once a quarter of them has changed.
        if known is None or len(self._changed) - known.changes > len(self._index.clusters) // 4:
            known = self._estimates[request] = Estimate(self._estimates_of(request), len(self._changed))
        elif known.changes < len(self._changed):
            self._estimate_changed_clusters(known.values, set(self._changed[known.changes :]), request)
            known.changes = len(self._changed)
        return known.values

    def resource_that_gives_out(self, requirements: ReplicaRequirements | None, position: int) -> str:
        """Return the resource by which a cluster has room for no more replicas; ``nodes``: no node has room for one."""
        estimate, amounts = self.replicas(requirements)[position], ((PODS, 1), *request_of_replica(requirements))
        room = {name: self._free_amounts_of_resource(name)[position] // amount for name, amount in amounts}
        least = min(room, key=lambda name: (room[name], name))
        return least if max(room[least], 0) <= estimate else NODES

    def component_sets(self, components: tuple[Component, ...]) -> Sequence[int]:
        """Return how many full sets of components fit each cluster, by index."""
        self._subtract_taken()
        request, pods = request_of_set(components)
        sets = self._estimates_by_free_amounts(request, max(pods, 1))
        parts = [(request_of_replica(each.requirements), each.replicas) for each in components]
        for position, nodes in self._nodes_of_modelled_clusters().items():
            sets[position] = component_sets_that_fit_nodes(nodes, parts, sets[position])
        return sets

    def note_placed_replicas(self, requirements: ReplicaRequirements | None, shares: Shares, sign: int = 1) -> None:
        """Note that clusters now have so many more replicas; fewer with a sign of -1.

        ``shares`` are kept until an estimate is asked for, and may not change until then.
        """
        if shares:
            self._taken.setdefault(request_of_replica(requirements), []).append((shares, sign))

    def reserved_resources_by_cluster(self) -> dict[str, dict[str, str]]:
        """Return the amounts reserved of each cluster's observed capacity: by earlier passes and by this one."""
        observed = [
            (position, cluster.name, cluster.resource_summary)
            for position, cluster in enumerate(self._index.clusters)
            if cluster.resource_summary is not None and not cluster.resource_summary.is_declared
        ]
        if observed:
            self._subtract_taken()
        return {name: self._reserved_of(summary, position) for position, name, summary in observed}

    def amounts_overdrawn_since(self, before: "Capacity") -> dict[str, dict[str, int]]:
        """Return by cluster how much less than nothing is free there now, of each resource that it says to have.

        What was overdrawn in the capacity ``before`` is left out.
        """
        self._subtract_taken()
        found: dict[str, dict[str, int]] = {}
        for resource, column in self._columns.items():
            for position in [place for place, free in enumerate(column) if free < 0]:
                cluster = self._index.clusters[position]
                if cluster.resource_summary is None or resource not in cluster.resource_summary.allocatable:
                    continue
                more = min(0, before.free_amount(resource, cluster.name)) - column[position]
                if more > 0:
                    found.setdefault(cluster.name, {})[resource] = more
        return found

    def free_amount(self, resource: str, cluster: str) -> int:
        """Return the free amount of a resource in a cluster, in its units; less than 0 where it is overdrawn."""
        self._subtract_taken()
        return self._free_amounts_of_resource(resource)[self._index.index_by_name[cluster]]

    def _reserved_of(self, summary: ResourceSummary, position: int) -> dict[str, str]:
        amounts = dict(summary.reserved)
        for name, column in self._columns.items():
            if taken := _free_amount_of_resource(summary, name) - column[position]:
                amounts[name] = _quantity_of_reserved_and_taken(amounts.get(name, "0"), taken, name)
        return dict(sorted(amounts.items()))

    def _subtract_taken(self) -> None:
        for request, noted in self._taken.items():
            columns = [(self._free_amounts_of_resource(name), amount) for name, amount in ((PODS, 1), *request)]
            # The nodes of a model are filled in the order of placements.
            signed = noted if self._nodes_of_modelled_clusters() else _shares_with_sums_of_signs(noted)
            taken = [(position, sign * count) for shares, sign in signed for position, count in shares.items() if count]
            # One walk over a column is cheaper than a step for each of many placements.
            if len(taken) < len(self._index.clusters):
                self._subtract_placements_one_by_one(columns, taken)
            else:
                self._subtract_placements_at_once(columns, taken)
            self._place_on_modelled_nodes(request, taken)
        self._taken.clear()

    def _subtract_placements_one_by_one(
        self, columns: Sequence[tuple[list[int], int]], taken: Sequence[tuple[int, int]]
    ) -> None:
        for column, amount in columns:
            for position, replicas in taken:
                column[position] -= amount * replicas
        self._changed += [position for position, _ in taken]

    def _subtract_placements_at_once(
        self, columns: Sequence[tuple[list[int], int]], taken: Sequence[tuple[int, int]]
    ) -> None:
        """Subtract the room of many placements in one go; every estimate is then made again."""
        total = [0] * len(self._index.clusters)
        for position, replicas in taken:
            total[position] += replicas
        for column, amount in columns:
            column[:] = [free - amount * replicas for free, replicas in zip(column, total, strict=True)]
        self._estimates.clear()

    def _place_on_modelled_nodes(self, request: Request, taken: Sequence[tuple[int, int]]) -> None:
        nodes_by_cluster = self._nodes_of_modelled_clusters()
        for position, replicas in taken if nodes_by_cluster else ():
            if position not in nodes_by_cluster:
                continue
            placed = self._placed.setdefault(position, {})
            placed[request] = placed.get(request, 0) + replicas
            if replicas > 0:
                nodes_by_cluster[position] = nodes_after_placing(nodes_by_cluster[position], request, replicas)
            else:
                nodes_by_cluster[position] = self._nodes_placed_anew(position)

    def _nodes_placed_anew(self, position: int) -> list[Nodes]:
        """Return a cluster's nodes with all replicas placed there, after some were taken off them."""
        nodes = modelled_nodes(self._index.clusters[position]) or []
        for request, replicas in self._placed[position].items():
            nodes = nodes_after_placing(nodes, request, replicas)
        return nodes

    def _estimates_of(self, request: Request | None) -> list[int]:
        values = self._estimates_by_free_amounts(request or (), 1)
        if request is not None:
            self._estimate_modelled_clusters(values, self._nodes_of_modelled_clusters(), request)
        return values

    def _estimate_changed_clusters(self, values: list[int], changed: set[int], request: Request | None) -> None:
        """Estimate some clusters again."""
        pods = self._free_amounts_of_resource(PODS)
        columns = [(self._free_amounts_of_resource(name), amount) for name, amount in request or ()]
        for position in changed:
            room = min(pods[position], UNLIMITED)
            for column, amount in columns:
                room = min(room, column[position] // amount)
            values[position] = max(room, 0)
        if request is not None:
            self._estimate_modelled_clusters(values, changed & self._nodes_of_modelled_clusters().keys(), request)

    def _estimate_modelled_clusters(self, values: list[int], modelled: Iterable[int], request: Request) -> None:
        """Let a resource model decide where there is one; ``values`` are estimates from sums of free amounts."""
        pods, nodes_by_cluster = self._free_amounts_of_resource(PODS), self._nodes_of_modelled_clusters()
        for position in modelled:
            # The nodes an earlier pass placed replicas on are not recorded: its reservations only count in sums.
            sums = values[position] if position in self._reserved else UNLIMITED
            values[position] = max(
                min(replicas_that_fit_nodes(nodes_by_cluster[position], request), pods[position], sums), 0
            )

    def _estimates_by_free_amounts(self, request: Request, pods: int) -> list[int]:
        values = [free // pods if free < UNLIMITED else UNLIMITED for free in self._free_amounts_of_resource(PODS)]
        for name, amount in request:
            values = [
                known if known < (room := free // amount) else room
                for known, free in zip(values, self._free_amounts_of_resource(name), strict=True)
            ]
        return [max(value, 0) for value in values] if min(values, default=0) < 0 else values

    def _free_amounts_of_resource(self, resource: str) -> list[int]:
        column = self._columns.get(resource)
        if column is None:
            column = [_free_amount_of_resource(cluster.resource_summary, resource) for cluster in self._index.clusters]
            self._columns[resource] = column
        return column

    def _nodes_of_modelled_clusters(self) -> dict[int, list[Nodes]]:
        if self._nodes is None:
            self._nodes = _modelled_nodes_by_cluster(self._index.clusters) if self._uses_models else {}
        return self._nodes


def _shares_with_sums_of_signs(noted: Iterable[tuple[Shares, int]]) -> list[tuple[Shares, int]]:
    """Return shares that many placements have in common once, with how often they were placed."""
    found: dict[int, tuple[Shares, int]] = {}
    for shares, sign in noted:
        known = found.get(id(shares))
        found[id(shares)] = (shares, sign + known[1] if known else sign)
    return list(found.values())


def _modelled_nodes_by_cluster(clusters: Sequence[Cluster]) -> dict[int, list[Nodes]]:
    nodes = ((position, modelled_nodes(cluster)) for position, cluster in enumerate(clusters))
    return {position: each for position, each in nodes if each is not None}


def _free_amount_of_resource(summary: ResourceSummary | None, resource: str) -> int:
    """Return the amount that is allocatable and neither allocated, being allocated nor reserved, in its units."""
    if summary is None or resource not in summary.allocatable:
        return 0
    free = parse_quantity(summary.allocatable[resource])
    for used in (summary.allocated, summary.allocating, summary.reserved):
        if resource in used:
            free -= parse_quantity(used[resource])
    return milli_value_of_amount(free) if resource == CPU else amount_rounded_up(free)


def _quantity_of_reserved_and_taken(reserved: str, taken: int, resource: str) -> str:
    amount = parse_quantity(reserved) + (Fraction(taken, 1000) if resource == CPU else taken)
    return format_quantity(amount, QuantityFormat.BINARY_SI if resource == "memory" else QuantityFormat.DECIMAL_SI)
