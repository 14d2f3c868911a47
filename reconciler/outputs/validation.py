"""The document of ``argosy validate``."""

from typing import TYPE_CHECKING, Annotated

from render.errors import Problem

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import Message, ObjectName, Reason, Source

if TYPE_CHECKING:
    from reconciler.check.validation import Validation
    from reconciler.source.read_objects import ReadObjects


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


class UnreadObjectsPart(DocumentPart, frozen=True, kw_only=True):
    """Objects below one folder that are not read for one reason."""

    folder: Annotated[str, meaning_of_field("The folder.")]
    reason: Annotated[str, meaning_of_field('The reason, which completes "not read: ...".')]
    objects: Annotated[int, meaning_of_field("How many objects stand there.")]
    files: Annotated[int, meaning_of_field("How many files hold them.")]


class ReadObjectsPart(DocumentPart, frozen=True, kw_only=True):
    """The objects of the repository: how many are read, how many there are, and where the others stand."""

    read: Annotated[int, meaning_of_field("How many objects are read, by themselves or by a build.")]
    total: Annotated[int, meaning_of_field("How many objects the files of the fleet's folder hold.")]
    unread: Annotated[tuple[UnreadObjectsPart, ...], meaning_of_field("The objects that are not read, most first.")]


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
    objects: Annotated[ReadObjectsPart, meaning_of_field("How many objects of the repository are read.")]


def validation_document(validation: "Validation") -> ValidationDocument:
    """Return a validation as a document; what is strict shows in the exit code alone."""
    return ValidationDocument(
        source=validation.commit or None,
        problems=tuple(map(problem_part, validation.problems)),
        warnings=tuple(map(problem_part, validation.warnings)),
        lost=tuple(
            LostPart(object=str(ref), reason=reason, message=message) for ref, reason, message in validation.lost
        ),
        skipped=tuple(SkippedPart(path=each.path, reason=str(each.reason)) for each in validation.skipped),
        objects=_read_objects_part(validation.objects),
    )


def _read_objects_part(objects: "ReadObjects") -> ReadObjectsPart:
    unread = tuple(
        UnreadObjectsPart(folder=each.folder, reason=each.reason, objects=each.objects, files=each.files)
        for each in objects.unread
    )
    return ReadObjectsPart(read=objects.read, total=objects.total, unread=unread)


def problem_part(problem: Problem) -> ProblemPart:
    """Return a problem of the source, or a warning about it."""
    return ProblemPart(
        path=problem.path,
        line=problem.line,
        field=problem.field,
        message=problem.message,
        hint=problem.hint,
        type=problem.kind,
    )
