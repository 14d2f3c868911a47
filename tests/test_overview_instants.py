"""Instants of a fleet's past: which commits of the branches stand for a time or a commit."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from reconciler.overview.instants import FleetInstant, instant_meant, recorded_fleet_at
from reconciler.repository import open_repository
from render.errors import UnknownName
from render.timing import epoch_text

from .build import a_deployment, argosy
from .dated_fleet import a_dated_fleet, commit_later, run_until_well, silent_log, tips
from .memory_fleet import MemoryFleet


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """A fleet of two members that runs a Deployment, seen well two minutes after its commit."""
    fleet = a_dated_fleet(tmp_path / "fleet")
    run_until_well(fleet, 0)
    return fleet


def instant(fleet: MemoryFleet, text: str) -> FleetInstant:
    with open_repository(str(fleet.repository.path)) as repository:
        return instant_meant(repository, text)


def change_image(fleet: MemoryFleet) -> None:
    """A second change an hour later, which a pass applies a minute after that."""
    commit_later(fleet, {"web.yaml": a_deployment("web", image="web:2")}, 3600)
    fleet.run(3660)


def test_a_time_means_what_had_been_rendered_and_recorded_by_then(fleet: MemoryFleet) -> None:
    well, at = tips(fleet), fleet.now
    change_image(fleet)
    before = fleet.repository.git("rev-list", "-1", f"--before={int(at) - 60}", "argosy/status")
    assert before != well[1]
    source, newest = (fleet.repository.git("rev-parse", each) for each in ("HEAD~1", "HEAD"))
    then = FleetInstant(source=source, rendered=well[0], status=well[1], now=at, is_past=True)
    assert instant(fleet, epoch_text(at)) == then
    assert instant(fleet, epoch_text(at - 60)) == replace(then, status=before, now=at - 60)
    assert instant(fleet, epoch_text(fleet.now)) == FleetInstant(
        source=newest, rendered=tips(fleet)[0], status=tips(fleet)[1], now=fleet.now
    )


def test_a_commit_means_the_last_moment_at_which_it_was_the_newest(fleet: MemoryFleet) -> None:
    well, source, at = tips(fleet), fleet.repository.git("rev-parse", "HEAD"), fleet.now
    want = FleetInstant(source=source, rendered=well[0], status=well[1], now=at)
    assert instant(fleet, well[0]) == instant(fleet, source) == want
    change_image(fleet)
    want = replace(want, now=at + 3600, is_past=True)
    assert instant(fleet, well[0]) == instant(fleet, source) == want


def test_the_fleet_of_a_moment_is_the_one_that_its_commits_tell_of(fleet: MemoryFleet) -> None:
    well = tips(fleet)
    change_image(fleet)
    with open_repository(str(fleet.repository.path)) as repository:
        past = recorded_fleet_at(repository, silent_log(fleet), well[0])
        now = recorded_fleet_at(repository, silent_log(fleet), clock=lambda: fleet.now)
    assert (past.fleet.previous.commit, past.status_commit) == well
    assert {name: each.is_applied for name, each in past.progress.items()} == {"oslo": True, "paris": True}
    assert (now.fleet.previous.commit, now.status_commit) == tips(fleet)


def test_status_tells_of_the_past_what_it_told_then(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    change_image(fleet)
    told = [
        json.loads(argosy(fleet.repository, capsys, "status", "-o", "json", *options).out)
        for options in (["--at", epoch_text(fleet.now - 3660)], [])
    ]
    assert [(each["rendered"], each["source"]) for each in told] == [
        (fleet.repository.git("rev-parse", f"argosy/rendered{back}"), fleet.repository.git("rev-parse", f"HEAD{back}"))
        for back in ("~1", "")
    ]
    ended = argosy(fleet.repository, capsys, "status", "--at", "HEAD", "--watch")
    assert (ended.code, ended.out) == (2, "")
    assert "--at goes without --watch: what was does not change" in ended.err


def test_of_a_time_before_everything_it_is_said_since_when_something_is_known(fleet: MemoryFleet) -> None:
    with pytest.raises(UnknownName) as raised:
        instant(fleet, "1999-01-01T00:00:00Z")
    first = epoch_text(fleet.now - 120)
    assert str(raised.value) == (
        f"nothing that is here tells of 1999-01-01T00:00:00Z: the first rendered commit that is here is of {first}"
    )


def test_what_is_no_time_and_no_commit_is_said_to_be_none(fleet: MemoryFleet) -> None:
    with pytest.raises(Exception, match="last tuesday"):
        instant(fleet, "last tuesday")
