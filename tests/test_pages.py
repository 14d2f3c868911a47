"""The page: every view of a fleet answers, its document is the command's own, and each link leads to a page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.pages.views import VIEWS

from .build import Repository, argosy
from .paged import Browser, a_shown_fleet, browser_of, links_of


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return a_shown_fleet(tmp_path_factory.mktemp("pages") / "shop").repository


@pytest.fixture(scope="module")
def browser(repository: Repository) -> Browser:
    return browser_of(repository)


def _walk(browser: Browser, first: str) -> Iterator[tuple[str, str]]:
    """Yield every page that one comes to from the first, by links of this site, with its address.

    Of addresses that ask for the same with other values - orders, filters, commits of the past - one is asked.
    """
    ahead, seen = [first], {_shape_of_address(first)}
    while ahead:
        address = ahead.pop(0)
        shown = browser.answered(address)
        # A loss of every zone is offered wherever zones are known or not, and the answer says which.
        # So are the pods of objects, which no member of this fleet tells of.
        is_refused = address.startswith("/what-if?by=") or address.partition("?")[0].endswith("/pods")
        expected = {200, 422} if is_refused else {200}
        assert shown.code in expected, (address, shown.text)
        if not shown.headers["content-type"].startswith("text/html"):
            continue
        yield address, shown.text
        for each in links_of(shown.text):
            if each.startswith("/") and (shape := _shape_of_address(each)) not in seen:
                seen.add(shape)
                ahead.append(each)


def _shape_of_address(address: str) -> tuple[str, ...]:
    """An address without the values that it asks for."""
    path, _, query = address.partition("?")
    return path, *sorted(each.partition("=")[0] for each in query.split("&"))


def test_every_page_that_a_link_leads_to_answers(browser: Browser) -> None:
    pages = dict(_walk(browser, "/"))
    assert {each.path for each in VIEWS.values() if "{" not in each.path} <= {*pages}
    for text in pages.values():
        assert "style=" not in text
        assert "<h1>" in text


def test_a_page_has_the_document_of_its_command(
    browser: Browser, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    head = repository.git("rev-parse", "HEAD")
    simulated = ("simulate", "--without-region=eu", "--rev", head)
    for address, words in {
        "/problems": ("validate", "--rev", head),
        "/rollouts": ("rollout", "status"),
        "/diff?base=HEAD~1&head=HEAD": ("diff", "HEAD~1", "HEAD"),
        "/what-if?region=eu": simulated,
        f"/commits/{head}": ("history", "--limit", "1"),
        "/overview?at=HEAD~1": ("overview", "--at", "HEAD~1"),
    }.items():
        path, mark, query = address.partition("?")
        shown = browser.answered(f"{path}.json{mark}{query}")
        printed = argosy(repository, capsys, *words, "-o", "json")
        assert without_times(shown.text) == without_times(printed.out), address


def without_times(text: str) -> str:
    """A document without the times of asking, which differ from one run to the next."""
    return re.sub(r'("(?:now|horizon|at|askedAt|since)": )"[^"]*"', r"\1", re.sub(r'("ageSeconds": )\d+', r"\1", text))


def test_two_fleets_are_listed_first(tmp_path: Path) -> None:
    fleets = [a_shown_fleet(tmp_path / name).repository for name in ("one", "two")]
    browser = browser_of(*fleets)
    assert [each for each in links_of(browser.get("/").text) if each.startswith("/f/")] == ["/f/one/", "/f/two/"]
    assert browser.get("/f/two/problems").code == 200
    assert browser.get("/problems").code == 404
    assert browser.get("/f/three/problems").code == 404
