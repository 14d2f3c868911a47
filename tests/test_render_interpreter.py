"""The interpreter as a whole: neutral answers, messages, and that nothing it is given is modified."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from render.interpretation.operations import Interpretation
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from tests.conformance import cases_in
from tests.conformance.kind_interpret import check

SAMPLE = Path(__file__).parent / "vectors" / "interpret.jsonl.gz"
WIDGET: dict[str, Any] = {
    "apiVersion": "example.io/v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {"replicas": 2},
}


def test_a_kind_nobody_knows_has_neutral_answers() -> None:
    asked = Interpreter()
    live = {**WIDGET, "status": {"phase": "Ready"}}
    assert [operation for operation in Operation if asked.has(operation, WIDGET)] == [Operation.INTERPRET_STATUS]
    assert asked.answering_layer(Operation.RETAIN, WIDGET) is Layer.NONE
    assert asked.replicas(WIDGET) is None
    assert asked.components(WIDGET) is None
    assert asked.revise_replica(WIDGET, 5) == WIDGET
    assert asked.replica_field(WIDGET) is None
    assert asked.retain(WIDGET, live) == WIDGET
    assert asked.aggregate_status(live, [{"clusterName": "m", "status": {"phase": "Failed"}}]) == live
    assert asked.dependencies(WIDGET) == ()
    assert asked.reflect_status(live) == {"phase": "Ready"}
    assert asked.is_healthy(live) is True


class TestAWrongType:
    """A rule trusts the types of its kind; where one is another, that ends in an error of Python's."""

    trusting = Interpretation(replicas=lambda live: live["spec"]["replicas"]["x"], health=lambda live: live["status"].x)
    asked = Interpreter(customized={("example.io/v1", "Widget"): trusting})

    def test_of_what_a_member_answers_is_told_with_its_object(self) -> None:
        """No schema has checked that."""
        with pytest.raises(InterpreterError) as raised:
            self.asked.is_healthy({**WIDGET, "status": {}})
        assert str(raised.value) == (
            "Widget w: InterpretHealth: a field is not of the type that the kind has (AttributeError)"
        )

    def test_of_a_template_is_a_bug_here_that_concerns_this_object_alone(self) -> None:
        """Its schema has been checked before."""
        with pytest.raises(InterpreterError) as raised:
            self.asked.replicas(WIDGET)
        assert re.sub(r":\d+ ", ":N ", str(raised.value)) == (
            "Widget w: InterpretReplica: an unexpected TypeError in tests.test_render_interpreter:N <lambda>;"
            " this is a bug of Argosy, so please report it"
        )


def test_an_error_names_object_and_operation() -> None:
    secret = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": "hunter2"}}
    with pytest.raises(InterpreterError) as raised:
        Interpreter().replicas(secret)
    assert str(raised.value) == "Deployment d: InterpretReplica: spec.replicas is a string, not an integer"


def test_nothing_given_is_modified() -> None:
    for case in cases_in(SAMPLE):
        before = deepcopy(case["input"])
        check(case)
        assert case["input"] == before, case["id"]


def test_an_answer_can_be_changed_without_changing_the_next() -> None:
    """Kinds are answered from tables; what they hand out is the caller's."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    items = [{"clusterName": "m", "status": {"phase": "Running", "containerStatuses": [{"ready": True}]}}]
    first = Interpreter().aggregate_status(pod, items)
    wanted = deepcopy(first)
    first["status"]["containerStatuses"][0]["lastState"]["terminated"] = {}
    assert Interpreter().aggregate_status(pod, items) == wanted
