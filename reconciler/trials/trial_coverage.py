"""Which policies and override rules no test exercised."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reconciler.source.desired import Desired

from .policy_trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many propagation policies and override rules there are, and those that decided about nothing expected."""

    policies: int
    rules: int
    idle_policies: tuple[str, ...]
    idle_rules: tuple[tuple[str, str], ...]


def coverage_of(trials: Sequence[Trial], desired: Desired) -> Coverage:
    """Return what tests left out: policies that held none, and rules that applied to none of the expected objects."""
    policies = sorted(map(str, desired.policies))
    rules = sorted((str(policy), rule.path) for policy in desired.override_policies for rule in policy.rules)
    used_policies, used_rules = _union(each.policies for each in trials), _union(each.rules for each in trials)
    return Coverage(
        policies=len(policies),
        rules=len(rules),
        idle_policies=tuple(each for each in policies if each not in used_policies),
        idle_rules=tuple(each for each in rules if each not in used_rules),
    )


def _union(sets: Iterable[frozenset[object]]) -> set[object]:
    return {each for found in sets for each in found}
