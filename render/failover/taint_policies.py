"""The taints of a cluster by ClusterTaintPolicies and the cluster's conditions.

Policies are taken one by one, each adding first and removing then, so that the youngest has the last word. A taint is
told from another by its key and effect; one that is there is left as it is, with its value and its time.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from render.cluster import ClusterCondition, Taint
from render.policy import ClusterTaintPolicy, MatchCondition
from render.timing import FIRST, instant_text, parse_instant

from .health import key_and_effect_of_taint


def taints_after_policies(
    taints: Sequence[Taint],
    conditions: Iterable[ClusterCondition],
    policies: Iterable[ClusterTaintPolicy],
    now: datetime,
) -> tuple[Taint, ...]:
    """Return a cluster's taints after the policies that target it, oldest first."""
    status_by_type = {each.type: each.status for each in conditions}
    result = list(taints)
    for policy in policies_oldest_first(policies):
        if matches_all_conditions(policy.add_on, status_by_type):
            _add_taints(policy.taints, result, now)
        if matches_all_conditions(policy.remove_on, status_by_type):
            _remove_taints(policy.taints, result)
    return tuple(result)


def policies_oldest_first(policies: Iterable[ClusterTaintPolicy]) -> list[ClusterTaintPolicy]:
    """Return policies from the oldest to the youngest; those without a time come first, by name."""
    return sorted(policies, key=lambda policy: (parse_instant(policy.created) or FIRST, policy.name))


def matches_all_conditions(wanted: Sequence[MatchCondition], status_by_type: Mapping[str, str]) -> bool:
    """Say whether a cluster's conditions match every entry; an empty list or an absent type matches nothing."""
    return bool(wanted) and all(_matches_condition(each, status_by_type.get(each.condition_type)) for each in wanted)


def _matches_condition(wanted: MatchCondition, status: str | None) -> bool:
    if status is None or wanted.operator not in {"In", "NotIn"}:
        return False
    return (status in wanted.status_values) == (wanted.operator == "In")


def _add_taints(added: Iterable[Taint], taints: list[Taint], now: datetime) -> None:
    for taint in added:
        if key_and_effect_of_taint(taint) not in map(key_and_effect_of_taint, taints):
            taints.append(replace(taint, time_added=instant_text(now)))


def _remove_taints(removed: Iterable[Taint], taints: list[Taint]) -> None:
    for taint in removed:
        index = next(
            (at for at, each in enumerate(taints) if key_and_effect_of_taint(each) == key_and_effect_of_taint(taint)),
            None,
        )
        if index is not None:
            del taints[index]
