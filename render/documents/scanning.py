"""The lexical rules of kubectl's YAML parser (go-yaml v2) where they differ from PyYAML's Python scanner.

Tabs may separate tokens, a plain scalar in a flow collection ends at ``?`` but not at every ``:``, escapes and tags
have their own alphabets. Each function reads from a cursor, PyYAML's scanner, and leaves it after what it read.
"""

from typing import Any, Protocol

from .document import Position

_BREAKS = "\r\n\x85\u2028\u2029"
_BLANKS = " \t"
END_OF_WORD = f"\0{_BLANKS}{_BREAKS}"
_END_OF_LINE = f"\0{_BREAKS}"
_FLOW_INDICATORS = ",?[]{}"
_NAME = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_")

_WITH_TAB = "a tab where YAML needs spaces"
TAB_HINT = "indent with spaces"


class SyntaxProblem(ValueError):
    """Text that is not YAML, and the place in its chunk (from 1) where that shows."""

    def __init__(self, message: str, position: Position, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.hint = hint


class Cursor(Protocol):
    """The part of a scanner that the rules need."""

    line: int
    column: int
    indent: int
    flow_level: int
    allow_simple_key: bool

    def peek(self, index: int = 0) -> Any:
        """Return the character so far ahead; NUL at the end."""

    def prefix(self, length: int = 1) -> Any:
        """Return that many characters ahead."""

    def forward(self, length: int = 1) -> None:
        """Move on."""

    def scan_line_break(self) -> Any:
        """Move over a line break, if there is one, and return its normal form."""


def problem_at(cursor: Cursor, message: str, hint: str = "") -> SyntaxProblem:
    """Return a problem that shows where the cursor stands."""
    return SyntaxProblem(message, Position(cursor.line + 1, cursor.column + 1), hint)


def skip_to_next_token(cursor: Cursor) -> None:
    """Move over blanks, comments and line breaks; a tab is no indentation."""
    while True:
        if cursor.column == 0 and cursor.peek() == "\ufeff":
            raise problem_at(cursor, "a byte order mark inside the file", "delete the invisible character U+FEFF")
        while cursor.peek() == " " or (cursor.peek() == "\t" and (cursor.flow_level or not cursor.allow_simple_key)):
            cursor.forward()
        if cursor.peek() == "#":
            _skip_rest_of_line(cursor)
        if not cursor.scan_line_break():
            return
        if not cursor.flow_level:
            cursor.allow_simple_key = True


def _skip_rest_of_line(cursor: Cursor) -> None:
    while cursor.peek() not in _END_OF_LINE:
        cursor.forward()


def scan_plain_scalar(cursor: Cursor) -> str:
    """Read a plain scalar over all its lines."""
    indent = cursor.indent + 1
    parts: list[str] = []
    gap, broken = "", False
    while not _is_at_document_marker(cursor) and cursor.peek() != "#":
        word = _scan_plain_word(cursor)
        if word:
            parts += (gap, word)
            broken = False
        if cursor.peek() not in f"{_BLANKS}{_BREAKS}":
            break
        gap, broken = _scan_gap_between_words(cursor, indent)
        if not cursor.flow_level and cursor.column < indent:
            break
    if broken:
        cursor.allow_simple_key = True
    return "".join(parts)


def _scan_plain_word(cursor: Cursor) -> str:
    """Read to the next blank, to a ``:`` before one, or in a flow collection to an indicator."""
    length = 0
    while (character := cursor.peek(length)) not in END_OF_WORD:
        if character == ":" and cursor.peek(length + 1) in END_OF_WORD:
            break
        if cursor.flow_level and character in _FLOW_INDICATORS:
            break
        length += 1
    word = str(cursor.prefix(length))
    cursor.forward(length)
    return word


def _scan_gap_between_words(cursor: Cursor, indent: int) -> tuple[str, bool]:
    """Read the blanks and line breaks between two words; return the text that joins them, and True after a break."""
    blanks, breaks = "", []
    while (character := cursor.peek()) in f"{_BLANKS}{_BREAKS}":
        if character in _BREAKS:
            breaks.append(str(cursor.scan_line_break()))
            continue
        if breaks and character == "\t" and cursor.column < indent:
            raise problem_at(cursor, _WITH_TAB, TAB_HINT)
        blanks += character
        cursor.forward()
    if not breaks:
        return blanks, False
    first, rest = breaks[0], "".join(breaks[1:])
    return (rest or " ") if first == "\n" else first + rest, True


def _is_at_document_marker(cursor: Cursor) -> bool:
    return cursor.column == 0 and cursor.prefix(3) in {"---", "..."} and cursor.peek(3) in END_OF_WORD


def scan_tag_handle(cursor: Cursor) -> str:
    """Read the start of a tag that is not verbatim: ``!``, ``!!``, ``!name!`` or the beginning of ``!name``."""
    length = 1
    while cursor.peek(length) in _NAME:
        length += 1
    length += cursor.peek(length) == "!"
    handle = str(cursor.prefix(length))
    cursor.forward(length)
    return handle


def scan_block_indicators(cursor: Cursor) -> tuple[bool | None, int | None]:
    """Read the header of a block scalar: keep (True) or strip (False) the last breaks, and its indentation."""
    chomping, increment = None, None
    for _ in range(2):
        character = cursor.peek()
        if character in "+-" and chomping is None:
            chomping = character == "+"
        elif character in "123456789" and increment is None:
            increment = int(character)
        else:
            break
        cursor.forward()
    return chomping, increment


def skip_rest_of_block_header(cursor: Cursor) -> None:
    """Move over the rest of a block scalar's header, which may be a comment."""
    while cursor.peek() in _BLANKS:
        cursor.forward()
    if cursor.peek() == "#":
        _skip_rest_of_line(cursor)
    if cursor.peek() not in _END_OF_LINE:
        raise problem_at(cursor, "text after the '|' or '>' of a block", "start the block's text on the next line")
    cursor.scan_line_break()


def refuse_tab_as_indentation(cursor: Cursor, indent: int | None = None) -> None:
    """Refuse a tab where a block scalar's indentation should be."""
    if cursor.peek() == "\t" and (indent is None or cursor.column < indent):
        raise problem_at(cursor, _WITH_TAB, TAB_HINT)
