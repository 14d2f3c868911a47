"""The document of ``argosy validate``."""

from typing import TYPE_CHECKING, Annotated

from render.errors import Problem

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import Message, ObjectName, Reason, Source

if TYPE_CHECKING:
    from reconciler.check.validation import Validation


class ProblemPart(DocumentPart, frozen=True, kw_only=True):
    """A problem of the source, or a warning about it, with its place."""

    path: Annotated[str, meaning_of_field("The file.")]
    line: Annotated[int, meaning_of_field("The line; 0 if it is about the whole file.")]
    field: str
    message: str
    hint: Annotated[str, meaning_of_field("What to do; it may be empty.")]
    type: Annotated[str, meaning_of_field("The type of the problem, as Kubernetes names it, or Argosy's own.")]


class SkippedPart(DocumentPart, frozen=True, kw_only=True):
    """A file that holds no Kubernetes object."""

    path: str
    reason: str


class LostPart(DocumentPart, frozen=True, kw_only=True):
    """An object that can be read and of which nothing is used."""

    object: ObjectName
    reason: Reason
    message: Message


class ValidationDocument(OutputDocument, frozen=True, kw_only=True):
    """A source, and all that is wrong in it."""

    kind = "Validation"
    about = "The problems and warnings of a source."
    printed_by = ("validate",)

    source: Source
    problems: Annotated[tuple[ProblemPart, ...], meaning_of_field("What is wrong.")]
    warnings: Annotated[tuple[ProblemPart, ...], meaning_of_field("What is allowed, but probably a mistake.")]
    lost: Annotated[
        tuple[LostPart, ...],
        meaning_of_field("The objects of which nothing is used, such as those that two files define differently."),
    ]
    skipped: Annotated[tuple[SkippedPart, ...], meaning_of_field("The files that hold no Kubernetes object, and why.")]


def validation_document(validation: "Validation") -> ValidationDocument:
    """Return a validation as a document; what is strict shows in the exit code alone."""
    return ValidationDocument(
        source=validation.commit or None,
        problems=tuple(map(_problem_part, validation.problems)),
        warnings=tuple(map(_problem_part, validation.warnings)),
        lost=tuple(
            LostPart(object=str(ref), reason=reason, message=message) for ref, reason, message in validation.lost
        ),
        skipped=tuple(SkippedPart(path=each.path, reason=str(each.reason)) for each in validation.skipped),
    )


def _problem_part(problem: Problem) -> ProblemPart:
    return ProblemPart(
        path=problem.path,
        line=problem.line,
        field=problem.field,
        message=problem.message,
        hint=problem.hint,
        type=problem.kind,
    )
