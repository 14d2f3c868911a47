"""The questions of pages to the survey of a fleet: filters, order and page, and the command that asks the same."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from reconciler.outputs.lists import cluster_list_document
from reconciler.survey.choosing import Choice, ClusterChoice
from reconciler.survey.lists import ListPart, list_clusters
from reconciler.survey.states import SurveyedState
from render.errors import UnknownName

from .look import Look

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument

    from .reader import FleetReading

ROWS_OF_PAGE = 100
STATES = tuple(map(str, SurveyedState))


def asked_choice(look: Look, **given: str) -> Choice:
    """Return the objects that a page asks for; ``given`` takes the place of what stands behind its address."""
    values = {name: look.asked(name) for name in ("namespace", "kind", "policy", "cluster", "app", "text")}
    return Choice(**{**values, **given}, state=asked_word(look, "state", STATES))


def asked_cluster_choice(look: Look) -> ClusterChoice:
    """Return the clusters that a page asks for."""
    return ClusterChoice(
        cluster=look.asked("cluster"),
        region=look.asked("region"),
        provider=look.asked("provider"),
        state=asked_word(look, "state", STATES),
        text=look.asked("text"),
    )


def asked_part(look: Look, orders: Collection[str]) -> ListPart:
    """Return the order and the page that are asked for."""
    asked = look.asked("sort")
    order = _known_word("order", asked.removeprefix("-"), orders) or "name"
    offset = (look.page_number() - 1) * ROWS_OF_PAGE
    return ListPart(order=order, is_reversed=asked.startswith("-"), offset=offset, limit=ROWS_OF_PAGE)


def asked_word(look: Look, name: str, known: Collection[str], default: str = "") -> str:
    """Return a word that is asked for; UnknownName where it is none of those that are known."""
    return _known_word(name, look.asked(name), known) or default


def usual_columns(look: Look) -> str:
    """Return the columns of a matrix where nobody asks for others: regions, or clusters where there is but one."""

    def document(reading: "FleetReading") -> "OutputDocument":
        return cluster_list_document(list_clusters(reading.survey(), ClusterChoice(), ListPart(limit=1)))

    found = look.document("places", document)
    return "region" if len(found["regions"]) > 1 or found["total"] > ROWS_OF_PAGE else "cluster"


def _known_word(name: str, word: str, known: Collection[str]) -> str:
    if word and word not in known:
        raise UnknownName(f"there is no {name} called {word[:80]!r}", hint=f"known here: {', '.join(known)}")
    return word


def words_of_options(look: Look, options: Mapping[str, object]) -> tuple[str, ...]:
    """Return options that a command is given, without what is empty, and the past that is looked at.

    A value stands behind ``=``, so that a name which begins with a dash is no option.
    """
    given = {**options, "at": look.at}
    return tuple(f"--{name}={value}" for name, value in given.items() if value not in ("", 0, None))


def words_of_part(part: ListPart) -> Mapping[str, object]:
    """Return the options of a command that ask for a part of a list."""
    return {"sort": part.order if part.order != "name" else "", "limit": part.limit, "offset": part.offset}
