"""A difference for a terminal: changed objects, who claims them, moved replicas; or a table of clusters."""

from collections.abc import Iterable, Iterator

from reconciler.console.text import table

from .difference import ChangeAction, Difference, ObjectChange
from .words import (
    PRESERVED,
    clusters_named,
    ended_words,
    field_words,
    moved_words,
    movement_words,
    pending_words,
    sides,
    summary,
    takeover_words,
)

SIGNS = {ChangeAction.ADDED: "+", ChangeAction.CHANGED: "~", ChangeAction.REMOVED: "-"}


def difference_text(difference: Difference) -> Iterator[str]:
    """Yield the difference in full, section by section; a section without anything in it is left out."""
    yield f"{sides(difference)}: {summary(difference)}\n"
    for title, lines in _sections(difference):
        body = "".join(lines)
        if body:
            yield f"\n{title}\n{body}"


def difference_table(difference: Difference) -> Iterator[str]:
    """Yield a line for every cluster that changes, and the summary."""
    rows = [
        (
            total.name,
            f"+{total.added}",
            f"~{total.changed}",
            f"-{total.removed}",
            numbers(total.replicas_before, total.replicas_after),
        )
        for total in difference.clusters
    ]
    if rows:
        yield table(("CLUSTER", "ADDED", "CHANGED", "REMOVED", "REPLICAS"), rows)
    yield f"{summary(difference)}\n"


def numbers(before: int, after: int) -> str:
    """Return a number before and after, once when it stays."""
    return str(after) if before == after else f"{before} -> {after}"


def _sections(difference: Difference) -> Iterator[tuple[str, Iterable[str]]]:
    yield "CLUSTERS", _clusters(difference)
    yield "OBJECTS", _objects(difference)
    yield "PENDING", _pending(difference)
    yield "POLICIES", (f"  {each.ref}: {takeover_words(each)}\n" for each in difference.takeovers)
    yield "RELEASED", (f"  {each}\n" for each in difference.released)
    yield "REPLICAS", _replicas(difference)
    yield "PROBLEMS", (f"  {each}\n" for each in difference.problems)
    yield "SOLVED", (f"  {each}\n" for each in difference.solved)


def _clusters(difference: Difference) -> Iterator[str]:
    yield from (f"  + {name}\n" for name in difference.joined)
    yield from (f"  ~ {new} (was {old})\n" for old, new in sorted(difference.renamed.items()))
    for name in difference.left:
        yield f"  - {name}: disconnected, keeps what it holds\n"
        if new := difference.likely_renames.get(name):
            yield f"      {new} is described alike; if it is the same cluster: argosy cluster rename {name} {new}\n"


def _objects(difference: Difference) -> Iterator[str]:
    for change in difference.objects:
        if change.fields or change.action is not ChangeAction.CHANGED:
            where = clusters_named(change.clusters, difference.members)
            yield f"  {SIGNS[change.action]} {change.ref} in {where}{PRESERVED if change.is_preserved else ''}\n"
            yield from (f"      {field_words(field)}\n" for field in change.fields)
    scaled = {change.ref for change in difference.objects if is_number(change)}
    if scaled:
        yield f"  ~ {len(scaled)} by {'its' if len(scaled) == 1 else 'their'} replicas\n"


def _pending(difference: Difference) -> Iterator[str]:
    for change in difference.pending:
        yield f"  ! {change.ref} is {pending_words(change, difference.members)}\n"
        yield from (f"      {field_words(field)}\n" for field in change.fields)
    yield from (f"    {each.ref} is {ended_words(each, difference.members)}\n" for each in difference.ended)


def is_number(change: ObjectChange) -> bool:
    """Return whether nothing but divided numbers changes, which the movements show."""
    return change.action is ChangeAction.CHANGED and not change.fields


def _replicas(difference: Difference) -> Iterator[str]:
    for each in difference.movements:
        word = "replica" if each.before == each.after == 1 else "replicas"
        yield f"  {each.ref}: {numbers(each.before, each.after)} {word}, {moved_words(each)}\n"
        yield f"      {movement_words(each)}\n"
