"""One cluster: all it holds and by which app, its room, the age of what is known of it, and what it lags behind."""

from typing import TYPE_CHECKING

from reconciler.names.subjects import refuse_unknown_clusters
from reconciler.outputs.cluster_status import cluster_status_document
from reconciler.pages.asked_lists import ROWS_OF_PAGE, STATES, asked_word, words_of_options
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    name = look.parts["cluster"]

    def document(reading: "FleetReading") -> "OutputDocument":
        branches = reading.recorded_fleet()
        refuse_unknown_clusters([name], {*branches.recorded.clusters(), *branches.fleet.clusters})
        return cluster_status_document(branches, name, reading.survey())

    found = look.document(("cluster", name), document)
    state, app, text = asked_word(look, "state", STATES), look.asked("app"), look.asked("text").lower()
    objects = [
        each
        for each in found["objects"]
        if state in {"", each.get("state", "")} and app in {"", each.get("app", "")} and text in each["object"].lower()
    ]
    first = (look.page_number() - 1) * ROWS_OF_PAGE
    shown = {"objects": objects[first : first + ROWS_OF_PAGE], "total": len(objects), "states": STATES}
    command = "status", f"cluster/{name}", *words_of_options(look, {})
    return ViewAnswer(document=found, command=command, shown=shown)


VIEW = PageView(
    name="cluster",
    path="/clusters/{cluster}",
    question="What does {cluster} hold?",
    template="cluster.html",
    answer=_answer,
    under="clusters",
)
