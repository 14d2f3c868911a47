"""PyYAML is imported here and nowhere else: the text of a chunk in, parser events out.

There are two parsers. libyaml's C parser is fast; it shares its origin with kubectl's (go-yaml v2) and differs from it
in a few rare places, which the builder recognises. The exact one is PyYAML's Python parser with kubectl's lexical
rules: it reads what is rare, says what is wrong and where, and stands in where libyaml is not installed. Its messages
are reworded, so that a manifest's author knows what to do; they never quote the text, which may be a Secret.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner
from yaml.tokens import ScalarToken, TagToken

from render.expressions import lazy_expression

from .document import Position
from .scanning import (
    END_OF_WORD,
    SyntaxProblem,
    problem_at,
    refuse_tab_as_indentation,
    scan_block_indicators,
    scan_plain_scalar,
    scan_tag_handle,
    skip_rest_of_block_header,
    skip_to_next_token,
)

try:
    from yaml._yaml import CParser
except ImportError:  # PyYAML without libyaml: the exact parser reads everything, ten times slower
    _fast_parser = None
else:
    _fast_parser = CParser

__all__ = [
    "AliasEvent",
    "FastProblem",
    "LocatedEvents",
    "MappingEndEvent",
    "MappingStartEvent",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
    "fast_events",
]

NextEvent = Callable[[], Any]
FastProblem = (yaml.YAMLError, SyntaxProblem)
_LONE_SURROGATE = lazy_expression("[\ud800-\udfff]")


def fast_events(text: str) -> NextEvent:
    """Return the function that gives the next event of a chunk; it raises ``FastProblem``."""
    get_event: NextEvent = (_fast_parser or _ExactParser)(text).get_event
    return get_event


class LocatedEvents:
    """The events of a chunk as kubectl's parser has them (not ``exact``: as libyaml has), and the last one's place."""

    def __init__(self, text: str, *, exact: bool) -> None:
        self._parser = _ExactParser(text) if exact or not _fast_parser else _fast_parser(text)
        self.position = Position(1, 1)

    def next_event(self) -> Any:
        """Return the next event, or raise a ``SyntaxProblem``."""
        try:
            event = self._parser.get_event()
        except yaml.MarkedYAMLError as error:
            raise _syntax_problem_of_yaml_error(error) from None
        except yaml.YAMLError:
            raise SyntaxProblem("text that is not YAML", self.position) from None
        if event is not None:
            self.position = _position_of_mark(event.start_mark)
        return event


def _syntax_problem_of_yaml_error(error: yaml.MarkedYAMLError) -> SyntaxProblem:
    wording = syntax_message(error.problem or "")
    mark = (error.context_mark if wording.at_start else None) or error.problem_mark or error.context_mark
    return SyntaxProblem(wording.message, _position_of_mark(mark) if mark else Position(1, 1), wording.hint)


def _position_of_mark(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1)


class _ExactParser(Reader, Scanner, Parser):
    """PyYAML's Python parser with the rules of ``scanning`` in place of its own."""

    # kubectl knows the escape \\' and not \\/.
    ESCAPE_REPLACEMENTS: ClassVar = {  # type: ignore[misc]  # PyYAML reads it from the instance
        **{escape: text for escape, text in Scanner.ESCAPE_REPLACEMENTS.items() if escape != "/"},
        "'": "'",
    }

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text.removeprefix("\ufeff"))
        Scanner.__init__(self)
        Parser.__init__(self)

    def scan_to_next_token(self) -> None:
        skip_to_next_token(self)

    def scan_plain(self) -> ScalarToken:
        start = self.get_mark()
        text = scan_plain_scalar(self)
        return ScalarToken(text, True, start, self.get_mark())

    def scan_flow_scalar(self, style: str) -> ScalarToken:
        start = self.get_mark()
        try:
            token = super().scan_flow_scalar(style)
        except (ValueError, OverflowError):  # an escape beyond Unicode
            token = None
        if token is None or _LONE_SURROGATE.search(token.value):
            raise SyntaxProblem("an escape that is no Unicode character", _position_of_mark(start))
        return token

    def scan_tag(self) -> TagToken:
        start = self.get_mark()
        if self.peek(1) == "<":
            self.forward(2)
            handle, suffix = None, self.scan_tag_uri("tag", start)
            if self.peek() != ">":
                raise problem_at(self, "a tag '!<' without its '>'")
            self.forward()
        else:
            handle, suffix = self._scan_tag_shorthand(start)
        if self.peek() not in END_OF_WORD:
            raise problem_at(self, "a tag with a character that tags do not have", "write a space after the tag")
        return TagToken((handle, suffix), start, self.get_mark())

    def _scan_tag_shorthand(self, start: Any) -> tuple[str | None, str]:
        handle = scan_tag_handle(self)
        if len(handle) > 1 and handle.endswith("!"):
            return handle, str(self.scan_tag_uri("tag", start))
        more = "" if self.peek() in END_OF_WORD else str(self.scan_tag_uri("tag", start))
        suffix = handle[1:] + more
        return ("!", suffix) if suffix else (None, "!")

    def scan_block_scalar_indicators(self, _start_mark: Any) -> Any:
        return scan_block_indicators(self)

    def scan_block_scalar_ignored_line(self, _start_mark: Any) -> None:
        skip_rest_of_block_header(self)

    def scan_block_scalar_indentation(self) -> Any:
        found = super().scan_block_scalar_indentation()
        refuse_tab_as_indentation(self)
        return found

    def scan_block_scalar_breaks(self, indent: int) -> Any:
        found = super().scan_block_scalar_breaks(indent)
        refuse_tab_as_indentation(self, indent)
        return found


