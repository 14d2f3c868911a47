"""Plain data into block-style YAML: the same bytes for the same data, whatever the order of its dicts.

Every function appends whole lines to ``lines``. A mapping or list inside a list is written one level deeper, and the
dash is then put over the first two spaces of its first line. A hole is written between two NUL characters, and a key
too long for a line ends with U+0001: neither can occur in a document, where control characters are escaped.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from .holes import Emitted, Hole
from .scalars import INT64_MAX, INT64_MIN
from .texts import KEYS, LONG_KEY, TEXTS, block_body

_HOLE = "\x00"
_LONG_KEY = re.compile(f"^([ -]*)(\\? [^\n]*){LONG_KEY}", re.MULTILINE)
_TOP_FIRST, _TOP_LAST, _METADATA_FIRST = ("apiVersion", "kind", "metadata"), ("status",), ("name", "namespace")


def emit(value: Any) -> bytes:
    """Return a value as YAML that kubectl reads back identically, without a document marker."""
    emitted = emit_spliced(value)
    if emitted.holes:
        raise ValueError("a hole was not filled in")
    return emitted.segments[0]


def emit_spliced(value: Any) -> Emitted:
    """Return a value as the YAML around its holes; with integers in their places it is what ``emit`` returns."""
    return as_emitted(_document(value))


def as_emitted(text: str) -> Emitted:
    """Return a document's text as the bytes around its holes."""
    if LONG_KEY in text:
        text = _LONG_KEY.sub(_over_two_lines, text)
    parts = text.split(_HOLE)
    return Emitted(tuple([part.encode() for part in parts[::2]]), tuple(parts[1::2]))


def emit_json(value: Any) -> bytes:
    """Return a value as indented JSON with its keys in the same order."""
    return f"{json.dumps(_ordered(value), indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()


def _ordered(value: Any, *, top: bool = True) -> Any:
    if isinstance(value, list):
        return [_ordered(item, top=False) for item in value]
    if not isinstance(value, dict):
        return value
    ordered = {key: _ordered(value[key], top=False) for key in (top_keys(value) if top else sorted(value))}
    if top and isinstance(ordered.get("metadata"), dict):
        ordered["metadata"] = {key: ordered["metadata"][key] for key in metadata_keys(ordered["metadata"])}
    return ordered


def top_keys(manifest: Mapping[str, Any]) -> list[str]:
    """Return a document's keys in the order they are written."""
    return _keys(manifest, _TOP_FIRST, _TOP_LAST)


def metadata_keys(metadata: Mapping[str, Any]) -> list[str]:
    """Return the keys of metadata in the order they are written."""
    return _keys(metadata, _METADATA_FIRST, ())


def _keys(mapping: Mapping[str, Any], first: tuple[str, ...], last: tuple[str, ...]) -> list[str]:
    rest = sorted(mapping.keys() - {*first, *last})
    return [*(key for key in first if key in mapping), *rest, *(key for key in last if key in mapping)]


def _document(value: Any) -> str:
    lines: list[str] = []
    if isinstance(value, dict) and value:
        for key in top_keys(value):
            child = value[key]
            if key == "metadata" and isinstance(child, dict) and child:
                lines.append("metadata:\n")
                _mapping(lines, child, metadata_keys(child), "  ")
            else:
                _mapping(lines, value, (key,), "")
    elif isinstance(value, list) and value:
        _sequence(lines, value, "")
    else:
        lines.append(f"{scalar(value)}\n")
    return "".join(lines)


def _mapping(lines: list[str], mapping: Mapping[str, Any], keys: Iterable[str], pad: str) -> None:
    append = lines.append
    for key in keys:
        value = mapping[key]
        kind = type(value)
        if kind is str:
            text = TEXTS[value]
            append(f"{pad}{KEYS[key]} {text}\n")
            if text[0] == "|":
                append(f"{block_body(value, pad + '  ')}\n")
        elif kind is dict and value:
            append(f"{pad}{KEYS[key]}\n")
            _mapping(lines, value, sorted(value), f"{pad}  ")
        elif kind is list and value:
            append(f"{pad}{KEYS[key]}\n")
            _sequence(lines, value, pad)
        else:
            append(f"{pad}{KEYS[key]} {scalar(value)}\n")


def _sequence(lines: list[str], items: list[Any], pad: str) -> None:
    append = lines.append
    deeper = f"{pad}  "
    for item in items:
        kind = type(item)
        if kind is str:
            text = TEXTS[item]
            append(f"{pad}- {text}\n")
            if text[0] == "|":
                append(f"{block_body(item, deeper)}\n")
        elif (kind is dict or kind is list) and item:
            first = len(lines)
            if kind is dict:
                _mapping(lines, item, sorted(item), deeper)
            else:
                _sequence(lines, item, deeper)
            lines[first] = f"{pad}- {lines[first][len(deeper) :]}"
        else:
            append(f"{pad}- {scalar(item)}\n")


def scalar(value: Any) -> str:
    """Return what stands on one line: a number, a word, an empty container, a hole."""
    kind = type(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is Hole:
        return f"{_HOLE}{value.name}{_HOLE}"
    if kind is int:
        return str(value) if INT64_MIN <= value <= INT64_MAX else _float(float(value))
    if kind is float:
        return _float(value)
    return _rare(value)


def _rare(value: Any) -> str:
    """Return an empty container, or a string that stands alone."""
    if isinstance(value, str):
        text = TEXTS[value]
        return json.dumps(value) if text[0] == "|" else text
    if isinstance(value, (dict, list)) and not value:
        return "{}" if isinstance(value, dict) else "[]"
    raise TypeError(f"not plain data: {type(value).__name__}")


def _float(value: float) -> str:
    """Return a float; one that is whole is written with all its digits, as it will be read."""
    if not math.isfinite(value):
        raise ValueError("infinity and not-a-number have no place in Kubernetes")
    if value.is_integer() and abs(value) < 2**63:
        return str(int(Decimal(repr(value))))
    return repr(value)


def _over_two_lines(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}\n{' ' * len(match[1])}:"
