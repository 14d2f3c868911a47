"""JSON texts that are edited in place: the order of keys and the spelling of values survive, white space does not."""

import json
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs leave it out
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # the stubs name the fast scanner alone
from typing import Any

from render.expressions import lazy_expression

from .errors import Refused

_LONE_SURROGATE = lazy_expression("[\ud800-\udfff]")
_ESCAPED = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
_SPACES = (" ", "\t", "\n", "\r")
_TO_ESCAPE = lazy_expression("[<>&\u2028\u2029]")


class Number(str):
    """A number as its text spells it."""

    __slots__ = ()


class Spelled(str):
    """A string with escapes; ``spelling`` is what its text has between the quotes."""

    __slots__ = ("spelling",)
    spelling: str


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, its numbers as ``Number`` and its strings with escapes as ``Spelled``."""
    if text.startswith(_SPACES) and text.lstrip().startswith("["):
        raise Refused("is a JSON list with white space before it, which Karmada cannot read")
    try:
        return (_SPELLING_DECODER if "\\" in text else _DECODER).decode(text)
    except RecursionError:
        raise Refused("is nested too deep") from None
    except ValueError:
        raise Refused("is not JSON") from None


def json_text(value: Any) -> str:
    r"""Return a value as compact JSON, with the escapes Go's encoder adds.

    >>> json_text({"on": True, "rate": Number("1e3"), "tag": "<b>"})
    '{"on":true,"rate":1e3,"tag":"\\u003cb\\u003e"}'
    """
    if isinstance(value, Number):
        return value
    if isinstance(value, dict):
        return f"{{{','.join(f'{json_text(key)}:{json_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, Spelled):
        text = f'"{value.spelling}"'
    else:
        text = _LONE_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False))
    return _TO_ESCAPE.sub(lambda match: _ESCAPED[match[0]], text)


def _refuse_json_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_refuse_json_constant)


class _SpellingDecoder(json.JSONDecoder):
    """A decoder that keeps the spelling of strings; only the slow scanner lets it."""

    def __init__(self) -> None:
        super().__init__(parse_int=Number, parse_float=Number, parse_constant=_refuse_json_constant)
        self.parse_string = _string_with_spelling
        self.scan_once = py_make_scanner(self)


def _string_with_spelling(text: str, start: int, strict: bool) -> tuple[str, int]:
    value, end = scanstring(text, start, strict)
    spelling = text[start : end - 1]
    if "\\" not in spelling:
        return value, end
    spelled = Spelled(value)
    spelled.spelling = spelling
    return spelled, end


_SPELLING_DECODER = _SpellingDecoder()
