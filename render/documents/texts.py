"""How a string is written so that every YAML reader reads the same string back.

Plain where no reader could take it for anything else, a literal block where it has lines, in double quotes otherwise.
The ranges are fixed, never those of a Unicode version: the same string is the same bytes under every Python.
"""

import re

_PLAIN = re.compile(
    r"(?:[A-Za-z_/$(]|\.[A-Za-z_/]|--?[A-Za-z])"  # what no indicator and no number starts with
    r"(?:[!-9;-~]|:(?=[!-~])| (?=[!-\"$-~]))*"  # no ": ", no " #", no space at the end
)
_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:m|k|[KMGTPE]i|[MGTP]|%|s|ms|h)")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", ".nan", ".inf"))

_ESCAPED = "\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff"
_ESCAPES = re.compile(f'["\\\\\t\n{_ESCAPED}]')
_UNFIT_FOR_BLOCK = re.compile(f"[{_ESCAPED}]")
_NAMED = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}

_LONGEST_SIMPLE_KEY = 1000
LONG_KEY = "\x01"
"""Stands where a key too long for one line ends; it is written as ``? key`` above ``: value``."""


def is_plain(text: str) -> bool:
    """Whether a string can stand without quotes."""
    if _PLAIN.fullmatch(text):
        return text.lower() not in _WORDS
    return _AMOUNT.fullmatch(text) is not None


def inline(text: str) -> str:
    """Return a string on one line: plain or in double quotes."""
    return text if is_plain(text) else f'"{_ESCAPES.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def block_header(text: str) -> str:
    """Return the header of the literal block for a string, or "" where a block cannot hold it."""
    content = text.strip("\n")
    if "\n" not in text or not content or _UNFIT_FOR_BLOCK.search(text):
        return ""
    indent = "2" if text.lstrip("\n")[0] in " \t" else ""
    if text.endswith("\n\n"):
        return f"|{indent}+"
    return f"|{indent}" if text.endswith("\n") else f"|{indent}-"


def block_body(text: str, pad: str) -> str:
    """Return the lines of a literal block, indented; the last line end is the block's own."""
    lines = text.removesuffix("\n").split("\n")
    return "\n".join(f"{pad}{line}" if line else "" for line in lines)


class Texts(dict[str, str]):
    """Strings already written, by their text: inline, or the header of a block."""

    size, longest = 1 << 16, 256

    def __missing__(self, text: str) -> str:
        written = block_header(text) or inline(text)
        if len(self) < self.size and len(text) <= self.longest:
            self[text] = written
        return written


class Keys(dict[str, str]):
    """Keys already written, by their text, with their colon."""

    size, longest = 1 << 16, 256

    def __missing__(self, key: str) -> str:
        written = inline(key)
        written = f"{written}:" if len(written) <= _LONGEST_SIMPLE_KEY else f"? {written}{LONG_KEY}"
        if len(self) < self.size and len(key) <= self.longest:
            self[key] = written
        return written


TEXTS, KEYS = Texts(), Keys()
"""The texts of all strings and keys emitted so far."""
