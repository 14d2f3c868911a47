"""Plain data into block-style YAML: the same bytes for the same data, whatever the order of its dicts.

Every function appends pieces of text; a line starts with a piece of its own, its line break and indentation. A mapping
or list inside a list is written one level deeper, and the dash then replaces the last two spaces of that first piece.
A hole is written between two NUL characters, and a key too long for a line ends with U+0001: neither can occur in a
document, where control characters are escaped.

Overrides copy only the mappings and lists on the way to the values they change. So the manifests of a template's
classes of clusters share most of their objects; ``emit_together`` writes the text of a shared object once. Thousands of
documents differ in their names alone; ``SimilarDocuments`` writes what is around the names once.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from marshal import dumps
from typing import Any

from render.expressions import lazy_expression

from .holes import Emitted, Hole
from .scalars import INT64_MAX, INT64_MIN
from .texts import INLINE, KEYS, KEYS_OF_SCALARS, LONG_KEY, literal_block, string_on_one_line

_HOLE = "\x00"
_LONG_KEY = lazy_expression(f"^([ -]*)(\\? [^\n]*){LONG_KEY}", re.MULTILINE)
_TOP_FIRST, _METADATA_FIRST = ("apiVersion", "kind", "metadata"), ("name", "namespace")


def emit(value: Any) -> bytes:
    """Return a value as YAML that kubectl reads back identically, without a document marker."""
    text = _text_of_document(value)
    if _HOLE in text:
        raise ValueError("a hole was not filled in")
    return _finish_text(text).encode(errors="replace")


def as_emitted(text: str) -> Emitted:
    """Return a document's text as the bytes around its holes."""
    parts = _finish_text(text).split(_HOLE)
    return Emitted(tuple([part.encode(errors="replace") for part in parts[::2]]), tuple(parts[1::2]))


def _finish_text(text: str) -> str:
    """Return a document's text without the line break it starts with, keys that need two lines over two lines."""
    return _LONG_KEY.sub(_key_over_two_lines, text[1:]) if LONG_KEY in text else text[1:]


def top_keys(manifest: Mapping[str, Any]) -> list[str]:
    """Return a document's keys in the order they are written."""
    keys = _keys_of_mapping(manifest, _TOP_FIRST)
    if "status" in manifest:
        keys.remove("status")
        keys.append("status")
    return keys


def metadata_keys(metadata: Mapping[str, Any]) -> list[str]:
    """Return the keys of metadata in the order they are written."""
    return _keys_of_mapping(metadata, _METADATA_FIRST)


def _keys_of_mapping(mapping: Mapping[str, Any], first: tuple[str, ...]) -> list[str]:
    """Return the keys of a mapping in order, some of them first."""
    keys = sorted(mapping)
    for key in reversed(first):
        if key in mapping:
            keys.remove(key)
            keys.insert(0, key)
    return keys


def _text_of_document(value: Any) -> str:
    pieces: list[str] = []
    if isinstance(value, dict) and value:
        _append_manifest(pieces, value)
    elif isinstance(value, list) and value:
        _append_sequence(pieces, value, "\n")
    else:
        pieces += ("\n", text_of_one_line_value(value))
    pieces.append("\n")
    return "".join(pieces)


def _append_manifest(pieces: list[str], manifest: Mapping[str, Any]) -> None:
    keys = top_keys(manifest)
    metadata = manifest.get("metadata")
    if isinstance(metadata, dict) and metadata:
        place = keys.index("metadata")
        _append_mapping(pieces, manifest, keys[:place], "\n")
        pieces += ("\n", "metadata:")
        _append_mapping(pieces, metadata, metadata_keys(metadata), "\n  ")
        del keys[: place + 1]
    _append_mapping(pieces, manifest, keys, "\n")


def _append_mapping(pieces: list[str], mapping: Mapping[str, Any], keys: Iterable[str], pad: str) -> None:
    append = pieces.append
    for key in keys:
        value = mapping[key]
        kind = type(value)
        append(pad)
        if kind is str:
            append(KEYS_OF_SCALARS[key])
            append(INLINE[value] or literal_block(value, f"{pad}  "))
        elif kind is dict and value:
            append(KEYS[key])
            _append_mapping(pieces, value, sorted(value), f"{pad}  ")
        elif kind is list and value:
            append(KEYS[key])
            _append_sequence(pieces, value, pad)
        else:
            append(KEYS_OF_SCALARS[key])
            append(text_of_one_line_value(value))


def _append_sequence(pieces: list[str], items: list[Any], pad: str) -> None:
    append = pieces.append
    dash, deeper = f"{pad}- ", f"{pad}  "
    for item in items:
        kind = type(item)
        if kind is str:
            append(dash)
            append(INLINE[item] or literal_block(item, deeper))
        elif (kind is dict or kind is list) and item:
            first = len(pieces)
            if kind is dict:
                _append_mapping(pieces, item, sorted(item), deeper)
                pieces[first] = dash
            else:
                _append_sequence(pieces, item, deeper)
                pieces[first] = dash + pieces[first][len(deeper) :]
        else:
            append(dash)
            append(text_of_one_line_value(item))


def text_of_one_line_value(value: Any) -> str:
    """Return a value that fits on one line: a number, a word, an empty container, a hole."""
    kind = type(value)
    if kind is int:
        return str(value) if INT64_MIN <= value <= INT64_MAX else _text_of_float(float(value))
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if kind is Hole:
        return f"{_HOLE}{value.name}{_HOLE}"
    if kind is float:
        return _text_of_float(value)
    return _text_of_lone_value(value)


