"""The rollout policy of each template, by the selectors and the order of precedence that propagation policies have.

A RolloutPolicy of the namespace comes before every ClusterRolloutPolicy, then the priority counts, then how
specifically a policy selects, then its name.
"""

from collections.abc import Iterable

from msgspec import Struct

from render.matching.selector_index import SelectorIndex
from render.model import Template
from render.selectors import implicit_priority_of_selector

from .policy import RolloutPolicy

Rank = tuple[bool, int, int, str]


class _Candidate(Struct, frozen=True):
    """A policy, and its rank by one of its selectors: the smallest is the best."""

    policy: RolloutPolicy
    rank: Rank


class RolloutIndex:
    """The rollout policies of a source, found by what their selectors ask for."""

    __slots__ = ("_index", "policies")

    def __init__(self, policies: Iterable[RolloutPolicy]) -> None:
        self.policies = tuple(policies)
        candidates = sorted(
            (
                (policy.namespace, selector, _Candidate(policy, _rank_of_policy(policy, implicit)))
                for policy in self.policies
                for selector in policy.resource_selectors
                for implicit in (implicit_priority_of_selector(selector),)
            ),
            key=lambda each: each[2].rank,
        )
        self._index = SelectorIndex(candidates)

    def selects(self, template: Template) -> bool:
        """Say whether a policy selects a template, also one of a kind that no rollout holds back."""
        return bool(self._index.selecting_entries_by_bucket(template))

    def policy_for_template(self, template: Template) -> RolloutPolicy | None:
        """Return the policy by which changes of a template go out; None where they go everywhere at once."""
        found = (met.first_entry() for met in self._index.selecting_entries_by_bucket(template))
        best = min((each.owner for each in found if each is not None), key=lambda each: each.rank, default=None)
        return None if best is None or only_scales(template) else best.policy


def only_scales(template: Template) -> bool:
    """Say whether a template is of a kind that only scales others, which no rollout holds back."""
    return (template.ref.group, template.ref.kind) in _SCALING_KINDS


_SCALING_KINDS = frozenset(
    {
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("autoscaling.karmada.io", "CronFederatedHPA"),
        ("autoscaling.karmada.io", "FederatedHPA"),
        ("keda.sh", "ScaledObject"),
    }
)


def _rank_of_policy(policy: RolloutPolicy, implicit_priority: int) -> Rank:
    return (not policy.is_namespaced, -policy.priority, -implicit_priority, policy.name)
