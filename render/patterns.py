"""Regular expressions of people, matched in time proportional to the pattern times the text.

Python's own matcher tries one way after another, of which ``(a+)+b`` has more than anybody can wait for. Here all ways
are followed at once, character by character, as Go's matcher does, which is the one that Karmada's patterns are for.
Like it, this one knows no references to groups and no looking ahead or behind.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]  # the parser of patterns, which has no public name
from typing import Any

MOST_STEPS = 10_000
_Test = Callable[[str], bool]
_Step = tuple[_Test | None, tuple[int, ...]]
"""A test of the next character (None: none is taken) and the steps that may follow."""

_MATCH = -1
_ANYTHING = r"[\s\S]*"
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d",
    _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S",
    _constants.CATEGORY_WORD: r"\w",
    _constants.CATEGORY_NOT_WORD: r"\W",
}


class UnusablePattern(ValueError):
    """A pattern that is none, or that asks for what takes more than time in proportion."""


def check_pattern(pattern: str) -> None:
    """Raise UnusablePattern for a pattern that cannot be matched here."""
    _compiled_steps(pattern)


def matches_whole(pattern: str, text: str) -> bool:
    """Say whether a pattern matches all of a text.

    >>> matches_whole("kube-.*", "kube-system"), matches_whole("(a+)+b", "a" * 1000)
    (True, False)
    """
    steps = _compiled_steps(pattern)
    current = _steps_reached_without_character(steps, [0])
    for character in text:
        passed = [
            after
            for each in current
            if each != _MATCH and (test := steps[each][0]) and test(character)
            for after in steps[each][1]
        ]
        current = _steps_reached_without_character(steps, passed)
    return _MATCH in current


def pattern_of_partial_match(pattern: str) -> str:
    """Return the pattern of the texts in which a pattern matches a part; ``^`` and ``$`` at its ends hold it there.

    >>> matches_whole(pattern_of_partial_match("[0-9]+ clusters?"), "0/3 clusters are available")
    True
    >>> matches_whole(pattern_of_partial_match("^3 clusters"), "0/3 clusters are available")
    False
    """
    is_begun, is_ended = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith(r"\$")
    inner = pattern[1 if is_begun else 0 : -1 if is_ended else None]
    return f"{'' if is_begun else _ANYTHING}(?:{inner}){'' if is_ended else _ANYTHING}"


def _steps_reached_without_character(steps: list[_Step], starts: Iterable[int]) -> set[int]:
    """Return the steps that take a character, or the end, that are reached from some without taking one."""
    seen: set[int] = set()
    pending = list(starts)
    while pending:
        step = pending.pop()
        if step in seen:
            continue
        seen.add(step)
        if step != _MATCH and steps[step][0] is None:
            pending.extend(steps[step][1])
    return {step for step in seen if step == _MATCH or steps[step][0] is not None}


@lru_cache(maxsize=256)
def _compiled_steps(pattern: str) -> list[_Step]:
    try:
        parsed = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnusablePattern(str(error)) from error
    if parsed.state.flags & ~re.UNICODE:
        raise UnusablePattern("flags are not supported")
    builder = _Builder()
    start = builder.sequence(_nodes_without_anchors(list(parsed)), _MATCH)
    # The first step is the one to begin at, whatever was built last.
    return [
        (None, (_number_of_next_step(start),)),
        *((test, tuple(map(_number_of_next_step, after))) for test, after in builder.steps),
    ]


def _nodes_without_anchors(nodes: list[Any]) -> list[Any]:
    """Return a pattern's nodes without the anchors at its ends, which a whole match has anyway."""
    if nodes and nodes[0] == (_constants.AT, _constants.AT_BEGINNING):
        nodes = nodes[1:]
    return nodes[:-1] if nodes and nodes[-1] == (_constants.AT, _constants.AT_END) else nodes


def _number_of_next_step(step: int) -> int:
    return step if step == _MATCH else step + 1


class _Builder:
    """Builds the steps of a pattern from its end to its start, so that each knows what follows."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []

    def _add_step(self, test: _Test | None, *after: int) -> int:
        if len(self.steps) >= MOST_STEPS:
            raise UnusablePattern("it is too large")
        self.steps.append((test, after))
        return len(self.steps) - 1

    def sequence(self, nodes: Iterable[Any], after: int) -> int:
        """Return the first step of some nodes of a pattern that are followed by a step."""
        for node in reversed(list(nodes)):
            after = self._first_step_of_node(node, after)
        return after

    def _first_step_of_node(self, node: tuple[Any, Any], after: int) -> int:
        kind, value = node
        if kind in {_constants.MAX_REPEAT, _constants.MIN_REPEAT}:
            return self._compile_repeat(value, after)
        if kind is _constants.BRANCH:
            return self._add_step(None, *(self.sequence(way, after) for way in value[1]))
        if kind is _constants.SUBPATTERN:
            if value[1] or value[2]:
                raise UnusablePattern("flags are not supported")
            return self.sequence(value[3], after)
        return self._add_step(_character_test_of_node(kind, value), after)

    def _compile_repeat(self, repeat: tuple[int, Any, Any], after: int) -> int:
        least, most, nodes = repeat
        if most is _constants.MAXREPEAT:
            again = self._add_step(None)
            self.steps[again] = (None, (self.sequence(nodes, again), after))
            after = again
        else:
            end = after
            for _ in range(most - least):
                after = self._add_step(None, self.sequence(nodes, after), end)
        for _ in range(least):
            after = self.sequence(nodes, after)
        return after


def _character_test_of_node(kind: Any, value: Any) -> _Test:
    if kind is _constants.LITERAL:
        return chr(value).__eq__
    if kind is _constants.NOT_LITERAL:
        return chr(value).__ne__
    if kind is _constants.ANY:
        return "\n".__ne__
    if kind is _constants.CATEGORY:
        return _test_of_category(value)
    if kind is _constants.IN:
        is_negated = bool(value) and value[0][0] is _constants.NEGATE
        tests = [_test_of_class_member(*each) for each in value[1 if is_negated else 0 :]]
        return lambda character: any(test(character) for test in tests) is not is_negated
    raise UnusablePattern(f"{str(kind).lower().replace('_', ' ')} is not supported")


def _test_of_class_member(kind: Any, value: Any) -> _Test:
    if kind is _constants.RANGE:
        low, high = value
        return lambda character: low <= ord(character) <= high
    return _character_test_of_node(kind, value)


def _test_of_category(value: Any) -> _Test:
    compiled = re.compile(_CATEGORIES[value])
    return lambda character: compiled.match(character) is not None
