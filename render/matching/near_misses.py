"""Policies that come nearest to selecting a template which none selects, and what keeps each from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from render.model import Template
from render.policy import PropagationPolicy
from render.selectors import (
    ImplicitPriority,
    LabelSelector,
    ResourceSelector,
    holds_for_labels,
    implicit_priority_of_selector,
)
from render.words import first_few, most_similar_word

_SIMILARITY = 0.8


class NearMiss(Struct, frozen=True, kw_only=True):
    """A policy that nearly selects a template, and what it asks for instead, as the end of a sentence."""

    policy: str
    obstacles: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.policy}, which {first_few(self.obstacles)}"


class NearMisses:
    """The selectors of a source's policies by kind, to look for those that nearly select a template."""

    __slots__ = ("_by_kind",)

    def __init__(self, policies: Iterable[PropagationPolicy]) -> None:
        self._by_kind: dict[str, list[tuple[PropagationPolicy, ResourceSelector]]] = {}
        for policy in policies:
            for selector in () if policy.is_terminating else policy.resource_selectors:
                self._by_kind.setdefault(selector.kind, []).append((policy, selector))

    def nearest(self, template: Template) -> NearMiss | None:
        """Return the policy that the fewest obstacles keep from selecting a template; None where none is near.

        Of equals, it is the one that asks for a similar name, then the one that selects more specifically.
        """
        kind = template.ref.kind
        if kind not in self._by_kind:
            kind = most_similar_word(kind, self._by_kind, cutoff=_SIMILARITY)
        found: list[tuple[PropagationPolicy, ResourceSelector, tuple[str, ...]]] = []
        for policy, selector in self._by_kind.get(kind, ()):
            obstacles = tuple(_obstacles_to_selection(policy, selector, template))
            if policy.namespace in {"", template.ref.namespace} or _is_probably_meant_for(selector, obstacles):
                found.append((policy, selector, obstacles))
        if not found:
            return None
        # Names are compared last, and of few: that takes far longer than to find what else is in the way.
        fewest = min(len(obstacles) for *_, obstacles in found)
        policy, _, obstacles = min(
            (each for each in found if len(each[2]) == fewest),
            key=lambda each: (
                not _is_selector_similar(each[1], template),
                -implicit_priority_of_selector(each[1]),
                str(each[0]),
                each[2],
            ),
        )
        return NearMiss(policy=str(policy), obstacles=obstacles)


def _is_selector_similar(selector: ResourceSelector, template: Template) -> bool:
    return bool(selector.name and most_similar_word(selector.name, [template.ref.name]))


def _is_probably_meant_for(selector: ResourceSelector, obstacles: Sequence[str]) -> bool:
    """Say whether a policy of another namespace was probably written for an object: nothing else keeps it from that.

    Policies of other teams select all of a kind in their own namespaces, and are not near to anything elsewhere.
    """
    return len(obstacles) == 1 and implicit_priority_of_selector(selector) > ImplicitPriority.ALL


def _obstacles_to_selection(policy: PropagationPolicy, selector: ResourceSelector, template: Template) -> Iterator[str]:
    """Yield what keeps a selector from a template; nothing of the template is named, which may be a Secret."""
    ref = template.ref
    if policy.namespace not in {"", ref.namespace}:
        yield f"selects in namespace {policy.namespace!r} alone"
    if selector.kind != ref.kind:
        yield f"asks for kind {selector.kind!r}"
    if selector.api_version != template.api_version:
        yield f"asks for apiVersion {selector.api_version!r}"
    if selector.namespace not in {"", ref.namespace}:
        yield f"asks for namespace {selector.namespace!r}"
    if selector.name:
        if selector.name != ref.name:
            yield f"asks for the name {selector.name!r}"
    elif selector.label_selector is not None:
        yield from _missing_labels_of_selector(selector.label_selector, template.labels)


def _missing_labels_of_selector(selector: LabelSelector, labels: Mapping[str, str]) -> Iterator[str]:
    for key, value in selector.match_labels:
        if labels.get(key) != value:
            yield f"asks for the label {key}={value}"
    for each in selector.match_expressions:
        if not holds_for_labels(each, labels):
            yield f"asks for labels where {words_of_label_expression(each.key, each.operator, each.values)}"


def words_of_label_expression(key: str, operator: str, values: Iterable[str]) -> str:
    """Return an expression of a selector in words.

    >>> words_of_label_expression("tier", "In", ["web", "db"])
    'tier In web,db'
    """
    return f"{key} {operator} {','.join(values)}".rstrip()
