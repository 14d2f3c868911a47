"""Patterns of people: the same answer as Python's matcher where that is quick, and a quick answer where it is not."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.patterns import UnusablePattern, check_pattern, matches_whole

USUAL = [
    "kube-.*",
    "a|b|",
    "(a+)+b",
    "[^a-c]+",
    "x{2,3}y?",
    r"\w+-\d*",
    "(?:ab|a)(c|bcd)",
    "a*?b+?",
    "",
    ".",
    r"[\d.]+",
    "^a.*$",
]
COSTLY = ["(a+)+b", "(a|a)*b", "(a*)*b", "(a?){60}a{60}", "(.*)*x", "((a+)+)+b", "(a|aa)+b", ".*" * 30 + "b"]


@pytest.mark.parametrize("pattern", USUAL)
@given(text=st.text(alphabet="abcdxy-.1 \n", max_size=8))
def test_an_answer_is_that_of_pythons_matcher(pattern: str, text: str) -> None:
    assert matches_whole(pattern, text) == (re.fullmatch(pattern, text) is not None)


@pytest.mark.parametrize("pattern", COSTLY)
def test_no_pattern_takes_more_than_time_in_proportion(pattern: str) -> None:
    seconds = []
    for length in (200, 2_000):
        begun = time.process_time()
        assert not matches_whole(pattern, "a" * length + "c")
        seconds.append(time.process_time() - begun)
    assert seconds[1] < 15 * max(seconds[0], 0.01)


@pytest.mark.parametrize(
    "pattern", ["(a)\\1", "(?=a)", "(?<!a)b", "(?i)a", "(?i:a)", "a^b", "(a{999}){999}", "(" * 5_000, "["]
)
def test_a_pattern_that_could_take_longer_is_refused(pattern: str) -> None:
    with pytest.raises(UnusablePattern):
        check_pattern(pattern)
