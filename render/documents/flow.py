"""Values in braces and brackets, on one line, as YAML or, for a file that is JSON, as JSON."""

import json
import re
from typing import Any

from .emitting import emit

_PLAIN = re.compile(r"[A-Za-z0-9_./@+-][A-Za-z0-9_./@+ -]*(?<! )")


def flow_text(value: Any, *, is_json: bool = False) -> str:
    """Return a value on one line; text that another reading might take for something else is quoted.

    >>> flow_text({"a": ["x", "1", 1, True, "b, c"]}), flow_text(["x"], is_json=True)
    ('{a: [x, "1", 1, true, "b, c"]}', '["x"]')
    """
    if is_json:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {flow_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = _PLAIN.fullmatch(value) and emit(value) == f"{value}\n".encode()
    return value if is_plain else json.dumps(value, ensure_ascii=False)
