"""Division alone: Webster's averages, and each strategy over candidates with given room."""

from typing import Any

from render.cluster_index import ClusterIndex
from render.parsing import parse_binding, parse_cluster
from render.scheduling.decisions import Refusal
from render.scheduling.replicas import Division, assign_replicas
from render.scheduling.rules import rules_of_placement, strategy_for_binding
from render.scheduling.webster import are_ties_in_descending_order, divide_replicas

from . import Case

ERROR_TYPES = {"Unschedulable": "UnschedulableError", "SchedulerError": "Error"}


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    want = {each["name"]: each["replicas"] for each in expected["clusters"] or ()}
    if given["mode"] == "webster":
        got = divide_replicas(given["replicas"], given["weights"], uid=given["uid"], initial=given.get("initial"))
        return None if got == want else f"{got}, want {want}"
    return _assigned(given, expected, want)


def _assigned(given: dict[str, Any], expected: dict[str, Any], want: dict[str, int]) -> str | None:
    index = ClusterIndex(_cluster(each) for each in given["clusters"])
    result = assign_replicas(_division(given, index))
    if isinstance(result, Refusal):
        got: Any = (ERROR_TYPES[result.reason], result.message)
        recorded = (expected.get("errorType"), expected["error"])
        return None if got == recorded else f"{got}, want {recorded}"
    if expected["error"] is not None:
        return f"{result}, want {expected['error']}"
    names = [index.names[position] for position, _ in result]
    shares = dict(zip(names, (replicas for _, replicas in result), strict=True))
    if shares != want:
        return f"{shares}, want {want}"
    return None if expected["order"] in (None, names) else f"order {names}, want {expected['order']}"


def _cluster(plain: dict[str, Any]) -> Any:
    manifest = plain["cluster"]
    return parse_cluster({**manifest, "metadata": {**manifest["metadata"], "name": plain["name"]}})


def _division(given: dict[str, Any], index: ClusterIndex) -> Division:
    bound = parse_binding({"metadata": {}, "spec": given["spec"], "status": given["status"]})
    assert bound.placement is not None
    rules = rules_of_placement(bound.placement, index)
    capacity = [0] * len(index.clusters)
    mask_by_order: dict[int, int] = {}
    for each in given["clusters"]:
        position = index.index_by_name[each["name"]]
        capacity[position] = each["available"]
        order = each["overflowOrder"]
        mask_by_order[order] = mask_by_order.get(order, 0) | 1 << position
    names = {target.name: target.replicas for target in bound.targets}
    observed = next((group for group in rules.groups if group.name == bound.observed_affinity), None)
    overflows = rules.is_grouped and observed is not None and observed.overflow is not None
    return Division(
        replicas=bound.replicas,
        strategy=strategy_for_binding(bound, rules),
        selected=[index.index_by_name[each["name"]] for each in given["clusters"]],
        capacity=capacity,
        current={index.index_by_name[name]: count for name, count in names.items() if name in index.index_by_name},
        is_fresh=bound.is_reschedule_requested,
        is_descending=are_ties_in_descending_order(bound.uid),
        weights=rules.weights,
        tiers=[mask for _, mask in sorted(mask_by_order.items())] if overflows else (),
    )
