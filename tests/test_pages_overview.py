"""The first page: how old what it goes by is, and every change of the source of late."""

import re
import time
from pathlib import Path

import pytest

from .paged import a_shown_fleet, browser_of


def words_of(page: str) -> str:
    """The text of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (0, "What is known of the members was last recorded 1.m ago *[.]"),
        (
            3,
            "recorded 3h ago *[.] Passes that find nothing new record nothing: since then nothing changed in them",
        ),
    ],
)
def test_the_overview_says_when_what_it_knows_of_members_was_recorded(hours: int, said: str, tmp_path: Path) -> None:
    """The fleet goes on for 22 minutes, which are over 15 minutes and some hours ago."""
    fleet = a_shown_fleet(tmp_path / "shop", time.time() - 22 * 60 - 15 * 60 - hours * 3600)
    page = browser_of(fleet.repository).answered("/overview").text
    assert re.search(said, words_of(page))
    assert ('aria-label="old"' in page) == bool(hours)
