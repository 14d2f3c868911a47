"""The first page: what is unwell, what moves, what waits for a person, and what the fleet would survive."""

from typing import TYPE_CHECKING

from reconciler.outputs.overview import overview_document
from reconciler.overview.fleet_overview import overview_of_fleet
from reconciler.overview.survival import AskLosses
from reconciler.overview.waiting import AskedFleet
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    return ViewAnswer(document=look.document("overview", _document), command=look.words("overview"))


def _document(reading: "FleetReading") -> "OutputDocument":
    asked = AskedFleet(repository=reading.repository, branches=reading.recorded_fleet())
    return overview_document(overview_of_fleet(asked, reading.log, AskLosses.AUTO, reading.survey()))


VIEW = PageView(
    name="overview",
    path="/overview",
    question="Is the fleet well?",
    template="overview.html",
    answer=_answer,
    group=ViewGroup.NOW,
    label="Overview",
    key="o",
    icon="overview",
)
WAITING = PageView(
    name="waiting",
    path="/waiting",
    question="What waits for a person?",
    template="waiting.html",
    answer=_answer,
    group=ViewGroup.NOW,
    label="Waiting",
    key="a",
    icon="waiting",
)
