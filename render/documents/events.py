"""PyYAML is imported here and nowhere else: the bytes of a chunk in, parser events out.

libyaml's C parser reads nearly everything; kubectl's parser (go-yaml) is a translation of the same code.
"""

from collections.abc import Callable
from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from .document import Position

__all__ = [
    "AliasEvent",
    "ExactEvents",
    "FastProblem",
    "MappingEndEvent",
    "MappingStartEvent",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
    "SyntaxProblem",
    "fast_events",
]


class SyntaxProblem(ValueError):
    """Text that is not YAML, and the place in its chunk (from 1) where that shows."""

    def __init__(self, message: str, position: Position, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.hint = hint


FastProblem = yaml.YAMLError


def fast_events(data: bytes) -> Callable[[], Any]:
    """Return the function that gives the next event of a chunk, read by libyaml; it raises ``FastProblem``."""
    get_event: Callable[[], Any] = CParser(data).get_event
    return get_event


class ExactEvents:
    """The events of a chunk, and the position of the last one."""

    def __init__(self, data: bytes) -> None:
        self.pull = fast_events(data)
        self.position = Position(1, 1)

    def next_event(self) -> Any:
        """Return the next event."""
        try:
            event = self.pull()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
            raise SyntaxProblem(str(error.problem), position) from None
        if event is not None:
            self.position = Position(event.start_mark.line + 1, event.start_mark.column + 1)
        return event
