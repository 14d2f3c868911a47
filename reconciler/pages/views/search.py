"""The search over objects, clusters, policies, namespaces, commits and problems."""

from typing import TYPE_CHECKING

from reconciler.outputs.search import search_document
from reconciler.pages.asked_lists import words_of_options
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView
from reconciler.survey.searching import newest_source_commits, search_fleet

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_OF_EACH_KIND, _MOST_WORDS, _LONGEST_WORD = 20, 12, 200
_OF_EACH_KIND_IN_REPORTS = 1000


def _answer(look: Look) -> ViewAnswer:
    words = tuple(word[:_LONGEST_WORD] for word in look.asked("q").split()[:_MOST_WORDS] if not word.startswith("-"))
    if not words and not look.is_fixed:
        return ViewAnswer(shown={"words": ()})
    limit = _OF_EACH_KIND if words else _OF_EACH_KIND_IN_REPORTS

    def document(reading: "FleetReading") -> "OutputDocument":
        survey = reading.survey()
        commits = newest_source_commits(reading.repository, survey.branches)
        return search_document(survey, words, len(commits), search_fleet(survey, commits, words, limit))

    found = look.document(("search", words), document)
    if not words:
        return ViewAnswer(document=found, shown={"words": ()}, template="search_list.html")
    command = "search", *words_of_options(look, {}), *words
    return ViewAnswer(
        document=found, command=command, shown={"words": words}, title=f"What is “{' '.join(words)[:80]}”?"
    )


VIEW = PageView(
    name="search",
    path="/search",
    question="What do you look for?",
    template="search.html",
    answer=_answer,
)
