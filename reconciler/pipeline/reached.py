"""The objects that policies, overrides and customizations can reach: what they select, whether or not it comes to more.

A policy that changed concerns the templates that it selects, as it was and as it is: which of them it claims, and where
these go, is decided for each by itself. So do an override and a customization. An object too many costs a look at it;
where one could be missing, everything is looked at.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reconciler.source.digests import is_ordinary_template
from render.matching.selector_index import SelectorIndex
from render.model import ObjectRef, Template
from render.selectors import ResourceSelector

if TYPE_CHECKING:
    from reconciler.source.desired import Desired, KarmadaObjects

_IsReached = Callable[[Template], bool]


def refs_reached(desired: "Desired", before: "KarmadaObjects", after: "KarmadaObjects") -> frozenset[ObjectRef] | None:
    """Return the objects of a source that parts of it reach, as these were and as they are; None for all of them."""
    if _may_reach_what_they_do_not_select(desired, before, after):
        return None
    tests = (
        _test_of_policies(before, after),
        _test_of_overrides(desired, before, after),
        _test_of_customizations(before, after),
    )
    reached = [each for each in desired.templates if any(test(each) for test in tests)]
    return frozenset(each.ref for each in reached) if all(map(is_ordinary_template, reached)) else None


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
