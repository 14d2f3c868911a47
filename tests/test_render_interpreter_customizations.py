"""A kind of one's own, interpreted by scripts as they are written for Karmada."""

from typing import Any, NamedTuple

import pytest

from render.interpreter import Interpreter, InterpreterError, Layer, Operation, Replicas
from render.resources import Component, DependentObject, NodeClaim, ReplicaRequirements

from .tables import each_row

RULES = {
    "GetReplicas": "replicaResource",
    "GetComponents": "componentResource",
    "ReviseReplica": "replicaRevision",
    "Retain": "retention",
    "AggregateStatus": "statusAggregation",
    "GetDependencies": "dependencyInterpretation",
    "ReflectStatus": "statusReflection",
    "InterpretHealth": "healthInterpretation",
}
WIDGET = ("example.io/v1", "Widget")
PARAMETERS = dict.fromkeys(RULES, "obj, more")


def a_customization(name: str, target: tuple[str, str], **bodies: str) -> dict[str, Any]:
    scripts = {
        RULES[function]: {"luaScript": f"function {function}({PARAMETERS[function]})\n{body}\nend"}
        for function, body in bodies.items()
    }
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": name},
        "spec": {"target": {"apiVersion": target[0], "kind": target[1]}, "customizations": scripts},
    }


def a_widget(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}, **fields}


def interpreter(**bodies: str) -> Interpreter:
    return Interpreter.of([a_customization("widgets", WIDGET, **bodies)])


def test_replicas_and_what_one_needs() -> None:
    asked = interpreter(
        GetReplicas="""return obj.spec.size, {
          resourceRequest = {cpu = "100m", memory = 1024},
          nodeClaim = {nodeSelector = {disk = "ssd"}, tolerations = {{key = "gpu"}}},
          priorityClassName = "high",
        }"""
    )
    assert asked.replicas(a_widget(spec={"size": 3})) == Replicas(
        replicas=3,
        requirements=ReplicaRequirements(
            resource_request={"cpu": "100m", "memory": "1024"},
            node_claim=NodeClaim(node_selector={"disk": "ssd"}, tolerations=({"key": "gpu"},)),
            priority_class_name="high",
        ),
    )


def test_replicas_are_cut_to_whole_numbers_and_need_no_requirements() -> None:
    assert interpreter(GetReplicas="return 2.9").replicas(a_widget()) == Replicas(replicas=2)


def test_components() -> None:
    asked = interpreter(
        GetComponents="""return {
          {name = "a", replicas = 2, replicaRequirements = {resourceRequest = {cpu = "1"}}},
          {name = "b"},
        }"""
    )
    assert asked.components(a_widget()) == (
        Component(name="a", replicas=2, requirements=ReplicaRequirements(resource_request={"cpu": "1"})),
        Component(name="b", replicas=0),
    )
    assert interpreter(GetComponents="return nil").components(a_widget()) == ()


class Edit(NamedTuple):
    why: str
    body: str
    before: dict[str, Any]
    after: dict[str, Any]


EDITS = [
    Edit("a field is set", "obj.spec.size = more return obj", {"size": 1, "x": "y"}, {"size": 5, "x": "y"}),
    Edit(
        "an empty object stays one",
        "return obj",
        {"labels": {}, "pods": [{"dir": {}}]},
        {"labels": {}, "pods": [{"dir": {}}]},
    ),
    Edit(
        "an empty list stays one",
        "return obj",
        {"args": [], "pods": [{"args": []}]},
        {"args": [], "pods": [{"args": []}]},
    ),
    Edit(
        "what is an empty object in one entry of a list is one in all",
        "return obj",
        {"pods": [{"dir": []}, {"dir": {}}]},
        {"pods": [{"dir": {}}, {"dir": {}}]},
    ),
    Edit("an empty table nobody knows goes", "obj.spec.new = {} return obj", {"x": 1}, {"x": 1}),
    Edit("nulls go", "return obj", {"x": None, "list": [1, None, "a"]}, {"list": [1, "a"]}),
    Edit("numbers stay what they are", "return obj", {"a": 1, "b": 2.5, "c": -3}, {"a": 1, "b": 2.5, "c": -3}),
    Edit("text stays what it is", "return obj", {"a": 'é"\\\n\0', "b": "1"}, {"a": 'é"\\\n\0', "b": "1"}),
]


