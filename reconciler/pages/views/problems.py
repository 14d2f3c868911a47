"""The problems and warnings of the source, at file and line."""

from typing import TYPE_CHECKING

from reconciler.check.validation import validation_of
from reconciler.outputs.validation import validation_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    return ViewAnswer(document=look.document("validate", _document), command=("validate", "--rev", look.commits.source))


def _document(reading: "FleetReading") -> "OutputDocument":
    return validation_document(validation_of(reading.repository, reading.commits.source, reading.log))


VIEW = PageView(
    name="problems",
    path="/problems",
    question="What is wrong in the source?",
    template="problems.html",
    answer=_answer,
    group=ViewGroup.NOW,
    label="Problems",
    key="p",
    icon="problems",
)
