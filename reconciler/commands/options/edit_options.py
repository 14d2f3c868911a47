"""The options of commands that edit the source and show the outcome, and how they show it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import print_output, print_text

if TYPE_CHECKING:
    from reconciler.edit.cluster_files import SourceChange
    from reconciler.preview.source_edits import EditOutcome


class EditMessages(Struct, frozen=True, kw_only=True):
    """The words of an edit: the subject of its commit around the names, and those printed of each member.

    ``idle`` is printed of a member that is so already.
    """

    subject: str
    done: str
    idle: str


_output_option = click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
_unplaced_option = click.option(
    "--allow-unplaced", "is_unplaced_allowed", is_flag=True, help="Let go also what ends in no cluster by this."
)


def with_outcome_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--allow-unplaced`` (``is_unplaced_allowed``) and ``--output`` to a command."""
    return _unplaced_option(_output_option(command))


def print_edit_document(
    change: "SourceChange", commit: str, outcome: "EditOutcome | None", steps: Sequence[str] = ()
) -> None:
    """Print an edit and its outcome as JSON."""
    from reconciler.outputs.document import document_text
    from reconciler.outputs.source_edit import source_edit_document

    print_output(document_text(source_edit_document(change, commit, outcome, steps)), "json")


def print_outcome_of_edit(log: Log, outcome: "EditOutcome | None") -> None:
    """Print what an edit does to clusters, section by section."""
    from reconciler.diff.text import difference_sections

    if outcome is None:
        log.warning("what this changes in clusters is not known, for nothing is committed here yet")
        return
    for text in difference_sections(outcome.difference, is_full=log.level >= VERBOSE):
        print_text(text, end="")


def print_next_steps(steps: Iterable[str], *, is_refused: bool = False) -> None:
    """Print the commands to run next, and whether a guard refuses what they lead to."""
    print_text("\nnext, once a commit allows what is refused above:" if is_refused else "\nnext:")
    for step in steps:
        print_text(f"  {step}")
