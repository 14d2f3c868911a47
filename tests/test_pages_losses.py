"""The pages of losses: what they answer stands in their sentence, so that two of them do not contradict each other."""

import re
from pathlib import Path

import pytest

from .build import Repository
from .paged import Browser, a_shown_fleet, browser_of, links_of


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    path: Path = tmp_path_factory.mktemp("losses") / "shop"
    return a_shown_fleet(path).repository


@pytest.fixture(scope="module")
def browser(repository: Repository) -> Browser:
    return browser_of(repository)


def words_of(page: str) -> str:
    """The text of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


def test_every_loss_says_that_it_supposes_an_ideal_and_leads_to_what_really_happens(browser: Browser) -> None:
    """Those that break something stand first, and each loss leads to its own page."""
    page = browser.answered("/what-if?by=cluster").text
    said = words_of(page)
    assert "If everything was placed anew at once, the fleet would survive the loss of any one cluster." in said
    assert "what a loss takes is placed anew at once; --without-cluster NAME says when that happens by itself" in said
    names = ["berlin", "oregon", "paris", "tokyo"]
    assert [each for each in links_of(page) if "without=" in each] == [f"/what-if?without={name}" for name in names]
    regions = links_of(browser.answered("/what-if?by=region").text)
    assert [each for each in regions if "region=" in each] == [f"/what-if?region={name}" for name in ("eu", "ap", "us")]


def test_one_loss_says_what_the_configured_failover_does_and_that_an_ideal_differs(browser: Browser) -> None:
    said = words_of(browser.answered("/what-if?without=berlin").text)
    assert "As the fleet is configured, 3 objects are short of replicas at" in said
    assert "though all would find a place if it was placed anew at once" in said
    assert "For this answer, this is taken for granted ." in said
    assert "The upper bar is how it is placed now, whether clusters have that yet or not" in said


def test_the_overview_says_that_it_supposes_an_ideal(browser: Browser) -> None:
    said = words_of(browser.answered("/overview").text)
    assert "If everything was placed anew at once. What the configured failover really does is on the page" in said
    assert "There is room to lose any one cluster : placed anew at once, everything finds a place" in said
    assert "Not every region : even placed anew at once, something finds no place after 1 of 3 losses." in said


def test_a_cordon_shows_what_passes_do_and_beside_it_the_ideal(browser: Browser) -> None:
    """A cordon keeps new replicas away and moves none."""
    page = browser.answered("/what-if?cordon=berlin").text
    assert "nothing is short of replicas at" in words_of(page)
    assert "and nothing moves." in words_of(page)
    shown = dict(
        re.findall(r'aria-label="(berlin|paris): (\d+ before, \d+ after)"', page.partition("shop/</span>web")[2])
    )
    assert shown == {"berlin": "3 before, 3 after", "paris": "6 before, 6 after"}
    ideal = words_of(page).partition("web asks for 12")[2]
    assert "If all that is concerned was placed anew at once: berlin 3 → 0, oregon 3 → 4, paris 6 → 8" in ideal


def test_a_silent_cluster_that_counts_as_a_refuge_is_named(browser: Browser) -> None:
    """Oregon holds web and batch, so more of them may go there."""
    counted = (
        "oregon, recorded as silent or not ready at 2027-01-15T08:21:00Z, is counted on: what it holds is taken to run"
    )
    for address in ("/what-if?by=cluster", "/overview", "/what-if?without=berlin", "/what-if?cordon=berlin"):
        assert counted in words_of(browser.answered(address).text), address


def test_a_loss_of_a_cluster_that_is_silent_already_says_so(browser: Browser) -> None:
    """The answer counts from its own time on, though replicas are missing there for longer."""
    said = words_of(browser.answered("/what-if?without=oregon").text)
    assert (
        "oregon, recorded as silent or not ready at 2027-01-15T08:21:00Z, is so already: what is missing there" in said
    )
    assert "is counted on" not in said
