"""The refusal of a source commit by a pass, made of the error that the pass ends with."""

from collections.abc import Iterable

from reconciler.guards.removal_guard import NOTHING_COMMITTED
from reconciler.ledger.refusal import SourceRefusal
from render.errors import InputError, ReconcileError
from render.words import counted_noun

_MOST_DETAILS = 20


def refusal_caused_by(source: str, error: ReconcileError) -> SourceRefusal:
    """Return the refusal that an error means, without anything that a problem quotes."""
    if isinstance(error, InputError):
        problems = error.problems
        message = f"{counted_noun(len(problems), 'problem')}; run argosy validate"
        details = _first_details_and_count(each.place for each in problems)
        return SourceRefusal(source=source, code=error.exit_code, message=message, details=details)
    first, *lines = error.message.splitlines()
    return SourceRefusal(
        source=source,
        code=error.exit_code,
        message=first.removesuffix(NOTHING_COMMITTED),
        details=_first_details_and_count(line.strip() for line in lines),
        hint=error.hint,
    )


def _first_details_and_count(details: Iterable[str]) -> tuple[str, ...]:
    found = tuple(details)
    more = (f"and {len(found) - _MOST_DETAILS} more",) if len(found) > _MOST_DETAILS else ()
    return found[:_MOST_DETAILS] + more
