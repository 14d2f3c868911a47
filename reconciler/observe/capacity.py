"""The capacity of a cluster as Karmada counts it: the resources of its nodes, and those that pods take or ask for.

Every node counts, ready or not. A pod on a node takes its effective request and one of ``pods``; one without a node is
*allocating*. Pods that ended take nothing. All sums are exact.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from render.cluster import ResourceModel
from render.interpretation.requirements import resource_request
from render.model import Manifest
from render.quantity import Amount, QuantityFormat, format_quantity, parse_quantity, quantity_format

PODS = "pods"
_ENDED = frozenset({"Succeeded", "Failed"})


class Total(Struct):
    """Amounts by resource name, each in the notation it was first written in."""

    amounts: dict[str, Amount] = field(default_factory=dict)
    notations: dict[str, QuantityFormat] = field(default_factory=dict)

    def add(self, quantities: Mapping[str, Any]) -> None:
        """Add quantities."""
        for name, quantity in quantities.items():
            text = str(quantity)
            self.notations.setdefault(name, quantity_format(text))
            self.amounts[name] = self.amounts.get(name, 0) + parse_quantity(text)

    def written_quantities(self) -> dict[str, str]:
        """Return the sums as canonical quantities, by name."""
        return {name: format_quantity(self.amounts[name], self.notations[name]) for name in sorted(self.amounts)}


def count_nodes(nodes: Sequence[Manifest]) -> dict[str, int]:
    """Return how many nodes there are and how many are ready."""
    return {"totalNum": len(nodes), "readyNum": sum(map(is_ready_node, nodes))}


def is_ready_node(node: Manifest) -> bool:
    """Return whether a node's Ready condition is True."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def resource_summary(
    nodes: Sequence[Manifest], pods: Iterable[Manifest], models: Sequence[ResourceModel] = ()
) -> dict[str, Any]:
    """Return a Cluster's ``status.resourceSummary``; the grades of nodes are counted where models declare some."""
    allocatable, allocated, allocating = Total(), Total(), Total()
    for node in nodes:
        allocatable.add(_allocatable_of_node(node))
    taken_by_node: dict[str, Total] = {}
    for pod in pods:
        if (pod.get("status") or {}).get("phase") in _ENDED:
            continue
        request = {**resource_request(pod["spec"]), PODS: "1"}
        name = pod["spec"].get("nodeName") or ""
        (allocated if name else allocating).add(request)
        if models and name:
            taken_by_node.setdefault(name, Total()).add(request)
    written = {
        "allocatable": allocatable.written_quantities(),
        "allocating": allocating.written_quantities(),
        "allocated": allocated.written_quantities(),
    }
    summary: dict[str, Any] = {key: sums for key, sums in written.items() if sums}
    return (
        {**summary, "allocatableModelings": count_nodes_by_grade(nodes, taken_by_node, models)} if models else summary
    )


def count_nodes_by_grade(
    nodes: Iterable[Manifest], taken_by_node: Mapping[str, Total], models: Sequence[ResourceModel]
) -> list[dict[str, int]]:
    """Count the nodes of each grade: the highest whose minimum of *every* modelled resource a node still has.

    A node without room for another pod is of no grade. (Karmada counts no node after such a one, which would make the
    answer depend on the order of nodes.)
    """
    grades = sorted(models, key=lambda model: model.grade)
    counts = {model.grade: 0 for model in grades}
    for node in nodes:
        taken = taken_by_node.get(node["metadata"]["name"], Total())
        free = {name: parse_quantity(str(each)) for name, each in _allocatable_of_node(node).items()}
        for name, amount in taken.amounts.items():
            free[name] = free.get(name, 0) - amount
        grade = _index_of_highest_grade(free, grades) if free.get(PODS, 0) > 0 else None
        if grade is not None:
            counts[grade] += 1
    return [{"grade": grade, "count": count} for grade, count in counts.items()]


def _index_of_highest_grade(free: Mapping[str, Amount], grades: Sequence[ResourceModel]) -> int | None:
    fitting = (
        model.grade
        for model in reversed(grades)
        if all(parse_quantity(each.min) <= free.get(each.name, 0) for each in model.ranges)
    )
    return next(fitting, None)


def _allocatable_of_node(node: Manifest) -> Mapping[str, Any]:
    allocatable: Mapping[str, Any] = (node.get("status") or {}).get("allocatable") or {}
    return allocatable
