"""Subscribers of which a cluster meets one or another, as one selector, where labels alone say that.

Karmada's selectors hold all at once, so that most unions of two have none. But subscribers mostly differ in the values
of one label - a region, a stage - and what has one value or another is one requirement.
"""

from collections.abc import Sequence
from typing import NamedTuple

from render.selectors import LabelSelector, Requirement

_IN, _NOT_IN = "In", "NotIn"


class LabelUnion(NamedTuple):
    """The selector of what any of several selectors select; ``is_disjoint``: no labels meet two of these."""

    selector: LabelSelector
    is_disjoint: bool


def union_of_selectors(selectors: Sequence[LabelSelector]) -> LabelUnion | None:
    """Return the union of different selectors that differ in one label; None for any others.

    >>> selectors = [LabelSelector(match_labels=(("region", each),)) for each in ("bj", "sh")]
    >>> union_of_selectors(selectors).selector.match_expressions[0].values
    ('bj', 'sh')
    """
    every = [frozenset(_requirements_of_selector(each)) for each in selectors]
    shared = frozenset.intersection(*every)
    own = [each - shared for each in every]
    if not all(own):
        return LabelUnion(_selector_of_requirements(shared), is_disjoint=False)
    found = [next(iter(each)) for each in own if len(each) == 1]
    if len(found) < len(own) or len({each.key for each in found}) > 1:
        return None
    if not {each.operator for each in found} <= {_IN, _NOT_IN}:
        return None
    taken = [set(each.values) for each in found if each.operator == _IN]
    left = [set(each.values) for each in found if each.operator == _NOT_IN]
    values = set[str]().union(*taken)
    is_disjoint = len(values) == sum(map(len, taken)) and len(left) < 2 and all(values <= each for each in left)
    union = _union_on_label(found[0].key, values, left)
    return LabelUnion(_selector_of_requirements(shared | union), is_disjoint)


def _union_on_label(key: str, values: set[str], left: Sequence[set[str]]) -> frozenset[Requirement]:
    """Return the requirement that a label has one of these values, or is outside of one of the sets left out."""
    if not left:
        return frozenset({Requirement(key=key, operator=_IN, values=tuple(sorted(values)))})
    outside = set.intersection(*left) - values
    return frozenset({Requirement(key=key, operator=_NOT_IN, values=tuple(sorted(outside)))} if outside else ())


def _requirements_of_selector(selector: LabelSelector) -> Sequence[Requirement]:
    """Return all that a selector requires, each said in one way."""
    labels = [Requirement(key=key, operator=_IN, values=(value,)) for key, value in selector.match_labels]
    others = [
        Requirement(key=each.key, operator=each.operator, values=tuple(sorted(set(each.values))))
        for each in selector.match_expressions
    ]
    return [*labels, *others]


def _selector_of_requirements(requirements: frozenset[Requirement]) -> LabelSelector:
    ordered = sorted(requirements, key=lambda each: (each.key, each.operator, each.values))
    labels = [each for each in ordered if each.operator == _IN and len(each.values) == 1]
    return LabelSelector(
        match_labels=tuple((each.key, each.values[0]) for each in labels),
        match_expressions=tuple(each for each in ordered if each not in labels),
    )
