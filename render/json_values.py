"""Values as JSON that only Argosy itself reads back: written of a struct, and read into one with every type checked."""

import hashlib
import json
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct, convert, to_builtins
from msgspec.json import decode, encode

_Value = TypeVar("_Value")


def json_text(value: Struct) -> str:
    """Return a value as one line of JSON.

    A path of a repository need not be UTF-8, and what Python makes of one that is not can only be written escaped.
    """
    return json.dumps(to_builtins(value))


def value_of_json_text(text: str | bytes, of_type: type[_Value]) -> _Value | None:
    """Return the value in a text; None for a text that has none of that type.

    >>> (
    ...     value_of_json_text("[1, 2]", tuple[int, int]),
    ...     value_of_json_text("[1, true]", tuple[int, int]),
    ...     value_of_json_text("[1", list[int]),
    ... )
    ((1, 2), None, None)
    """
    with suppress(ValueError, RecursionError):
        return decode(text, type=of_type)
    # The other reader takes escaped halves of characters as well, and more time.
    with suppress(ValueError, RecursionError):
        return convert(json.loads(text), of_type)
    return None


def content_digest(value: Any) -> str:
    """Return a digest of plain data, which other data has only if it is written alike: keys in the same order, too.

    >>> content_digest({"a": 1}) == content_digest({"a": 1.0})
    False
    """
    try:
        content = encode(value)
    except UnicodeEncodeError:  # halves of characters can only be written escaped
        content = json.dumps(value).encode()
    return hashlib.sha256(content).hexdigest()
