"""The namespaces of the fleet, and what is in them."""

from typing import TYPE_CHECKING

from reconciler.outputs.lists import namespace_list_document
from reconciler.pages.asked_lists import asked_part, words_of_options, words_of_part
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.survey.choosing import Choice
from reconciler.survey.lists import list_namespaces

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    choice, part = Choice(text=look.asked("text")), asked_part(look, ("name",))

    def document(reading: "FleetReading") -> "OutputDocument":
        return namespace_list_document(list_namespaces(reading.survey(), choice, part))

    words = "list", "namespaces", *words_of_options(look, {"text": choice.text, **words_of_part(part)})
    return ViewAnswer(document=look.document(("namespaces", choice, part), document), command=words)


VIEW = PageView(
    name="namespaces",
    path="/namespaces",
    question="Which namespaces are there?",
    template="namespaces.html",
    answer=_answer,
    group=ViewGroup.WHERE,
    label="Namespaces",
    key="n",
    icon="namespaces",
)
