"""The policies of the fleet: what each selects, claims and loses."""

from typing import TYPE_CHECKING

from reconciler.names.subjects import KINDS_OF_POLICIES
from reconciler.outputs.lists import policy_list_document
from reconciler.pages.asked_lists import asked_part, asked_word, words_of_options, words_of_part
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.survey.choosing import Choice
from reconciler.survey.lists import list_policies

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    kind = asked_word(look, "kind", KINDS_OF_POLICIES)
    choice = Choice(namespace=look.asked("namespace"), text=look.asked("text"), kind=kind)
    part = asked_part(look, ("name",))

    def document(reading: "FleetReading") -> "OutputDocument":
        return policy_list_document(list_policies(reading.survey(), choice, part))

    options = {"namespace": choice.namespace, "kind": kind, "text": choice.text, **words_of_part(part)}
    words = "list", "policies", *words_of_options(look, options)
    found = look.document(("policies", choice, part), document)
    return ViewAnswer(document=found, command=words, shown={"kinds": KINDS_OF_POLICIES})


VIEW = PageView(
    name="policies",
    path="/policies",
    question="Which policies are there?",
    template="policies.html",
    answer=_answer,
    group=ViewGroup.WHERE,
    label="Policies",
    key="y",
    icon="policies",
)
