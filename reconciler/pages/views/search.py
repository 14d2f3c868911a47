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


def _answer(look: Look) -> ViewAnswer:
    words = tuple(word[:_LONGEST_WORD] for word in look.asked("q").split()[:_MOST_WORDS] if not word.startswith("-"))
    if not words:
        return ViewAnswer(shown={"words": ()})

    def document(reading: "FleetReading") -> "OutputDocument":
        survey = reading.survey()
        commits = newest_source_commits(reading.repository, survey.branches)
        return search_document(survey, words, len(commits), search_fleet(survey, commits, words, _OF_EACH_KIND))

    found = look.document(("search", words), document)
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
