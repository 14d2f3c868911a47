"""The rules for writing facts anew, which keep a busy cluster from making a commit of every pod that comes.

Served APIs, Ready and allocatable count exactly. Free capacity counts when, of any resource, it crosses zero or moves
by more than a tenth of what is allocatable; smaller moves wait until what is recorded is ten minutes old. Where nodes
are counted by grades, which is what the scheduler reads then, the sum over the grades counts in the same way: pods that
move to another node change it though the sum over nodes stays.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from reconciler.ledger.cluster import ClusterState
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.facts import ClusterFacts
from render.cluster import ResourceModel
from render.failover.health import READY
from render.model import Manifest
from render.quantity import Amount, parse_quantity

STALE_SECONDS = 600.0
_MOVE = Fraction(1, 10)


def facts_in_state(state: ClusterState, now: str) -> ClusterFacts:
    """Return the facts that a cluster's state holds: what the scheduler reads of it, and nothing else."""
    ready = condition_of_type(state.status.get("conditions"), READY)
    status: dict[str, Any] = {
        "conditions": [{key: ready[key] for key in ("type", "status", "reason") if key in ready}] if ready else [],
        "apiEnablements": state.status.get("apiEnablements"),
        "resourceSummary": state.status.get("resourceSummary"),
    }
    known = {key: value for key, value in status.items() if value}
    return ClusterFacts(name=state.name, status=known, observed_at=now)


def facts_to_write(
    previous: ClusterFacts | None, observed: ClusterFacts, age: float, models: Sequence[ResourceModel] = ()
) -> ClusterFacts:
    """Return the facts to render by: the observed ones when they differ enough, else the previous ones as they are.

    ``age`` is how old the previous ones are, in seconds; ``models`` are the grades of the cluster's nodes.
    """
    if previous is None:
        return observed
    if previous.status == observed.status:
        return previous
    if _fields_compared_exactly(previous.status) != _fields_compared_exactly(observed.status) or age >= STALE_SECONDS:
        return observed
    return (
        observed if has_capacity_moved(_summary_of_facts(previous), _summary_of_facts(observed), models) else previous
    )


def has_capacity_moved(
    before: Mapping[str, Any], after: Mapping[str, Any], models: Sequence[ResourceModel] = ()
) -> bool:
    """Return whether the free amount of any resource crosses zero or moves by over a tenth of what is allocatable."""
    modelled = {each.name for model in models for each in model.ranges}
    for name, quantity in (after.get("allocatable") or {}).items():
        most = _MOVE * parse_quantity(str(quantity))
        if _has_moved_far(_free_amount(before, name), _free_amount(after, name), most):
            return True
        if name in modelled and _has_moved_far(
            _capacity_by_grades(before, name, models), _capacity_by_grades(after, name, models), most
        ):
            return True
    return False


def _has_moved_far(old: Amount, new: Amount, most: Amount) -> bool:
    return (old > 0) != (new > 0) or new - old > most or old - new > most


def _capacity_by_grades(summary: Mapping[str, Any], name: str, models: Sequence[ResourceModel]) -> Amount:
    """Return how much of a resource nodes of these grades have at least."""
    least = {model.grade: each.min for model in models for each in model.ranges if each.name == name}
    counts = summary.get("allocatableModelings") or ()
    amount: Amount = 0
    for each in counts:
        amount += each["count"] * parse_quantity(str(least.get(each["grade"], "0")))
    return amount


def _free_amount(summary: Mapping[str, Any], name: str) -> Amount:
    return (
        _amount_of_summary(summary, "allocatable", name)
        - _amount_of_summary(summary, "allocated", name)
        - _amount_of_summary(summary, "allocating", name)
    )


def _amount_of_summary(summary: Mapping[str, Any], key: str, name: str) -> Amount:
    return parse_quantity(str((summary.get(key) or {}).get(name, "0")))


def _summary_of_facts(facts: ClusterFacts) -> Mapping[str, Any]:
    summary: Mapping[str, Any] = facts.status.get("resourceSummary") or {}
    return summary


def _fields_compared_exactly(status: Manifest) -> tuple[Any, ...]:
    summary = status.get("resourceSummary") or {}
    return status.get("conditions"), status.get("apiEnablements"), summary.get("allocatable")
