"""The rules a ResourceInterpreterCustomization may have: a key, an operation, and the Lua function for each."""

from collections.abc import Sequence

from msgspec import Struct

from render.interpretation.operations import Operation

KIND = "ResourceInterpreterCustomization"


class CustomizationRule(Struct, frozen=True):
    """A rule of spec.customizations: its key, its operation, and the Lua function its script defines."""

    key: str
    operation: Operation
    function: str


RULES: Sequence[CustomizationRule] = (
    CustomizationRule("replicaResource", Operation.INTERPRET_REPLICA, "GetReplicas"),
    CustomizationRule("componentResource", Operation.INTERPRET_COMPONENT, "GetComponents"),
    CustomizationRule("replicaRevision", Operation.REVISE_REPLICA, "ReviseReplica"),
    CustomizationRule("retention", Operation.RETAIN, "Retain"),
    CustomizationRule("statusAggregation", Operation.AGGREGATE_STATUS, "AggregateStatus"),
    CustomizationRule("dependencyInterpretation", Operation.INTERPRET_DEPENDENCY, "GetDependencies"),
    CustomizationRule("statusReflection", Operation.INTERPRET_STATUS, "ReflectStatus"),
    CustomizationRule("healthInterpretation", Operation.INTERPRET_HEALTH, "InterpretHealth"),
)
FUNCTION = {rule.operation: rule.function for rule in RULES}
