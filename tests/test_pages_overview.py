"""The first page: how old what it goes by is, and every change of the source of late."""

import re
import time
from pathlib import Path

import pytest

from reconciler.cli import run
from reconciler.overview.survival import Survival
from reconciler.overview.text import words_of_survival
from render.timing import epoch_text

from .build import a_deployment, argosy
from .paged import a_shown_fleet, browser_of, links_of


def words_of(page: str) -> str:
    """The text of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


def test_what_silent_clusters_have_to_run_on_for_is_not_shown_as_survived(tmp_path: Path) -> None:
    """Oregon is silent, and whatever is lost, what it holds is taken to run."""
    fleet = a_shown_fleet(tmp_path / "shop")
    fleet.run(60)
    page = browser_of(fleet.repository).answered("/overview").text
    lamps = re.findall(r'<li class="lamp (\w+)">(.*?)</li>', page, re.DOTALL)
    found = [(state, words_of(words).strip()) for state, words in lamps if "room to lose" in words]
    assert found == [
        ("unknown", "Yes room to lose any cluster, with silent ones counted on"),
        ("unwell", "No room to lose any region"),
    ]
    assert '<svg class="mark unknown"' in page.partition('id="survives"')[2].partition("There is room")[0]


@pytest.mark.parametrize(
    ("assumptions", "said"),
    [((), "any cluster: yes, none"), (("oregon",), "any cluster: yes if silent clusters run on, none")],
)
def test_the_text_of_the_overview_says_so_in_the_answer(assumptions: tuple[str, ...], said: str) -> None:
    survival = Survival(by="cluster", asked_at="2027-01-15T08:00:00Z", losses=4, assumptions=assumptions)
    assert words_of_survival(survival) == f"{said} of 4 losses breaks anything"


def test_the_overview_counts_what_is_held_back_or_meant_for_no_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Deployment of the fleet is selected by no policy, and all its objects are told of."""
    fleet = a_shown_fleet(tmp_path / "shop")
    page = browser_of(fleet.repository).answered("/overview").text
    assert "1 held back or meant for no cluster ." in words_of(page)
    assert "/objects?state=Waiting" in links_of(page)
    said = "1 object is held back or meant for no cluster: argosy list objects --state Waiting"
    assert said in argosy(fleet.repository, capsys, "overview").out


def test_of_clusters_that_are_behind_it_is_said_that_no_pass_got_through(tmp_path: Path) -> None:
    """A commit is rendered an hour after the last look, and no pass runs any more."""
    fleet = a_shown_fleet(tmp_path / "shop", time.time() - 4 * 3600)
    fleet.repository.commit({"api.yaml": a_deployment("api", replicas=5, namespace="shop")}, "More of api")
    at = epoch_text(int(fleet.now) + 3600)
    assert run(["-q", "-C", str(fleet.repository.path), "render", "--commit", "--now", at]) == 0
    page = words_of(browser_of(fleet.repository).answered("/overview").text)
    assert "No pass has got through since to 3 clusters that are behind." in page
    assert "nothing changed in them" not in page


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
