"""Resource selectors that select nothing, with the nearest name that exists, and targets that are no cluster."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from overrides.engine import OverrideEngine
from overrides.errors import LintFinding
from overrides.matching import selected_templates, template_for_selectors
from overrides.policy import OverridePolicy
from overrides.record import origin_of
from render.cluster_index import ClusterIndex
from render.matching.selector_index import Met, SelectorIndex
from render.model import Template, is_signed_whole_by_sops
from render.scheduling.filters.affinity import unmet_parts_of_affinity
from render.selectors import ResourceSelector
from render.words import first_few, most_similar_word

_MOST_HINTS = 20
"""Selectors that get a hint: to compare each of thousands with each of thousands would take minutes."""


def unmatched_selectors(
    policies: Sequence[OverridePolicy], templates: Sequence[Template], clusters: ClusterIndex
) -> Iterator[LintFinding]:
    """Yield the selectors that select no template, not even one whose labels a ClusterOverridePolicy changed."""
    unmatched = [_Selector(policy, number) for policy in policies for number in range(len(policy.resource_selectors))]
    unmatched = _selectors_without_template(unmatched, templates)
    if any(each.policy.namespace and each.selector.label_selector for each in unmatched):
        first_round = OverrideEngine([policy for policy in policies if not policy.namespace], clusters)
        unmatched = _selectors_without_template(
            unmatched, _templates_after_overrides(templates, first_round, clusters), is_later=True
        )
    for count, each in enumerate(unmatched):
        namespace = each.policy.namespace
        scope = [
            template
            for template in templates
            if count < _MOST_HINTS and (not namespace or template.ref.namespace == namespace)
        ]
        yield LintFinding(
            origin=origin_of(each.policy),
            field=f"spec.resourceSelectors[{each.number}]",
            message="selects no template",
            hint=hint_of_closest_templates(each.selector, scope) if count < _MOST_HINTS else "",
        )


def sealed_selections(policies: Iterable[OverridePolicy], templates: Iterable[Template]) -> Iterator[LintFinding]:
    """Yield the policies that select documents which SOPS signed as a whole, and which no rule changes.

    A policy without selectors means everything that it can change, and gets no word.
    """
    sealed = [template for template in templates if is_signed_whole_by_sops(template.manifest)]
    for policy in policies if sealed else ():
        if policy.resource_selectors and (selected := list(selected_templates([policy], sealed))):
            names = first_few(sorted(str(template.ref) for template in selected))
            yield LintFinding(
                origin=origin_of(policy),
                field="spec.resourceSelectors",
                message=f"changes nothing in {names}: SOPS signed all of it",
                hint="encrypted with mac_only_encrypted: true, readable fields of it can be changed",
            )


class _Selector(NamedTuple):
    """A selector of a policy, by its number there."""

    policy: OverridePolicy
    number: int

    @property
    def selector(self) -> ResourceSelector:
        return self.policy.resource_selectors[self.number]


def _selectors_without_template(
    selectors: Sequence[_Selector], templates: Iterable[Template], *, is_later: bool = False
) -> list[_Selector]:
    """Return the selectors that select none of some templates.

    ``is_later``: the labels are those after the first round, which no cluster-wide policy sees.
    """
    index = SelectorIndex((each.policy.namespace, each.selector, place) for place, each in enumerate(selectors))
    seen: set[int] = set()
    known: dict[int, int] = {}
    for template in templates:
        for met in index.selecting_entries_by_bucket(template):
            new = Met(met.bucket, met.mask & ~known.get(id(met.bucket), 0))
            known[id(met.bucket)] = known.get(id(met.bucket), 0) | met.mask
            seen.update(entry.owner for entry in new.all_entries())
    may_match = [not is_later or bool(each.policy.namespace and each.selector.label_selector) for each in selectors]
    return [each for place, each in enumerate(selectors) if place not in seen or not may_match[place]]


def _templates_after_overrides(
    templates: Iterable[Template], engine: OverrideEngine, clusters: ClusterIndex
) -> Iterator[Template]:
    """Yield templates as they are after a round of overrides, in each class of clusters."""
    for template in templates:
        for overridden in engine.override(template.manifest, clusters.all):
            if overridden.manifest is not None:
                yield template_for_selectors(overridden.manifest)


def hint_of_closest_templates(selector: ResourceSelector, scope: Sequence[Template]) -> str:
    """Return a hint about templates in the source that come closest to a selector."""
    of_kind = [template for template in scope if template.ref.kind == selector.kind]
    if not of_kind:
        near = most_similar_word(selector.kind, {template.ref.kind for template in scope})
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
    near = most_similar_word(selector.name, {template.ref.name for template in in_namespace})
    return f"did you mean {near!r}?" if near else f"there is no {selector.kind} of this name"


def unmatched_targets(policies: Iterable[OverridePolicy], clusters: ClusterIndex) -> Iterator[LintFinding]:
    """Yield the rules whose target cluster is none of the clusters; without any clusters, none.

    Names that are all of no cluster are told of when the source is loaded.
    """
    for policy in policies:
        for rule in policy.rules:
            if rule.target_cluster is None or not clusters.clusters:
                continue
            for each in unmet_parts_of_affinity(rule.target_cluster, clusters, f"{rule.path}.targetCluster"):
                yield LintFinding(origin=origin_of(policy), field=each.field, message=each.message, hint=each.hint)
