"""Webhooks: which one answers, what it is sent, what its answer means - and that rendering calls none."""

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from render.interpreter import Interpreter, InterpreterError, Layer, Operation, Replicas
from render.interpreter.webhooks import Webhook
from render.resources import Component, DependentObject, ReplicaRequirements

from .tables import each_row

WIDGET = {
    "apiVersion": "example.io/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop"},
    "spec": {"size": 1},
}


def a_configuration(name: str = "hooks", **rule: Any) -> dict[str, Any]:
    everything = {"operations": ["*"], "apiGroups": ["example.io"], "apiVersions": ["v1"], "kinds": ["Widget"]}
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{name}.example.io",
                "clientConfig": {"url": "https://hooks.example.io"},
                "rules": [{**everything, **rule}],
                "timeoutSeconds": 3,
                "interpreterContextVersions": ["v1alpha1"],
            }
        ],
    }


def answering(**response: Any) -> Interpreter:
    def send(_webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"response": {"uid": context["request"]["uid"], "successful": True, **response}}

    return Interpreter.of([a_configuration()], send=send)


def a_patch(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


def test_rendering_calls_nothing_and_says_what_to_do() -> None:
    asked = Interpreter.of([a_configuration()])
    assert asked.answering_layer(Operation.INTERPRET_REPLICA, WIDGET) is Layer.WEBHOOK
    with pytest.raises(InterpreterError) as raised:
        asked.replicas(WIDGET)
    assert str(raised.value) == (
        "Widget shop/w: InterpretReplica: webhook hooks.example.io interprets this kind, and rendering calls nothing "
        "over the network; write a ResourceInterpreterCustomization for it instead"
    )


class Match(NamedTuple):
    why: str
    rule: dict[str, Any]
    want: Layer


MATCHES = [
    Match("named in full", {"operations": ["InterpretHealth"]}, Layer.WEBHOOK),
    Match("a star is everything", {"apiGroups": ["*"], "apiVersions": ["*"], "kinds": ["*"]}, Layer.WEBHOOK),
    Match("another operation", {"operations": ["Retain"]}, Layer.NONE),
    Match("another group", {"apiGroups": ["apps"]}, Layer.NONE),
    Match("another version", {"apiVersions": ["v2"]}, Layer.NONE),
    Match("another kind", {"kinds": ["Gadget"]}, Layer.NONE),
]


@each_row("case", MATCHES, ids=lambda case: case.why)
def test_rules(case: Match) -> None:
    assert (
        Interpreter.of([a_configuration(**case.rule)]).answering_layer(Operation.INTERPRET_HEALTH, WIDGET) is case.want
    )


def test_a_webhook_comes_after_customizations_and_before_what_is_bundled() -> None:
    hook = a_configuration(apiGroups=["*"], apiVersions=["*"], kinds=["*"])
    script = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "widgets"},
        "spec": {
            "target": {"apiVersion": "example.io/v1", "kind": "Widget"},
            "customizations": {"healthInterpretation": {"luaScript": "function InterpretHealth() return true end"}},
        },
    }
    asked = Interpreter.of([hook, script])
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    assert asked.answering_layer(Operation.INTERPRET_HEALTH, WIDGET) is Layer.CUSTOMIZATION
    assert asked.answering_layer(Operation.INTERPRET_HEALTH, deployment) is Layer.WEBHOOK