class SyntaxMessage(NamedTuple):
    """A message and its hint; ``at_start`` if the start of the broken construct is the place to look at."""

    message: str
    hint: str = ""
    at_start: bool = False


_ALIGN = "align it with the keys or items it belongs to"
_QUOTE = "put text that contains ': ' or starts with a special character in quotes"
_TAB = SyntaxMessage("a tab where YAML needs spaces", "indent with spaces")
_BAD_INDENT = SyntaxMessage("indentation that fits nothing above", _ALIGN)
_MESSAGES: dict[str, SyntaxMessage] = {
    "found character '\\t'": _TAB,
    "found a tab character": _TAB,
    "found character": SyntaxMessage("a character that no value starts with", _QUOTE),
    "mapping values are not allowed": SyntaxMessage("a ':' where no key can stand", f"{_QUOTE}; check the indentation"),
    "mapping keys are not allowed": SyntaxMessage("a '?' where no key can stand", _QUOTE),
    "sequence entries are not allowed": SyntaxMessage("a '- ' where no list item can stand", _ALIGN),
    "could not find expected ':'": SyntaxMessage(
        "text that is neither 'key: value' nor '- item'",
        f"{_ALIGN}; a colon needs a space behind it",
        at_start=True,
    ),
    "expected <block end>": _BAD_INDENT,
    "did not find expected key": _BAD_INDENT,
    "did not find expected '-' indicator": _BAD_INDENT,
    "expected ',' or": SyntaxMessage(
        "a '[' or '{' list that is broken or not closed", "check commas, quotes and brackets"
    ),
    "node content": SyntaxMessage("no value where one must stand", "check brackets, quotes and indentation"),
    "found unexpected end of stream": SyntaxMessage("a quote that is not closed", "close the quote", at_start=True),
    "found unexpected document": SyntaxMessage("a quote that is not closed", "close the quote", at_start=True),
    "found unknown escape character": SyntaxMessage(
        "an escape that YAML does not have", "double the backslash, or use single quotes"
    ),
    "expected escape sequence": SyntaxMessage("an escape with too few digits", "write all digits, such as \\u00e4"),
    "expected hexdecimal number": SyntaxMessage("an escape with too few digits", "write all digits, such as \\u00e4"),
    "expected alphabetic or numeric character": SyntaxMessage("an anchor, alias or directive without a name", _QUOTE),
    "URI": SyntaxMessage("a tag with a character that tags do not have", "write a space after the tag"),
    "found undefined tag handle": SyntaxMessage(
        "a tag whose handle is not declared", "drop the tag, or quote the text"
    ),
    "expected '<document start>'": SyntaxMessage(
        "a directive, which kubectl does not read", "drop the line that starts with '%'"
    ),
}
_OTHERWISE = SyntaxMessage("text that is not YAML", _QUOTE)


def syntax_message(problem: str) -> SyntaxMessage:
    """Return the message for a problem of PyYAML or libyaml."""
    return next((wording for words, wording in _MESSAGES.items() if words in problem), _OTHERWISE)
