"""What one propagation policy selects, what it holds, and which objects another policy holds instead, as values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reconciler.passes.pipeline import Built
from reconciler.source.desired import Desired
from render.binding import Binding
from render.matching.policy_index import Match
from render.matching.precedence import RankedPolicy
from render.model import ObjectRef, TargetCluster, Template
from render.policy import PropagationPolicy
from render.selection import implicit_priority
from render.selectors import ResourceSelector

from .explaining import SELECTS_BY


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectorCount:
    """A selector of a policy and how many objects it selects."""

    selector: str
    objects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedObject:
    """An object a policy selects: where it goes if the policy holds it, else who holds it and why this one lost."""

    ref: ObjectRef
    holds: bool
    selects_by: str
    targets: tuple[TargetCluster, ...] = ()
    holder: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyExplanation:
    """A propagation policy with its selectors and the objects they select."""

    policy: str
    path: str
    priority: int
    preemption: str
    selectors: tuple[SelectorCount, ...]
    objects: tuple[SelectedObject, ...]


def policy_explanation(policy: PropagationPolicy, desired: Desired, built: Built) -> PolicyExplanation:
    """Explain a propagation policy of the source."""
    bindings = {binding.ref: binding for binding in built.bindings}
    scope = [each for each in desired.templates if policy.namespace in {"", each.ref.namespace}]
    matches = sorted(built.claims.matches.items())
    found = (
        _selected(ref, candidate, match, bindings)
        for ref, match in matches
        for candidate in match.considered
        if candidate.policy is policy
    )
    return PolicyExplanation(
        policy=str(policy),
        path=policy.path,
        priority=policy.priority,
        preemption=policy.preemption,
        selectors=tuple(counted_selector(selector, scope) for selector in policy.resource_selectors),
        objects=tuple(found),
    )


def counted_selector(selector: ResourceSelector, scope: Iterable[Template]) -> SelectorCount:
    """Count what a selector selects among the templates a policy may select."""
    count = sum(bool(implicit_priority(selector, template)) for template in scope)
    return SelectorCount(selector=selector_text(selector), objects=count)


def selector_text(selector: ResourceSelector) -> str:
    """Return a resource selector in words.

    >>> selector_text(ResourceSelector(api_version="apps/v1", kind="Deployment", name="web"))
    "apps/v1 Deployment named 'web'"
    """
    text = f"{selector.api_version} {selector.kind}"
    if selector.name:
        text += f" named {selector.name!r}"
    elif selector.label_selector is not None:
        labels = [f"{key}={value}" for key, value in selector.label_selector.match_labels]
        labels += [
            f"{each.key} {each.operator} {','.join(each.values)}".rstrip()
            for each in selector.label_selector.match_expressions
        ]
        text += f" with {', '.join(labels)}" if labels else " with any labels"
    return f"{text} in namespace {selector.namespace}" if selector.namespace else text


def _selected(
    ref: ObjectRef, candidate: RankedPolicy, match: Match, bindings: Mapping[ObjectRef, Binding]
) -> SelectedObject:
    by = SELECTS_BY[candidate.implicit_priority]
    if match.policy is candidate.policy:
        targets = tuple(sorted(bindings[ref].targets)) if ref in bindings else ()
        return SelectedObject(ref=ref, holds=True, selects_by=by, targets=targets)
    holder = str(match.policy) if match.policy else ""
    why = candidate.why_lost or match.message or f"{holder} has claimed it"
    return SelectedObject(ref=ref, holds=False, selects_by=by, holder=holder, why=why)
