"""Documents read by a parser: with libyaml, or exactly where that fails or is in doubt.

Few documents need one, and it takes long to import, so it is imported when the first does.
"""

from typing import Any

from .building import Builder
from .chunks import Chunk, Reading, character_error
from .document import DocumentError, Position
from .doubting import Doubtful, FastBuilder
from .refusal import Refusal
from .scanning import SyntaxProblem
from .syntax import FastProblem, LocatedEvents

HUGE = 1 << 20


def read_quickly(chunk: Chunk) -> Reading:
    """Read one YAML document with libyaml, or exactly where that fails or is in doubt.

    A huge document that fails is not read exactly, which would take seconds: libyaml says what is wrong with it.
    """
    try:
        builder = FastBuilder(chunk.text)
        value = builder.document()
    except Doubtful:
        return read_exactly(chunk)
    except (*FastProblem, Refusal):
        return read_exactly(chunk, exact=len(chunk.text) <= HUGE)
    return Reading(chunk, value, chunk.line + builder.line)


def read_exactly(chunk: Chunk, *, exact: bool = True) -> Reading:
    """Read one YAML document with the parser that knows all of kubectl's rules, and the place of its error."""
    error = character_error(chunk)
    if error:
        return Reading(chunk, error=error)
    events = LocatedEvents(chunk.text, exact=exact)
    builder = Builder(events.next_event)
    try:
        value = builder.document()
    except SyntaxProblem as problem:
        return Reading(chunk, error=_moved(problem.position, problem.message, problem.hint, chunk))
    except Refusal as refusal:
        return Reading(chunk, error=_moved(events.position, refusal.message, refusal.hint, chunk))
    return Reading(chunk, value, chunk.line + builder.line)


def flow_collection(text: str) -> Any:
    """Return a collection in brackets that is all of a line, None where an exact parser has to say what it is."""
    try:
        return FastBuilder(f"{text}\n").document()
    except (*FastProblem, Refusal, Doubtful):
        return None


def _moved(position: Position, message: str, hint: str, chunk: Chunk) -> DocumentError:
    return DocumentError(position.line + chunk.line - 1, position.column, message, hint)
