"""What a ResourceInterpreterCustomization may customize: a key, an operation, and the Lua function for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from .operations import Operation

KIND = "ResourceInterpreterCustomization"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of spec.customizations: its key, its operation, and the Lua function its script defines."""

    key: str
    operation: Operation
    function: str


RULES: Sequence[Rule] = (
    Rule("replicaResource", Operation.INTERPRET_REPLICA, "GetReplicas"),
    Rule("componentResource", Operation.INTERPRET_COMPONENT, "GetComponents"),
    Rule("replicaRevision", Operation.REVISE_REPLICA, "ReviseReplica"),
    Rule("retention", Operation.RETAIN, "Retain"),
    Rule("statusAggregation", Operation.AGGREGATE_STATUS, "AggregateStatus"),
    Rule("dependencyInterpretation", Operation.INTERPRET_DEPENDENCY, "GetDependencies"),
    Rule("statusReflection", Operation.INTERPRET_STATUS, "ReflectStatus"),
    Rule("healthInterpretation", Operation.INTERPRET_HEALTH, "InterpretHealth"),
)
FUNCTION = {rule.operation: rule.function for rule in RULES}
