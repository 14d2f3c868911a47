"""YAML texts inside a field, written as Karmada writes them, so that a ConfigMap keeps its bytes when a fleet moves.

Karmada writes such a text with the YAML library of kubectl, which has habits of its own: plain before single before
double quotes, long lines folded at the first space beyond column 80, lists not indented below their key, and keys
sorted with their numbers by value (``a2`` before ``a10``).
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cmp_to_key
from itertools import takewhile
from typing import Any

from render.documents.scalars import resolved_scalar
from render.expressions import lazy_expression

_WIDTH, _STEP, _LONGEST_KEY = 80, 2, 128
_BREAKS = "\r\n\x85\u2028\u2029"
_UNPRINTABLE = lazy_expression("[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_INDICATOR = lazy_expression(
    r"---|\.\.\.|[#,\[\]{}&*!|>'\"%@`]|[?:-](?:[ \t]|$)|.*(?::(?:[ \t]|$)|[ \t\r\n\x85]#)", re.DOTALL
)
_BASE_60 = lazy_expression(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)
_TIME = lazy_expression(
    r"([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})"
    r"(?:[Tt]([0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| ([0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:[.,][0-9]+)?)?",
    re.ASCII,
)
_ESCAPES = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e", '"': '"',
    "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip


def yaml_text(value: Any) -> str:
    r"""Return plain data as Karmada writes it.

    >>> yaml_text({"kind": "Config", "debug": True, "hosts": ["a: b", "08"], "word": "yes"})
    'debug: true\nhosts:\n- \'a: b\'\n- "08"\nkind: Config\nword: "yes"\n'
    """
    emitter = _Emitter()
    emitter.emit_node(value, -1)
    end = "" if emitter.is_indented and not emitter.column else "\n"
    return "".join((*emitter.parts, end))


class _Emitter:
    """The text so far, and what the next part of it depends on.

    ``column`` is where the next character goes. ``is_spaced``: no space is needed before it. ``is_indented``: nothing
    but indentation, dashes and the like stands before it on its line.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.column, self.is_spaced, self.is_indented = 0, True, True

    def emit_node(self, value: Any, indent: int, *, is_value: bool = False) -> None:
        """Write a value of a collection that has an indentation; the outermost one has -1."""
        if isinstance(value, Mapping) and value:
            self._write_mapping(value, 0 if indent < 0 else indent + _STEP)
        elif isinstance(value, list) and value:
            is_flush = is_value and not self.is_indented
            self._write_sequence(value, 0 if indent < 0 else indent if is_flush else indent + _STEP)
        else:
            self._write_scalar(value, max(indent, 0))

    def _write_mapping(self, mapping: Mapping[str, Any], indent: int) -> None:
        for key in sorted(mapping, key=_BY_NUMBERS):
            self._start_line(indent)
            if len(key.encode("utf-8", "surrogatepass")) <= _LONGEST_KEY and not _has_line_break(key):
                self._write_string(key, indent + _STEP, is_key=True)
                self._write_mark(":", is_spaced=False)
            else:
                self._write_mark("?", needs_space=True, is_indented=True)
                self._write_string(key, indent + _STEP)
                self._start_line(indent)
                self._write_mark(":", needs_space=True, is_indented=True)
            self.emit_node(mapping[key], indent, is_value=True)

    def _write_sequence(self, items: Iterable[Any], indent: int) -> None:
        for item in items:
            self._start_line(indent)
            self._write_mark("-", needs_space=True, is_indented=True)
            self.emit_node(item, indent)

    def _write_scalar(self, value: Any, indent: int) -> None:
        if isinstance(value, str):
            self._write_string(value, indent + _STEP)
        else:
            self._write_mark(_text_of_one_line_value(value), needs_space=True)

    def _write_string(self, text: str, indent: int, *, is_key: bool = False) -> None:
        style = _style_of_string(text, is_key=is_key)
        if style == "|":
            self._write_literal_block(text, indent)
        elif style == '"':
            self._write_double_quoted(text, indent, can_fold=not is_key)
        else:
            self._put_unescaped(text, style, indent, can_fold=not is_key)

    def _start_line(self, indent: int) -> None:
        """Go to an indentation, on a line of its own."""
        if not self.is_indented or self.column > indent or (self.column == indent and not self.is_spaced):
            self._write_line_break()
        self._put_text(" " * (indent - self.column))
        self.is_spaced = self.is_indented = True

    def _write_line_break(self) -> None:
        self.parts.append("\n")
        self.column = 0

    def _put_text(self, text: str) -> None:
        self.parts.append(text)
        self.column += len(text)

    def _write_mark(
        self, text: str, *, needs_space: bool = False, is_spaced: bool = False, is_indented: bool = False
    ) -> None:
        """Write an indicator, or a text of one line; ``is_indented``: what follows may stand on the same line."""
        self._put_text(f" {text}" if needs_space and not self.is_spaced else text)
        self.is_spaced, self.is_indented = is_spaced, self.is_indented and is_indented

    def _put_unescaped(self, text: str, quote: str, indent: int, *, can_fold: bool) -> None:
        """Write a plain string, or one in single quotes, folded at lone spaces beyond the width."""
        self._write_mark(quote, needs_space=True)
        ends = (0, len(text) - 1) if quote else ()
        for at, character in enumerate(text):
            is_fold = can_fold and character == " " and self.column > _WIDTH and at not in ends
            if is_fold and text[at - 1 : at] != " " and text[at + 1 : at + 2] != " ":
                self._start_line(indent)
            else:
                self._put_text("''" if quote and character == "'" else character)
                self.is_indented = False
        self._write_mark(quote)

    def _write_double_quoted(self, text: str, indent: int, *, can_fold: bool) -> None:
        self._write_mark('"', needs_space=True)
        has_space_before = False
        for at, character in enumerate(text):
            escaped = _escape_of(character, text)
            if character != " " or escaped:
                self._put_text(escaped or character)
            elif can_fold and not has_space_before and self.column > _WIDTH and 0 < at < len(text) - 1:
                self._start_line(indent)
                self._put_text("\\" if text[at + 1] == " " else "")
            else:
                self._put_text(character)
            has_space_before = character == " " and not escaped
            self.is_indented = False
        self._write_mark('"')

    def _write_literal_block(self, text: str, indent: int) -> None:
        hint = str(_STEP) if text[0] in f" {_BREAKS}" else ""
        keep = "-" if text[-1] not in _BREAKS else "+" if len(text) == 1 or text[-2] in _BREAKS else ""
        self._write_mark(f"|{hint}{keep}", needs_space=True)
        self._write_line_break()
        self.is_spaced = self.is_indented = True
        for number, line in enumerate(re.split(f"([{_BREAKS}])", text)):
            if number % 2:
                self.parts.append(line)
                self.column, self.is_indented = 0, True
            elif line:
                self._start_line(indent)
                self._put_text(line)
                self.is_indented = False


