"""Cases of one interpreter operation on one object: the layer that answers, and its answer or that it is an error.

Objects that pass through Go types in Karmada are compared without what those types add: nulls, empty objects and
lists, and other notations of one quantity. Of an aggregated object only the status counts, without the time and the
wording of the conditions an aggregation makes.
"""

from collections.abc import Callable
from typing import Any

from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.interpreter.answers import plain_component, plain_dependency, plain_requirements
from render.quantity import canonical_quantity

Case = dict[str, Any]
OPERATIONS = {
    "GetReplicas": Operation.INTERPRET_REPLICA,
    "GetComponents": Operation.INTERPRET_COMPONENT,
    "GetDependencies": Operation.INTERPRET_DEPENDENCY,
    "ReflectStatus": Operation.INTERPRET_STATUS,
}
UNTYPED = {Layer.CUSTOMIZATION, Layer.THIRD_PARTY}
TIMED = ("PyTorchJobCreated", "PyTorchJobFailed", "PyTorchJobRunning", "PyTorchJobSucceeded")
UNTIMED = ("Completed", "CompletionsReached", "JobFailed", "NotebookFailed", "Ready", "TFJobFailed")
WORDING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(TIMED, ("message",)),
    **dict.fromkeys(UNTIMED, ("message", "lastProbeTime", "lastTransitionTime")),
}


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    interpreter = Interpreter.of(given.get("customizations") or ())
    operation = OPERATIONS.get(given["operation"]) or Operation(given["operation"])
    layer = interpreter.answering_layer(operation, given["object"])
    if layer != expected["layer"]:
        return f"answered by {layer}, not {expected['layer']}"
    try:
        answer = ANSWERS[operation](interpreter, given)
    except InterpreterError as error:
        return None if expected["error"] else f"error: {error}"
    if expected["error"]:
        return None if layer is Layer.NONE else f"no error, but {expected['error'].splitlines()[0]}"
    ours, theirs = _comparable(answer, operation, layer), _comparable(_wanted(expected, answer), operation, layer)
    return None if ours == theirs else f"{ours} instead of {theirs}"


def _wanted(expected: Case, answer: Case) -> Case:
    wanted = {key: value for key, value in expected.items() if key in answer or key == "object"}
    return {"status": wanted["object"].get("status")} if "object" in wanted and "status" in answer else wanted


def _replicas(interpreter: Interpreter, given: Case) -> Case:
    answer = interpreter.replicas(given["object"])
    if answer is None:
        return {}
    return {"replicas": answer.replicas, "requirements": plain_requirements(answer.requirements)}


def _components(interpreter: Interpreter, given: Case) -> Case:
    return {"components": [plain_component(each) for each in interpreter.components(given["object"]) or ()]}


def _dependencies(interpreter: Interpreter, given: Case) -> Case:
    return {"dependencies": [plain_dependency(each) for each in interpreter.dependencies(given["object"])]}


ANSWERS: dict[Operation, Callable[[Interpreter, Case], Case]] = {
    Operation.INTERPRET_REPLICA: _replicas,
    Operation.INTERPRET_COMPONENT: _components,
    Operation.REVISE_REPLICA: lambda asked, given: {"object": asked.revise_replica(given["object"], given["replica"])},
    Operation.RETAIN: lambda asked, given: {"object": asked.retain(given["object"], given["observed"])},
    Operation.AGGREGATE_STATUS: lambda asked, given: {
        "status": asked.aggregate_status(given["object"], given.get("items")).get("status")
    },
    Operation.INTERPRET_DEPENDENCY: _dependencies,
    Operation.INTERPRET_STATUS: lambda asked, given: {"status": asked.reflect_status(given["object"])},
    Operation.INTERPRET_HEALTH: lambda asked, given: {"healthy": asked.is_healthy(given["object"])},
}


def _comparable(answer: Case, operation: Operation, layer: Layer) -> Any:
    if operation in {Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT} or layer not in UNTYPED:
        answer = _canonical(answer)
    status = answer.get("status")
    if operation is not Operation.AGGREGATE_STATUS or not isinstance(status, dict) or not status.get("conditions"):
        return answer
    return {**answer, "status": {**status, "conditions": list(map(_without_wording, status["conditions"]))}}


def _without_wording(condition: dict[str, Any]) -> dict[str, Any]:
    wording = WORDING.get(condition.get("reason", ""), ())
    return {field: value for field, value in condition.items() if field not in wording}


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        entries = {key: _quantities(entry) if key in QUANTITIES else _canonical(entry) for key, entry in value.items()}
        return {key: entry for key, entry in entries.items() if entry not in (None, {}, [])}
    return [_canonical(entry) for entry in value] if isinstance(value, list) else value


QUANTITIES = {"requests", "limits", "overhead", "resourceRequest", "capacity"}


def _quantities(value: Any) -> Any:
    return {name: canonical_quantity(str(text)) for name, text in value.items()} if isinstance(value, dict) else value
