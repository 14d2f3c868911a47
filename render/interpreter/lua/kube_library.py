"""The functions scripts find in ``require("kube")``, on JSON text: sums of quantities, readings of pod templates."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from render.interpretation.fields import mapping_at, yaml_type_name
from render.interpretation.operations import InterpreterError
from render.interpretation.references import pod_dependencies
from render.interpretation.requirements import pod_requirements
from render.interpreter.answers import plain_dependency, plain_requirements
from render.quantity import Amount, QuantityFormat, format_quantity, parse_quantity, quantity_format

from .conversion import lua_chunk_returning, value_without_empty_containers

LONGEST_ANSWER = 2**20


def answer_of_kube_function(name: bytes, arguments: bytes) -> bytes:
    """Call a function with a JSON list of arguments; the answer is a Lua chunk, or ``!`` and an error message."""
    function = name.decode()
    try:
        answer = lua_chunk_returning([FUNCTIONS[function](json.loads(arguments.decode("utf-8", "replace")))])
    except InterpreterError as error:
        return f"!kube.{function}: {error}".encode()
    return answer if len(answer) <= LONGEST_ANSWER else b"!kube.%b: the answer is too large" % name


def resource_add(arguments: Sequence[Any]) -> str:
    """Add quantities; nil counts as nothing. The sum is written like the first of them that is not zero."""
    total: Amount = 0
    notation = QuantityFormat.DECIMAL_SI
    for argument in arguments:
        if total == 0 and argument is not None:
            notation = quantity_format(str(argument))
        total += _amount_of_quantity(argument)
    return format_quantity(total, notation)


def resource_quantity(arguments: Sequence[Any]) -> float:
    """Return one quantity as a number; nil is 0, less than nothing is no quantity here."""
    _check_argument_count(arguments, 1)
    amount = _amount_of_quantity(arguments[0])
    if amount < 0:
        raise InterpreterError("the quantity is negative")
    return float(amount)


def accurate_pod_requirements(arguments: Sequence[Any]) -> Mapping[str, Any] | None:
    """Return the requirements of a pod of this template."""
    _check_argument_count(arguments, 1)
    return plain_requirements(pod_requirements(_pod_spec(arguments[0])))


def get_pod_dependencies(arguments: Sequence[Any]) -> Sequence[Mapping[str, Any]] | None:
    """Return the objects a pod of this template refers to, in order; nil without any, as in Karmada."""
    _check_argument_count(arguments, 2)
    template, namespace = arguments
    if namespace is not None and not isinstance(namespace, str):
        raise InterpreterError(f"the namespace is {yaml_type_name(namespace)}, not a string")
    found = pod_dependencies(_pod_spec(template), "default" if namespace is None else namespace)
    return [plain_dependency(dependency) for dependency in sorted(found)] or None


FUNCTIONS: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "resourceAdd": resource_add,
    "getResourceQuantity": resource_quantity,
    "accuratePodRequirements": accurate_pod_requirements,
    "getPodDependencies": get_pod_dependencies,
}
"""The library, by the names scripts use."""


def _check_argument_count(arguments: Sequence[Any], count: int) -> None:
    if len(arguments) != count:
        raise InterpreterError(f"it takes {count} argument{'s' if count > 1 else ''}, not {len(arguments)}")


def _amount_of_quantity(quantity: Any) -> Amount:
    if quantity is None:
        return 0
    if not isinstance(quantity, str):
        raise InterpreterError(f"a quantity is {yaml_type_name(quantity)}, not a string")
    try:
        return parse_quantity(quantity)
    except ValueError as error:
        raise InterpreterError(str(error)) from error


def _pod_spec(template: Any) -> Mapping[str, Any]:
    if not isinstance(template, Mapping | list):
        raise InterpreterError(f"the pod template is {yaml_type_name(template)}, not a table")
    return mapping_at(value_without_empty_containers(template) or {}, "spec")
