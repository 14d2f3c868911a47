"""What ``argosy diff`` does: two revisions in, what separates them out, and whether the guards allow it."""

from collections.abc import Iterable
from dataclasses import dataclass

import click

from reconciler.passes.guarding import Allowed
from reconciler.passes.memory import Memory
from reconciler.report import Log
from reconciler.repository import open_repository

from .comparing import Comparison, Revisions, compared, difference_of
from .comparison_guard import check_comparison
from .difference import Difference
from .difference_json import as_json
from .difference_markdown import as_markdown
from .difference_text import as_table, as_text


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """The options of ``argosy diff``; no ``head`` is the work tree."""

    base: str = "HEAD"
    head: str = ""
    output: str = "text"
    stat: bool = False
    max_bytes: int = 60_000
    bootstrap: bool = False
    check: bool = False
    allowed: tuple[str, ...] = ()
    allowed_moves: tuple[str, ...] = ()


def diff_and_show(log: Log, options: DiffOptions, memory: Memory | None = None) -> int:
    """Print what separates two revisions; return 1 when anything does.

    With ``check`` the question is whether the change may be made: GuardRefused when a guard says no, 1 when something
    finds no place any more, else 0.
    """
    allowed = Allowed.parse(options.allowed, options.allowed_moves)
    comparison = _comparison(log, options, memory or Memory())
    with log.timed("compare"):
        difference = difference_of(comparison)
    for text in shown(difference, options):
        click.echo(text, nl=False)
    if options.check:
        check_comparison(comparison, allowed)
        return 1 if difference.misfits else 0
    return 0 if difference.is_empty else 1


def diff_watching(log: Log, options: DiffOptions) -> int:
    """Compare the work tree whenever a file in it is saved."""
    from reconciler.passes.watching import run_watching

    memory = Memory()
    return run_watching(log, lambda: diff_and_show(log, options, memory))


def _comparison(log: Log, options: DiffOptions, memory: Memory) -> Comparison:
    with open_repository(log.repository, progress=log.transfer) as repository:
        if not options.head and repository.folder.work_tree is None:
            raise click.UsageError("name HEAD as well: there is no work tree here to compare")
        base = repository.resolve(options.base)
        head = repository.resolve(options.head) if options.head else ""
        revisions = Revisions(base=base, head=head, bootstrap=options.bootstrap)
        return compared(repository, revisions, memory, log)


def shown(difference: Difference, options: DiffOptions) -> Iterable[str]:
    """Return the texts to print, in order."""
    if options.output == "json":
        return (as_json(difference),)
    if options.output == "markdown":
        return (as_markdown(difference, max_bytes=options.max_bytes),)
    return as_table(difference) if options.stat else as_text(difference)
