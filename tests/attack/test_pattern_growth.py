"""Every pattern that the program matches takes time in proportion to the text, or its text was checked before."""

import re

import pytest

from tests.pattern_growth import Growth, Use, all_uses, growths

_USES = all_uses()
_ON_CHECKED_TEXT = {
    "render/gitobjects.py:_TREES": "read_tree matches all of a tree with the first before it looks for the second",
    "reconciler/repository/objects.py:_FILE": "git itself writes the listing, in which every record matches",
    "reconciler/repository/objects.py:_PLAIN_FILE": "as above",
}
"""Patterns that are looked for in texts whose shape is known, and why it is."""


def test_there_are_patterns_to_measure() -> None:
    assert len(_USES) > 200
    assert any(use.place.endswith("cron/schedules.py:_DURATION") and use.methods == {"fullmatch"} for use in _USES)


@pytest.mark.parametrize("use", _USES, ids=lambda use: f"{use.place} {sorted(use.methods)}")
def test_a_pattern_takes_time_in_proportion_to_the_text(use: Use) -> None:
    if use.place.partition("[")[0] in _ON_CHECKED_TEXT:
        return
    assert list(growths(use)) == []


SLOW = {
    "two ways to divide a run": (r"(?:\d+\.?\d*s?)+", "fullmatch"),
    "a run that is looked for from every character": (r"(\w+)=", "findall"),
    "a beginning that is looked for where no end is": (r"\{\{.*?\}\}", "finditer"),
    "spaces on both sides of nothing": (r"a\s*\s*\s*b", "match"),
    "more ways than anybody can wait for": (r"(a+)+b", "match"),
}


@pytest.mark.parametrize("why", SLOW)
def test_a_pattern_that_takes_longer_is_found(why: str) -> None:
    pattern, method = SLOW[why]
    found = list(growths(Use("x", re.compile(pattern), frozenset({method}))))
    assert [type(each) for each in found] == [Growth]
