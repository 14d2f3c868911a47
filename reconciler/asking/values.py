"""A value of an answer, and whether it is the one that a check asks for."""

from typing import Any

from render.jsonpath import JsonPathError, jsonpath_text
from render.patterns import matches_whole

from .answers import NoAnswer

_MOST_TEXT = 10_000


def text_at_path(value: Any, path: str) -> str:
    """Return the text of a value that a JSONPath leads to; NoAnswer where it leads to none.

    >>> text_at_path({"status": {"phase": "Ready"}}, "{.status.phase}")
    'Ready'
    """
    try:
        return jsonpath_text(path, value)
    except (JsonPathError, RecursionError) as error:
        raise NoAnswer(f"there is nothing at {path}") from error


def is_condition_met(value: str, *, equals: str | None, matches: str | None) -> bool:
    """Say whether a value is the one that is asked for, or matches the whole expression that is.

    >>> is_condition_met("v1.4.2", equals=None, matches="v1[.].*"), is_condition_met("ok", equals="OK", matches=None)
    (True, False)
    """
    if equals is not None:
        return value == equals
    return len(value) <= _MOST_TEXT and matches_whole(matches or "", value)
