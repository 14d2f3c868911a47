r"""One line of ordinary block-style YAML, by itself: its dashes, its column, its key and its value.

Nearly all lines of manifests are ordinary, and most of them occur again and again, so lines are remembered. A line is
ordinary if its meaning does not depend on other lines: no anchor, alias, tag or tab, no complex key, no folded block,
no quote or bracket that stays open. Every pattern here is narrower than YAML; all other lines are left to a parser.
"""

import re
from enum import IntEnum
from typing import Any, NamedTuple

from render.expressions import lazy_expression

from .scalars import PlainKeys, PlainValues, UnusableScalar

_UNFIT = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
"""Characters of no ordinary line: looked for before, because a class with many of them takes long to compile."""
_PLAIN = (
    r"(?:[^ !\"#%&'*,\-:>?@\[\]`{|}]|[-?:](?=[^ ]))"
    r"(?>(?:[^ :]++|:(?=[^ ])| +(?=[^ #]))*)"
)
_DOUBLE_QUOTED = r'"(?>(?:[^"\\]++|\\["\\nt])*)"'
_SINGLE_QUOTED = r"'(?>(?:[^']++|'')*)'"
_KEY = r"[A-Za-z0-9_./$][A-Za-z0-9_./$-]{0,999}+" + r'|"[ !#-\[\]-~]{0,999}+"' + r"|'[ -&(-~]{0,999}+'"
_LINE = lazy_expression(
    r"(?P<indent> *+)(?P<dashes>(?>(?:-(?: ++|$))*))"
    rf"(?>(?P<key>{_KEY}):(?: ++|$)|)"
    rf"(?>(?P<plain>{_PLAIN})|(?P<double>{_DOUBLE_QUOTED})|(?P<single>{_SINGLE_QUOTED})"
    r"|\|(?P<block>[1-9]?[+-]?)|(?P<flow>[\[{].*+)|)"
    r" *+(?:(?<![^ ])#.*+|)",
    re.DOTALL,
)
_ESCAPE = lazy_expression(r'\\["\\nt]')
_ESCAPED = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\t": "\t"}


class Block(NamedTuple):
    """The header of a literal block: its indentation relative to its parent's (0: that of its text) and chomping."""

    indent: int
    chomping: str


class _Nothing:
    """The value of a line that has none: it stands on the lines below, or is null."""


class NotOrdinary(ValueError):
    """Text that only a parser can read."""


class Kind(IntEnum):
    """The kind of an entry: a key or a dash, and the thing after it on its line."""

    KEY_AND_SCALAR = 0
    KEY_AND_COLLECTION = 1
    KEY = 2
    DASH_AND_SCALAR = 3
    DASH_AND_COLLECTION = 4
    DASH = 5
    DASH_AND_ENTRY = 6
    KEY_AND_BLOCK = 7
    DASH_AND_BLOCK = 8


class LineEntry(NamedTuple):
    """A key or a dash. Its ``place`` is twice its column, and one more for a dash.

    So an entry belongs in the one above that has no value yet if its place is greater (a dash may stand below the
    first letter of its list's key), and beside the one above if their places are equal. ``value`` is the scalar, the
    collection, the entry after a dash, or the header of a block.
    """

    place: int
    kind: Kind
    key: str
    value: Any


_NOTHING = _Nothing()
_KINDS_OF_KEYS: dict[type, Kind] = {
    dict: Kind.KEY_AND_COLLECTION,
    list: Kind.KEY_AND_COLLECTION,
    Block: Kind.KEY_AND_BLOCK,
    _Nothing: Kind.KEY,
}
_KINDS_OF_DASHES: dict[type, Kind] = {
    dict: Kind.DASH_AND_COLLECTION,
    list: Kind.DASH_AND_COLLECTION,
    Block: Kind.DASH_AND_BLOCK,
    _Nothing: Kind.DASH,
}


class KnownLines(dict[str, LineEntry | None]):
    """Lines already understood, by their text; None for blank lines and comments."""

    size, longest = 1 << 15, 160

    def __init__(self) -> None:
        super().__init__()
        self.keys_by_text, self.values_by_text = PlainKeys(), PlainValues()

    def __missing__(self, text: str) -> LineEntry | None:
        entry = self._entry_of_line(text)
        if len(self) < self.size and len(text) <= self.longest:
            self[text] = entry
        return entry

    def _entry_of_line(self, text: str) -> LineEntry | None:
        # Of ASCII, what cannot be printed is what is unfit.
        is_fit = text.isprintable() if text.isascii() else not re.search(_UNFIT, text)
        match = _LINE.fullmatch(text) if is_fit else None
        if match is None:
            raise NotOrdinary
        indent, dashes, key = match.group("indent", "dashes", "key")
        column = len(indent) + len(dashes)
        places = [2 * place + 1 for place in range(len(indent), column) if text[place] == "-"] if dashes else []
        try:
            value = self._value_of_match(match)
            if key is None and not places and value is _NOTHING:
                return None
            entry = self._entry_of_key(key, 2 * column, value) if key else _entry_of_list_item(places.pop(), value)
        except (UnusableScalar, IndexError):  # the latter: text with neither a key nor a dash
            raise NotOrdinary from None
        for place in reversed(places):
            entry = LineEntry(place, Kind.DASH_AND_ENTRY, "", entry)
        return entry

    def _entry_of_key(self, text: str, place: int, value: Any) -> LineEntry:
        key = text[1:-1] if text[0] in "\"'" else self.keys_by_text[text]
        return LineEntry(place, _KINDS_OF_KEYS.get(type(value), Kind.KEY_AND_SCALAR), key, value)

    def _value_of_match(self, match: re.Match[str]) -> Any:
        """Return the value by the group that matched last."""
        kind = match.lastgroup
        if kind == "plain":
            return self.values_by_text[match["plain"]]
        text = match[kind or 0]
        if kind == "double":
            return _text_without_escapes(text[1:-1]) if "\\" in text else text[1:-1]
        if kind == "single":
            return text[1:-1].replace("''", "'")
        if kind == "block":
            return Block(int(text.rstrip("+-") or 0), text.lstrip("123456789"))
        return _collection_on_one_line(text) if kind == "flow" else _NOTHING


def _text_without_escapes(text: str) -> str:
    # Long texts are mostly JSON, of which nothing is escaped but quotes and backslashes.
    parts = [part.replace('\\"', '"') for part in text.split("\\\\")]
    if any("\\" in part for part in parts):
        return _ESCAPE.sub(_character_of_escape, text)
    return "\\".join(parts)


def _character_of_escape(escape: re.Match[str]) -> str:
    return _ESCAPED[escape[0]]


def _entry_of_list_item(place: int, value: Any) -> LineEntry:
    return LineEntry(place, _KINDS_OF_DASHES.get(type(value), Kind.DASH_AND_SCALAR), "", value)


def _collection_on_one_line(text: str) -> Any:
    """Return a collection in brackets that ends on its line."""
    from .parsing import flow_collection

    found = flow_collection(text)
    if found is None:
        raise NotOrdinary
    return found
