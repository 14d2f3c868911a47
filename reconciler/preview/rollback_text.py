"""A rollback in words: what comes back, what does not and why, what stays, and what cannot go back."""

from collections.abc import Iterable, Iterator, Sequence

from reconciler.edit.rollback import RollbackPlan
from render.words import counted_noun

from .rollbacks import RollbackOutcome

_MOST = 10


def lines_on_plan(plan: RollbackPlan, subject: str) -> Iterator[str]:
    """Yield where a rollback goes back to; ``subject`` is that of the source commit."""
    of = f": {subject}" if subject else ""
    target = plan.target
    yield f"{plan.subject} goes back to rendered commit {target.commit[:12]}, of source {target.source[:12]}{of}"
    count, files = len(plan.restored.refs), len(plan.restored.contents)
    if files:
        documents = f"{counted_noun(count, 'document')} in " if count else ""
        yield f"{documents}{counted_noun(files, 'file')} as then"


def sections_on_rollback(plan: RollbackPlan, outcome: RollbackOutcome | None, *, is_full: bool) -> Iterator[str]:
    """Yield the sections about what is not as it was, what stays, and what cannot go back."""
    most = 0 if is_full else _MOST
    if outcome is not None:
        found = [
            *map(str, outcome.shares),
            *(f"{each.ref} in {each.cluster}: {each.words}" for each in outcome.unequal),
        ]
        yield from _section("not as it was", found, most)
    kept = [f"{each.ref} ({each.path}): {each.reason}" for each in plan.kept]
    yield from _section("changed since, and stays", kept, most)
    yield from _section("cannot go back", [f"{each.ref}: {each.reason}" for each in plan.one_way], most)


def verdict_on_rollback(plan: RollbackPlan, outcome: RollbackOutcome) -> str:
    """Return how many copies are then as they were, by comparing all of them."""
    if not outcome.copies:
        return f"no cluster has a copy of {plan.subject} then, and none had one"
    total = f"{counted_noun(outcome.copies, 'copy', 'copies')} of {plan.subject}"
    if not outcome.different:
        words = "is then as it was" if outcome.copies == 1 else "are then as they were"
        return f"{total} {words}, byte for byte"
    if outcome.different == outcome.copies:
        return f"of {total} none is then as it was"
    return f"of {total} all but {outcome.different} are then as they were, byte for byte"


def _section(title: str, lines: Sequence[str], most: int) -> Iterable[str]:
    if not lines:
        return
    yield f"\n{title}:"
    yield from (f"  {line}" for line in (lines[:most] if most else lines))
    if most and len(lines) > most:
        yield f"  and {len(lines) - most} more; -v shows all"
