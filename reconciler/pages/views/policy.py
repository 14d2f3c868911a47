"""One policy: what it holds, what it loses to which other one, and what it would take."""

from typing import TYPE_CHECKING

from reconciler.names.subjects import is_noun_of_any_policy
from reconciler.outputs.claims import policy_status_document
from reconciler.pages.asked_lists import ROWS_OF_PAGE, words_of_options
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView
from reconciler.survey.named_policies import policies_named
from render.errors import UnknownName

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    kind, name = look.parts["kind"], look.parts["name"]
    namespace = look.parts["namespace"].removeprefix("-") if look.parts["namespace"] == "-" else look.parts["namespace"]
    if not is_noun_of_any_policy(kind):
        raise UnknownName(f"there is no kind of policies called {kind[:80]!r}")

    def document(reading: "FleetReading") -> "OutputDocument":
        survey = reading.survey()
        return policy_status_document(survey, policies_named(survey, kind, name, namespace))

    found = look.document(("policy", kind, namespace, name), document)
    first = (look.page_number() - 1) * ROWS_OF_PAGE
    words = "status", f"{kind}/{name}", *words_of_options(look, {"namespace": namespace})
    title = f"What does policy {name} do?" if found.get("otherPolicies") else ""
    shown = {"first": first, "last": first + ROWS_OF_PAGE}
    return ViewAnswer(document=found, command=words, shown=shown, title=title)


VIEW = PageView(
    name="policy",
    path="/policies/{kind}/{namespace}/{name}",
    question="What does policy {name} hold?",
    template="policy.html",
    answer=_answer,
    under="policies",
)
