"""One namespace: its objects, and in which regions they are."""

from typing import TYPE_CHECKING

from reconciler.outputs.matrix import matrix_document
from reconciler.pages.asked_lists import asked_choice, asked_part, usual_columns
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView
from reconciler.survey.choosing import Choice
from reconciler.survey.matrix import MatrixQuestion, matrix_of_fleet
from render.errors import UnknownName

from .objects import ORDERS, answer_of_objects

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    name = look.parts["namespace"]
    columns = usual_columns(look)
    question = MatrixQuestion(rows="kind", columns=columns, objects=Choice(namespace=name), limit=25)

    def matrix(reading: "FleetReading") -> "OutputDocument":
        survey = reading.survey()
        if name not in survey.objects_by_namespace:
            raise UnknownName(f"the fleet has no namespace called {name[:80]!r}")
        return matrix_document(survey, "kind", columns, matrix_of_fleet(survey, question))

    shown = {"matrix": look.document(("matrix", question), matrix)}
    answer = answer_of_objects(look, asked_choice(look, namespace=name), asked_part(look, ORDERS))
    return ViewAnswer(document=answer.document, command=answer.command, shown=shown)


VIEW = PageView(
    name="namespace",
    path="/namespaces/{namespace}",
    question="What is in namespace {namespace}?",
    template="namespace.html",
    answer=_answer,
    under="namespaces",
)
