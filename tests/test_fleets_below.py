"""Two fleets in one repository: a command that shows one and is given none prints a table of both."""

import re
from pathlib import Path
from typing import Any

import pytest

from .build import Ended, Repository, a_cluster, argosy

ERROR = ".: holds 2 fleets: eu, us\n  hint: name one with -C FOLDER\n1 problem; nothing was changed\n"


def a_fleet(name: str) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": name}}


@pytest.fixture
def both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Two fleets, of which one is rendered."""
    repository = Repository.create(tmp_path / "fleets")
    files = {f"{name}/argosy.yaml": a_fleet(name) for name in ("eu", "us")}
    repository.commit({**files, **{f"{name}/c.yaml": a_cluster(f"{name}-1") for name in ("eu", "us")}})
    assert argosy(Repository(repository.path / "eu"), capsys, "reconcile", "--bootstrap").code == 0
    return repository


def without_ages(text: str) -> str:
    return re.sub(" {2,}", "  ", re.sub(r"\b\d+s\b", "AGE", text))


SHOWING = [
    ("status",),
    ("status", "-o", "json"),
    ("overview",),
    ("list", "clusters"),
    ("matrix",),
    ("search", "eu"),
    ("history",),
]


@pytest.mark.parametrize("words", SHOWING, ids=" ".join)
def test_a_command_that_shows_one_fleet_lists_both_before_its_error(
    both: Repository, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    commit = both.git("rev-parse", "argosy-eu/rendered")[:12]
    ended = argosy(both, capsys, *words)
    assert (ended.code, ended.out) == (3, "")
    assert without_ages(ended.err) == (
        "FLEET  FOLDER  RENDERED  AGE  STATE\n"
        f"eu  eu  {commit}  AGE  well\n"
        "us  us  -  -  nothing is rendered yet: there is no branch 'argosy-us/rendered'\n"
    ) + without_ages(ERROR)


def test_a_fleet_whose_source_has_problems_is_listed_with_their_number(
    both: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    both.commit({"us/argosy.yaml": {**a_fleet("us"), "spec": {"nosuch": 1}}})
    assert "us  us  -  -  1 problem\n" in without_ages(argosy(both, capsys, "status").err)


def test_where_one_fleet_is_meant_there_is_no_table(both: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    both.commit({"eu/c.yaml": {**a_cluster("eu-1"), "spec": {}}})
    inside = Repository(both.path / "eu")
    assert "FLEET" not in argosy(inside, capsys, "validate").err
    assert "FLEET" not in argosy(inside, capsys, "status").err


def test_a_report_of_two_fleets_begins_with_a_list_of_both(
    both: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has its first page; one of which nothing is rendered has none, and that is said."""
    target = tmp_path / "report"
    ended = argosy(both, capsys, "report", str(target))
    commit = both.git("rev-parse", "argosy-eu/rendered")[:20]
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "nothing is rendered yet of us, which is left out"
    assert f"as of eu: {commit}\n" in ended.out
    page = (target / "index.html").read_text()
    assert re.findall(r'href="(f/[^"]*)"', page) == ["f/eu/overview.html"]
    assert "<p>nothing is rendered yet of us, which is left out</p>" in page
    assert argosy(Repository(both.path / "us"), capsys, "reconcile", "--bootstrap").code == 0
    assert argosy(both, capsys, "report", str(target)) == Ended(0, words_about_both(both), "")
    first = (target / "index.html").read_text()
    assert re.findall(r'href="(f/[^"]*)"', first) == ["f/eu/overview.html", "f/us/overview.html"]
    assert {each.parent.name for each in target.glob("f/*/overview.html")} == {"eu", "us"}


def words_about_both(both: Repository) -> str:
    commits = {name: both.git("rev-parse", f"argosy-{name}/rendered")[:20] for name in ("eu", "us")}
    return f"a report of 29 pages, as of eu: {commits['eu']}, us: {commits['us']}\n"
