"""The effect of one propagation or override policy: what it selects, what it claims or changes, and where."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from overrides.explanation import RuleEffect
from overrides.matching import implicit_priority_of_policy
from overrides.policy import OverridePolicy
from reconciler.pipeline.claims import policy_index
from reconciler.pipeline.pass_values import Built
from reconciler.source.desired import Desired
from render.binding import Binding
from render.matching.match import Match
from render.matching.precedence import RankedPolicy
from render.model import ObjectRef, TargetCluster, Template
from render.policy import PropagationPolicy
from render.scheduling.filters.unmet import Unmet
from render.selectors import ResourceSelector, implicit_priority_for_template

from .object import SELECTS_BY, unmet_parts_of_placement
from .overrides import OverriddenClusters, overridden_clusters, sorted_cluster_names


class SelectorCount(Struct, frozen=True, kw_only=True):
    """A selector of a policy and how many objects it selects."""

    selector: str
    objects: int


class SelectedObject(Struct, frozen=True, kw_only=True):
    """An object a policy selects, with its targets if the policy claims it, else the ``holder`` that does, and why.

    ``overridden`` are the targets with other replicas than the policy assigns.
    """

    ref: ObjectRef
    holds: bool
    selects_by: str
    targets: tuple[TargetCluster, ...] = ()
    overridden: tuple[str, ...] = ()
    holder: str = ""
    why: str = ""


class PolicyExplanation(Struct, frozen=True, kw_only=True):
    """A propagation policy with its selectors and the objects they select.

    ``unmet`` are parts of its placement that no cluster meets, or too few.
    """

    policy: str
    path: str
    priority: int
    preemption: str
    selectors: tuple[SelectorCount, ...]
    objects: tuple[SelectedObject, ...]
    unmet: tuple[Unmet, ...] = ()


def policy_explanation(policy: PropagationPolicy, desired: Desired, built: Built) -> PolicyExplanation:
    """Explain a propagation policy of the source."""
    bindings = {binding.ref: binding for binding in built.bindings}
    scope = [each for each in desired.templates if policy.namespace in {"", each.ref.namespace}]
    matches = sorted(built.claims.matches.items())
    index, template_by_ref = policy_index(desired), {each.ref: each for each in desired.templates}
    found = (
        _selected_object(ref, candidate, match, bindings)
        for ref, match in matches
        if match.is_selected and (candidate := index.candidate(policy, template_by_ref[ref])) is not None
    )
    return PolicyExplanation(
        policy=str(policy),
        path=policy.path,
        priority=policy.priority,
        preemption=policy.preemption,
        selectors=tuple(count_selected_templates(selector, scope) for selector in policy.resource_selectors),
        objects=tuple(found),
        unmet=unmet_parts_of_placement(policy, built),
    )


def count_selected_templates(selector: ResourceSelector, scope: Iterable[Template]) -> SelectorCount:
    """Count what a selector selects among the templates a policy may select."""
    count = sum(bool(implicit_priority_for_template(selector, template)) for template in scope)
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


def _selected_object(
    ref: ObjectRef, candidate: RankedPolicy, match: Match, bindings: Mapping[ObjectRef, Binding]
) -> SelectedObject:
    by = SELECTS_BY[candidate.implicit_priority]
    if match.policy is candidate.policy:
        binding = bindings.get(ref)
        replicas = binding.placed_replicas if binding else {}
        targets = tuple(sorted(TargetCluster(name, count) for name, count in replicas.items()))
        overridden = tuple(sorted(binding.overridden_replicas)) if binding else ()
        return SelectedObject(ref=ref, holds=True, selects_by=by, targets=targets, overridden=overridden)
    holder = str(match.policy) if match.policy else ""
    why = candidate.why_lost or match.message or f"{holder} has claimed it"
    return SelectedObject(ref=ref, holds=False, selects_by=by, holder=holder, why=why)


class RuleTargets(Struct, frozen=True, kw_only=True):
    """A rule, and the clusters of the source it is for."""

    rule: str
    clusters: tuple[str, ...]


class AffectedObject(Struct, frozen=True, kw_only=True):
    """An object the policy selects: the changes in each class of clusters, or the reason why there are none."""

    ref: ObjectRef
    classes: tuple[OverriddenClusters, ...] = ()
    why: str = ""


class OverridePolicyExplanation(Struct, frozen=True, kw_only=True):
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
    affected = (_affected_object(policy, template, bindings.get(template.ref), desired, built) for template in scope)
    return OverridePolicyExplanation(
        policy=str(policy),
        path=policy.path,
        selectors=tuple(count_selected_templates(selector, scope) for selector in policy.resource_selectors),
        rules=tuple(_targets_of_policy_rules(policy, built)),
        objects=tuple(each for each in affected if each is not None),
    )


def _targets_of_policy_rules(policy: OverridePolicy, built: Built) -> Iterator[RuleTargets]:
    for rule in policy.rules:
        affinity = rule.target_cluster
        mask = built.index.all if affinity is None else built.index.clusters_matching_affinity(affinity)
        yield RuleTargets(rule=rule.path, clusters=sorted_cluster_names(mask, built))


def _affected_object(
    policy: OverridePolicy, template: Template, binding: Binding | None, desired: Desired, built: Built
) -> AffectedObject | None:
    """Say what a policy does to an object; None where it does not select it.

    Labels that other policies change may make it select what it does not select as it is in the source.
    """
    kinds = {selector.kind for selector in policy.resource_selectors}
    if kinds and template.ref.kind not in kinds:
        return None
    overridden = overridden_clusters(template, binding, desired, built) if binding else ()
    classes = tuple(_merge_classes_with_equal_steps([_overrides_by_policy_alone(policy, each) for each in overridden]))
    if classes:
        return AffectedObject(ref=template.ref, classes=classes)
    if not implicit_priority_of_policy(policy, template):
        return None
    return AffectedObject(ref=template.ref, why=_reason_for_no_effect(template, binding, built))


def _overrides_by_policy_alone(policy: OverridePolicy, overridden: OverriddenClusters) -> OverriddenClusters:
    steps = tuple(step for step in overridden.steps if step.applied.policy == str(policy))
    return OverriddenClusters(clusters=overridden.clusters, steps=steps)


def _merge_classes_with_equal_steps(classes: Sequence[OverriddenClusters]) -> Iterator[OverriddenClusters]:
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


def _reason_for_no_effect(template: Template, binding: Binding | None, built: Built) -> str:
    if binding is None:
        return built.claims.matches[template.ref].message or "no policy places it"
    if template.ref not in built.works:
        return "it keeps what an earlier commit had"
    return "it goes to none of the clusters that the rules are for"
