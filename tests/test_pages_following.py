"""Newer commits are read ahead; a page of that time is of the commits before, says so, and mixes nothing."""

import io
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.overview.instants import FleetInstant
from reconciler.pages.following import LONGEST_BEHIND, LOOKED_AT, NewestCommits
from reconciler.pages.reader import FleetReader
from reconciler.pages.serving import PageApplication
from reconciler.pages.web_pages import WebPages, read_ahead
from reconciler.run.web.entry import EntryRules
from render.errors import GitError

from .build import a_deployment
from .memory_fleet import MemoryFleet
from .paged import Browser, a_shown_fleet
from .waiting import eventually

OLD, NEW = (FleetInstant(source=each, rendered=each, status=None) for each in ("old", "new"))
SILENT = Log(stream=io.StringIO(), level=ERRORS_ONLY)


class Branches:
    """Branches that stand somewhere, a clock, and what was read; reading waits while ``gate`` is shut."""

    def __init__(self) -> None:
        self.newest, self.time = OLD, 0.0
        self.read: list[str] = []
        self.settled: list[FleetInstant] = []
        self.gate = threading.Event()
        self.gate.set()
        self.commits = NewestCommits(
            find=lambda: self.newest,
            read=self._read,
            settle=self.settled.append,
            log=SILENT,
            clock=lambda: self.time,
        )

    def _read(self, commits: FleetInstant) -> None:
        self.read.append(commits.source)
        assert self.gate.wait(30)

    def shown(self) -> str:
        return self.commits.shown(self.newest).source


@pytest.fixture
def branches() -> Iterator[Branches]:
    made = Branches()
    made.commits.follow()
    eventually(lambda: made.settled == [OLD], "the first commits are read")
    yield made
    made.gate.set()
    made.commits.close()


def test_the_commits_before_are_shown_while_newer_ones_are_read_but_not_for_long(branches: Branches) -> None:
    branches.gate.clear()
    branches.newest = NEW
    assert branches.shown() == "old"
    eventually(lambda: branches.read == ["old", "new"], "the newer commits are being read")
    assert branches.shown() == "old"
    branches.time += LONGEST_BEHIND + 1
    assert branches.shown() == "new"
    branches.gate.set()
    branches.time -= LONGEST_BEHIND
    eventually(lambda: branches.shown() == "new", "the newer commits are shown once they are read")


def test_after_a_while_in_which_nobody_looked_nothing_is_read_ahead_and_a_page_waits_for_the_newest(
    branches: Branches,
) -> None:
    branches.time += LOOKED_AT
    branches.newest = NEW
    assert branches.shown() == "new"
    eventually(lambda: branches.read == ["old", "new"], "it is read ahead again")


def test_commits_that_cannot_be_read_are_shown_with_what_is_wrong_with_them() -> None:
    def refuse(_: FleetInstant) -> None:
        raise GitError("damaged")

    commits = NewestCommits(find=lambda: NEW, read=refuse, settle=lambda _: None, log=SILENT)
    commits.read_newest()
    assert commits.shown(NEW) is NEW


def test_a_bug_in_reading_ahead_is_logged_and_pages_read_for_themselves() -> None:
    def stumble(_: FleetInstant) -> None:
        raise ZeroDivisionError

    stream = io.StringIO()
    commits = NewestCommits(
        find=lambda: OLD, read=stumble, settle=lambda _: None, log=Log(stream=stream, level=ERRORS_ONLY)
    )
    commits.follow()
    eventually(lambda: "ZeroDivisionError" in stream.getvalue(), "the bug is logged")
    assert commits.shown(NEW) is NEW
    commits.close()


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    return a_shown_fleet(tmp_path / "shop")


class Watched:
    """A page over a fleet whose newest commits are followed; reading ahead waits while ``gate`` is shut."""

    def __init__(self, fleet: MemoryFleet) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.reader = FleetReader(str(fleet.repository.path), "shop")
        site = WebPages(fleets=lambda: {"shop": self.reader})
        self.browser = Browser(PageApplication(pages=site, entry=EntryRules(is_local=True), log=SILENT))
        self.reads = 0
        self.reader.follow(self._read)
        eventually(lambda: self.reads == 1, "the first commits are read")

    def shows(self, rendered: str) -> None:
        """Wait until the page is of a rendered commit, and of the newest record of members."""

        def is_shown() -> bool:
            page = self.browser.get("/overview").text
            return commits_named(page) == {rendered} and "Newer commits stand" not in page

        eventually(is_shown, "it is shown")

    def _read(self, reader: FleetReader, commits: FleetInstant) -> None:
        assert self.gate.wait(60)
        read_ahead(reader, commits)
        self.reads += 1


@pytest.fixture
def watched(fleet: MemoryFleet) -> Iterator[Watched]:
    made = Watched(fleet)
    yield made
    made.gate.set()
    made.reader.close()


def commits_named(page: str) -> set[str]:
    """The whole rendered commits that the attributes of a page name as those it is of."""
    return set(re.findall(r'data-rendered="([0-9a-f]{40})"', page))


def test_a_page_that_is_asked_for_while_newer_commits_are_read_is_of_those_before_and_says_so(
    fleet: MemoryFleet, watched: Watched
) -> None:
    git = fleet.repository.git
    before = git("rev-parse", "argosy/rendered")
    assert "Newer commits stand" not in watched.browser.answered("/overview").text
    watched.gate.clear()
    fleet.repository.commit({"web.yaml": a_deployment("web", replicas=18, namespace="shop")}, "Scale web again")
    fleet.run(60)
    newest = git("rev-parse", "argosy/rendered")
    for address in ("/overview", "/objects", "/matrix", "/objects/Deployment.apps/shop/web"):
        page = watched.browser.get(address).text
        assert commits_named(page) == {before}
        assert f"Newer commits stand and are being read, rendered {newest[:12]}" in re.sub("<[^>]+>", "", page)
        assert newest not in page
    assert json.loads(watched.browser.get("/newest").text)["rendered"] == before
    assert json.loads(watched.browser.get("/overview.json").text)["rendered"] == newest
    watched.gate.set()
    watched.shows(newest)
    assert json.loads(watched.browser.get("/newest").text)["rendered"] == newest


def test_nothing_of_commits_that_were_the_newest_is_kept(fleet: MemoryFleet, watched: Watched) -> None:
    watched.browser.answered("/overview?at=HEAD~1")
    for replicas in (18, 21):
        web = a_deployment("web", replicas=replicas, namespace="shop")
        fleet.repository.commit({"web.yaml": web}, f"Scale web to {replicas}")
        fleet.run(60)
        newest = fleet.repository.git("rev-parse", "argosy/rendered")
        watched.shows(newest)
    keys = watched.reader.kept_instants()
    past = fleet.repository.git("rev-parse", "argosy/rendered~3")
    assert {(rendered, bool(now)) for _source, rendered, _status, now in keys} == {(newest, False), (past, True)}
