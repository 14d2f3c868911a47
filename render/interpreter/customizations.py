"""ResourceInterpreterCustomizations: a kind interpreted by scripts, written as for Karmada.

Several customizations may share a target. The first by name that has a script for an operation is asked, except for
dependencies: there every script answers, and the answers are united.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from render.interpretation.fields import INT32, mapping_at, objects_at, text_at, yaml_type_name
from render.interpretation.operations import (
    FUNCTION_BY_OPERATION,
    Interpretation,
    InterpreterError,
    Items,
    Operation,
    Replicas,
)
from render.model import Manifest, group_of
from render.resources import Component, DependentObject

from .answers import component_from_answer, dependency_from_answer, requirements_from_answer
from .customization_keys import FUNCTION, KIND, RULES
from .lua.conversion import value_shaped_like_references, value_without_empty_containers
from .lua.sandbox import Limits, ScriptExhausted, call_script

LIMITS = Limits()


class Script(Struct, frozen=True):
    """A script of a customization, for messages by its name."""

    customization: str
    operation: Operation
    source: str

    def results_of_call(self, *arguments: Any) -> list[Any]:
        """Call the operation's function and return all its results."""
        return call_script(self.source, FUNCTION[self.operation], arguments, LIMITS)

    def table_of_call(self, *arguments: Any) -> Any:
        """Call the function, whose one result must be a table."""
        answer = self._only_result(self.results_of_call(*arguments))
        if not isinstance(answer, Mapping | list):
            raise self.error(f"it must return a table, not {yaml_type_name(answer)}")
        return answer

    def replicas(self, workload: Manifest) -> Replicas:
        """Ask GetReplicas: a number, and a table of requirements or nil."""
        results: list[Any] = [*self.results_of_call(workload), None, None]
        replicas, requirements = results[:2]
        if isinstance(replicas, bool) or not isinstance(replicas, int | float):
            raise self.error(f"it must return a number first, not {yaml_type_name(replicas)}")
        if requirements is not None and not isinstance(requirements, Mapping | list):
            raise self.error(f"it must return a table or nil second, not {yaml_type_name(requirements)}")
        if not -INT32 <= int(replicas) < INT32:
            raise self.error(f"{int(replicas)} replicas do not fit into 32 bits")
        needs = (
            None
            if requirements is None
            else requirements_from_answer(value_without_empty_containers(requirements) or {})
        )
        return Replicas(replicas=int(replicas), requirements=needs)

    def components(self, workload: Manifest) -> Sequence[Component]:
        """Ask GetComponents: a list of components, or nil."""
        answer = self._only_result(self.results_of_call(workload))
        return () if answer is None else [component_from_answer(entry) for entry in self._checked_objects(answer)]

    def revised_manifest(self, workload: Manifest, replicas: int) -> Manifest:
        """Ask ReviseReplica: the object."""
        return self._checked_object(value_shaped_like_references(self.table_of_call(workload, replicas), (workload,)))

    def retained_manifest(self, desired: Manifest, observed: Manifest) -> Manifest:
        """Ask Retain: the object."""
        return self._checked_object(
            value_shaped_like_references(self.table_of_call(desired, observed), (desired, observed))
        )

    def aggregated_status(self, template: Manifest, items: Items) -> Any:
        """Ask AggregateStatus: the object, of which the status counts."""
        return self._checked_object(value_without_empty_containers(self.table_of_call(template, items))).get("status")

    def reflected_status(self, observed: Manifest) -> Any:
        """Ask ReflectStatus: the status."""
        return value_without_empty_containers(self.table_of_call(observed)) or {}

    def is_healthy(self, observed: Manifest) -> bool:
        """Ask InterpretHealth: a boolean and nothing else."""
        answer = self._only_result(self.results_of_call(observed))
        if not isinstance(answer, bool):
            raise self.error(f"it must return a boolean, not {yaml_type_name(answer)}")
        return answer

    def dependencies(self, workload: Manifest) -> Sequence[DependentObject]:
        """Ask GetDependencies: a list of references."""
        return [dependency_from_answer(entry) for entry in self._checked_objects(self.table_of_call(workload))]

    def error(self, what: str) -> InterpreterError:
        """Return an error of this script."""
        return InterpreterError(f"{FUNCTION[self.operation]}: {what}")

    def _checked_objects(self, answer: Any) -> Sequence[Mapping[str, Any]]:
        return objects_at({"the result": value_without_empty_containers(answer)}, "the result")

    def _checked_object(self, answer: Any) -> Mapping[str, Any]:
        return mapping_at({"the result": answer or {}}, "the result")

    @staticmethod
    def _only_result(results: Sequence[Any]) -> Any:
        return results[0] if results else None


