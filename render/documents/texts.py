"""Strings written so that every YAML reader reads the same string back.

Plain where no reader could take it for anything else, a literal block where it has lines, in double quotes otherwise.
The ranges are fixed, never those of a Unicode version: the same string is the same bytes under every Python.
"""

import re

from render.expressions import lazy_expression

_PLAIN = lazy_expression(
    r"(?:[A-Za-z_/$(]|\.[A-Za-z_/]|--?[A-Za-z])"  # what no indicator and no number starts with
    r"(?>(?:[!-9;-~]++|:(?=[!-~])| (?=[!-\"$-~]))*)"  # no ": ", no " #", no space at the end
)
_AMOUNT = lazy_expression(r"[0-9]+(?:\.[0-9]+)?(?:m|k|[KMGTPE]i|[MGTP]|%|s|ms|h)")
# Words that some reader, of YAML 1.1 or 1.2, takes for a boolean, a null or a number.
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", ".nan", ".inf"))

_ESCAPED = "\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff"
_ESCAPES = lazy_expression(f'["\\\\\t\n{_ESCAPED}]')
_RARE_ESCAPES = lazy_expression(f"[\t\n{_ESCAPED}]")
_UNFIT_FOR_BLOCK = lazy_expression(f"[{_ESCAPED}]")
_NAMED = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}

# YAML allows 1024 characters before the colon of a key on one line.
_LONGEST_SIMPLE_KEY = 1000
LONG_KEY = "\x01"
"""Stands where a key too long for one line ends; it is written as ``? key`` above ``: value``."""


def is_plain_without_quotes(text: str) -> bool:
    """Say whether a string can stand without quotes."""
    if _PLAIN.fullmatch(text):
        return text.lower() not in _WORDS
    return _AMOUNT.fullmatch(text) is not None


def string_on_one_line(text: str) -> str:
    """Return a string on one line: plain or in double quotes."""
    if is_plain_without_quotes(text):
        return text
    if _RARE_ESCAPES.search(text):
        return f'"{_ESCAPES.sub(_escape_sequence_of_match, text)}"'
    # Long texts are mostly JSON, and full of quotes.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escape_sequence_of_match(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def is_written_as_block(text: str) -> bool:
    """Say whether a string is written as a literal block: it has lines, and a block can hold all its characters."""
    return "\n" in text and text.strip("\n") != "" and not _UNFIT_FOR_BLOCK.search(text)


def literal_block(text: str, pad: str) -> str:
    """Return a literal block after its key or dash; ``pad`` is the line break and indentation of its lines."""
    indent = "2" if text.lstrip("\n")[0] in " \t" else ""
    keep = "+" if text.endswith("\n\n") else "" if text.endswith("\n") else "-"
    lines = text.removesuffix("\n").split("\n")
    return f"|{indent}{keep}" + "".join(f"{pad}{line}" if line else "\n" for line in lines)


class InlineTexts(dict[str, str]):
    """Strings as they are written on one line, by their text; empty for those that are written as a block."""

    size, longest = 1 << 16, 256

    def __missing__(self, text: str) -> str:
        written = "" if is_written_as_block(text) else string_on_one_line(text)
        if len(self) < self.size and len(text) <= self.longest:
            self[text] = written
        return written


class Keys(dict[str, str]):
    """Keys as they are written, by their text, with their colon and the space or nothing after it."""

    size, longest = 1 << 16, 256

    def __init__(self, end: str) -> None:
        super().__init__()
        self.end = end

    def __missing__(self, key: str) -> str:
        written = string_on_one_line(key)
        long = len(written) > _LONGEST_SIMPLE_KEY
        written = f"? {written}{LONG_KEY}{self.end}" if long else f"{written}:{self.end}"
        if len(self) < self.size and len(key) <= self.longest:
            self[key] = written
        return written


INLINE, KEYS, KEYS_OF_SCALARS = InlineTexts(), Keys(""), Keys(" ")
"""The texts of all strings and keys emitted so far."""
