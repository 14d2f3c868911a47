"""Commands and pages go by the same commits at the same words: a commit, a source, a branch, a time."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reconciler.overview.instants import FleetInstant, instant_meant, refs_of_fleet
from reconciler.pages.reader import FleetReader
from reconciler.repository import open_repository
from render.timing import epoch_text

from .build import Repository, a_deployment, argosy
from .dated_fleet import commit_later
from .memory_fleet import MemoryFleet
from .paged import a_shown_fleet, browser_of

pytestmark = pytest.mark.xdist_group("standing")
PAGES = {
    "/overview": ("overview",),
    "/objects": ("list", "objects", "--limit=100"),
    "/clusters": ("list", "clusters", "--limit=100"),
    "/namespaces": ("list", "namespaces", "--limit=100"),
    "/search?q=web": ("search", "web"),
    "/objects/Deployment.apps/shop/web": ("status", "Deployment.apps/web", "--namespace=shop"),
    "/clusters/paris": ("status", "cluster/paris"),
    "/what-if?without=paris": ("simulate", "--without-cluster=paris"),
}
"""Pages with the commands that print the same."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> MemoryFleet:
    """A fleet of four rendered commits, and a branch that is not merged."""
    fleet = a_shown_fleet(tmp_path_factory.mktemp("instants") / "shop")
    for replicas in (15, 18):
        web = a_deployment("web", replicas=replicas, namespace="shop")
        commit_later(fleet, {"web.yaml": web}, 1800, f"Scale web to {replicas}")
        fleet.run(3600)
    git = fleet.repository.git
    git("checkout", "-qb", "feature")
    fleet.repository.commit({"web.yaml": a_deployment("web", replicas=21, namespace="shop")}, "Scale web further")
    git("checkout", "-q", "main")
    return fleet


def texts(fleet: MemoryFleet) -> dict[str, str]:
    """The texts that are asked about, by their meaning."""
    git = fleet.repository.git
    return {
        "the newest source": "HEAD",
        "the source before": "HEAD~1",
        "a source in full": git("rev-parse", "HEAD~2"),
        "a rendered commit": git("rev-parse", "argosy/rendered~1"),
        "the newest rendered commit": git("rev-parse", "argosy/rendered"),
        "a time": epoch_text(fleet.now - 2400),
        "the time of a pass": epoch_text(fleet.now - 3600),
        "a branch that is not merged": "feature",
    }


WHAT = (
    "the newest source",
    "the source before",
    "a source in full",
    "a rendered commit",
    "the newest rendered commit",
    "a time",
    "the time of a pass",
    "a branch that is not merged",
)


def without_the_time_of_asking(document: Any) -> str:
    """A document without what the clock of this machine says of something that is of now."""
    text = json.dumps(document, indent=1, sort_keys=True)
    return re.sub(r'"(now|horizon|at|askedAt|ageSeconds|since|until)": ("[^"]*"|\d+)', r'"\1"', text)


