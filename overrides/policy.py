"""OverridePolicy and ClusterOverridePolicy as values: selected templates, target clusters and edits."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from render.model import Manifest
from render.selectors import ClusterAffinity, ResourceSelector
from render.values import SelectiveStruct

from .overriders.overrider_type import OverriderType


class OverriderList(Struct, frozen=True):
    """The overriders of one type in a rule, in their order."""

    type: OverriderType[Any]
    overriders: tuple[Any, ...]


class Overriders(Struct, frozen=True):
    """The edits of one rule: a list for each type that the rule has, in the order in which types apply."""

    lists: tuple[OverriderList, ...] = ()

    @property
    def may_harm(self) -> bool:
        """True where they can make a right object wrong."""
        return any(each.type.may_harm for each in self.lists)

    @property
    def may_annotate(self) -> bool:
        """True where they can write an annotation."""
        return any(each.type.may_annotate for each in self.lists)

    def __iter__(self) -> Iterator[tuple[str, OverriderType[Any], Any]]:
        """Yield each overrider with its place, such as ``imageOverrider[0]``, and its type."""
        for each in self.lists:
            for index, overrider in enumerate(each.overriders):
                yield f"{each.type.name}[{index}]", each.type, overrider


class RuleWithCluster(Struct, frozen=True, kw_only=True):
    """One override rule.

    ``path`` is its field path in the policy, for messages: ``spec.overrideRules[0]``, or ``spec`` for the deprecated
    flat form.
    """

    overriders: Overriders
    target_cluster: ClusterAffinity | None = None
    path: str = "spec"


class OverridePolicy(SelectiveStruct, frozen=True, kw_only=True):
    """An OverridePolicy (``namespace`` set) or a ClusterOverridePolicy (``namespace`` empty).

    No selectors means every template in scope. ``spec`` is what the rules were parsed of, as it was admitted.
    """

    UNSHOWN = UNCOMPARED = ("spec",)

    name: str
    namespace: str = ""
    resource_selectors: tuple[ResourceSelector, ...] = ()
    rules: tuple[RuleWithCluster, ...] = ()
    path: str = ""
    document: int = 0
    spec: Manifest = field(default_factory=dict)

    def __str__(self) -> str:
        if self.namespace:
            return f"OverridePolicy {self.namespace}/{self.name}"
        return f"ClusterOverridePolicy {self.name}"