def _text_of_lone_value(value: Any) -> str:
    """Return the text of an empty container, or of a string that stands alone."""
    if isinstance(value, str):
        return string_on_one_line(value)
    if isinstance(value, (dict, list)) and not value:
        return "{}" if isinstance(value, dict) else "[]"
    raise TypeError(f"not plain data: {type(value).__name__}")


def _text_of_float(value: float) -> str:
    """Return the text of a float; a whole one has all its digits, because kubectl reads it as an integer."""
    if not math.isfinite(value):
        raise ValueError("infinity and not-a-number have no place in Kubernetes")
    if value.is_integer() and abs(value) < 2**63:
        return str(int(Decimal(repr(value))))
    return repr(value)


def _key_over_two_lines(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}\n{' ' * len(match[1])}:"


def emit_together(values: Sequence[Mapping[str, Any]]) -> list[Emitted]:
    """Return each manifest as the YAML around its holes: what ``emit`` returns once integers take their places.

    The manifests may not change meanwhile.
    """
    parts = _SharedParts()
    return [as_emitted(parts.document(value)) for value in values]


class _SharedParts:
    """The texts of mappings and lists by identity and indentation; the caller keeps those objects alive."""

    def __init__(self) -> None:
        self._texts: dict[tuple[int, int], str] = {}

    def document(self, manifest: Mapping[str, Any]) -> str:
        pieces: list[str] = []
        for key in top_keys(manifest):
            child = manifest[key]
            if key == "metadata" and type(child) is dict and child:
                pieces += ("\n", "metadata:")
                self._append_mapping(pieces, child, metadata_keys(child), "\n  ")
            else:
                self._append_mapping(pieces, manifest, (key,), "\n")
        pieces.append("\n")
        return "".join(pieces)

    def _text_of_container(self, container: Any, pad: str) -> str:
        place = (id(container), len(pad))
        found = self._texts.get(place)
        if found is None:
            pieces: list[str] = []
            if type(container) is dict:
                self._append_mapping(pieces, container, sorted(container), pad)
            else:
                self._append_sequence(pieces, container, pad)
            found = self._texts[place] = "".join(pieces)
        return found

    def _append_mapping(self, pieces: list[str], mapping: Mapping[str, Any], keys: Iterable[str], pad: str) -> None:
        append = pieces.append
        for key in keys:
            value = mapping[key]
            kind = type(value)
            append(pad)
            if kind is str:
                append(KEYS_OF_SCALARS[key])
                append(INLINE[value] or literal_block(value, f"{pad}  "))
            elif (kind is dict or kind is list) and value:
                append(KEYS[key])
                append(self._text_of_container(value, f"{pad}  " if kind is dict else pad))
            else:
                append(KEYS_OF_SCALARS[key])
                append(text_of_one_line_value(value))

    def _append_sequence(self, pieces: list[str], items: list[Any], pad: str) -> None:
        append = pieces.append
        dash, deeper = f"{pad}- ", f"{pad}  "
        for item in items:
            kind = type(item)
            append(dash)
            if kind is str:
                append(INLINE[item] or literal_block(item, deeper))
            elif (kind is dict or kind is list) and item:
                append(self._text_of_container(item, deeper)[len(deeper) :])
            else:
                append(text_of_one_line_value(item))


_WordPath = tuple[str | int, ...]
_MOST_SHAPES = 1024
_WITHOUT_REFERENCES = 2
"""The version of marshalled data that has equal bytes for equal values, whether or not they share objects."""


class SimilarDocuments:
    """Emits documents that differ in a few words or numbers alone: what is around these is written once."""

    def __init__(self) -> None:
        self._texts: dict[bytes, list[str]] = {}

    def emit(self, document: Mapping[str, Any], paths: Sequence[_WordPath]) -> bytes:
        """Return what ``emit`` returns, given the paths of the words by which a document differs from others."""
        written = [_inline_text(_word_at(document, path)) for path in paths]
        if not all(written):
            return emit(document)  # a word of several lines is written by where it stands
        shape: Any = document
        for path in paths:
            shape = _value_with_word(shape, path, "")
        try:
            key = dumps(shape, _WITHOUT_REFERENCES)
        except ValueError:
            return emit(document)  # it holds more than plain data, such as a text of a type of its own
        around = self._texts.get(key)
        if around is None:
            around = _pieces_around_words(document, paths)
            if len(self._texts) < _MOST_SHAPES:
                self._texts[key] = around
        pieces = around.copy()
        for place in range(1, len(pieces), 2):
            pieces[place] = written[int(pieces[place])]
        return "".join(pieces).encode(errors="replace")


def _pieces_around_words(document: Mapping[str, Any], paths: Sequence[_WordPath]) -> list[str]:
    """Return the text of a document in pieces: every other one is the number of the word that stands there."""
    for number, path in enumerate(paths):
        document = _value_with_word(document, path, Hole(str(number)))
    return _finish_text(_text_of_document(document)).split(_HOLE)


def _inline_text(word: str | int) -> str:
    return INLINE[word] if isinstance(word, str) else text_of_one_line_value(word)


def _word_at(value: Any, path: _WordPath) -> str | int:
    for step in path:
        value = value[step]
    return value if type(value) is int else str(value)


def _value_with_word(value: Any, path: _WordPath, word: Any) -> Any:
    """Return plain data with another value at a path; all that is not on the way to it is shared."""
    if not path:
        return word
    changed = value.copy()
    changed[path[0]] = _value_with_word(value[path[0]], path[1:], word)
    return changed
