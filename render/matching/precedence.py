"""The rank of the policies that select one template: a total order, and Karmada's claims and preemption.

Without claims the first in the order wins. Karmada (``claims: Sticky``) lets the policy that claims a template keep it
until another one preempts it.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from render.model import Template
from render.policy import (
    CLUSTER_POLICY_ID,
    CLUSTER_POLICY_NAME,
    POLICY_ID,
    POLICY_NAME,
    POLICY_NAMESPACE,
    Preemption,
    PropagationPolicy,
)
from render.selectors import ImplicitPriority, ResourceSelector

_SELECTS_BY = {ImplicitPriority.ALL: "kind", ImplicitPriority.LABEL: "labels", ImplicitPriority.NAME: "name"}


class RankedPolicy(Struct, frozen=True, kw_only=True):
    """A policy that selects a template, with the selector and its specificity; ``why_lost`` is empty for the first."""

    policy: PropagationPolicy
    implicit_priority: ImplicitPriority
    selector: ResourceSelector
    why_lost: str = ""


def ranked(chosen: Iterable[tuple[PropagationPolicy, ImplicitPriority, ResourceSelector]]) -> tuple[RankedPolicy, ...]:
    """Return the policies best first; those that are being deleted stand last.

    Any PropagationPolicy comes before every ClusterPropagationPolicy, whatever their priorities.
    """
    candidates = sorted(
        (
            RankedPolicy(policy=policy, implicit_priority=priority, selector=selector)
            for policy, priority, selector in chosen
        ),
        key=_rank,
    )
    return tuple(
        replace(candidate, why_lost=_why_lost(candidate, candidates[0])) if position else candidate
        for position, candidate in enumerate(candidates)
    )


def _rank(candidate: RankedPolicy) -> tuple[bool, bool, int, int, str]:
    policy = candidate.policy
    return (
        policy.is_terminating,
        not policy.is_namespaced,
        -policy.priority,
        -candidate.implicit_priority,
        policy.name,
    )


def _why_lost(candidate: RankedPolicy, winner: RankedPolicy) -> str:
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


def claimed_policy(template: Template) -> str:
    """Return the policy that Karmada's claim in a template's metadata names, as ``str`` of the policy; "" for none.

    A claim without its permanent id does not count.
    """
    labels, annotations = template.labels, template.annotations
    name = annotations.get(POLICY_NAME)
    if name and annotations.get(POLICY_NAMESPACE) and labels.get(POLICY_ID):
        return f"PropagationPolicy {annotations[POLICY_NAMESPACE]}/{name}"
    name = annotations.get(CLUSTER_POLICY_NAME)
    return f"ClusterPropagationPolicy {name}" if name and labels.get(CLUSTER_POLICY_ID) else ""


def preemptor(claimant: PropagationPolicy, candidates: Iterable[RankedPolicy]) -> PropagationPolicy | None:
    """Return the policy that takes a template over from the one that claims it, if one may.

    Karmada lets policies preempt in the order of events; here the best of those that may takes it at once. Within a
    scope only a strictly higher explicit priority preempts; a PropagationPolicy preempts any
    ClusterPropagationPolicy, and never the reverse.
    """
    takers = (
        candidate.policy
        for candidate in candidates
        if candidate.policy.preemption is Preemption.ALWAYS
        and not candidate.policy.is_terminating
        and _may_preempt(candidate.policy, claimant)
    )
    return next(takers, None)


def _may_preempt(taker: PropagationPolicy, claimant: PropagationPolicy) -> bool:
    if taker.is_namespaced is not claimant.is_namespaced:
        return taker.is_namespaced
    return taker.priority > claimant.priority
