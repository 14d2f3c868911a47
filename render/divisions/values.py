"""The values of this folder: an object that a policy divides, what is known beside it, and a warning."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from render.bits import Mask
from render.interpreter import Interpreter, Operation
from render.kinds import GroupKind
from render.model import Manifest, ObjectRef, TargetCluster, Template, mapping_or_empty


class DivisionRule(StrEnum):
    """The kinds of warnings, by the names that reports give them."""

    UNDIVIDED = "Undivided"
    UNDIVIDED_NUMBER = "UndividedNumber"
    AUTOSCALED = "AutoscaledDivision"


class DividedTemplate(Struct, frozen=True, kw_only=True):
    """A template whose policy divides it: among how many clusters, and the policy's name.

    ``targets`` are the clusters that it may be divided among; where a spread constraint limits it, not all get it.
    ``replicas`` are those of the object, as far as they are known already. ``share`` are the replicas of the cluster
    that gets the fewest; None where nothing was divided yet. ``is_held``: clusters keep all replicas because
    nothing in the source asked for the division, which would give them ``shares``.
    """

    template: Template
    policy: str
    clusters: int
    targets: Mask = 0
    replicas: int | None = None
    share: int | None = None
    is_held: bool = False
    shares: tuple[TargetCluster, ...] = ()


class DivisionContext(Struct, frozen=True, kw_only=True):
    """The context of a division: the interpreter, what overrides write, and what a source defines.

    ``overridden`` are the clusters for which an override writes a field of a template, given its keys. ``may_scale``
    says of a kind whether a definition that is not in the source might tell its scale subresource.
    ``is_as_in_karmada``: what cannot be divided is divided all the same. ``counts_components``: kinds with components
    have no replicas.
    ``tries_revisions``: customizations write a share on trial, to see whether it is read back. ``mixed_policies`` are
    the policies that select kinds of Kubernetes, too: they divide something, though the source may not have it now.
    ``clusters_of`` are the clusters that may get a template.
    """

    interpreter: Interpreter
    overridden: Callable[[Template, tuple[str, ...]], Mask]
    may_scale: Callable[[GroupKind], bool]
    is_as_in_karmada: bool = False
    counts_components: bool = False
    tries_revisions: bool = False
    mixed_policies: frozenset[str] = frozenset()
    clusters_of: Callable[[Template], Mask] = lambda _template: -1

    def is_overridden(self, template: Template, keys: tuple[str, ...]) -> bool:
        """Say whether an override writes a field of a template for some cluster."""
        return bool(self.overridden(template, keys))

    def has_components(self, template: Template) -> bool:
        """Say whether an object counts by its components, which nothing divides."""
        return self.counts_components and self.interpreter.has(Operation.INTERPRET_COMPONENT, template.manifest)

    def replicas(self, division: DividedTemplate) -> int | None:
        """Return the replicas of an object; None where nothing tells them. InterpreterError: it cannot be read."""
        if division.replicas is not None:
            return division.replicas
        if self.has_components(division.template):
            return None
        read = self.interpreter.replicas(division.template.manifest)
        return None if read is None else read.replicas


class DivisionWarning(Struct, frozen=True, kw_only=True, order=True):
    """A warning about an object: the field, the message and the way out.

    ``policy`` is the policy that divides it, or the ``workload`` that it is about. Of what is not divided at all,
    ``clause`` is the part of the message that is the same for all objects of a kind, so that it can be said once, and
    ``receivers`` are the clusters that get all of it, in words.
    """

    ref: ObjectRef
    field: str
    message: str
    hint: str
    rule: DivisionRule
    policy: str
    workload: ObjectRef
    clause: str = ""
    receivers: str = ""

    def __str__(self) -> str:
        where = f"{self.ref}: {self.field}" if self.field else str(self.ref)
        return f"{where}: {self.message}\n  hint: {self.hint}"


class DividedWorkload(Struct, frozen=True, kw_only=True):
    """A workload whose policy divides it: its replicas, among how many clusters, and those of the smallest share.

    ``is_as_in_karmada``: they are divided though they count indexes.
    """

    division: DividedTemplate
    replicas: int
    clusters: int
    share: int
    is_as_in_karmada: bool = False

    @property
    def template(self) -> Template:
        """The workload."""
        return self.division.template

    def clusters_with(self, companion: Mask) -> int:
        """Return the most clusters that may have a share beside a companion, which goes to some clusters."""
        return min(self.clusters, (self.division.targets & companion).bit_count())

    def warning(
        self,
        about: Template,
        field: str,
        message: str,
        hint: str,
        *,
        rule: DivisionRule = DivisionRule.UNDIVIDED_NUMBER,
    ) -> DivisionWarning:
        """Return a warning about a number that is not divided with this workload."""
        return DivisionWarning(
            ref=about.ref,
            field=field,
            message=message,
            hint=hint,
            rule=rule,
            policy=self.division.policy,
            workload=self.template.ref,
        )


def whole_number_at(manifest: Manifest, path: tuple[str, ...]) -> int | None:
    """Return the whole number at a path; None for anything else, such as a percentage."""
    value: Any = manifest
    for key in path:
        value = mapping_or_empty(value).get(key)
    return value if type(value) is int else None


def mapping_in(manifest: Manifest, *path: str) -> Mapping[str, Any]:
    """Return the object at a path; an empty one where there is none."""
    value: Any = manifest
    for key in path:
        value = mapping_or_empty(value).get(key)
    return mapping_or_empty(value)


ONE_CLUSTER = "replicaSchedulingType: Duplicated, and a spread constraint by cluster with maxGroups: 1"