def _text_of_one_line_value(value: Any) -> str:
    """Return the text of a value that is no string: a word, a number or an empty collection."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Mapping | list):
        return "{}" if isinstance(value, Mapping) else "[]"
    return go_text_of_float(value) if isinstance(value, float) else str(value)


def go_text_of_float(value: float) -> str:
    """Return a number as Go writes it in the shortest way.

    >>> go_text_of_float(1234567.5), go_text_of_float(0.00001), go_text_of_float(12.5), go_text_of_float(-1e21)
    ('1.2345675e+06', '1e-05', '12.5', '-1e+21')
    """
    number = Decimal(repr(value)).normalize()
    exponent = number.adjusted()
    if -4 <= exponent < 6:
        return f"{number:f}"
    first, *others = map(str, number.as_tuple().digits)
    mantissa = f"{first}.{''.join(others)}" if others else first
    return f"{'-' if value < 0 else ''}{mantissa}e{exponent:+03d}"


def _has_line_break(text: str) -> bool:
    return any(character in text for character in _BREAKS)


def _style_of_string(text: str, *, is_key: bool) -> str:
    """Return how a string is written: plain (""), in quotes of one kind, or as a literal block."""
    if not text:
        return '"'
    has_break, is_special = _has_line_break(text), _UNPRINTABLE.search(text) is not None
    is_broken = re.search(f" [{_BREAKS}]", text) is not None
    if "\n" in text:
        return '"' if is_key or is_special or is_broken or text.endswith(" ") else "|"
    if _would_be_read_as_other_type(text):
        return '"'
    if is_special or is_broken or re.search(f"[{_BREAKS}] ", text) or (is_key and has_break):
        return '"'
    is_plain = not has_break and text[0] != " " and text[-1] != " " and not _INDICATOR.match(text)
    return "" if is_plain else "'"


def _would_be_read_as_other_type(text: str) -> bool:
    """Say whether a plain text would be read as something else than a string, or is written as if it were."""
    return not isinstance(resolved_scalar(text), str) or _BASE_60.fullmatch(text) is not None or _is_timestamp(text)


def _is_timestamp(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if not found:
        return False
    date, time = found[1], found[2] or found[3] or "0:0:0"
    try:
        datetime.strptime(f"{date} {time}", "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007  # only asked whether there is such a time
    except ValueError:
        return False
    return True


def _escape_of(character: str, text: str) -> str:
    """Return a character as it is escaped in double quotes; "" for one that is not."""
    if character in '"\\' or character in _BREAKS or _UNPRINTABLE.match(character) or text[0] == "\ufeff":
        return f"\\{_ESCAPES.get(character) or _numeric_escape(ord(character))}"
    return ""


def _numeric_escape(code: int) -> str:
    if code <= 0xFF:
        return f"x{code:02X}"
    return f"u{code:04X}" if code <= 0xFFFF else f"U{code:08X}"


def _order_of_keys(one: str, other: str) -> int:
    """Return the order of two keys: letters after all else, and numbers by their value."""
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a == b:
            continue
        if a.isalpha() and b.isalpha():
            return -1 if a < b else 1
        if a.isalpha() or b.isalpha():
            return -1 if b.isalpha() else 1
        return _order_of_numbers(one, other, at)
    return len(one) - len(other)


def _order_of_numbers(one: str, other: str, at: int) -> int:
    start = 0
    if "0" in (one[at], other[at]):
        digits = takewhile(str.isdecimal, reversed(one[:at]))
        start = int(any(each != "0" for each in digits))
    numbers = [re.match(r"\d*", text[at:]) for text in (one, other)]
    first, second = ((int(f"{start}{found[0]}"), len(found[0])) for found in numbers if found is not None)
    if first != second:
        return -1 if first < second else 1
    return -1 if one[at] < other[at] else 1


_BY_NUMBERS = cmp_to_key(_order_of_keys)