METHOD_BY_OPERATION: Mapping[Operation, Callable[[Script], Callable[..., Any]]] = {
    Operation.INTERPRET_REPLICA: lambda script: script.replicas,
    Operation.INTERPRET_COMPONENT: lambda script: script.components,
    Operation.REVISE_REPLICA: lambda script: script.revised_manifest,
    Operation.RETAIN: lambda script: script.retained_manifest,
    Operation.AGGREGATE_STATUS: lambda script: script.aggregated_status,
    Operation.INTERPRET_STATUS: lambda script: script.reflected_status,
    Operation.INTERPRET_HEALTH: lambda script: script.is_healthy,
}
"""The method of a script that answers each operation; dependencies are united instead."""


def interpretations_by_customized_kind(manifests: Iterable[Manifest]) -> dict[tuple[str, str], Interpretation]:
    """Return the interpretation of each kind that customizations, in order of their names, have scripts for."""
    scripts: dict[tuple[str, str], dict[Operation, list[Script]]] = {}
    for manifest in manifests:
        if manifest["kind"] == KIND and group_of(manifest["apiVersion"]) == "config.karmada.io":
            target = mapping_at(manifest, "spec", "target")
            by_operation = scripts.setdefault((text_at(target, "apiVersion"), text_at(target, "kind")), {})
            for script in _scripts_of_customization(manifest):
                by_operation.setdefault(script.operation, []).append(script)
    return {kind: _interpretation_by_scripts(by_operation) for kind, by_operation in scripts.items()}


def _scripts_of_customization(manifest: Manifest) -> Iterator[Script]:
    for rule in RULES:
        source = text_at(manifest, "spec", "customizations", rule.key, "luaScript")
        if source:
            yield Script(text_at(manifest, "metadata", "name"), rule.operation, source)


def _interpretation_by_scripts(by_operation: Mapping[Operation, Sequence[Script]]) -> Interpretation:
    functions: dict[str, Any] = {
        FUNCTION_BY_OPERATION[operation]: _function_with_named_errors(script, method(script))
        for operation, method in METHOD_BY_OPERATION.items()
        for script in by_operation.get(operation, ())[:1]
    }
    if scripts := by_operation.get(Operation.INTERPRET_DEPENDENCY):
        asked = [_function_with_named_errors(script, script.dependencies) for script in scripts]
        functions["dependencies"] = lambda workload: chain.from_iterable(ask(workload) for ask in asked)
    return Interpretation(**functions)


def _function_with_named_errors(script: Script, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, its errors naming their customization.

    A script that ran out of time is not asked again: each of the kind's objects would cost the whole limit once more.
    """
    exhausted: list[ScriptExhausted] = []

    def ask(*arguments: Any) -> Any:
        try:
            if exhausted:
                raise ScriptExhausted(exhausted[0].what)
            return function(*arguments)
        except InterpreterError as error:
            if isinstance(error, ScriptExhausted):
                exhausted[:] = [error]
            raise InterpreterError(error.what, where=f"{KIND} {script.customization}") from error

    return ask
