"""OverridePolicy and ClusterOverridePolicy as values: selected templates, target clusters and edits."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from render.selectors import ClusterAffinity, ResourceSelector


class PlaintextOverrider(Struct, frozen=True, kw_only=True):
    """One RFC 6902 operation (add, remove, replace); a missing value is null, as in Karmada."""

    path: str
    operator: str
    value: Any = None


class ImageOverrider(Struct, frozen=True, kw_only=True):
    """An edit of one component (Registry, Repository, Tag) of image references; ``predicate`` is a JSON pointer."""

    component: str
    operator: str
    value: str = ""
    predicate: str | None = None


class CommandArgsOverrider(Struct, frozen=True, kw_only=True):
    """Words added to or removed from the command or the args of a container."""

    container_name: str
    operator: str
    value: tuple[str, ...] = ()


class LabelAnnotationOverrider(Struct, frozen=True, kw_only=True):
    """Labels or annotations added, replaced where present, or removed."""

    operator: str
    value: Mapping[str, str] = field(default_factory=dict)


class FieldOverrider(Struct, frozen=True, kw_only=True):
    """Patch operations inside a JSON or YAML text that is the value of ``field_path``."""

    field_path: str
    json: tuple[PlaintextOverrider, ...] = ()
    yaml: tuple[PlaintextOverrider, ...] = ()


class Overriders(Struct, frozen=True, kw_only=True):
    """The edits of one rule, by type.

    They run in the fixed order image, command, args, labels, annotations, field, plaintext, whatever their order in
    YAML.
    """

    image: tuple[ImageOverrider, ...] = ()
    command: tuple[CommandArgsOverrider, ...] = ()
    args: tuple[CommandArgsOverrider, ...] = ()
    labels: tuple[LabelAnnotationOverrider, ...] = ()
    annotations: tuple[LabelAnnotationOverrider, ...] = ()
    field: tuple[FieldOverrider, ...] = ()
    plaintext: tuple[PlaintextOverrider, ...] = ()

    @property
    def may_harm(self) -> bool:
        """True where they can make a right object wrong: images, commands and labels stay texts, whatever they say."""
        return bool(self.plaintext or self.field)

    @property
    def may_annotate(self) -> bool:
        """True where they can write an annotation."""
        return bool(self.annotations) or self.may_harm


class RuleWithCluster(Struct, frozen=True, kw_only=True):
    """One override rule.

    ``path`` is its field path in the policy, for messages: ``spec.overrideRules[0]``, or ``spec`` for the deprecated
    flat form.
    """

    overriders: Overriders
    target_cluster: ClusterAffinity | None = None
    path: str = "spec"


class OverridePolicy(Struct, frozen=True, kw_only=True):
    """An OverridePolicy (``namespace`` set) or a ClusterOverridePolicy (``namespace`` empty).

    No selectors means every template in scope.
    """

    name: str
    namespace: str = ""
    resource_selectors: tuple[ResourceSelector, ...] = ()
    rules: tuple[RuleWithCluster, ...] = ()
    path: str = ""
    document: int = 0

    def __str__(self) -> str:
        if self.namespace:
            return f"OverridePolicy {self.namespace}/{self.name}"
        return f"ClusterOverridePolicy {self.name}"
