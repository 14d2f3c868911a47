"""JSON as kubectl reads it: a stream of values where a file starts with ``{``; text that is no JSON is read as YAML."""

import json
from typing import Any, NamedTuple

from render.expressions import lazy_expression

from .document import MAX_DEPTH, UnusableDocument, quoted_key_for_message
from .scalars import json_value

_LONE_SURROGATE = lazy_expression("[\ud800-\udfff]")
_SPACE = lazy_expression(r"[ \t\n\r]*")
_LONGEST_NUMBER = 20
"""The digits of int64 with a sign. Longer numbers are floats, and Python reads no integer of 4,301 digits at all."""


class JsonValue(NamedTuple):
    """A JSON value and its place in its text."""

    value: Any
    start: int
    end: int


class NotJson(ValueError):
    """Text that is not JSON from ``start`` on, which shows at ``offset``."""

    def __init__(self, start: int, offset: int, message: str) -> None:
        super().__init__(message)
        self.start = start
        self.offset = offset
        self.message = message


def next_json_value(text: str, start: int) -> JsonValue | None:
    """Return the JSON value that follows in a text, or None at its end."""
    offset = _offset_after_space(text, start)
    if offset == len(text):
        return None
    reader = _JsonReader()
    try:
        value, end = reader.decoder.raw_decode(text, offset)
    except json.JSONDecodeError as error:
        raise NotJson(start, error.pos, error.msg) from None
    except RecursionError:
        raise UnusableDocument(f"nested deeper than {MAX_DEPTH} levels") from None
    reader.check(value)
    return JsonValue(value, offset, end)


def _offset_after_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


class _JsonReader:
    """A decoder that reports problems only once the whole value has proved to be JSON: otherwise it may be YAML."""

    def __init__(self) -> None:
        self.findings: list[UnusableDocument] = []
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object_of_pairs,
            parse_int=self._value_of_integer,
            parse_float=self._value_of_float,
            parse_constant=_refuse_json_constant,
        )

    def check(self, value: Any) -> None:
        """Refuse a value that JSON allows and Kubernetes does not."""
        if self.findings:
            raise self.findings[0]
        _check_depth(value, 0)

    def _object_of_pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for key, member in pairs:
            name = _value_without_lone_surrogates(key)
            if name in value:
                hint = "kubectl would silently keep only the last one"
                self.findings.append(UnusableDocument(f"duplicate key {quoted_key_for_message(name)}", hint))
            value[name] = _value_without_lone_surrogates(member)
        return value

    def _value_of_integer(self, digits: str) -> Any:
        return self._value_of_float(digits) if len(digits) > _LONGEST_NUMBER else json_value(int(digits))

    def _value_of_float(self, digits: str) -> Any:
        number = float(digits)
        if abs(number) == float("inf"):
            self.findings.append(UnusableDocument("a number beyond all floats"))
            return 0
        return json_value(number)


def _value_without_lone_surrogates(value: Any) -> Any:
    """Return a member with each half of a surrogate pair (an escape such as d800 alone) replaced, as Go does."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    return [_value_without_lone_surrogates(item) for item in value] if isinstance(value, list) else value


def _refuse_json_constant(name: str) -> Any:
    raise json.JSONDecodeError("Expecting value", name, 0)


def _check_depth(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise UnusableDocument(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, (dict, list)):
        for child in value.values() if isinstance(value, dict) else value:
            _check_depth(child, depth + 1)
