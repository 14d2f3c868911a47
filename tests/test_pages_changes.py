"""Every commit of the source can be found: what rendered nothing for itself has a row, and says what became of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from render.timing import epoch_text

from .build import a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .dated_fleet import a_dated_fleet, commit_later, run_until_well, tips
from .memory_fleet import MemoryFleet
from .paged import browser_of, links_of
from .rolling import a_rollout_policy, a_wave
from .test_survey_pages import command_of

SHOP = [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop"}]


def api(version: int) -> dict[str, Any]:
    return a_deployment("api", namespace="shop", image=f"api:{version}")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> MemoryFleet:
    """A fleet with a commit that rendered nothing, one that is part of a later one, and one that waits for a wave."""
    waves = [a_wave("canary", "oslo", approval=True), a_wave("rest")]
    policy = a_rollout_policy("api", waves=waves, selectors=SHOP)
    policy["metadata"]["namespace"] = "shop"
    placed = a_policy("api", namespace="shop", selectors=SHOP, placement={})
    files = {"rollout.yaml": policy, "placed.yaml": placed, "api.yaml": api(1)}
    fleet = a_dated_fleet(tmp_path_factory.mktemp("changes") / "fleet", files)
    run_until_well(fleet, 0)
    cordoned = a_cluster("paris", taints=[{"key": "maintenance", "effect": "NoSchedule"}])
    commit_later(fleet, {"clusters/paris.yaml": cordoned}, 60, "Cordon paris")
    fleet.run(120)
    commit_later(fleet, {"web.yaml": a_deployment("web", image="web:2")}, 60, "Give web an image")
    fleet.run(120)
    commit_later(fleet, {"api.yaml": api(2)}, 60, "Give api an image")
    fleet.run(120)
    commit_later(fleet, {"alone.yaml": a_config_map("alone")}, 60, "Add what no policy selects")
    fleet.run(120)
    return fleet


def words_of(page: str) -> str:
    """The text of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


def commit_of(fleet: MemoryFleet, subject: str) -> str:
    return fleet.repository.git("log", "--format=%H", "--fixed-strings", f"--grep={subject}", "main")


@pytest.mark.parametrize("address", ["/overview", "/changes", "/changes?cluster=paris"])
def test_a_commit_that_rendered_nothing_for_itself_has_a_row(address: str, fleet: MemoryFleet) -> None:
    page = browser_of(fleet.repository).answered(address).text
    said = words_of(page).partition("Committed, and nothing rendered for it alone")[2]
    for subject in ("Cordon paris", "Add what no policy selects"):
        assert subject in said
        assert f"/commits/{commit_of(fleet, subject)}" in links_of(page)
    assert re.search(r"Cordon paris Ada: in [0-9a-f]{12} ?, which a later commit was rendered as", said)
    assert "Add what no policy selects Ada: it asks for the same as what is rendered" in said


def test_the_page_of_a_commit_says_that_a_later_one_contains_it(fleet: MemoryFleet) -> None:
    browser = browser_of(fleet.repository)
    said = words_of(browser.answered(f"/commits/{commit_of(fleet, 'Cordon paris')}").text)
    assert "nothing for itself; it is in" in said
    assert "not rendered, as far as is known here" not in said
    same = words_of(browser.answered(f"/commits/{commit_of(fleet, 'Add what no policy selects')}").text)
    assert "nothing for itself: it asks for the same as what is rendered" in same


def test_a_commit_that_waits_for_a_wave_says_so(fleet: MemoryFleet) -> None:
    browser = browser_of(fleet.repository)
    for address in (f"/commits/{commit_of(fleet, 'Give api an image')}", "/overview", "/changes"):
        assert "waits for an approval of wave canary" in words_of(browser.answered(address).text), address
    said = words_of(browser.answered(f"/commits/{commit_of(fleet, 'Give api an image')}").text)
    assert "It moved and changed no object." not in said


