"""``argosy verify``: replay rendered commits from what they record, and compare them byte for byte."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_text

if TYPE_CHECKING:
    from reconciler.check.verification import Verdict


_MOST_FILES, _MOST_FIELDS = 10, 5


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 all equal; 1 a commit differs; 3 a commit of another engine version."
)
@click.argument("revision", default="")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Verify so many commits, going back.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Replay rendered commits and compare them byte for byte.

    REVISION is a rendered commit  [default: the tip of the rendered branch]. Each is made again from the source,
    the previous commit and the facts it names; any difference means that somebody else wrote it.
    """
    return verify_and_show(log, **options)


def verify_and_show(log: Log, *, revision: str, number: int, output: str) -> int:
    """Replay the newest commits from a revision on and print the verdicts; return the exit code."""
    from reconciler.check.verification import Equality, rendered_tip, verdict_of
    from reconciler.repository import open_repository

    with open_repository(log.repository, progress=log.transfer) as repository:
        start = repository.resolve(revision) if revision else rendered_tip(repository)
        verdicts = [verdict_of(repository, info, log) for info in repository.history(start, number)]
    _show_verdicts(verdicts, output)
    results = {verdict.result for verdict in verdicts}
    if results & {Equality.DIFFERENT, Equality.FOREIGN}:
        return 1
    return 3 if Equality.NOT_COMPARABLE in results else 0


def _show_verdicts(verdicts: "Sequence[Verdict]", output: str) -> None:
    if output == "json":
        from reconciler.outputs.document import document_text
        from reconciler.outputs.verification import verification_document

        print_data(document_text(verification_document(verdicts)))
        return
    for each in verdicts:
        detail = f": {each.detail}" if each.detail else ""
        print_text(f"{each.commit[:12]} source {each.source[:12] or '-'}: {each.result}{detail}")
        _print_changed_files(each)


def _print_changed_files(verdict: "Verdict") -> None:
    """Print the files that differ, the first few of many."""
    from reconciler.diff.text import SIGNS
    from reconciler.diff.words import field_words
    from render.words import counted_noun

    for file in verdict.differences[:_MOST_FILES]:
        print_text(f"  {SIGNS[file.action]} {file.path}")
        for field in file.fields[:_MOST_FIELDS]:
            print_text(f"      {field_words(field)}")
        if len(file.fields) > _MOST_FIELDS:
            print_text(f"      and {counted_noun(len(file.fields) - _MOST_FIELDS, 'field')} more")
    if len(verdict.differences) > _MOST_FILES:
        print_text(f"  and {counted_noun(len(verdict.differences) - _MOST_FILES, 'file')} more (-o json names them)")
