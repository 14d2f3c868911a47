"""Selectors of labels, clusters and templates: what they match, and how specifically.

A selector Kubernetes could not parse (an unknown operator, values where none may be) matches nothing.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from msgspec import Struct

from .model import Template


class Requirement(Struct, frozen=True, kw_only=True):
    """One expression of a selector: ``key operator values``; the operator has the API's spelling."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True, kw_only=True):
    """A ``metav1.LabelSelector``; the empty one matches everything (a missing one is ``None``)."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[Requirement, ...] = ()


class ClusterAffinity(Struct, frozen=True, kw_only=True):
    """Karmada's ClusterAffinity; every part that is present must hold, an empty one matches every cluster.

    ``field_selector`` is None or its requirements over ``provider``, ``region`` and ``zone``.
    """

    label_selector: LabelSelector | None = None
    field_selector: tuple[Requirement, ...] | None = None
    cluster_names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class ResourceSelector(Struct, frozen=True, kw_only=True):
    """A selector of templates by a policy; ``name`` makes ``label_selector`` irrelevant."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: LabelSelector | None = None


class ImplicitPriority(IntEnum):
    """The degrees of how specifically a policy selects a template; the larger wins at equal explicit priority."""

    NO_MATCH = 0
    ALL = 1
    LABEL = 2
    NAME = 3


def implicit_priority_of_selector(selector: ResourceSelector) -> ImplicitPriority:
    """Return how specifically a selector selects whatever it selects."""
    if selector.name:
        return ImplicitPriority.NAME
    return ImplicitPriority.ALL if selector.label_selector is None else ImplicitPriority.LABEL


def implicit_priority_for_template(selector: ResourceSelector, template: Template) -> ImplicitPriority:
    """Return how specifically a selector selects a template. ``labelSelector: {}`` selects everything, as labels do."""
    ref = template.ref
    if selector.kind != ref.kind or selector.api_version != template.api_version:
        return ImplicitPriority.NO_MATCH
    if selector.namespace and selector.namespace != ref.namespace:
        return ImplicitPriority.NO_MATCH
    if selector.name:
        return ImplicitPriority.NAME if selector.name == ref.name else ImplicitPriority.NO_MATCH
    if selector.label_selector is None:
        return ImplicitPriority.ALL
    return (
        ImplicitPriority.LABEL
        if matches_labels(selector.label_selector, template.labels)
        else ImplicitPriority.NO_MATCH
    )


def best_selector(
    selectors: Sequence[ResourceSelector], template: Template
) -> tuple[ImplicitPriority, ResourceSelector | None]:
    """Return the most specific match among a policy's selectors, the first of equals."""
    best, chosen = ImplicitPriority.NO_MATCH, None
    for selector in selectors:
        priority = implicit_priority_for_template(selector, template)
        if priority > best:
            best, chosen = priority, selector
    return best, chosen


def matches_labels(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Say whether labels satisfy every part of a selector; the empty one matches everything."""
    return all(labels.get(key) == value for key, value in selector.match_labels) and all(
        holds_for_labels(requirement, labels) for requirement in selector.match_expressions
    )


def holds_for_labels(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Say whether labels satisfy one expression; ``NotIn`` and ``DoesNotExist`` hold where the key is absent."""
    value = labels.get(requirement.key)
    if not has_valid_values(requirement):
        return False
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
    return value is None


def has_valid_values(requirement: Requirement) -> bool:
    """Say whether Kubernetes can read an expression: values for ``In`` and ``NotIn`` alone, and no other operators."""
    if requirement.operator in {"In", "NotIn"}:
        return bool(requirement.values)
    return requirement.operator in {"Exists", "DoesNotExist"} and not requirement.values
