"""The answers of interpreter webhooks to what was asked while rendering: facts, recorded by value.

An answer stands until the question changes - the object, the replicas, the webhook's name or address - but a failure is
worth another try in the next pass that may ask.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import field

from render.model import Manifest
from render.values import DiscreetStruct

from .branch_file import BranchFile, FileFault, object_of_content


class WebhookAnswer(DiscreetStruct, frozen=True, kw_only=True):
    """A webhook's answer about an object: the parts of its response that are used, or the reason why there is none."""

    UNSHOWN = ("response",)

    webhook: str
    operation: str
    object: str
    response: Manifest = field(default_factory=dict)
    error: str = ""


Answers = Mapping[str, WebhookAnswer]
"""Answers by the ``uid`` of their requests."""


class _RecordedAnswer(DiscreetStruct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer as it is recorded: with a response, or with an error."""

    UNSHOWN = ("response",)

    object: str
    operation: str
    webhook: str
    request: str
    response: dict[str, Any] | None = None
    error: str = ""

    @classmethod
    def of_answer(cls, uid: str, answer: WebhookAnswer) -> "_RecordedAnswer":
        return cls(
            object=answer.object,
            operation=answer.operation,
            webhook=answer.webhook,
            request=uid,
            response=None if answer.error else dict(answer.response),
            error=answer.error,
        )

    @property
    def answer(self) -> WebhookAnswer:
        """The answer that is recorded."""
        return WebhookAnswer(
            webhook=self.webhook,
            operation=self.operation,
            object=self.object,
            response=self.response or {},
            error=self.error,
        )


class AnswersFile(BranchFile, frozen=True, kw_only=True):
    """The answers as they are recorded, ordered by what they are about. No cluster can be called like this file."""

    NAME: ClassVar[str] = "_interpretations.yaml"
    PATH: ClassVar[str] = f"facts/{NAME}"
    KIND: ClassVar[str] = "Interpretations"
    ABOUT: ClassVar[str] = "What interpreter webhooks answered about the objects of the source."

    answers: tuple[_RecordedAnswer, ...]

    @classmethod
    def of_answers(cls, answers: Answers) -> "AnswersFile":
        """Return answers as a file."""
        ordered = sorted(
            answers.items(), key=lambda item: (item[1].object, item[1].operation, item[1].webhook, item[0])
        )
        return cls(answers=tuple(_RecordedAnswer.of_answer(uid, each) for uid, each in ordered))


def read_answers(content: bytes) -> Answers:
    """Read answers back from their file; what cannot be read was never answered, but a newer file is a GitError."""
    try:
        file = AnswersFile.of(object_of_content(content)) if content else None
    except FileFault as fault:
        if fault.is_newer:
            raise fault.at(AnswersFile.PATH) from fault
        return {}
    return {each.request: each.answer for each in file.answers} if file else {}
