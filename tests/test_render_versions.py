"""Ranges of versions, as Helm and Flux read them."""

from typing import NamedTuple

import pytest

from render.versions import UnusableRange, newest_version_in_range, parse_version, predicate_of_version_range

from .tables import each_row

VERSIONS = ["0.2.3", "0.2.9", "0.3.0", "1.0.0", "1.2.0", "1.2.3", "1.3.0", "2.0.0-rc.1", "2.0.0"]


class Range(NamedTuple):
    why: str
    text: str
    want: list[str]


RANGES = [
    Range("everything but pre-releases", "*", [*VERSIONS[:7], "2.0.0"]),
    Range("nothing written is everything", "", [*VERSIONS[:7], "2.0.0"]),
    Range("no breaking change after 1.0", "^1.2", ["1.2.0", "1.2.3", "1.3.0"]),
    Range("before 1.0 the second number breaks", "^0.2.3", ["0.2.3", "0.2.9"]),
    Range("patches alone", "~1.2.1", ["1.2.3"]),
    Range("a tilde of one number", "~1", ["1.0.0", "1.2.0", "1.2.3", "1.3.0"]),
    Range("any second number", "1.x", ["1.0.0", "1.2.0", "1.2.3", "1.3.0"]),
    Range("from and to, both whole", "1.2 - 1.3", ["1.2.0", "1.2.3", "1.3.0"]),
    Range("both must hold", ">=1.2 <2", ["1.2.0", "1.2.3", "1.3.0"]),
    Range("a comma joins as a space does", ">= 1.0, < 1.2.3", ["1.0.0", "1.2.0"]),
    Range("one of two", "<0.3 || >=2", ["0.2.3", "0.2.9", "2.0.0"]),
    Range("after all of 1.2", ">1.2", ["1.3.0", "2.0.0"]),
    Range("up to all of 1.2", "<=1.2", ["0.2.3", "0.2.9", "0.3.0", "1.0.0", "1.2.0", "1.2.3"]),
    Range("all but one", "!=1.2.3 1.x", ["1.0.0", "1.2.0", "1.3.0"]),
    Range("a pre-release where one is named", ">=2.0.0-0", ["2.0.0-rc.1", "2.0.0"]),
    Range("exactly one, with a v", "v1.2.3", ["1.2.3"]),
]


@each_row("case", RANGES, ids=lambda case: case.why)
def test_a_range_has_these_versions(case: Range) -> None:
    is_in = predicate_of_version_range(case.text)
    assert [text for text in VERSIONS if (version := parse_version(text)) and is_in(version)] == case.want
    assert newest_version_in_range(reversed(VERSIONS), case.text) == case.want[-1]


@each_row("text", ["newest", "1.2.3.4", ">", "1 ?", "=" * 300])
def test_a_text_that_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(UnusableRange):
        predicate_of_version_range(text)


def test_a_release_comes_after_its_pre_releases_and_numbers_before_words() -> None:
    texts = ["1.0.0", "1.0.0-rc.10", "1.0.0-rc.2", "1.0.0-beta", "1.0.0-1"]
    versions = [version for text in texts if (version := parse_version(text))]
    assert sorted(versions, key=lambda each: each.sort_key) == list(reversed(versions))


def test_no_version_in_a_range_is_none() -> None:
    assert newest_version_in_range(["latest", "1.0.0"], "^2") is None
