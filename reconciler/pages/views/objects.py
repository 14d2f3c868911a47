"""The objects of the fleet, with filters, page by page."""

from typing import TYPE_CHECKING

from reconciler.outputs.lists import object_list_document
from reconciler.pages.asked_lists import asked_choice, asked_part, words_of_options, words_of_part
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.survey.choosing import Choice
from reconciler.survey.lists import ListPart, list_objects

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

ORDERS = ("name", "state", "replicas", "clusters", "since")


def _answer(look: Look) -> ViewAnswer:
    return answer_of_objects(look, asked_choice(look), asked_part(look, ORDERS))


def answer_of_objects(look: Look, choice: Choice, part: ListPart) -> ViewAnswer:
    """Return a list of objects."""

    def document(reading: "FleetReading") -> "OutputDocument":
        return object_list_document(list_objects(reading.survey(), choice, part))

    options = {
        "namespace": choice.namespace,
        "kind": choice.kind,
        "policy": choice.policy,
        "cluster": choice.cluster,
        "app": choice.app,
        "state": choice.state,
        "text": choice.text,
        **words_of_part(part),
    }
    words = "list", "objects", *words_of_options(look, options), *(("--reverse",) if part.is_reversed else ())
    return ViewAnswer(document=look.document(("objects", choice, part), document), command=words)


VIEW = PageView(
    name="objects",
    path="/objects",
    question="Which objects are there?",
    template="objects.html",
    answer=_answer,
    group=ViewGroup.WHERE,
    label="Objects",
    key="b",
    icon="objects",
)
