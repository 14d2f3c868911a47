"""Answers of webhooks as facts: looked up while rendering, asked for when open, written down and read back alike."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.webhook_answers import AnswersFile, WebhookAnswer, read_answers
from reconciler.pipeline.webhook_answers import Recording, ask_webhook, lasting_answers
from reconciler.record.recorded_status import RecordedStatus
from render.interpreter import Interpreter, InterpreterError
from render.interpreter.webhooks import Webhook
from render.resources import DependentObject

from .hooks import a_patch
from .tables import each_row

WIDGET = {
    "apiVersion": "example.io/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop"},
    "spec": {"size": 1},
}
CONFIGURATION = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterWebhookConfiguration",
    "metadata": {"name": "hooks"},
    "webhooks": [
        {
            "name": "hooks.example.io",
            "clientConfig": {"url": "https://hooks.example.io"},
            "rules": [{"operations": ["*"], "apiGroups": ["example.io"], "apiVersions": ["v1"], "kinds": ["Widget"]}],
            "interpreterContextVersions": ["v1alpha1"],
        }
    ],
}


def recorded_by(recording: Recording) -> Interpreter:
    return Interpreter.of([CONFIGURATION], send=recording.send)


def answering(**response: Any) -> Any:
    """A ``Send`` that answers everything with this."""

    def send(_webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"response": {"uid": context["request"]["uid"], "successful": True, **response}}

    return send


def test_what_is_not_known_is_left_open_and_known_once_it_was_asked() -> None:
    first = Recording({})
    with pytest.raises(InterpreterError) as raised:
        recorded_by(first).replicas(WIDGET)
    assert str(raised.value) == (
        "Widget shop/w: InterpretReplica: webhook hooks.example.io interprets this kind, and rendering calls nothing "
        "over the network; write a ResourceInterpreterCustomization for it instead, or let a pass that reaches the "
        "clusters ask it: argosy reconcile"
    )
    answers = {uid: ask_webhook(question, answering(replicas=3)) for uid, question in first.open.items()}
    second = Recording(answers)
    found = recorded_by(second).replicas(WIDGET)
    assert (found.replicas if found else 0, second.used, second.open) == (3, answers, {})


def test_only_what_is_used_is_recorded() -> None:
    first, unused = (
        Recording({}),
        WebhookAnswer(webhook="a/b", operation="InterpretReplica", object="Widget.example.io x"),
    )
    with pytest.raises(InterpreterError):
        recorded_by(first).replicas(WIDGET)
    (question,) = first.open.values()
    answer = ask_webhook(question, answering(replicas=3, components=[], rawStatus={"a": 1}, healthy=True, patch="W10="))
    assert answer.response == {"replicas": 3}
    second = Recording({**dict.fromkeys(first.open, answer), "0": unused})
    recorded_by(second).replicas(WIDGET)
    assert second.used == dict.fromkeys(first.open, answer)


class Said(NamedTuple):
    """A webhook's response to an operation, and the error that is recorded of it."""

    why: str
    operation: str
    response: dict[str, Any]
    error: str


SAID = [
    Said("replicas", "replicas", {"replicas": 2}, ""),
    Said("none", "replicas", {}, "left out response.replicas"),
    Said("components", "components", {"components": [{"name": "a", "replicas": 1}]}, ""),
    Said(
        "a component that is none",
        "components",
        {"components": ["a"]},
        "answered with something of the wrong shape: components[0] is a string, not an object",
    ),
    Said("a patch", "revise", a_patch({"op": "replace", "path": "/spec/size", "value": 2}), ""),
    Said(
        "a patch of something else",
        "revise",
        a_patch({"op": "remove", "path": "/x"}),
        "answered with a patch that does not apply",
    ),
    Said("no dependencies", "dependencies", {}, ""),
    Said(
        "a dependency without a kind",
        "dependencies",
        {"dependencies": [{"name": "a"}]},
        "answered with a dependency that has no apiVersion or kind",
    ),
    Said("a refusal", "replicas", {"successful": False, "status": {"message": "no"}}, "refused: no"),
]


