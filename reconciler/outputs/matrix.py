"""The document of ``argosy matrix``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import Rendered, StateWord
from .survey_parts import RecordedAt, SourceOfRendered, commit_fields, words_of_states

if TYPE_CHECKING:
    from reconciler.survey.matrix import Matrix, MatrixGroup
    from reconciler.survey.surveying import Survey


class MatrixGroupPart(DocumentPart, frozen=True, kw_only=True):
    """A row or a column."""

    name: Annotated[str, meaning_of_field("The name of the group; empty for what is in none.")]
    size: Annotated[int, meaning_of_field("How many objects, or clusters, it stands for.")]
    unplaced: (
        Annotated[
            Mapping[str, int],
            meaning_of_field("How many objects of a row are in no cluster, in which state; left out if none is."),
        ]
        | UnsetType
    ) = UNSET


class MatrixCellPart(DocumentPart, frozen=True, kw_only=True):
    """A cell that is not empty."""

    objects: Annotated[int, meaning_of_field("How many objects of the row are in clusters of the column.")]
    copies: Annotated[int, meaning_of_field("The same, an object counted once for each of these clusters.")]
    replicas: Annotated[int, meaning_of_field("How many replicas they have there.")]
    state: StateWord
    states: Annotated[Mapping[str, int], meaning_of_field("How many copies are in which state, the worst first.")]


class MatrixDocument(OutputDocument, frozen=True, kw_only=True):
    """A matrix of objects and clusters, by groups of both."""

    kind = "Matrix"
    about = "How many objects are where, and in which state: groups of objects by groups of clusters."
    printed_by = ("matrix",)

    rendered: Rendered
    source: SourceOfRendered
    recorded_at: RecordedAt | UnsetType = UNSET
    rows_are: Annotated[
        str, meaning_of_field("What a row stands for: `namespace`, `kind`, `app`, `policy` or `object`.")
    ]
    columns_are: Annotated[str, meaning_of_field("What a column stands for: `region`, `provider` or `cluster`.")]
    total_rows: Annotated[int, meaning_of_field("How many rows there are, with those that are not listed.")]
    total_columns: Annotated[int, meaning_of_field("How many columns there are, with those that are not listed.")]
    rows: Annotated[tuple[MatrixGroupPart, ...], meaning_of_field("The rows, by name.")]
    columns: Annotated[tuple[MatrixGroupPart, ...], meaning_of_field("The columns, by name.")]
    cells: Annotated[
        Mapping[str, Mapping[str, MatrixCellPart]],
        meaning_of_field("The cells that are not empty, by the names of their rows and columns."),
    ]


def matrix_document(survey: "Survey", rows_are: str, columns_are: str, matrix: "Matrix") -> MatrixDocument:
    """Return a matrix as a document."""
    cells: dict[str, dict[str, MatrixCellPart]] = {}
    for (row, column), cell in sorted(matrix.cells.items()):
        cells.setdefault(row, {})[column] = MatrixCellPart(
            objects=cell.objects,
            copies=cell.copies,
            replicas=cell.replicas,
            state=str(cell.worst),
            states=words_of_states(cell.counts),
        )
    return MatrixDocument(
        **commit_fields(survey.branches),
        rows_are=rows_are,
        columns_are=columns_are,
        total_rows=matrix.total_rows,
        total_columns=matrix.total_columns,
        rows=tuple(map(_group_part, matrix.rows)),
        columns=tuple(map(_group_part, matrix.columns)),
        cells=cells,
    )


def _group_part(each: "MatrixGroup") -> MatrixGroupPart:
    return MatrixGroupPart(name=each.name, size=each.size, unplaced=value_unless_empty(words_of_states(each.unplaced)))
