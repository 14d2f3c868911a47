"""The document of ``argosy verify``."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import Fields, Rendered, field_part

if TYPE_CHECKING:
    from reconciler.check.verification import Verdict


class FileDifferencePart(DocumentPart, frozen=True, kw_only=True):
    """A file that is another one when it is made again."""

    path: Annotated[str, meaning_of_field("The file.")]
    action: Annotated[
        str, meaning_of_field("`changed`; `added` if it is only made, `removed` if it is only committed.")
    ]
    fields: Fields


class VerdictPart(DocumentPart, frozen=True, kw_only=True):
    """A rendered commit, and the outcome of making it again."""

    commit: Rendered
    source: Annotated[str, meaning_of_field("The source commit; empty if the commit names none.")]
    result: Annotated[str, meaning_of_field("`equal`, `different`, `not comparable` or `not written by Argosy`.")]
    detail: Annotated[str, meaning_of_field("The reason in a sentence; it may be empty.")]
    differences: Annotated[
        tuple[FileDifferencePart, ...],
        meaning_of_field("The files that are others when they are made again; those of clusters with their fields."),
    ]


class VerificationDocument(OutputDocument, frozen=True, kw_only=True):
    """Rendered commits, made again."""

    kind = "Verification"
    about = "Whether rendered commits can be made again."
    printed_by = ("verify",)

    commits: Annotated[tuple[VerdictPart, ...], meaning_of_field("The commits, newest first.")]


def verification_document(verdicts: Iterable["Verdict"]) -> VerificationDocument:
    """Return verdicts as a document."""
    return VerificationDocument(commits=tuple(map(_verdict_part, verdicts)))


def _verdict_part(verdict: "Verdict") -> VerdictPart:
    differences = (
        FileDifferencePart(path=file.path, action=str(file.action), fields=tuple(map(field_part, file.fields)))
        for file in verdict.differences
    )
    return VerdictPart(
        commit=verdict.commit,
        source=verdict.source,
        result=str(verdict.result),
        detail=verdict.detail,
        differences=tuple(differences),
    )
