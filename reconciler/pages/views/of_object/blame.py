"""The origin of each replica count and field of an object: the commit and the rule that it comes from."""

from typing import TYPE_CHECKING

from reconciler.history.blame import blame_of_object
from reconciler.history.subjects import ref_of_rendered_object
from reconciler.outputs.blame import blame_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.shown_object import ShownObject
from reconciler.pages.view import PageView

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    shown = ShownObject.of_look(look)
    return ViewAnswer(
        document=look.document(("blame", shown.key), lambda reading: _blame(reading, shown)),
        command=shown.command("blame", *shown.option_of_past(look, "--rev")),
        title=f"Where does each field of {shown.title} come from?",
    )


def _blame(reading: "FleetReading", shown: ShownObject) -> "OutputDocument":
    tip = reading.commits.rendered or ""
    ref = ref_of_rendered_object(reading.repository, tip, (f"{shown.kind}/{shown.name}",), shown.namespace)
    return blame_document(blame_of_object(reading.repository, tip, ref, reading.log))


VIEW = PageView(
    name="object_blame",
    path="/objects/{kind}/{namespace}/{name}/blame",
    question="Where does each field of {kind} {namespace}/{name} come from?",
    template="object_blame.html",
    answer=_answer,
    under="objects",
)
