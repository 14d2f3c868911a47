"""Conditions with times: one whose status stays the same keeps the time of its last transition."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Condition = Mapping[str, Any]
"""A metav1.Condition as plain data."""


def new_condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    """Return a condition that has no time yet; empty words are left out."""
    words = {"type": kind, "status": status, "reason": reason, "message": message}
    return {key: str(word) for key, word in words.items() if word}


def conditions_with_times(
    conditions: Iterable[Condition], before: Iterable[Condition], now: str
) -> list[dict[str, Any]]:
    """Return conditions with the times of their last change of status; ``before`` are those recorded."""
    known = {str(each["type"]): each for each in before}
    return [
        {**each, "lastTransitionTime": _time_of_last_change(each, known.get(str(each["type"])), now)}
        for each in conditions
    ]


def _time_of_last_change(each: Condition, known: Condition | None, now: str) -> str:
    if known is None or known.get("status") != each.get("status"):
        return now
    return str(known.get("lastTransitionTime") or now)


def condition_of_type(conditions: Sequence[Condition] | None, kind: str) -> Condition:
    """Return the condition of a type; an empty one where there is none."""
    for each in conditions or ():
        if each.get("type") == kind:
            return each
    return {}
