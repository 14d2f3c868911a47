"""Patterns of ``*`` and ``?``, matched in time proportional to the pattern times the text."""

from collections.abc import Iterator


def matching_lengths(pattern: str, value: str) -> Iterator[int]:
    """Yield the lengths of the beginnings of a value that match a pattern of ``*`` and ``?``, shortest first."""
    states = _states_with_empty_matches({0}, pattern)
    for length, character in enumerate(value, start=1):
        moved = {at if pattern[at] == "*" else at + 1 for at in states if _does_pattern_take(pattern, at, character)}
        states = _states_with_empty_matches(moved, pattern)
        if len(pattern) in states:
            yield length


def _does_pattern_take(pattern: str, at: int, character: str) -> bool:
    return at < len(pattern) and pattern[at] in ("*", "?", character)


def _states_with_empty_matches(states: set[int], pattern: str) -> set[int]:
    """Return the places of a pattern that are reached without another character, as ``*`` may stand for none."""
    spread = set(states)
    for at in states:
        after = at
        while after < len(pattern) and pattern[after] == "*":
            after += 1
            spread.add(after)
    return spread
