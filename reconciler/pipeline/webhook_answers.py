"""The questions to interpreter webhooks while rendering, and their answers: facts, recorded by value.

A render calls nothing. It looks its questions up among the answers it is given, and names those it has none for, so
that a pass that reaches clusters can ask them and render again. What was used is recorded beside the facts of the
members; what was not is forgotten. An answer stands until the question changes - the object, the replicas, the
webhook's name or address - but a failure is worth another try in the next pass that may ask.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from reconciler.ledger.webhook_answers import Answers, WebhookAnswer
from render.interpreter import InterpreterError, Operation
from render.interpreter.webhooks import (
    Call,
    Send,
    Webhook,
    WebhookError,
    error_of_uncalled_webhook,
    operation_by_webhook,
)
from render.model import ObjectRef
from render.values import DiscreetStruct

_PARTS: Mapping[Operation, tuple[str, ...]] = {
    Operation.INTERPRET_REPLICA: ("replicas", "replicaRequirements"),
    Operation.INTERPRET_COMPONENT: ("components",),
    Operation.REVISE_REPLICA: ("patchType", "patch"),
    Operation.INTERPRET_DEPENDENCY: ("dependencies",),
}
"""The parts of a response that a render uses, by operation."""
_HINT = ", or let a pass that reaches the clusters ask it: argosy reconcile"


class Question(DiscreetStruct, frozen=True, kw_only=True):
    """A ResourceInterpreterContext, and the webhook it is for."""

    UNSHOWN = ("context",)

    webhook: Webhook
    context: Mapping[str, Any]

    @property
    def request(self) -> Mapping[str, Any]:
        """One question to a webhook."""
        request: Mapping[str, Any] = self.context["request"]
        return request


class Recording(Struct):
    """The answers one render is given, those it used, and the questions it has no answer for."""

    answers: Answers
    used: dict[str, WebhookAnswer] = field(default_factory=dict)
    open: dict[str, Question] = field(default_factory=dict)

    def send(self, webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what was answered; WebhookError when that was a failure, or nothing was."""
        uid = context["request"]["uid"]
        answer = self.answers.get(uid)
        if answer is None:
            self.open[uid] = Question(webhook=webhook, context=context)
            raise WebhookError(error_of_uncalled_webhook(webhook).what + _HINT)
        self.used[uid] = answer
        if answer.error:
            raise WebhookError(answer.error)
        return {"response": {**answer.response, "uid": uid, "successful": True}}


def ask_webhook(question: Question, send: Send) -> WebhookAnswer:
    """Ask a question and hold the answer to what it is needed for; a failure is an answer too."""
    request = question.request
    operation = Operation(request["operation"])
    ref = ObjectRef.of(request["object"])
    try:
        said = send(question.webhook, question.context)
        call = Call(webhook=question.webhook, operation=operation, send=lambda _webhook, _context: said)
        replicas = [request["replicas"]] if "replicas" in request else []
        operation_by_webhook(call)(request["object"], *replicas)
    except InterpreterError as error:
        return WebhookAnswer(webhook=question.webhook.id, operation=operation, object=str(ref), error=error.what)
    parts = {name: said["response"][name] for name in _PARTS[operation] if said["response"].get(name) is not None}
    return WebhookAnswer(webhook=question.webhook.id, operation=operation, object=str(ref), response=parts)


def lasting_answers(answers: Answers) -> Answers:
    """Return the answers that need not be asked for again: all but failures."""
    return {uid: answer for uid, answer in answers.items() if not answer.error}
