"""The page in a real browser, of a fleet with three real members: what a client of its application cannot see.

``make e2e-browser`` installs the browser and runs this. The pictures that it makes are in ``.cache/screens``.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from reconciler.cli import run
from reconciler.pages.views import VIEWS

from .browser import PHONE, THEMES, WIDE, Browsing, browsing
from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, on_clusters, weighted
from .clusters import Member, remove_namespaces
from .waiting import eventually, running

pytestmark = pytest.mark.cluster

SCREENS = Path(__file__).parent.parent / ".cache" / "screens"
SPACE = "shown"
HOSTILE = "<img src=x onerror=alert(1)> \u202egnp.exe"
MOST = 200
"""The pages that a walk opens at most: a fleet of this size has fewer."""


class Shown(NamedTuple):
    """A browser, and the address at which the program serves the fleet."""

    browser: Browsing
    home: str

    def open(self, address: str) -> None:
        self.browser.open(urljoin(self.home, address))

    @property
    def path(self) -> str:
        return urlsplit(self.browser.driver.current_url).path


@pytest.fixture(scope="module")
def shown(chromium: Path, members: tuple[Member, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    assert chromium.is_file()
    folder, path = tmp_path_factory.mktemp("kubeconfigs"), tmp_path_factory.mktemp("fleet")
    for member in members:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    _commit_fleet(Repository.create(path), [member.name for member in members])
    assert run(["-C", str(path), "reconcile", "--bootstrap", "--kubeconfigs", str(folder)]) in {0, 1}
    command = ["-C", str(path), "ui", "--listen", "127.0.0.1:0"]
    log = path.parent / "ui.log"
    with (
        log.open("w") as file,
        running([sys.executable, "-P", "-m", "reconciler", *command], seconds=1800, stderr=file),
        browsing() as browser,
    ):
        yield Shown(browser, _address_in(log))
    remove_namespaces(members, SPACE, "argosy-system")


def _commit_fleet(repository: Repository, names: list[str]) -> None:
    everything = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
    by_weight = on_clusters(*names, replicaScheduling=weighted(**dict.fromkeys(names, 1)))
    hostile = a_config_map("settings", namespace=SPACE)
    hostile["metadata"]["annotations"] = {"shown.example.com/note": HOSTILE}
    repository.commit(
        {
            **{f"{name}.yaml": a_cluster(name, region=f"region-{number}") for number, name in enumerate(names)},
            "web.yaml": a_deployment("web", namespace=SPACE, replicas=6),
            "api.yaml": a_deployment("api", namespace=SPACE, replicas=3),
            "settings.yaml": hostile,
            "policy.yaml": a_policy("all", namespace=SPACE, selectors=everything, placement=by_weight),
            "unplaced.yaml": a_deployment("unplaced", namespace="elsewhere"),
        },
        f"Show what there is: {HOSTILE}",
    )


def _address_in(log: Path) -> str:
    found = eventually(lambda: re.search(r"http://127\.0\.0\.1:\d+/", log.read_text()), "the address of the page")
    assert found is not None
    return found.group()


def _links(shown: Shown) -> list[str]:
    """The addresses of the fleet that the page leads to."""
    found = [link.get_attribute("href") or "" for link in shown.browser.driver.find_elements(By.TAG_NAME, "a")]
    own = [urldefrag(each).url for each in found if each.startswith(shown.home)]
    return [each for each in dict.fromkeys(own) if not urlsplit(each).path.endswith(".json")]


def _kind(address: str) -> str:
    """Return what stands for all pages of one view: its address without what is particular."""
    path = re.sub(r"(member|region-)\d", "one", urlsplit(address).path)
    return re.sub(r"[0-9a-f]{40}", "commit", re.sub(r"/objects/[^/]+/[^/]+/[^/]+", "/objects/one", path))


def test_every_page_is_whole_in_both_themes_and_at_both_widths(shown: Shown) -> None:
    """Whatever link is followed, the console says nothing, axe-core objects to nothing and nothing hangs over."""
    waiting, seen, kinds, faults = [shown.home], {shown.home}, set[str](), list[str]()
    while waiting and len(seen) < MOST:
        address = waiting.pop(0)
        shown.browser.look(WIDE, "light")
        shown.browser.open(address)
        faults += [f"{address}: console: {said}" for said in shown.browser.said()]
        new = [each for each in _links(shown) if each not in seen]
        seen |= set(new)
        waiting += new
        if _kind(address) not in kinds:
            kinds.add(_kind(address))
            faults += _faults_of_looks(shown, address, f"{len(kinds):02}")
    assert not faults, "\n".join(faults)
    assert len(kinds) >= len(VIEWS) - 2, f"of {len(VIEWS)} views, links lead to {sorted(kinds)} alone"


def _faults_of_looks(shown: Shown, address: str, number: str) -> list[str]:
    faults = []
    for size in (WIDE, PHONE):
        for theme in THEMES:
            shown.browser.look(size, theme)
            name = re.sub(r"\W+", "-", urlsplit(address).path).strip("-") or "home"
            shown.browser.draw(SCREENS / f"{number}-{name}-{size[0]}-{theme}.png")
            faults += [f"{address}: {size[0]} {theme}: {each}" for each in shown.browser.violations()]
            if shown.browser.is_wider_than_its_window():
                faults.append(f"{address}: wider than {size[0]} pixels")
    return faults


def test_everything_is_reached_by_keys(shown: Shown) -> None:
    """The first key leads past the navigation, and each view, the search, rows and the list of keys have their own."""
    browser = shown.browser
    browser.look(WIDE, "light")
    shown.open("overview")
    browser.press(Keys.TAB)
    assert browser.focused().text == "Skip to the answer"
    browser.press(Keys.ENTER)
    assert browser.focused().get_attribute("id") == "main"

    keys = {
        link.get_attribute("data-key") or "": urlsplit(link.get_attribute("href") or "").path
        for link in browser.driver.find_elements(By.CSS_SELECTOR, ".side a[data-key]")
    }
    assert len(keys) >= 5
    for key, path in keys.items():
        shown.open("overview")
        browser.press("g", key)
        assert shown.path == path

    shown.open("overview")
    browser.press("?")
    assert len(browser.all("dialog[open]")) == 1
    browser.press(Keys.ESCAPE)
    assert browser.all("dialog[open]") == []

    browser.press("/", "web", Keys.ENTER)
    assert shown.path == "/search"
    browser.press("j")
    target = browser.focused().get_attribute("href")
    assert target
    assert target.startswith(shown.home)
    browser.press(Keys.ENTER)
    assert browser.driver.current_url == target
    assert browser.said() == []


def test_a_filter_leaves_the_rows_with_its_words(shown: Shown) -> None:
    shown.browser.look(WIDE, "light")
    shown.open(f"objects/Deployment.apps/{SPACE}/web")
    rows = "section:has(.filter) tbody tr"
    assert [row.text.split()[0] for row in shown.browser.all(rows)] == ["member1", "member2", "member3"]
    shown.browser.press("f", "member2")
    assert [row.text.split()[0] for row in shown.browser.all(rows)] == ["member2"]


def test_a_chosen_theme_stays(shown: Shown) -> None:
    """It is the browser's to keep: the next page has it, too."""
    browser = shown.browser
    browser.look(WIDE, "light")
    shown.open("overview")
    background = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.driver.execute_script(background)
    browser.press("t")
    dark = browser.driver.execute_script(background)
    shown.open("problems")
    assert browser.driver.execute_script(background) == dark != light
    browser.press("t")
    assert browser.driver.execute_script(background) == light


def test_pods_of_members_are_there_as_they_are_now(shown: Shown) -> None:
    """Members are asked for them, for no branch has them; none runs here, where there are no nodes."""
    shown.browser.look(WIDE, "light")
    shown.open(f"objects/Deployment.apps/{SPACE}/web")
    text = shown.browser.text()
    assert all(name in text for name in ("member1", "member2", "member3"))
    assert shown.browser.said() == []