def test_the_first_by_configuration_and_name_is_asked() -> None:
    asked: list[str] = []

    def send(webhook: Webhook, _context: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(webhook.id)
        raise webhook.error("is asked")

    names = ["b", "a", "a-b"]
    configurations = [a_configuration(name) for name in names]
    second = {**configurations[1]["webhooks"][0], "name": "0.example.io"}
    configurations[1]["webhooks"].append(second)
    interpreter = Interpreter.of(configurations, send=send)
    # Karmada sorts "configuration/webhook" as one text, in which '-' comes before '/'.
    assert [webhook.id for webhook in interpreter.webhooks] == [
        "a-b/a-b.example.io",
        "a/0.example.io",
        "a/a.example.io",
        "b/b.example.io",
    ]
    with pytest.raises(InterpreterError):
        interpreter.is_healthy(WIDGET)
    assert asked == ["a-b/a-b.example.io"]


def test_no_webhook_is_asked_about_a_secret() -> None:
    hook = a_configuration(apiGroups=["*"], apiVersions=["*"], kinds=["*"])
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"}}
    asked = Interpreter.of([hook])
    assert {asked.answering_layer(operation, secret) for operation in Operation} == {Layer.NATIVE, Layer.NONE}
    assert asked.retain(secret, secret) == secret
    assert asked.answering_layer(Operation.RETAIN, settings) is Layer.WEBHOOK


def test_a_question_is_known_by_what_is_asked_and_whom() -> None:
    def uid(configuration: dict[str, Any], replicas: int = 1) -> str:
        sent: list[str] = []

        def send(webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any]:
            sent.append(context["request"]["uid"])
            raise webhook.error("is asked")

        with pytest.raises(InterpreterError):
            Interpreter.of([configuration], send=send).revise_replica(WIDGET, replicas)
        return sent[0]

    first, renewed, moved = a_configuration(), a_configuration(), a_configuration()
    renewed["webhooks"][0]["clientConfig"]["caBundle"] = "bmV3"
    moved["webhooks"][0]["clientConfig"]["url"] += "/v2"
    assert uid(first) == uid(renewed)
    assert len({uid(first), uid(first, 2), uid(moved), uid(a_configuration("other"))}) == 4


def test_what_a_webhook_is_sent() -> None:
    sent: list[tuple[Webhook, Mapping[str, Any]]] = []

    def send(webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any]:
        sent.append((webhook, context))
        return {"response": {"uid": context["request"]["uid"], "successful": True}}

    Interpreter.of([a_configuration()], send=send).retain(WIDGET, {**WIDGET, "status": {}})
    webhook, context = sent[0]
    assert (webhook.name, webhook.timeout_seconds) == ("hooks.example.io", 3)
    assert webhook.client_config == {"url": "https://hooks.example.io"}
    assert {**context, "request": {**context["request"], "uid": ""}} == {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterContext",
        "request": {
            "uid": "",
            "kind": {"group": "example.io", "version": "v1", "kind": "Widget"},
            "name": "w",
            "namespace": "shop",
            "operation": "Retain",
            "object": WIDGET,
            "observedObject": {**WIDGET, "status": {}},
        },
    }


def test_replicas() -> None:
    asked = answering(replicas=3, replicaRequirements={"resourceRequest": {"cpu": "1"}})
    wanted = Replicas(replicas=3, requirements=ReplicaRequirements(resource_request={"cpu": "1"}))
    assert asked.replicas(WIDGET) == wanted


def test_components_and_dependencies() -> None:
    reference = {"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "s"}
    asked = answering(components=[{"name": "a", "replicas": 1}], dependencies=[reference])
    assert asked.components(WIDGET) == (Component(name="a", replicas=1),)
    assert asked.dependencies(WIDGET) == (DependentObject(api_version="v1", kind="Secret", namespace="shop", name="s"),)


def test_patches() -> None:
    asked = answering(
        **a_patch({"op": "replace", "path": "/spec/size", "value": 5}, {"op": "add", "path": "/status", "value": {}})
    )
    assert asked.revise_replica(WIDGET, 5) == {**WIDGET, "spec": {"size": 5}, "status": {}}
    assert asked.retain(WIDGET, WIDGET) == {**WIDGET, "spec": {"size": 5}, "status": {}}
    assert asked.aggregate_status(WIDGET, []) == {**WIDGET, "status": {}}
    assert answering().revise_replica(WIDGET, 5) == WIDGET


def test_status_and_health() -> None:
    assert answering(rawStatus={"n": 1}).reflect_status(WIDGET) == {"n": 1}
    assert [answering(healthy=healthy).is_healthy(WIDGET) for healthy in (True, False)] == [True, False]


class Refusal(NamedTuple):
    why: str
    response: dict[str, Any]
    message: str


REFUSALS = [
    Refusal("it says why", {"successful": False, "status": {"message": "no size"}}, "refused: no size"),
    Refusal(
        "it gives a code",
        {"successful": False, "status": {"message": "no\n  size", "code": 422}},
        "refused: no size (code 422)",
    ),
    Refusal(
        "it says a lot",
        {"successful": False, "status": {"message": "x" * 301}},
        f"refused: {'x' * 300}...",
    ),
    Refusal("it says nothing", {"successful": False}, "refused: it gives no reason"),
    Refusal(
        "a number that is none",
        {"replicas": "3"},
        "answered with something of the wrong shape: replicas is a string, not an integer",
    ),
    Refusal("it means another request", {"uid": "1"}, "answered another request"),
    Refusal("it leaves out the answer", {}, "left out response.replicas"),
]


@each_row("case", REFUSALS, ids=lambda case: case.why)
def test_refusals(case: Refusal) -> None:
    with pytest.raises(InterpreterError) as raised:
        answering(**case.response).replicas(WIDGET)
    assert str(raised.value) == f"Widget shop/w: InterpretReplica: webhook hooks.example.io {case.message}"


class Answer(NamedTuple):
    why: str
    answer: Any
    message: str


ANSWERS = [
    Answer("no response", {}, "answered without a response"),
    Answer("an empty one", {"response": {}}, "answered without a response"),
    Answer(
        "another shape",
        {"response": []},
        "answered with something of the wrong shape: response is a list, not an object",
    ),
    Answer(
        "another kind",
        {"kind": "AdmissionReview", "response": {}},
        "answered with another kind than ResourceInterpreterContext",
    ),
    Answer(
        "another version",
        {"apiVersion": "config.karmada.io/v2", "response": {}},
        "answered with another apiVersion than config.karmada.io/v1alpha1",
    ),
]


@each_row("case", ANSWERS, ids=lambda case: case.why)
def test_answers_that_are_none(case: Answer) -> None:
    with pytest.raises(InterpreterError) as raised:
        Interpreter.of([a_configuration()], send=lambda _webhook, _context: case.answer).is_healthy(WIDGET)
    assert str(raised.value) == f"Widget shop/w: InterpretHealth: webhook hooks.example.io {case.message}"


def test_a_webhook_of_another_version_is_not_asked() -> None:
    configuration = a_configuration()
    configuration["webhooks"][0]["interpreterContextVersions"] = ["v2"]
    with pytest.raises(InterpreterError) as raised:
        Interpreter.of([configuration], send=lambda _webhook, _context: {}).is_healthy(WIDGET)
    assert str(raised.value) == (
        "Widget shop/w: InterpretHealth: webhook hooks.example.io "
        "accepts no version of ResourceInterpreterContext known here (v1alpha1)"
    )


def test_health_and_dependencies_that_are_none() -> None:
    with pytest.raises(InterpreterError) as raised:
        answering(healthy="yes").is_healthy(WIDGET)
    assert str(raised.value).endswith("answered with a response.healthy that is neither true nor false")
    with pytest.raises(InterpreterError) as raised:
        answering(dependencies=[{"apiVersion": "v1", "kind": "Secret"}]).dependencies(WIDGET)
    assert str(raised.value) == (
        "Widget shop/w: InterpretDependency: webhook hooks.example.io "
        "answered with a dependency that has no name and no labelSelector"
    )


PATCHES = [
    Refusal("no type", {"patch": "W10="}, "answered with a patch that is no JSONPatch"),
    Refusal("a type alone", {"patchType": "JSONPatch"}, "left out response.patch"),
    Refusal(
        "another object",
        a_patch({"op": "replace", "path": "/metadata/name", "value": "x"}),
        "answered with a patch that makes it another object",
    ),
    Refusal(
        "no object",
        a_patch({"op": "replace", "path": "", "value": []}),
        "answered with something of the wrong shape: the patched object is a list, not an object",
    ),
    Refusal(
        "another kind of patch", {"patchType": "Merge", "patch": "e30="}, "answered with a patch that is no JSONPatch"
    ),
    Refusal("no base64", {"patchType": "JSONPatch", "patch": "*"}, "answered with a patch that is no base64 JSON"),
    Refusal("no JSON", {"patchType": "JSONPatch", "patch": "fg=="}, "answered with a patch that is no base64 JSON"),
    Refusal(
        "a path that is not there", a_patch({"op": "remove", "path": "/x"}), "answered with a patch that does not apply"
    ),
    Refusal("no operation", a_patch({"path": "/x"}), "answered with a patch that does not apply"),
    Refusal(
        "copies, each of which may double the object",
        a_patch(*({"op": "copy", "from": "/spec", "path": f"/spec/x{number}"} for number in range(20))),
        "answered with a patch of more than 10000 operations or 4 copies",
    ),
]


@each_row("case", PATCHES, ids=lambda case: case.why)
def test_patches_that_cannot_be_used(case: Refusal) -> None:
    with pytest.raises(InterpreterError) as raised:
        answering(**case.response).revise_replica(WIDGET, 1)
    assert str(raised.value) == f"Widget shop/w: ReviseReplica: webhook hooks.example.io {case.message}"
