"""JSON texts that are edited in place: the order of keys and the spelling of numbers survive, white space does not."""

import json
import re
from typing import Any

from .errors import Refused

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
_SPACES = (" ", "\t", "\n", "\r")
_TO_ESCAPE = re.compile("[<>&\u2028\u2029]")


class Number(str):
    """A number as its text spells it."""

    __slots__ = ()


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, its numbers as ``Number``."""
    if text.startswith(_SPACES) and text.lstrip().startswith("["):
        raise Refused("is a JSON list with white space before it, which Karmada cannot read")
    try:
        return _DECODER.decode(text)
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
    text = _LONE_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False))
    return _TO_ESCAPE.sub(lambda match: _ESCAPED[match[0]], text)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_no_constant)