@each_row("case", EDITS, ids=lambda case: case.why)
def test_revision(case: Edit) -> None:
    asked = interpreter(ReviseReplica=case.body)
    assert asked.revise_replica(a_widget(spec=case.before), 5) == a_widget(spec=case.after)
    assert asked.replica_field(a_widget(spec=case.before)) is None


def test_retention_knows_the_empty_tables_of_both_objects() -> None:
    asked = interpreter(Retain="obj.spec.live = more.spec.live return obj")
    assert asked.retain(a_widget(spec={}), a_widget(spec={"live": {"a": [], "b": {}}})) == a_widget(
        spec={"live": {"a": [], "b": {}}}
    )


def test_aggregation_sees_the_items_and_counts_for_its_status() -> None:
    asked = interpreter(
        AggregateStatus="""local n = 0
        for i = 1, #more do if more[i].status ~= nil then n = n + more[i].status.n end end
        obj.spec, obj.status = nil, {n = n, first = more[1].clusterName, empty = {}}
        return obj"""
    )
    items: list[dict[str, Any]] = [
        {"clusterName": "m1", "status": {"n": 1}},
        {"clusterName": "m2"},
        {"clusterName": "m3", "status": {"n": 2}},
    ]
    assert asked.aggregate_status(a_widget(spec={"x": 1}), items) == a_widget(
        spec={"x": 1}, status={"n": 3, "first": "m1"}
    )


def test_nothing_collected_is_nil_and_an_empty_list_is_not() -> None:
    asked = interpreter(AggregateStatus="obj.status = {nothing = more == nil} return obj")
    assert asked.aggregate_status(a_widget(), None)["status"] == {"nothing": True}
    assert asked.aggregate_status(a_widget(), [])["status"] == {"nothing": False}


def test_reflection() -> None:
    asked = interpreter(ReflectStatus="if obj.status == nil then return {} end return {n = obj.status.n, empty = {}}")
    assert asked.reflect_status(a_widget(status={"n": 3})) == {"n": 3}
    assert asked.reflect_status(a_widget()) == {}


def test_health() -> None:
    asked = interpreter(InterpretHealth='return obj.status ~= nil and obj.status.phase == "Ready"')
    assert [asked.is_healthy(a_widget(status={"phase": "Ready"})), asked.is_healthy(a_widget())] == [True, False]


CONFIG = DependentObject(api_version="v1", kind="ConfigMap", namespace="shop", name="c")


def test_dependencies_of_all_customizations_are_united() -> None:
    one = a_customization(
        "b", WIDGET, GetDependencies='return {{apiVersion = "v1", kind = "Secret", namespace = "shop", name = "s"}}'
    )
    two = a_customization(
        "a",
        WIDGET,
        GetDependencies="""return {
          {apiVersion = "v1", kind = "ConfigMap", namespace = obj.metadata.namespace, name = "c"},
          {apiVersion = "v1", kind = "Secret", namespace = "shop", name = "s"},
          {apiVersion = "v1", kind = "Secret", namespace = "shop", labelSelector = {matchLabels = {a = "b"}}},
        }""",
    )
    selected = DependentObject(
        api_version="v1", kind="Secret", namespace="shop", label_selector={"matchLabels": {"a": "b"}}
    )
    named = DependentObject(api_version="v1", kind="Secret", namespace="shop", name="s")
    assert Interpreter.of([one, two]).dependencies(a_widget()) == (CONFIG, selected, named)


def test_of_other_operations_the_first_customization_by_name_answers() -> None:
    asked = Interpreter.of(
        [a_customization("b", WIDGET, GetReplicas="return 2"), a_customization("a", WIDGET, GetReplicas="return 1")]
    )
    assert asked.replicas(a_widget()) == Replicas(replicas=1)