@each_row("case", SAID, ids=lambda case: case.why)
def test_an_answer_is_held_to_what_it_is_needed_for(case: Said) -> None:
    asks: dict[str, Callable[[Interpreter], Any]] = {
        "replicas": lambda interpreter: interpreter.replicas(WIDGET),
        "components": lambda interpreter: interpreter.components(WIDGET),
        "revise": lambda interpreter: interpreter.revise_replica(WIDGET, 2),
        "dependencies": lambda interpreter: interpreter.dependencies(WIDGET),
    }
    ask = asks[case.operation]
    first = Recording({})
    with pytest.raises(InterpreterError):
        ask(recorded_by(first))
    answers = {uid: ask_webhook(question, answering(**case.response)) for uid, question in first.open.items()}
    (answer,) = answers.values()
    assert answer.error == (f"webhook hooks.example.io {case.error}" if case.error else "")
    assert (lasting_answers(answers) == answers) == (not case.error)
    # What is read back says the same as what was asked, failure or not.
    again = Recording(read_answers(AnswersFile.of_answers(answers).content()))
    assert again.answers == answers
    if case.error:
        with pytest.raises(InterpreterError, match=case.error.replace("[", r"\[")):
            ask(recorded_by(again))
    else:
        assert ask(recorded_by(again)) == ask(Interpreter.of([CONFIGURATION], send=answering(**case.response)))


def test_the_file_is_ordered_by_what_it_is_about() -> None:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "settings"}
    about: dict[str, Any] = {"webhook": "hooks/hooks.example.io", "object": "Widget.example.io shop/w"}
    answers = {
        "b2": WebhookAnswer(operation="InterpretReplica", response={"replicas": 3}, **about),
        "a1": WebhookAnswer(operation="InterpretDependency", response={"dependencies": [reference]}, **about),
        "c3": WebhookAnswer(
            operation="ReviseReplica", error="webhook hooks.example.io did not answer within 10 s", **about
        ),
    }
    assert AnswersFile.of_answers(answers).content().decode() == (
        "apiVersion: argosy.dev/v1alpha1\n"
        "kind: Interpretations\n"
        "answers:\n"
        "- object: Widget.example.io shop/w\n"
        "  operation: InterpretDependency\n"
        "  request: a1\n"
        "  response:\n"
        "    dependencies:\n"
        "    - apiVersion: v1\n"
        "      kind: ConfigMap\n"
        "      name: settings\n"
        "      namespace: shop\n"
        "  webhook: hooks/hooks.example.io\n"
        "- object: Widget.example.io shop/w\n"
        "  operation: InterpretReplica\n"
        "  request: b2\n"
        "  response:\n"
        "    replicas: 3\n"
        "  webhook: hooks/hooks.example.io\n"
        "- error: webhook hooks.example.io did not answer within 10 s\n"
        "  object: Widget.example.io shop/w\n"
        "  operation: ReviseReplica\n"
        "  request: c3\n"
        "  webhook: hooks/hooks.example.io\n"
        "version: 1\n"
    )
    assert read_answers(AnswersFile.of_answers(answers).content()) == answers


@each_row("content", [b"", b"{", b"[]", b"answers: x", b"answers:\n- a: b\n"])
def test_what_cannot_be_read_was_never_answered(content: bytes) -> None:
    assert read_answers(content) == {}


def test_the_facts_of_members_are_nothing_else_than_theirs() -> None:
    answers = AnswersFile.of_answers(
        {"a": WebhookAnswer(webhook="a/b", operation="InterpretReplica", object="Widget.example.io x")}
    ).content()
    recorded = RecordedStatus(files={"facts/_interpretations.yaml": answers})
    assert (recorded.facts(), list(recorded.answers())) == ({}, ["a"])


def test_a_dependency_is_read_back_as_it_was_told() -> None:
    first = Recording({})
    with pytest.raises(InterpreterError):
        recorded_by(first).dependencies(WIDGET)
    reference = {
        "apiVersion": "v1",
        "kind": "Secret",
        "namespace": "shop",
        "labelSelector": {"matchLabels": {"a": "1"}},
    }
    answers = {uid: ask_webhook(question, answering(dependencies=[reference])) for uid, question in first.open.items()}
    read = Recording(read_answers(AnswersFile.of_answers(answers).content()))
    assert recorded_by(read).dependencies(WIDGET) == (
        DependentObject(api_version="v1", kind="Secret", namespace="shop", label_selector={"matchLabels": {"a": "1"}}),
    )
