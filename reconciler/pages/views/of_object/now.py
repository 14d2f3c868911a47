"""An object on one page: from its template over the policy that claims it to its clusters, each step a link."""

from functools import partial
from typing import TYPE_CHECKING

from reconciler.outputs.object_status import object_status_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.shown_object import ShownObject
from reconciler.pages.view import PageView
from reconciler.status.branches import NotSelected, binding_meant_by

from .history import history_of_object
from .why import answer_why

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_LATEST = 5


def _answer(look: Look) -> ViewAnswer:
    shown = ShownObject.of_look(look)
    try:
        document = look.document(("status", shown.key), partial(status_of_object, shown=shown))
    except NotSelected:
        return answer_why(look).in_template("object_why.html")
    return ViewAnswer(
        document=document,
        command=look.words(*shown.command("status")),
        shown={"latest": history_of_object(look, shown, _LATEST)},
        title=f"How is {shown.title}?",
    )


def status_of_object(reading: "FleetReading", shown: ShownObject) -> "OutputDocument":
    """Return the document of ``argosy status`` about an object."""
    branches = reading.recorded_fleet()
    return object_status_document(branches, binding_meant_by(branches, shown.kind, shown.name, shown.namespace))


VIEW = PageView(
    name="object",
    path="/objects/{kind}/{namespace}/{name}",
    question="How is {kind} {namespace}/{name}?",
    template="object.html",
    answer=_answer,
    under="objects",
)
