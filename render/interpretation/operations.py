"""The operations of a resource interpreter, their answers, and one kind's interpretation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from render.model import Manifest
from render.resources import Component, DependentObject, ReplicaRequirements

Items = Sequence[Mapping[str, Any]] | None
"""The aggregatedStatus of a binding: clusterName, status, applied, health per member; None when never collected."""


class Operation(StrEnum):
    """The operations of Karmada's resource interpreter, by their names in its API."""

    INTERPRET_REPLICA = "InterpretReplica"
    INTERPRET_COMPONENT = "InterpretComponent"
    REVISE_REPLICA = "ReviseReplica"
    RETAIN = "Retain"
    AGGREGATE_STATUS = "AggregateStatus"
    INTERPRET_DEPENDENCY = "InterpretDependency"
    INTERPRET_STATUS = "InterpretStatus"
    INTERPRET_HEALTH = "InterpretHealth"


class Layer(StrEnum):
    """The layers an answer can come from, in order of precedence."""

    CUSTOMIZATION = "customization"
    WEBHOOK = "webhook"
    THIRD_PARTY = "thirdparty"
    NATIVE = "native"
    SCALE = "scale"
    NONE = "none"


class InterpreterError(Exception):
    """An object could not be interpreted: the fault, and - once known - the object and the operation.

    The message never quotes the object, which may be a Secret.
    """

    def __init__(self, what: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what = what
        self.where = where


class Replicas(Struct, frozen=True, kw_only=True):
    """The replicas a workload wants, and the requirements of one of them (None: nothing known)."""

    replicas: int
    requirements: ReplicaRequirements | None = None


class Interpretation(Struct, frozen=True, kw_only=True):
    """The knowledge about one kind: a function per operation, None where the kind has no such operation.

    ``aggregate`` answers with the template's new ``status`` (None: it has none). ``replica_field`` is the one integer
    that ``revise`` sets, if that is all it does. ``finish`` says of an object that runs to completion how its run has
    ended ("": it goes on), and None of one that runs for ever. ``lacking`` says what an object
    lacks that is not healthy: a reason in one word and a sentence, or None where it lacks nothing. No function modifies
    what it is given; answers may share its parts.
    """

    replicas: Callable[[Manifest], Replicas | None] | None = None
    components: Callable[[Manifest], Iterable[Component]] | None = None
    revise: Callable[[Manifest, int], Manifest] | None = None
    retain: Callable[[Manifest, Manifest], Manifest] | None = None
    aggregate: Callable[[Manifest, Items], Any] | None = None
    dependencies: Callable[[Manifest], Iterable[DependentObject]] | None = None
    reflect: Callable[[Manifest], Any] | None = None
    health: Callable[[Manifest], bool] | None = None
    replica_field: tuple[str, ...] | None = None
    finish: Callable[[Manifest], str | None] | None = None
    lacking: Callable[[Manifest], tuple[str, str] | None] | None = None


FUNCTION_BY_OPERATION: Mapping[Operation, str] = {
    Operation.INTERPRET_REPLICA: "replicas",
    Operation.INTERPRET_COMPONENT: "components",
    Operation.REVISE_REPLICA: "revise",
    Operation.RETAIN: "retain",
    Operation.AGGREGATE_STATUS: "aggregate",
    Operation.INTERPRET_DEPENDENCY: "dependencies",
    Operation.INTERPRET_STATUS: "reflect",
    Operation.INTERPRET_HEALTH: "health",
}
"""The function of an Interpretation that answers each operation."""
