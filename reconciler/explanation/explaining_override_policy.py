"""What one override policy selects, which clusters its rules are for, and what they change there, as values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from overrides.explanation import RuleEffect
from overrides.matching import priority_of
from overrides.policy import OverridePolicy
from reconciler.passes.pipeline import Built
from reconciler.source.desired import Desired
from render.binding import Binding
from render.model import ObjectRef, Template

from .explaining_overrides import OverriddenClusters, names_of, overridden_clusters
from .explaining_policy import SelectorCount, counted_selector


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTargets:
    """A rule, and the clusters of the source it is for."""

    rule: str
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedObject:
    """An object the policy selects: what its rules do in each class of clusters, or why they do nothing."""

    ref: ObjectRef
    classes: tuple[OverriddenClusters, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverridePolicyExplanation:
    """An override policy with its selectors (none: everything), its rules and the objects they are about."""

    policy: str
    path: str
    selectors: tuple[SelectorCount, ...]
    rules: tuple[RuleTargets, ...]
    objects: tuple[AffectedObject, ...]


def override_policy_explanation(policy: OverridePolicy, desired: Desired, built: Built) -> OverridePolicyExplanation:
    """Explain an override policy of the source."""
    bindings = {binding.ref: binding for binding in built.bindings}
    scope = [each for each in desired.templates if policy.namespace in {"", each.ref.namespace}]
    found = (_affected(policy, template, bindings.get(template.ref), desired, built) for template in scope)
    return OverridePolicyExplanation(
        policy=str(policy),
        path=policy.path,
        selectors=tuple(counted_selector(selector, scope) for selector in policy.resource_selectors),
        rules=tuple(_targets(policy, built)),
        objects=tuple(each for each in found if each is not None),
    )


def _targets(policy: OverridePolicy, built: Built) -> Iterator[RuleTargets]:
    for rule in policy.rules:
        affinity = rule.target_cluster
        mask = built.index.all if affinity is None else built.index.matching(affinity)
        yield RuleTargets(rule=rule.path, clusters=names_of(mask, built))


def _affected(
    policy: OverridePolicy, template: Template, binding: Binding | None, desired: Desired, built: Built
) -> AffectedObject | None:
    """Say what a policy does to an object; None where it does not select it.

    Labels that other policies change may make it select what it does not select as it is in the source.
    """
    kinds = {selector.kind for selector in policy.resource_selectors}
    if kinds and template.ref.kind not in kinds:
        return None
    overridden = overridden_clusters(template, binding, desired, built) if binding else ()
    classes = tuple(_merged([_own(policy, each) for each in overridden]))
    if classes:
        return AffectedObject(ref=template.ref, classes=classes)
    if not priority_of(policy, template):
        return None
    return AffectedObject(ref=template.ref, why=_why_nothing(template, binding, built))


def _own(policy: OverridePolicy, overridden: OverriddenClusters) -> OverriddenClusters:
    steps = tuple(step for step in overridden.steps if step.applied.policy == str(policy))
    return OverriddenClusters(clusters=overridden.clusters, steps=steps)


def _merged(classes: Sequence[OverriddenClusters]) -> Iterator[OverriddenClusters]:
    """Yield classes in which this policy does something, those in which it does the same as one."""
    steps_by_outcome: dict[str, tuple[RuleEffect, ...]] = {}
    clusters: dict[str, list[str]] = {}
    for each in classes:
        if each.steps:
            outcome = repr([(step.applied.rule, step.changes, str(step.error)) for step in each.steps])
            steps_by_outcome.setdefault(outcome, each.steps)
            clusters.setdefault(outcome, []).extend(each.clusters)
    for outcome, steps in steps_by_outcome.items():
        yield OverriddenClusters(clusters=tuple(sorted(clusters[outcome])), steps=steps)


def _why_nothing(template: Template, binding: Binding | None, built: Built) -> str:
    if binding is None:
        return built.claims.matches[template.ref].message or "no policy places it"
    if template.ref not in built.works:
        return "it keeps what an earlier commit had"
    return "it goes to none of the clusters that the rules are for"
