"""The meaning of selectors: labels and templates they match, how specifically, and taints that are tolerated.

A selector Kubernetes could not parse (an unknown operator, values where none may be) matches nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from .cluster import Taint
from .model import Template
from .placement import Toleration
from .selectors import LabelSelector, Requirement, ResourceSelector

BLOCKING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


class ImplicitPriority(IntEnum):
    """The degrees of how specifically a policy selects a template; the larger wins at equal explicit priority."""

    NO_MATCH = 0
    ALL = 1
    LABEL = 2
    NAME = 3


def implicit_priority(selector: ResourceSelector, template: Template) -> ImplicitPriority:
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
    return ImplicitPriority.LABEL if matches(selector.label_selector, template.labels) else ImplicitPriority.NO_MATCH


def best_selector(
    selectors: Sequence[ResourceSelector], template: Template
) -> tuple[ImplicitPriority, ResourceSelector | None]:
    """Return the most specific match among a policy's selectors, the first of equals."""
    best, chosen = ImplicitPriority.NO_MATCH, None
    for selector in selectors:
        priority = implicit_priority(selector, template)
        if priority > best:
            best, chosen = priority, selector
    return best, chosen


def matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Say whether labels satisfy every part of a selector; the empty one matches everything."""
    return all(labels.get(key) == value for key, value in selector.match_labels) and all(
        holds(requirement, labels) for requirement in selector.match_expressions
    )


def holds(requirement: Requirement, labels: Mapping[str, str]) -> bool:
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


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Say whether any toleration covers a taint: an empty effect covers every effect, an empty key every taint."""
    return any(
        toleration.effect in {"", taint.effect}
        and toleration.key in {"", taint.key}
        and (
            toleration.operator == "Exists"
            or (toleration.operator in {"", "Equal"} and toleration.value == taint.value)
        )
        for toleration in tolerations
    )


def first_untolerated(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], *, effects: frozenset[str] = BLOCKING_EFFECTS
) -> Taint | None:
    """Return the first taint with one of the effects that nothing tolerates, if there is one."""
    return next((taint for taint in taints if taint.effect in effects and not is_tolerated(taint, tolerations)), None)
