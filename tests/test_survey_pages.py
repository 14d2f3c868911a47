"""Pages of lists, the matrix, the search and the timeline: the command's document, the past, and names of others."""

import json
import re
from html import unescape
from typing import Any

import pytest

from reconciler.cli import run

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .paged import Browser, a_shown_fleet, browser_of, links_of

pytestmark = pytest.mark.xdist_group("survey pages")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return a_shown_fleet(tmp_path_factory.mktemp("survey pages") / "shop").repository


@pytest.fixture(scope="module")
def browser(repository: Repository) -> Browser:
    return browser_of(repository)


ADDRESSES = [
    "/objects",
    "/objects?namespace=shop&state=Well",
    "/objects?sort=-name&kind=deployment",
    "/clusters?sort=state",
    "/policies",
    "/policies/PropagationPolicy/shop/web",
    "/namespaces",
    "/namespaces/shop",
    "/matrix?rows=object&columns=cluster",
    "/search?q=web",
    "/changes",
    "/changes?cluster=paris",
    "/changes?namespace=jobs",
]


def command_of(page: str) -> list[str]:
    """The words of the command that a page names at its foot, without its name."""
    found = re.search(r"The same by <code>(.*?)</code>", page, re.DOTALL)
    assert found, page
    return unescape(found[1]).split()[1:]


def without_ages(document: Any) -> Any:
    """A document without the sentences that tell how long ago something was."""
    if isinstance(document, dict):
        return {name: without_ages(each) for name, each in document.items() if name != "message"}
    return [without_ages(each) for each in document] if isinstance(document, list) else document


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_has_the_document_of_the_command_at_its_foot(
    address: str, browser: Browser, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    page = browser.get(address)
    assert page.code == 200
    printed = json.loads(argosy(repository, capsys, *command_of(page.text)).out)
    path, _, query = address.partition("?")
    shown = json.loads(browser.get(f"{path}.json?{query}").text)
    assert without_ages(shown) == without_ages(printed)


def test_objects_of_a_cluster_say_that_states_are_those_in_it(browser: Browser) -> None:
    said = "States and replicas are those in paris; the page of an object tells of all clusters."
    assert said in browser.get("/objects?cluster=paris").text
    assert said not in browser.get("/objects").text


def test_a_page_of_the_past_shows_what_was(browser: Browser, repository: Repository) -> None:
    first = repository.git("rev-list", "--max-parents=0", "argosy/rendered")
    then = json.loads(browser.get(f"/objects.json?text=web&at={first}").text)
    now = json.loads(browser.get("/objects.json?text=web").text)
    assert (then["objects"][0]["replicas"], now["objects"][0]["replicas"]) == (9, 12)
    page = browser.get(f"/objects?at={first}").text
    assert "The fleet as it was" in page
    links = [each for each in links_of(page) if each.startswith("/namespaces/")]
    assert all(f"at={first}" in each for each in links_of(page) if each.startswith("/policies/")), links


def test_a_row_of_what_is_in_no_cluster_has_its_mark(browser: Browser) -> None:
    page = browser.get("/matrix?rows=object&columns=cluster").text
    row = next(each for each in page.split("<tr>") if ">forgotten" in each or "/</span>forgotten" in each)
    assert ('<svg class="mark waiting"' in row, "in no cluster" in row) == (True, True)


def test_replicas_of_a_policy_are_said_to_be_those_that_are_placed(browser: Browser) -> None:
    assert "places objects: 12 replicas placed" in re.sub("<[^>]+>", "", browser.get("/policies").text)
    assert "<dt>Replicas placed</dt><dd>12</dd>" in browser.get("/policies/PropagationPolicy/shop/web").text


def test_the_last_pass_of_a_cluster_is_said_to_have_ended_as_all_of_them_since(browser: Browser) -> None:
    assert re.search(
        "<dt>Last pass</dt><dd>Converged, <time[^>]*>as all of them for ", browser.get("/clusters/paris").text
    )


def test_an_empty_list_speaks_of_what_was_asked_only_where_something_was(browser: Browser) -> None:
    assert "There is nothing here." in browser.get("/clusters/tokyo").text
    assert "Nothing here is as you ask." in browser.get("/clusters/tokyo?state=Unwell").text


WRONG = ["/clusters/nowhere", "/namespaces/nowhere", "/policies/ConfigMap/shop/web", "/policies/cpp/-/nowhere"]


@pytest.mark.parametrize("address", [*WRONG, "/objects?state=Fine", "/objects?sort=color", "/matrix?rows=nothing"])
def test_what_is_not_there_is_said_and_not_shown_as_empty(address: str, browser: Browser) -> None:
    assert browser.get(address).code == 404


SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A fleet whose labels, apps, subjects and authors are somebody's attempt at a page."""
    made = Repository.create(tmp_path_factory.mktemp("hostile") / "fleet")
    web = a_deployment("web", namespace="shop")
    web["metadata"]["labels"] = {"app": "a.b"}
    web["metadata"]["annotations"] = {"note": SCRIPT}
    path = "apps/<img src=x onerror=alert(1)>.yaml"
    made.commit(
        {
            "clusters/paris.yaml": a_cluster("paris", region="eu"),
            path: web,
            "map.yaml": a_config_map("one"),
            "policy.yaml": a_policy(
                "p",
                namespace="shop",
                selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}],
                placement=on_clusters("paris"),
            ),
        },
        f"{SCRIPT}\u202e {'long ' * 1000}",
    )
    assert run(["-q", "-C", str(made.path), "render", "--commit", "--bootstrap"]) == 0
    return browser_of(made)


def test_hostile_text_is_words_on_every_page(hostile: Browser) -> None:
    addresses = ("/objects", "/clusters", "/clusters/paris", "/matrix", "/policies", "/namespaces", "/changes")
    asked = (
        f"/search?q={SCRIPT}",
        "/search?q=%3Cimg",
        "/objects?text=%22%3E%3Cscript%3E",
        "/changes?namespace=%3Cb%3E",
    )
    for address in (*addresses, *asked):
        page = hostile.get(address)
        assert page.code in {200, 404}, address
        assert "<script>alert" not in page.text, address
        assert "<img" not in page.text, address
        assert "\u202e" not in page.text, address
        assert len(page.content) < 100_000, address
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hostile.get("/changes").text
