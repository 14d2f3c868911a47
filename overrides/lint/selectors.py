"""Resource selectors that select nothing, with the nearest name that exists, and targets that are no cluster."""

from collections.abc import Iterable, Iterator, Sequence

from overrides.engine import OverrideEngine
from overrides.errors import LintFinding
from overrides.matching import subject_of
from overrides.policy import OverridePolicy
from overrides.record import origin_of
from render.cluster_index import ClusterIndex
from render.model import Template
from render.scheduling.unmet_placements import unmet_affinity
from render.selectors import ResourceSelector, implicit_priority
from render.words import nearest


def unmatched_selectors(
    policies: Sequence[OverridePolicy], templates: Sequence[Template], clusters: ClusterIndex
) -> Iterator[LintFinding]:
    """Yield the selectors that select no template, not even one whose labels a ClusterOverridePolicy changed."""
    first_round = OverrideEngine([policy for policy in policies if not policy.namespace], clusters)
    for policy in policies:
        scope = [each for each in templates if not policy.namespace or each.ref.namespace == policy.namespace]
        for index, selector in enumerate(policy.resource_selectors):
            if any(implicit_priority(selector, template) for template in scope):
                continue
            if policy.namespace and selector.label_selector and _selects_later(selector, scope, first_round, clusters):
                continue
            yield LintFinding(
                origin=origin_of(policy),
                field=f"spec.resourceSelectors[{index}]",
                message="selects no template",
                hint=nearest_hint(selector, scope),
            )


def _selects_later(
    selector: ResourceSelector, scope: Iterable[Template], engine: OverrideEngine, clusters: ClusterIndex
) -> bool:
    return any(
        implicit_priority(selector, subject_of(overridden.manifest))
        for template in scope
        if template.ref.kind == selector.kind
        for overridden in engine.override(template.manifest, clusters.all)
        if overridden.manifest is not None
    )


def nearest_hint(selector: ResourceSelector, scope: Sequence[Template]) -> str:
    """Return a hint about templates in the source that come closest to a selector."""
    of_kind = [template for template in scope if template.ref.kind == selector.kind]
    if not of_kind:
        near = nearest(selector.kind, {template.ref.kind for template in scope})
        return f"did you mean kind {near!r}?" if near else f"there is no {selector.kind} here"
    of_api = [template for template in of_kind if template.api_version == selector.api_version]
    if not of_api:
        versions = ", ".join(sorted({template.api_version for template in of_kind}))
        return f"the {selector.kind}s here have apiVersion {versions}"
    in_namespace = [each for each in of_api if selector.namespace in {"", each.ref.namespace}]
    if not in_namespace:
        return f"there is no {selector.kind} in namespace {selector.namespace!r}"
    if not selector.name:
        return f"no {selector.kind} has these labels"
    near = nearest(selector.name, {template.ref.name for template in in_namespace})
    return f"did you mean {near!r}?" if near else f"there is no {selector.kind} of this name"


def unmatched_targets(policies: Iterable[OverridePolicy], clusters: ClusterIndex) -> Iterator[LintFinding]:
    """Yield the rules whose target cluster is none of the clusters; without any clusters, none.

    Names that are all of no cluster are told of when the source is loaded.
    """
    for policy in policies:
        for rule in policy.rules:
            if rule.target_cluster is None or not clusters.clusters:
                continue
            for each in unmet_affinity(rule.target_cluster, clusters, f"{rule.path}.targetCluster"):
                yield LintFinding(origin=origin_of(policy), field=each.field, message=each.message, hint=each.hint)
