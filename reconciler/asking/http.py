"""An address that is asked by GET: its status has to be the one that is good, and a value of its JSON, where one is."""

import json
from collections.abc import Iterable
from typing import Any

from render.jsonpath import JsonPathError, jsonpath_text
from render.patterns import matches_whole
from render.rollouts.checks import HttpSource
from render.settings.rollout_sources import RolloutSource

from .answers import CheckReply, NoAnswer
from .web import content_at_address

_MOST_TEXT = 10_000


def ask_http(source: HttpSource, sources: Iterable[RolloutSource], until: float) -> CheckReply:
    """Return what an address answers; NoAnswer where it answers nothing."""
    received = content_at_address(source.url, sources, until)
    if received.status != source.status:
        return CheckReply.of_content(received.content, f"status {received.status}", is_met=False)
    if not source.json_path:
        return CheckReply.of_content(received.content, f"status {received.status}", is_met=True)
    value = text_at_path(_plain_data(received.content), source.json_path)
    return CheckReply.of_content(
        received.content, value, is_met=is_condition_met(value, equals=source.equals, matches=source.matches)
    )


def _plain_data(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NoAnswer("it answers with no JSON") from error


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
