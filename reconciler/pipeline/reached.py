"""The objects that changed parts of a source can reach: what they select, whether or not it comes to more.

A policy that changed concerns the templates that it selects, as it was and as it is: which of them it claims, and where
these go, is decided for each by itself. So do an override and a customization. A cluster with other labels concerns the
policies and overrides that select it now and did not before, or the other way round, and so what these select. An
object too many costs a look at it; where one could be missing, everything is looked at.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reconciler.source.digests import is_ordinary_template
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.matching.selector_index import SelectorIndex
from render.model import ObjectRef, Template
from render.policy import PropagationPolicy
from render.scheduling.unmet_placements import affinities_of_placement
from render.selectors import ClusterAffinity, ResourceSelector

if TYPE_CHECKING:
    from overrides.policy import OverridePolicy
    from reconciler.source.desired import Desired, KarmadaObjects

_IsReached = Callable[[Template], bool]


def refs_reached(desired: "Desired", before: "KarmadaObjects", after: "KarmadaObjects") -> frozenset[ObjectRef] | None:
    """Return the objects of a source that parts of it reach, as these were and as they are; None for all of them."""
    if before.clusters or after.clusters:
        if not _differ_by_labels_alone(desired, before.clusters, after.clusters):
            return None
        sight = _RelabelledClusters(before.clusters, after.clusters)
        after = replace(
            after,
            policies=(*after.policies, *filter(sight.is_seen_by_policy, desired.policies)),
            override_policies=(
                *after.override_policies,
                *filter(sight.is_seen_by_override, desired.override_policies),
            ),
        )
    if _may_reach_what_they_do_not_select(desired, before, after):
        return None
    tests = (
        _test_of_policies(before, after),
        _test_of_overrides(desired, before, after),
        _test_of_customizations(before, after),
    )
    reached = [each for each in desired.templates if any(test(each) for test in tests)]
    return frozenset(each.ref for each in reached) if all(map(is_ordinary_template, reached)) else None


def _differ_by_labels_alone(desired: "Desired", before: Iterable[Cluster], after: Iterable[Cluster]) -> bool:
    """Say whether labels are all by which clusters differ, and nothing but placements and overrides goes by these."""
    are_read_by_others = (
        desired.taint_policies
        or desired.remedies
        or desired.price_lists
        or desired.fleet.rollouts.freezes
        or desired.fleet.rollouts.windows
        or desired.tools
        or desired.builds
        or desired.charts
    )
    # What a lazy policy placed goes by the placement that it had then.
    is_lazy = any(policy.activation_preference for policy in desired.policies)
    return not (are_read_by_others or is_lazy) and _by_name(before) == _by_name(after)


def _by_name(clusters: Iterable[Cluster]) -> dict[str, Cluster]:
    """Return clusters without their labels and their place in the source."""
    return {each.name: replace(each, labels={}, path="", document=0) for each in clusters}


class _RelabelledClusters:
    """Clusters that have other labels than before, as they were and as they are."""

    def __init__(self, before: Iterable[Cluster], after: Iterable[Cluster]) -> None:
        self._before, self._after = ClusterIndex(before), ClusterIndex(after)

    def is_seen_by_policy(self, policy: PropagationPolicy) -> bool:
        """Say whether a policy may place objects otherwise."""
        return any(map(self._is_seen_by, affinities_of_placement(policy.placement)))

    def is_seen_by_override(self, policy: "OverridePolicy") -> bool:
        """Say whether a rule of an override may be for other clusters."""
        return any(rule.target_cluster is not None and self._is_seen_by(rule.target_cluster) for rule in policy.rules)

    def _is_seen_by(self, affinity: ClusterAffinity) -> bool:
        return self._before.clusters_matching_affinity(affinity) != self._after.clusters_matching_affinity(affinity)


def _may_reach_what_they_do_not_select(desired: "Desired", before: "KarmadaObjects", after: "KarmadaObjects") -> bool:
    """Say whether changed parts may concern objects beside those that they select.

    Failover and rollouts look at what objects have together, policies wait for overrides that they name, and overrides
    change namespaces that no template stands for.
    """
    policies, overrides = (*before.policies, *after.policies), (*before.override_policies, *after.override_policies)
    is_waited_for = {str(each) for each in before.override_policies} != {str(each) for each in after.override_policies}
    return bool(
        desired.rollout_policies
        or any(policy.failover or not policy.resource_selectors for policy in policies)
        or (is_waited_for and any(policy.dependent_overrides for policy in desired.policies))
        or any(_may_select_namespaces(policy.resource_selectors) for policy in overrides)
        or (policies and len(desired.policies) == len(after.policies))  # the first ones, or none is left
    )


def _may_select_namespaces(selectors: Iterable[ResourceSelector]) -> bool:
    """Say whether an override may be one of namespaces: without selectors it is one of everything."""
    kinds = {selector.kind for selector in selectors}
    return not kinds or "Namespace" in kinds


def _test_of_policies(before: "KarmadaObjects", after: "KarmadaObjects") -> _IsReached:
    # A claim that sticks may be that of a policy in another namespace.
    entries = [("", selector) for each in (*before.policies, *after.policies) for selector in each.resource_selectors]
    return _test_of_selectors(entries)


def _test_of_overrides(desired: "Desired", before: "KarmadaObjects", after: "KarmadaObjects") -> _IsReached:
    """Return what says whether overrides may select a template.

    They read labels as a customization, and as the overrides of the cluster scope left them.
    """
    return _test_of_selectors(
        (
            each.namespace,
            replace(selector, label_selector=None) if each.namespace or desired.customizations else selector,
        )
        for each in (*before.override_policies, *after.override_policies)
        for selector in each.resource_selectors
    )


def _test_of_selectors(entries: Iterable[tuple[str, ResourceSelector]]) -> _IsReached:
    every = list(entries)
    index = SelectorIndex((namespace, selector, None) for namespace, selector in every)
    kinds = {(selector.api_version, selector.kind) for _, selector in every}

    def is_reached(template: Template) -> bool:
        if (template.api_version, template.ref.kind) not in kinds:
            return False
        # The labels of an object that is built for several classes of clusters are not the same in all of them.
        return bool(template.variants or index.selecting_entries_by_bucket(template))

    return is_reached


def _test_of_customizations(before: "KarmadaObjects", after: "KarmadaObjects") -> _IsReached:
    specs = [each.manifest.get("spec") or {} for each in (*before.customizations, *after.customizations)]
    targets = [each.get("target") or {} for each in specs]
    kinds = {(target.get("apiVersion"), target.get("kind")) for target in targets}
    return lambda template: (template.api_version, template.ref.kind) in kinds
