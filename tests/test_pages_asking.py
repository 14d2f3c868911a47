"""The fields of pages: what may be typed is said, offered, and understood as people write it."""

import re
import time
from pathlib import Path

import pytest

from reconciler.cli import run
from reconciler.pages.reader import FleetReader
from reconciler.pages.serving import PageApplication
from reconciler.pages.web_pages import WebPages
from reconciler.run.web.entry import EntryRules

from .build import Repository, a_cluster
from .dated_fleet import a_dated_fleet, run_until_well, silent_log
from .paged import Browser, a_shown_fleet, browser_of


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    path: Path = tmp_path_factory.mktemp("asking") / "shop"
    repository = a_shown_fleet(path, time.time() - 24 * 3600).repository
    repository.git("branch", "sale")
    return repository


@pytest.fixture(scope="module")
def browser(repository: Repository) -> Browser:
    return browser_of(repository)


@pytest.mark.parametrize("asked", ["2h ago", "1 hour ago", "90 min ago", "09:30", "2027-01-15 09:30"])
def test_a_time_is_understood_as_people_write_it(asked: str, tmp_path: Path) -> None:
    """The fleet was rendered at 08:00 and it is 11:00."""
    fleet = a_dated_fleet(tmp_path / "fleet")
    run_until_well(fleet, 0)
    readers = {"fleet": FleetReader(str(fleet.repository.path))}
    site = WebPages(fleets=lambda: readers, clock=lambda: fleet.now - fleet.now % 3600 + 3 * 3600)
    browser = Browser(PageApplication(pages=site, entry=EntryRules(is_local=True), log=silent_log(fleet)))
    shown = browser.answered(f"/overview?at={asked.replace(' ', '+')}")
    assert shown.code == 200
    at = {"2h ago": "09:00", "1 hour ago": "10:00"}.get(asked, "09:30")
    assert f'id="at" name="at" value="2027-01-15T{at}:00Z"' in shown.text


def test_what_is_no_time_and_no_commit_is_answered_by_the_forms(browser: Browser) -> None:
    shown = browser.get("/overview?at=yesterdayish")
    assert shown.code == 404
    assert "is no time, and no commit or branch that is here" in shown.text
    assert "ask for a time such as 2h ago, 21:18 or 2026-11-20 08:00 (UTC), a commit, or a branch" in shown.text


def test_a_commit_is_shown_as_it_was_at_the_end_of_its_time_and_the_page_says_so(browser: Browser) -> None:
    shown = browser.answered("/overview?at=HEAD~1").text
    assert "the end of the time in which that commit was the newest" in shown
    assert "Ask about the fleet as it was" in shown


@pytest.mark.parametrize(
    ("address", "names", "field", "offered"),
    [
        ("/what-if", "clusters", "without", ["berlin", "oregon", "paris", "tokyo"]),
        ("/what-if", "regions", "region", ["ap", "eu", "us"]),
        ("/diff", "branches", "head", ["main", "sale"]),
        ("/overview", "times", "at", ["1h ago", "6h ago", "24h ago", "7d ago"]),
    ],
)
def test_a_field_offers_what_there_is(
    address: str, names: str, field: str, offered: list[str], browser: Browser
) -> None:
    page = browser.answered(address).text
    found = re.search(f'<datalist id="{names}">(.*?)</datalist>', page, re.DOTALL)
    assert found is not None
    assert re.findall('value="([^"]*)"', found[1]) == offered
    assert re.search(f'<input[^>]* name="{field}"[^>]* list="{names}"', page)


def test_zones_and_providers_are_offered_where_clusters_have_them(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "fleet")
    cluster = a_cluster("oslo", region="eu", provider="aws")
    cluster["spec"]["zones"] = ["eu-1a", "eu-1b"]
    repository.commit({"clusters/oslo.yaml": cluster})
    assert run(["-C", str(repository.path), "-q", "render", "--commit", "--bootstrap"]) == 0
    page = browser_of(repository).answered("/what-if").text
    assert '<input name="zone" list="zones"' in page
    assert '<option value="eu-1a"></option><option value="eu-1b"></option>' in page
    assert '<datalist id="providers"><option value="aws"></option></datalist>' in page
