"""The history of an object: what changed it, when, by whom and why."""

from msgspec.structs import replace

from reconciler.history.subjects import Subject, history_of_subject, ref_of_rendered_object
from reconciler.outputs.history import HistoryDocument, history_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.reader import FleetReading, PlainDocument
from reconciler.pages.shown_object import ShownObject
from reconciler.pages.view import PageView

from .recorded import is_in_a_cluster, rows_of_object

_FEW, _MOST = 20, 2_500


def history_of_object(look: Look, shown: ShownObject, limit: int) -> PlainDocument:
    """Return the document of ``argosy history`` about an object."""
    return look.document(("history", shown.key, limit), lambda reading: _history(reading, shown, limit))


def _history(reading: FleetReading, shown: ShownObject, limit: int) -> HistoryDocument:
    tip = reading.commits.rendered or ""
    ref = ref_of_rendered_object(reading.repository, tip, (f"{shown.kind}/{shown.name}",), shown.namespace)
    return history_document(history_of_subject(reading.repository, tip, Subject(ref=ref), limit))


def _answer(look: Look) -> ViewAnswer:
    shown, limit = ShownObject.of_look(look), look.number_asked("limit", _FEW, _MOST)
    # To the command 'namespace/NAME' is whatever is in it, and 'namespace.v1/NAME' the object.
    meant = replace(shown, kind=f"{shown.kind}.v1") if shown.kind == "Namespace" else shown
    return ViewAnswer(
        document=history_of_object(look, shown, limit),
        command=meant.command("history", f"--limit={limit}", *shown.option_of_past(look, "--rev")),
        title=f"What changed {shown.title}?",
        shown={"is_placed": is_in_a_cluster(rows_of_object(look, shown))},
    )


VIEW = PageView(
    name="object_history",
    path="/objects/{kind}/{namespace}/{name}/history",
    question="What changed {kind} {namespace}/{name}?",
    template="object_history.html",
    answer=_answer,
    under="objects",
)