@pytest.mark.parametrize("what", WHAT)
def test_a_page_and_its_command_tell_the_same_of(
    what: str, fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    at, browser = texts(fleet)[what], browser_of(fleet.repository)
    for address, words in PAGES.items():
        path, mark, query = address.partition("?")
        shown = browser.answered(f"{path}.json?{query}{'&' if mark else ''}at={at}").text
        printed = argosy(fleet.repository, capsys, *words, "--at", at, "-o", "json").out
        assert without_the_time_of_asking(json.loads(shown)) == without_the_time_of_asking(json.loads(printed)), address


@pytest.mark.parametrize("what", WHAT)
def test_status_and_report_go_by_the_commits_of_the_page(
    what: str, fleet: MemoryFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = texts(fleet)[what]
    shown = json.loads(browser_of(fleet.repository).answered(f"/overview.json?at={at}").text)
    status = json.loads(argosy(fleet.repository, capsys, "status", "--at", at, "-o", "json").out)
    assert (status["rendered"], status["source"]) == (shown["rendered"], shown["source"])
    assert (
        argosy(fleet.repository, capsys, "report", str(tmp_path / "report"), "--at", at, "--max-pages", "1").code == 0
    )
    reported = json.loads((tmp_path / "report" / "index.json").read_text())
    assert without_the_time_of_asking(reported) == without_the_time_of_asking(shown)


def test_the_page_and_the_commands_ask_one_function(fleet: MemoryFleet) -> None:
    """A commit is the end of its time, a time what had been made by then, and a branch the fleet of now beside it."""
    git, found = fleet.repository.git, dict[str, FleetInstant]()
    reader = FleetReader(str(fleet.repository.path))
    with open_repository(str(fleet.repository.path)) as repository:
        for what, text in texts(fleet).items():
            found[what] = instant_meant(repository, text, refs_of_fleet(repository))
            assert reader.commits_shown(text) == found[what]
    reader.close()
    ids = {name: git("rev-parse", name) for name in ("HEAD", "HEAD~1", "HEAD~2", "feature", "argosy/status")}
    rendered = [git("rev-parse", f"argosy/rendered{back}") for back in ("", "~1", "~2")]
    sources = {what: each.source for what, each in found.items()}
    assert sources == {
        "the newest source": ids["HEAD"],
        "the source before": ids["HEAD~1"],
        "a source in full": ids["HEAD~2"],
        "a rendered commit": ids["HEAD~1"],
        "the newest rendered commit": ids["HEAD"],
        "a time": ids["HEAD~1"],
        "the time of a pass": ids["HEAD~1"],
        "a branch that is not merged": ids["feature"],
    }
    assert {what: (each.rendered, each.is_past, each.preview) for what, each in found.items()} == {
        "the newest source": (rendered[0], False, ""),
        "the source before": (rendered[1], True, ""),
        "a source in full": (rendered[2], True, ""),
        "a rendered commit": (rendered[1], True, ""),
        "the newest rendered commit": (rendered[0], False, ""),
        "a time": (rendered[1], True, ""),
        "the time of a pass": (rendered[1], True, ""),
        "a branch that is not merged": (rendered[0], False, "feature"),
    }
    assert found["a rendered commit"].now == fleet.now - 1800
    assert found["the time of a pass"].now == fleet.now - 3600


@pytest.mark.parametrize("words", [("status",), ("overview",), ("list", "objects"), ("simulate", "--cordon", "paris")])
def test_a_branch_that_is_not_merged_is_said_to_be_shown_beside_the_fleet_as_it_is(
    words: tuple[str, ...], fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(fleet.repository, capsys, *words, "--at", "feature")
    assert "feature is not rendered: this is the fleet as it is, beside that source" in ended.err


def test_a_time_may_be_typed_in_short(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    """The fleet's own clock is years ahead of this machine, so that nothing was there two hours ago."""
    ended = argosy(fleet.repository, capsys, "status", "--at", "2h ago")
    assert re.search(r"nothing that is here tells of 20[0-9-]+T[0-9:]+Z", ended.err)


def test_what_if_supposes_the_fleet_as_it_was(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    """Web had 12 replicas three commits ago, of which paris had half."""
    at = fleet.repository.git("rev-parse", "argosy/rendered~2")
    words = ("simulate", "--without-cluster", "paris", "-o", "json")
    then = json.loads(argosy(fleet.repository, capsys, *words, "--at", at).out)
    now = json.loads(argosy(fleet.repository, capsys, *words).out)
    asked = [{each["object"]: each["asked"] for each in found["objects"]} for found in (then, now)]
    assert [each["Deployment.apps shop/web"] for each in asked] == [12, 18]
    page = browser_of(fleet.repository).answered(f"/what-if?without=paris&at={at}").text
    assert "asks for 12" in re.sub("<[^>]+>", "", page)
    assert 'name="at"' in page


def test_the_page_of_a_commit_keeps_the_past_that_one_came_from(fleet: MemoryFleet) -> None:
    at, head = fleet.repository.git("rev-parse", "argosy/rendered~2"), fleet.repository.git("rev-parse", "HEAD")
    page = browser_of(fleet.repository).answered(f"/commits/{head}?at={at}").text
    assert f'href="/overview?at={at}"' in page
    assert "What a commit did is the same at any time" in page


def test_of_a_fleet_of_which_nothing_is_rendered_the_past_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "empty")
    repository.commit({"web.yaml": a_deployment("web")})
    said = "nothing is rendered yet: there is no branch &#39;argosy/rendered&#39;"
    assert said in browser_of(repository).get("/overview?at=HEAD").text
    assert said.replace("&#39;", "'") in argosy(repository, capsys, "status", "--at", "HEAD").err
