r"""Documents read by a parser: with libyaml, or exactly where that fails or is in doubt.

Few documents need one, and it takes long to import, so it is imported when the first does.

The fast way gives up where libyaml may read something else than kubectl. They differ in byte order marks, explicit
tags, the escape ``\/``, and plain scalars with ``?`` inside flow collections. Text that libyaml refuses and kubectl
reads needs no care here: every document that fails is read again, exactly.
"""

from typing import Any

from .building import Builder
from .chunks import Chunk, ParsedChunk, character_error
from .document import DocumentError, Position, UnusableDocument
from .scanning import SyntaxProblem
from .syntax import AliasEvent, FastProblem, LocatedEvents, NextEvent, ScalarEvent, fast_events

HUGE = 1 << 20
_MOST_DIRECTIVES = 100
"""libyaml compares each directive with all before it, and any directive is refused in the end."""
_BYTE_ORDER_MARK = "\ufeff"


class AmbiguousText(ValueError):
    """A document that libyaml and kubectl may read differently, so that only the exact parser may read it."""


class FastBuilder(Builder):
    """Builds a document from libyaml's events, or raises ``AmbiguousText``."""

    def __init__(self, text: str) -> None:
        if text.find(_BYTE_ORDER_MARK, 1) > 0:
            raise AmbiguousText
        events = fast_events(text)
        super().__init__(_events_without_slash_escapes(events) if "\\/" in text else events)
        self._in_flow = False

    def _value_of_node(self, event: Any) -> Any:
        kind = type(event)
        if kind is AliasEvent or kind is ScalarEvent:
            return super()._value_of_node(event)
        if event.tag is not None:
            raise AmbiguousText
        if self._in_flow or not event.flow_style:
            return super()._value_of_node(event)
        events = self.next_event
        self.next_event, self._in_flow = _events_without_question_marks(events), True
        value = super()._value_of_node(event)
        self.next_event, self._in_flow = events, False
        return value

    def _value_of_scalar(self, event: Any) -> Any:
        if event.tag is not None:
            raise AmbiguousText
        return super()._value_of_scalar(event)


def _events_without_question_marks(next_event: NextEvent) -> NextEvent:
    def checked_event() -> Any:
        event = next_event()
        if type(event) is ScalarEvent and event.implicit[0] and "?" in event.value:
            raise AmbiguousText
        return event

    return checked_event


def _events_without_slash_escapes(next_event: NextEvent) -> NextEvent:
    def checked_event() -> Any:
        event = next_event()
        if type(event) is ScalarEvent and event.style == '"' and "/" in event.value:
            raise AmbiguousText
        return event

    return checked_event


def read_quickly(chunk: Chunk) -> ParsedChunk:
    """Read one YAML document with libyaml, or exactly where that fails or is in doubt.

    A huge document that fails is not read exactly, which would take seconds: libyaml says what is wrong with it.
    """
    if chunk.text.startswith("%") and chunk.text.count("\n%") >= _MOST_DIRECTIVES:
        message, hint = "a directive, which kubectl does not read", "drop the line that starts with '%'"
        return ParsedChunk(chunk, error=DocumentError(chunk.line, 1, message, hint))
    try:
        builder = FastBuilder(chunk.text)
        value = builder.document()
    except AmbiguousText:
        return read_exactly(chunk)
    except (*FastProblem, UnusableDocument):
        return read_exactly(chunk, exact=len(chunk.text) <= HUGE)
    return ParsedChunk(chunk, value, chunk.line + builder.line)


def read_exactly(chunk: Chunk, *, exact: bool = True) -> ParsedChunk:
    """Read one YAML document with the parser that knows all of kubectl's rules, and the place of its error."""
    error = character_error(chunk)
    if error:
        return ParsedChunk(chunk, error=error)
    events = LocatedEvents(chunk.text, exact=exact)
    builder = Builder(events.next_event)
    try:
        value = builder.document()
    except SyntaxProblem as problem:
        return ParsedChunk(chunk, error=_document_error_at(problem.position, problem.message, problem.hint, chunk))
    except UnusableDocument as refusal:
        return ParsedChunk(chunk, error=_document_error_at(events.position, refusal.message, refusal.hint, chunk))
    return ParsedChunk(chunk, value, chunk.line + builder.line)


def flow_collection(text: str) -> Any:
    """Return a collection in brackets that is all of a line, None where only the exact parser can read it."""
    try:
        return FastBuilder(f"{text}\n").document()
    except (*FastProblem, UnusableDocument, AmbiguousText):
        return None


def _document_error_at(position: Position, message: str, hint: str, chunk: Chunk) -> DocumentError:
    return DocumentError(position.line + chunk.line - 1, position.column, message, hint)
