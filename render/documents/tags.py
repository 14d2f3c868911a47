"""Explicit tags (``!!str``, ``!!binary``, ``!mine``) as go-yaml takes them: core tags convert, others are ignored."""

import base64
import binascii
import re
from typing import Any

from .refusal import Refusal
from .scalars import resolve

_CORE = "tag:yaml.org,2002:"
_NAMES = {
    bool: "bool",
    int: "int",
    float: "float",
    type(None): "null",
    str: "str",
}
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?)?",
    re.ASCII,
)


def resolve_tagged(tag: str, text: str) -> Any:
    """Return the value of a scalar with an explicit tag."""
    name = tag.removeprefix(_CORE) if tag.startswith(_CORE) else ""
    if name == "binary":
        return _binary(text)
    if name not in {"bool", "int", "float", "null", "timestamp"}:
        return text
    if name == "timestamp":
        if _TIMESTAMP.fullmatch(text):
            return text
        raise _mismatch(name)
    value = resolve(text)
    found = _NAMES[type(value)]
    if name == "float" and found == "int" and -(2**63) <= value < 2**63:
        return float(value)
    if name != found:
        raise _mismatch(name)
    return value


def _mismatch(name: str) -> Refusal:
    return Refusal(f"a value that its tag !!{name} does not fit", "drop the tag, or write a value of that type")


def _binary(text: str) -> str:
    """Decode base64 to text; kubectl replaces what is not UTF-8."""
    try:
        data = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise Refusal("!!binary with text that is not base64") from None
    return data.decode(errors="replace")
