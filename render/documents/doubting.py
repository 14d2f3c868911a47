r"""The fast way to build a document, which gives up where libyaml may read something else than kubectl.

They differ in byte order marks, explicit tags, the escape ``\/``, and plain scalars with ``?`` inside flow collections.
What libyaml refuses and kubectl reads needs no care here: whatever fails is read again, exactly.
"""

from typing import Any

from .building import Builder
from .syntax import AliasEvent, NextEvent, ScalarEvent, fast_events

_BYTE_ORDER_MARK = "\ufeff"


class Doubtful(ValueError):
    """A document for the exact parser."""


class FastBuilder(Builder):
    """Builds a document from libyaml's events, or raises ``Doubtful``."""

    def __init__(self, text: str) -> None:
        if text.find(_BYTE_ORDER_MARK, 1) > 0:
            raise Doubtful
        events = fast_events(text)
        super().__init__(_without_slash_escapes(events) if "\\/" in text else events)
        self._in_flow = False

    def _node(self, event: Any) -> Any:
        kind = type(event)
        if kind is AliasEvent or kind is ScalarEvent:
            return super()._node(event)
        if event.tag is not None:
            raise Doubtful
        if self._in_flow or not event.flow_style:
            return super()._node(event)
        events = self.next_event
        self.next_event, self._in_flow = _without_question_marks(events), True
        value = super()._node(event)
        self.next_event, self._in_flow = events, False
        return value

    def _scalar(self, event: Any) -> Any:
        if event.tag is not None:
            raise Doubtful
        return super()._scalar(event)


def _without_question_marks(next_event: NextEvent) -> NextEvent:
    def checked() -> Any:
        event = next_event()
        if type(event) is ScalarEvent and event.implicit[0] and "?" in event.value:
            raise Doubtful
        return event

    return checked


def _without_slash_escapes(next_event: NextEvent) -> NextEvent:
    def checked() -> Any:
        event = next_event()
        if type(event) is ScalarEvent and event.style == '"' and "/" in event.value:
            raise Doubtful
        return event

    return checked
