"""The rank of the policies that select one template: a total order, and Karmada's claims and preemption.

Without claims the first in the order wins. Karmada (``claims: Sticky``) lets the policy that claims a template keep it
until another one preempts it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from render.model import Template
from render.policy import (
    CLUSTER_POLICY_ID,
    CLUSTER_POLICY_NAME,
    POLICY_ID,
    POLICY_NAME,
    POLICY_NAMESPACE,
    PropagationPolicy,
)
from render.selectors import ImplicitPriority, ResourceSelector, implicit_priority_of_selector

_SELECTS_BY = {ImplicitPriority.ALL: "kind", ImplicitPriority.LABEL: "labels", ImplicitPriority.NAME: "name"}


Rank = tuple[bool, bool, int, int, str, int]


class RankedPolicy(Struct, frozen=True, kw_only=True):
    """A policy that selects a template, with the selector and its specificity; ``why_lost`` is empty for the first."""

    policy: PropagationPolicy
    implicit_priority: ImplicitPriority
    selector: ResourceSelector
    why_lost: str = ""


class CandidatePolicy(NamedTuple):
    """A policy with one of its selectors, how specific that is, and its rank: the smallest is the best."""

    policy: PropagationPolicy
    selector: ResourceSelector
    implicit_priority: ImplicitPriority
    rank: Rank

    @property
    def place(self) -> int:
        """The place of the selector among those of its policy."""
        return self.rank[-1]


def candidate_policies_of(policies: Iterable[PropagationPolicy]) -> Iterator[CandidatePolicy]:
    """Yield each selector of some policies with its rank, which is the same for whatever it selects.

    Any PropagationPolicy comes before every ClusterPropagationPolicy, whatever their priorities, and those that are
    being deleted come last.
    """
    for policy in policies:
        for place, selector in enumerate(policy.resource_selectors):
            priority = implicit_priority_of_selector(selector)
            rank = (policy.is_terminating, not policy.is_namespaced, -policy.priority, -priority, policy.name, place)
            yield CandidatePolicy(policy, selector, priority, rank)


def rank_candidates(chosen: Iterable[CandidatePolicy]) -> tuple[RankedPolicy, ...]:
    """Return policies best first, each but the first with the reason why it lost."""
    candidates = sorted(chosen, key=lambda each: each.rank)
    return tuple(
        RankedPolicy(
            policy=each.policy,
            implicit_priority=each.implicit_priority,
            selector=each.selector,
            why_lost=reason_of_lost_rank(each, candidates[0]) if position else "",
        )
        for position, each in enumerate(candidates)
    )


def reason_of_lost_rank(candidate: CandidatePolicy, winner: CandidatePolicy) -> str:
    """Return the reason why one policy that selects a template comes after another one."""
    loser, first = candidate.policy, winner.policy
    if loser.is_terminating:
        return "it is being deleted"
    if loser.is_namespaced is not first.is_namespaced:
        return "a PropagationPolicy of the namespace comes before every ClusterPropagationPolicy"
    if loser.priority != first.priority:
        return f"its priority {loser.priority} is below {first.priority}"
    if candidate.implicit_priority is not winner.implicit_priority:
        by, better = _SELECTS_BY[candidate.implicit_priority], _SELECTS_BY[winner.implicit_priority]
        return f"it selects by {by}, {first} by {better}"
    return f"its name comes after {first.name!r}"


def policy_named_by_claim(template: Template) -> str:
    """Return the policy that Karmada's claim in a template's metadata names, as ``str`` of the policy; "" for none.

    A claim without its permanent id does not count.
    """
    labels, annotations = template.labels, template.annotations
    name = annotations.get(POLICY_NAME)
    if name and annotations.get(POLICY_NAMESPACE) and labels.get(POLICY_ID):
        return f"PropagationPolicy {annotations[POLICY_NAMESPACE]}/{name}"
    name = annotations.get(CLUSTER_POLICY_NAME)
    return f"ClusterPropagationPolicy {name}" if name and labels.get(CLUSTER_POLICY_ID) else ""


def may_preempt_claimant(taker: PropagationPolicy, claimant: PropagationPolicy) -> bool:
    """Say whether a policy that preempts others may take a template over from the one that claims it.

    Within a scope only a strictly higher explicit priority preempts; a PropagationPolicy preempts any
    ClusterPropagationPolicy, and never the reverse.
    """
    if taker.is_namespaced is not claimant.is_namespaced:
        return taker.is_namespaced
    return taker.priority > claimant.priority
