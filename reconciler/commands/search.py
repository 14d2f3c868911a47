"""``argosy search``: objects, clusters, policies, namespaces, commits and problems that have some words."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from reconciler.commands.fleets_below import fleets_listed_on_error
from reconciler.commands.options.at_option import with_at_option
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_output


@click.command(cls=DocumentedCommand, epilog="Exit codes: 0 found; 1 nothing has all of the words; 4 Git.")
@click.argument("words", nargs=-1, required=True, metavar="WORDS")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Show so many of each kind at most; 0 shows all.",
)
@with_at_option
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Search objects, clusters, policies, namespaces, commits and problems.

    Everything is found in which all words are, in any case of letters: names, kinds, apps and files of objects; names,
    labels, regions and versions of clusters; ids, subjects and authors of the newest 1000 source commits; reasons and
    messages of what is not well, and warnings of the source. What manifests say is not looked through. What is called
    by the word comes first.
    """
    with fleets_listed_on_error(log):
        return search_and_show(log, **options)


def search_and_show(log: Log, *, words: tuple[str, ...], limit: int, at: str, output: str) -> int:
    """Print what the words are found in; return 1 where that is nothing."""
    from reconciler.outputs.document import document_text, plain_document
    from reconciler.outputs.search import search_document
    from reconciler.overview.instants import recorded_fleet_at
    from reconciler.repository import open_repository
    from reconciler.survey.searching import newest_source_commits, search_fleet
    from reconciler.survey.surveying import Survey
    from reconciler.survey.text import search_text
    from render.documents import emit

    if not any(word.strip() for word in words):
        raise click.UsageError("WORDS are empty: name what to search for")
    with open_repository(log.repository, refresh=False) as repository:
        branches = recorded_fleet_at(repository, log, at)
        survey, commits = Survey(branches), newest_source_commits(repository, branches)
        results = search_fleet(survey, commits, words, limit)
        document = search_document(survey, words, len(commits), results)
        texts: dict[str, Callable[[], str | Iterable[str]]] = {
            "json": lambda: document_text(document),
            "yaml": lambda: emit(plain_document(document)).decode(),
            "table": lambda: search_text(results),
        }
        print_output(texts[output](), output)
    return 0 if results else 1
