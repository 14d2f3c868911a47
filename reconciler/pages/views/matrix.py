"""The matrix of objects and clusters: groups of both, and what each cell is made of behind a link."""

from typing import TYPE_CHECKING

from reconciler.outputs.matrix import matrix_document
from reconciler.pages.asked_lists import (
    STATES,
    asked_choice,
    asked_cluster_choice,
    asked_word,
    usual_columns,
    words_of_options,
)
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.survey.matrix import COLUMNS, ROWS, MatrixQuestion, matrix_of_fleet

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_MOST_ROWS = 25
"""The rows and columns of a page; a cell takes up to 400 bytes of it."""


def _answer(look: Look) -> ViewAnswer:
    question = _question(look)

    def document(reading: "FleetReading") -> "OutputDocument":
        survey = reading.survey()
        return matrix_document(survey, question.rows, question.columns, matrix_of_fleet(survey, question))

    objects, clusters = question.objects, question.clusters
    options = {
        "rows": question.rows,
        "columns": question.columns,
        "namespace": objects.namespace,
        "kind": objects.kind,
        "policy": objects.policy,
        "app": objects.app,
        "cluster": clusters.cluster,
        "region": clusters.region,
        "provider": clusters.provider,
        "state": objects.state,
        "limit": question.limit,
        "row-offset": question.row_offset,
        "column-offset": question.column_offset,
    }
    shown = {"rows": tuple(ROWS), "columns": tuple(COLUMNS), "states": STATES, "size": _MOST_ROWS}
    return ViewAnswer(
        document=look.document(("matrix", question), document),
        command=("matrix", *words_of_options(look, options)),
        shown=shown,
    )


def _question(look: Look) -> MatrixQuestion:
    return MatrixQuestion(
        rows=asked_word(look, "rows", tuple(ROWS), "namespace"),
        columns=asked_word(look, "columns", tuple(COLUMNS)) or usual_columns(look),
        objects=asked_choice(look, cluster="", text=""),
        clusters=asked_cluster_choice(look),
        row_offset=(look.page_number() - 1) * _MOST_ROWS,
        column_offset=_number(look.asked("column")),
        limit=_MOST_ROWS,
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


VIEW = PageView(
    name="matrix",
    path="/matrix",
    question="What is where?",
    template="matrix.html",
    answer=_answer,
    group=ViewGroup.WHERE,
    label="Matrix",
    key="m",
    icon="matrix",
)