class Strict(NamedTuple):
    why: str
    function: str
    body: str
    message: str


STRICT = [
    Strict("no number", "GetReplicas", 'return "3"', "GetReplicas: it must return a number first, not a string"),
    Strict("no result", "GetReplicas", "", "GetReplicas: it must return a number first, not null"),
    Strict(
        "no requirements",
        "GetReplicas",
        "return 1, 2",
        "GetReplicas: it must return a table or nil second, not an integer",
    ),
    Strict(
        "too many replicas", "GetReplicas", "return 2^31", "GetReplicas: 2147483648 replicas do not fit into 32 bits"
    ),
    Strict(
        "odd requirements",
        "GetReplicas",
        "return 1, {resourceRequest = {cpu = {1}}}",
        "resourceRequest.cpu is a list, not a quantity",
    ),
    Strict("no object", "ReviseReplica", "return nil", "ReviseReplica: it must return a table, not null"),
    Strict("a list for an object", "ReviseReplica", "return {1}", "the result is a list, not an object"),
    Strict("nothing is no health", "InterpretHealth", "", "InterpretHealth: it must return a boolean, not null"),
    Strict(
        "nor is a number", "InterpretHealth", "return 1", "InterpretHealth: it must return a boolean, not an integer"
    ),
    Strict("no references", "GetDependencies", "return nil", "GetDependencies: it must return a table, not null"),
    Strict("odd references", "GetDependencies", "return {1}", "the result[0] is an integer, not an object"),
    Strict("a script's own error", "GetReplicas", 'error("no size")', "line 2: no size"),
]


@each_row("case", STRICT, ids=lambda case: case.why)
def test_what_a_script_returns_is_checked(case: Strict) -> None:
    asked = interpreter(**{case.function: case.body})
    ask = {
        "GetReplicas": asked.replicas,
        "ReviseReplica": lambda manifest: asked.revise_replica(manifest, 1),
        "InterpretHealth": asked.is_healthy,
        "GetDependencies": asked.dependencies,
    }[case.function]
    with pytest.raises(InterpreterError) as raised:
        ask(a_widget())
    operation = next(name for name in Operation if RULES[case.function] == OPERATION_RULES[name])
    assert str(raised.value) == f"Widget shop/w: {operation}: ResourceInterpreterCustomization widgets: {case.message}"


OPERATION_RULES = {
    Operation.INTERPRET_REPLICA: "replicaResource",
    Operation.INTERPRET_COMPONENT: "componentResource",
    Operation.REVISE_REPLICA: "replicaRevision",
    Operation.RETAIN: "retention",
    Operation.AGGREGATE_STATUS: "statusAggregation",
    Operation.INTERPRET_DEPENDENCY: "dependencyInterpretation",
    Operation.INTERPRET_STATUS: "statusReflection",
    Operation.INTERPRET_HEALTH: "healthInterpretation",
}


def test_a_customization_beats_every_other_layer_and_its_error_is_final() -> None:
    target = ("apps/v1", "Deployment")
    asked = Interpreter.of([a_customization("mine", target, GetReplicas='error("no")')])
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 2}}
    assert asked.answering_layer(Operation.INTERPRET_REPLICA, deployment) is Layer.CUSTOMIZATION
    assert asked.answering_layer(Operation.REVISE_REPLICA, deployment) is Layer.NATIVE
    assert (
        asked.answering_layer(Operation.INTERPRET_REPLICA, {**deployment, "apiVersion": "apps/v1beta2"}) is Layer.NONE
    )
    with pytest.raises(InterpreterError):
        asked.replicas(deployment)


def test_what_is_no_customization_is_left_alone() -> None:
    other = {"apiVersion": "example.io/v1", "kind": "ResourceInterpreterCustomization", "metadata": {"name": "x"}}
    assert Interpreter.of([other]) == Interpreter()
