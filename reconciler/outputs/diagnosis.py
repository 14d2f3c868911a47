"""The document of ``argosy doctor``."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from reconciler.console.cleaning import without_passwords

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty

if TYPE_CHECKING:
    from reconciler.check.prerequisites import Check


class CheckPart(DocumentPart, frozen=True, kw_only=True):
    """A check, and what was found."""

    name: Annotated[
        str,
        meaning_of_field(
            "What was checked; of a member `credentials`, `connection`, `identity`, `version`, `clock`, `kinds`,"
            " `permissions` or `capacity`."
        ),
    ]
    member: Annotated[str, meaning_of_field("The member, if it is about one.")] | UnsetType = UNSET
    ok: bool
    warning: (
        Annotated[bool, meaning_of_field("True where nothing fails by it, and somebody should know it.")] | UnsetType
    ) = UNSET
    found: str
    hint: str


class DiagnosisDocument(OutputDocument, frozen=True, kw_only=True):
    """The checks of a repository, its remote and its members."""

    kind = "Diagnosis"
    about = "What was checked, and what to do."
    printed_by = ("doctor",)

    checks: Annotated[tuple[CheckPart, ...], meaning_of_field("The checks, in order.")]


def diagnosis_document(checks: Iterable["Check"]) -> DiagnosisDocument:
    """Return checks as a document."""
    return DiagnosisDocument(checks=tuple(map(_check_part, checks)))


def _check_part(check: "Check") -> CheckPart:
    return CheckPart(
        name=check.name,
        member=value_unless_empty(check.member),
        ok=check.is_well,
        warning=value_unless_empty(check.is_warning),
        found=without_passwords(check.state),
        hint=without_passwords(check.hint),
    )
