"""A report in a real browser, opened as files, without a server: its search and its orders, and what its console says.

``make e2e-browser`` installs the browser and runs this.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from selenium.webdriver.common.keys import Keys

from reconciler.cli import run

from .browser import PHONE, THEMES, WIDE, Browsing, browsing
from .paged import a_shown_fleet
from .test_pages_in_browser import SCREENS
from .waiting import eventually

pytestmark = pytest.mark.cluster

OTHER_OF_A_KIND = re.compile(r"paris|tokyo|oregon|batch|api|Namespace|jobs|commits/[0-8]")
"""Pages that show another thing as some other one does."""


class Written(NamedTuple):
    """A browser, a report as a folder, and one as a file."""

    browser: Browsing
    folder: Path
    file: Path

    def open(self, path: str) -> None:
        self.browser.open((self.folder / path).as_uri())

    def rows(self, selector: str) -> list[str]:
        return [" ".join(row.text.split()) for row in self.browser.all(selector)]


@pytest.fixture(scope="module")
def written(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    assert chromium.is_file()
    path = tmp_path_factory.mktemp("report")
    fleet = str(a_shown_fleet(path / "fleet").repository.path)
    folder, file = path / "out", path / "fleet.html"
    assert run(["-C", fleet, "report", str(folder)]) == 0
    assert run(["-C", fleet, "report", "--one-file", str(file)]) == 0
    with browsing() as browser:
        yield Written(browser, folder, file)


def test_every_page_of_a_report_is_whole_in_both_themes_and_at_both_widths(written: Written) -> None:
    faults = []
    for page in sorted(written.folder.rglob("*.html")):
        if OTHER_OF_A_KIND.search(str(page.relative_to(written.folder))):
            continue
        written.browser.look(WIDE, "light")
        written.browser.open(page.as_uri())
        faults += [f"{page}: console: {said}" for said in written.browser.said()]
        for size in (WIDE, PHONE):
            for theme in THEMES:
                written.browser.look(size, theme)
                faults += [f"{page}: {size[0]} {theme}: {each}" for each in written.browser.violations()]
                faults += [f"{page}: wider than {size[0]}"] * written.browser.is_wider_than_its_window()
        written.browser.said()  # axe-core loads styles by itself, and is refused
    assert not faults, "\n".join(faults)
    written.open("search.html")
    written.browser.draw(SCREENS / "report-search-360-dark.png")


def test_the_search_of_every_page_leads_to_a_list_of_what_has_the_words(written: Written) -> None:
    browser = written.browser
    browser.look(WIDE, "light")
    written.open("clusters/berlin.html")
    browser.press("/", "shop/web", Keys.ENTER)
    eventually(lambda: "search.html?q=shop%2Fweb" in browser.driver.current_url, "the page of the search")
    found = [
        "Deployment shop/web in 3 clusters",
        "shop/web PropagationPolicy claims 1 object",
        "Deployment shop/web ReplicasMissing: readyReplicas: 0 of 3",
    ]
    assert written.rows(".search-list .row") == found
    browser.open(written.file.as_uri())
    browser.press("/", "shop/web", Keys.ENTER)
    eventually(lambda: written.rows(".search-list .row") == found, "what has the words")
    assert browser.said() == []


def test_a_table_is_sorted_as_it_stands(written: Written) -> None:
    """By words, numbers and times, both ways, with what is not known last."""
    browser = written.browser
    browser.look(WIDE, "light")
    for address in (written.folder / "objects.html").as_uri(), f"{written.file.as_uri()}#{_part(written)}":
        browser.open(address)
        (clusters,) = [each for each in browser.all("button.order") if each.text == "Clusters"]
        clusters.click()
        names = [row.split()[2].rpartition("/")[2] for row in written.rows("tbody tr")]
        assert (names[0], names[1], sorted(names[2:])) == ("forgotten", "api", ["batch", "web"])
        clusters.click()
        names = [row.split()[2].rpartition("/")[2] for row in written.rows("tbody tr")]
        assert (sorted(names[:2]), *names[2:]) == (["batch", "web"], "api", "forgotten")
        head = clusters.find_element("xpath", "./ancestor::th")
        assert head.get_attribute("aria-sort") == "descending"
    assert browser.said() == []


def _part(written: Written) -> str:
    """The part of the one file that lists the objects."""
    written.browser.open(written.file.as_uri())
    (link,) = [each for each in written.browser.all(".side a") if each.text == "Objects"]
    return (link.get_attribute("href") or "").partition("#")[2]
