"""The total order of the policies that select a template, and why each but the first lost."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .policy import PropagationPolicy
from .selection import ImplicitPriority
from .selectors import ResourceSelector

_SELECTS_BY = {ImplicitPriority.ALL: "kind", ImplicitPriority.LABEL: "labels", ImplicitPriority.NAME: "name"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A policy that selects a template: by which selector, how specifically, and why it lost (empty: it is first)."""

    policy: PropagationPolicy
    implicit_priority: ImplicitPriority
    selector: ResourceSelector
    why_lost: str = ""


def ranked(chosen: Iterable[tuple[PropagationPolicy, ImplicitPriority, ResourceSelector]]) -> tuple[Candidate, ...]:
    """Return candidates best first; policies that are being deleted stand last.

    Any PropagationPolicy comes before every ClusterPropagationPolicy, whatever their priorities.
    """
    candidates = sorted(
        (
            Candidate(policy=policy, implicit_priority=priority, selector=selector)
            for policy, priority, selector in chosen
        ),
        key=_rank,
    )
    return tuple(
        replace(candidate, why_lost=_why_lost(candidate, candidates[0])) if position else candidate
        for position, candidate in enumerate(candidates)
    )


def _rank(candidate: Candidate) -> tuple[bool, bool, int, int, str]:
    policy = candidate.policy
    return (
        policy.is_terminating,
        not policy.is_namespaced,
        -policy.priority,
        -candidate.implicit_priority,
        policy.name,
    )


def _why_lost(candidate: Candidate, winner: Candidate) -> str:
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