def test_the_overview_on_a_terminal_names_them_as_well(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    said = argosy(fleet.repository, capsys, "overview", "--losses", "known", "--at", tips(fleet)[0]).out
    assert "'Cordon paris': nothing rendered for itself; it is in" in said


def test_a_commit_that_is_rendered_and_changes_no_object_has_a_row(fleet: MemoryFleet) -> None:
    """Its rollout has given it to no cluster yet; the timeline has no entry of it."""
    browser = browser_of(fleet.repository)
    page = browser.answered("/changes").text
    assert "1 more was rendered and changed no object." in words_of(page)
    before, _, said = words_of(page).partition("Rendered, and no object changed")
    said = said.partition("Committed, and nothing rendered for it alone")[0]
    assert "Give api an image Ada:" in said
    assert "Give web an image" not in said
    assert "Give web an image Ada 1 object in 2 clusters 1 edited SourceEdited" in before
    assert f"/commits/{commit_of(fleet, 'Give api an image')}" in links_of(page)


def test_the_page_of_a_commit_that_edits_an_object_where_it_is_names_it(fleet: MemoryFleet) -> None:
    """It was said to have moved and changed no object."""
    page = browser_of(fleet.repository).answered(f"/commits/{commit_of(fleet, 'Give web an image')}").text
    image = "spec.template.spec.containers[web].image"
    assert f"Deployment default/ web 1 field in oslo, paris: {image} the source was edited" in words_of(page)
    assert "It moved and changed no object." not in words_of(page)
    assert "/objects/Deployment.apps/default/web" in links_of(page)


def test_the_document_of_a_commit_has_the_events_of_that_commit_alone(
    fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    browser = browser_of(fleet.repository)
    for subject, why in (
        ("Cordon paris", "which a later commit was rendered as"),
        ("Add what no policy selects", "it asks for the same as what is rendered"),
    ):
        unrendered = browser.get(f"/commits/{commit_of(fleet, subject)}.json")
        problem = json.loads(unrendered.text)
        assert (unrendered.code, problem["kind"]) == (404, "Problem")
        assert problem["message"].startswith(
            f"nothing was rendered for source commit {commit_of(fleet, subject)} itself: "
        )
        assert problem["message"].endswith(why)
    still = json.loads(browser.get(f"/commits/{commit_of(fleet, 'Give api an image')}.json").text)
    assert (still["events"], still["hasMore"]) == ([], True)
    first = fleet.repository.git("rev-list", "--max-parents=0", "argosy/rendered")
    shown = json.loads(browser.get(f"/commits/{first}.json").text)
    assert {each["commit"] for each in shown["events"]} == {first}
    printed = argosy(fleet.repository, capsys, *command_of(browser.get(f"/commits/{first}").text)).out
    assert shown == json.loads(printed)


def test_a_difference_in_no_cluster_names_the_files_that_differ(fleet: MemoryFleet) -> None:
    cordon = commit_of(fleet, "Cordon paris")
    said = words_of(browser_of(fleet.repository).answered(f"/diff?base={cordon}~1&head={cordon}").text)
    assert "no difference in any cluster, 1 file of the source differs" in said
    assert "No cluster gets anything otherwise by it. changed clusters/paris.yaml" in said
    image = commit_of(fleet, "Give web an image")
    said = words_of(browser_of(fleet.repository).answered(f"/diff?base={image}~1&head={image}").text)
    assert "1 object changed" in said
    assert "No cluster gets anything otherwise" not in said


def test_an_object_that_finds_no_place_is_in_no_cluster(tmp_path: Path) -> None:
    placed = a_policy("lost", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("nowhere"))
    fleet = a_dated_fleet(tmp_path / "fleet", {})
    run_until_well(fleet, 0)
    commit_later(fleet, {"lost.yaml": a_config_map("lost"), "placed.yaml": placed}, 60, "Add what finds no place")
    fleet.run(120)
    assert "1 object in no cluster" in words_of(browser_of(fleet.repository).answered("/changes").text)
    [lost] = [
        each
        for each in json.loads(browser_of(fleet.repository).get("/objects.json").text)["objects"]
        if each["object"] == "ConfigMap default/lost"
    ]
    assert (lost["state"], lost["reason"], lost["since"]) == (
        "Unwell",
        "NoClusterFit",
        epoch_text(int(fleet.repository.git("log", "-1", "--format=%ct"))),
    )
