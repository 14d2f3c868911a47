"""Room on the nodes a resource model describes: so many of each grade, each as small as it may be.

A node of a grade has the grade's minimum of every resource, and room for 110 pods. Replicas go to the first node they
fit, from the lowest grade up; equal nodes are kept together and counted.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from render.cluster import Cluster

from .requests import Request, units_of_quantity

PODS_PER_NODE = 110


class Nodes(Struct):
    """``count`` equal nodes: the amount of every resource and of pods that each has left, in the units of requests."""

    count: int
    left: Mapping[str, int]
    pods: int = PODS_PER_NODE

    def replicas_that_fit(self, request: Request) -> int:
        """Return how many replicas one of the nodes can hold."""
        room = self.pods
        for name, amount in request:
            room = min(room, self.left.get(name, 0) // amount)
        return max(room, 0)

    def nodes_without_replicas(self, request: Request, replicas: int, count: int) -> "Nodes":
        """Return ``count`` of the nodes after each took so many replicas."""
        left = dict(self.left)
        for name, amount in request:
            left[name] = left.get(name, 0) - amount * replicas
        return Nodes(count, left, self.pods - replicas)


def modelled_nodes(cluster: Cluster) -> list[Nodes] | None:
    """Return the nodes a cluster's modelings count, lowest grade first; None where there is no usable model."""
    summary, models = cluster.resource_summary, cluster.resource_models
    if summary is None or not summary.modelings or not models:
        return None
    if any(count < 0 for _, count in summary.modelings):
        return None
    count_by_grade: dict[int, int] = {}
    for grade, count in summary.modelings:
        count_by_grade[grade] = count_by_grade.get(grade, 0) + count
    return [
        Nodes(count_by_grade[model.grade], {each.name: units_of_quantity(each.name, each.min) for each in model.ranges})
        for model in sorted(models, key=lambda model: model.grade)
        if count_by_grade.get(model.grade, 0) > 0
    ]


def replicas_that_fit_nodes(nodes: Sequence[Nodes], request: Request) -> int:
    """Return how many replicas fit all the nodes."""
    return sum(each.count * each.replicas_that_fit(request) for each in nodes)


def nodes_after_placing(nodes: Sequence[Nodes], request: Request, replicas: int) -> list[Nodes]:
    """Return the nodes after taking replicas; those that fit no node take no room."""
    after: list[Nodes] = []
    for each in nodes:
        room = each.replicas_that_fit(request)
        if replicas <= 0 or not room:
            after.append(each)
            continue
        full = min(each.count, replicas // room)
        rest = replicas - full * room if full < each.count else 0
        after += [
            part
            for part in (
                each.nodes_without_replicas(request, room, full),
                each.nodes_without_replicas(request, rest, 1 if rest else 0),
                Nodes(each.count - full - bool(rest), each.left, each.pods),
            )
            if part.count
        ]
        replicas -= full * room + rest
    return after


def component_sets_that_fit_nodes(nodes: Sequence[Nodes], parts: Sequence[tuple[Request, int]], most: int) -> int:
    """Return how many full sets of several requests fit, up to ``most``; a set that does not fit ends the count."""
    for done in range(most):
        for request, replicas in parts:
            if replicas_that_fit_nodes(nodes, request) < replicas:
                return done
            nodes = nodes_after_placing(nodes, request, replicas)
    return most
