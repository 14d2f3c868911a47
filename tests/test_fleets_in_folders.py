"""Two fleets in folders of one repository: what is committed outside the folder of one is nothing to it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.source_commits import FleetFolder
from reconciler.repository import open_repository

from .build import Repository, a_cluster, a_deployment, a_policy, argosy
from .paged import browser_of

DEPLOYMENTS = [{"apiVersion": "apps/v1", "kind": "Deployment"}]


def _files_of_fleet(name: str, **files: Any) -> dict[str, Any]:
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": name}}
    every = {
        "argosy.yaml": settings,
        "oslo.yaml": a_cluster("oslo"),
        "policy.yaml": a_policy("web", selectors=DEPLOYMENTS, placement={}),
        "web.yaml": a_deployment("web", image="web:1"),
        **files,
    }
    return {f"teams/{name}/{path}": each for path, each in every.items()}


class Fleets:
    """A repository with the fleets ``shop`` and ``bank``, each rendered once."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.repository = Repository.create(path)
        self.capsys = capsys
        self.repository.commit({**_files_of_fleet("shop"), **_files_of_fleet("bank")}, "Begin")
        for name in ("shop", "bank"):
            self.render(name, "--bootstrap")

    def argosy(self, name: str, *words: str) -> str:
        return argosy(Repository(self.repository.path / "teams" / name), self.capsys, *words).out

    def render(self, name: str, *options: str) -> None:
        self.argosy(name, "render", "--commit", *options)

    def edit(self, name: str, version: int, subject: str) -> str:
        web = a_deployment("web", image=f"web:{version}")
        self.repository.commit({f"teams/{name}/web.yaml": web}, subject)
        return self.repository.git("rev-parse", "HEAD")

    def overview(self, name: str) -> Any:
        return json.loads(self.argosy(name, "overview", "--losses", "known", "-o", "json"))


@pytest.fixture
def fleets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleets:
    return Fleets(tmp_path / "fleets", capsys)


def subjects(rows: list[dict[str, Any]]) -> list[str]:
    return [each["subject"] for each in rows]


def test_a_difference_names_the_files_of_its_own_fleet_alone(fleets: Fleets) -> None:
    fleets.repository.commit(
        {f"{folder}notes.txt": "x" for folder in ("", "teams/shop/", "teams/bank/")}, "Write notes"
    )
    said = fleets.argosy("shop", "diff", "HEAD~1", "HEAD")
    assert said.endswith(
        "no difference in any cluster, 1 file of the source differs\n\nSOURCE\n  + teams/shop/notes.txt\n"
    )


def test_a_commit_outside_the_folder_of_a_fleet_is_no_commit_of_it(fleets: Fleets) -> None:
    fleets.edit("shop", 2, "Give the shop an image")
    outside = fleets.edit("bank", 2, "Give the bank an image")
    fleets.repository.commit({"teams/shop/note.md": "nothing that is rendered\n"}, "Write a note")
    found = fleets.overview("shop")
    assert subjects(found["unrenderedCommits"]) == ["Write a note", "Give the shop an image"]
    browser = browser_of(Repository(fleets.repository.path / "teams" / "shop"))
    for address in ("/overview", "/changes"):
        assert "Give the bank" not in browser.answered(address).text
    page = re.sub("<[^>]+>", "", browser.answered(f"/commits/{outside}").text)
    assert "nothing: it changes nothing in teams/shop, the folder of this fleet" in page


def test_a_change_is_told_by_the_commit_that_is_about_the_fleet_and_not_by_a_later_one_outside(fleets: Fleets) -> None:
    fleets.edit("shop", 2, "Give the shop an image")
    outside = fleets.edit("bank", 2, "Give the bank an image")
    fleets.render("shop")
    newest, _first = fleets.overview("shop")["changes"]
    assert (newest["subject"], newest["source"], newest["newSource"]) == ("Give the shop an image", outside, True)


def test_a_pass_over_what_was_committed_outside_is_one_over_the_same_source(fleets: Fleets) -> None:
    """It commits nothing here, unless facts or a rule of time ask for something else meanwhile."""
    before = fleets.repository.git("rev-parse", "HEAD")
    outside = fleets.edit("bank", 2, "Give the bank an image")
    inside = fleets.edit("shop", 2, "Give the shop an image")
    found = {}
    for name in ("shop", "bank"):
        with open_repository(str(fleets.repository.path / "teams" / name)) as repository:
            folder = FleetFolder(repository, inside)
            found[name] = folder.path, folder.differs(before, outside), folder.differs(outside, inside)
    assert found == {"shop": ("teams/shop", False, True), "bank": ("teams/bank", True, False)}


def test_a_fleet_that_is_the_whole_repository_has_every_commit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    files = _files_of_fleet("shop")
    repository.commit({path.removeprefix("teams/shop/"): each for path, each in files.items()})
    argosy(repository, capsys, "render", "--commit", "--bootstrap")
    repository.commit({"docs/note.md": "nothing that is rendered\n"}, "Write a note")
    found = json.loads(argosy(repository, capsys, "overview", "--losses", "known", "-o", "json").out)
    assert subjects(found["unrenderedCommits"]) == ["Write a note"]
