"""Parts that the documents of ``argosy explain`` share, and how an explanation becomes a document."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field

Explained = TypeVar("Explained", bound=OutputDocument)


class TargetPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that an object goes to."""

    name: str
    replicas: int


Targets = Annotated[tuple[TargetPart, ...], meaning_of_field("The clusters it goes to, with their replicas.")]
OverriddenTargets = Annotated[
    tuple[str, ...],
    meaning_of_field(
        "The targets to which the policy assigns others: an override sets these, or nothing writes a share."
    ),
]


class UnmetPart(DocumentPart, frozen=True, kw_only=True):
    """A requirement of a placement that clusters do not meet."""

    field: str
    message: str
    hint: str | UnsetType = UNSET


Unmet = Annotated[
    tuple[UnmetPart, ...], meaning_of_field("What the placement asks for and no cluster meets, or too few.")
]


class ExplainedFieldPart(DocumentPart, frozen=True, kw_only=True):
    """A field that an override rule changes."""

    path: str
    operator: str
    before: Any | UnsetType = UNSET
    after: Any | UnsetType = UNSET


class StepPart(DocumentPart, frozen=True, kw_only=True):
    """An override rule that applies."""

    policy: str
    rule: str
    path: Annotated[str, meaning_of_field("The file of the policy.")]
    changes: tuple[ExplainedFieldPart, ...]
    error: str | UnsetType = UNSET


class OverriddenPart(DocumentPart, frozen=True, kw_only=True):
    """The effect of override rules on a class of clusters."""

    clusters: tuple[str, ...] | UnsetType = UNSET
    steps: (
        Annotated[tuple[StepPart, ...], meaning_of_field("The rules that apply, in order, with what each changes.")]
        | UnsetType
    ) = UNSET
    error: str | UnsetType = UNSET


def explanation_document(kind: type[Explained], value: Mapping[str, Any]) -> Explained:
    """Return an explanation, given as plain data with what is empty left out, as a document of a kind."""
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return kind(**{name: value.get(encoded, UNSET) for name, encoded in names})
