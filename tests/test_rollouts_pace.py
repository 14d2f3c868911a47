"""The controller looks at members soon while something of a rollout hangs on them, by what each pass reports."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.passes.options import ReconcileOptions
from reconciler.passes.reconcile_pass import reconcile_fleet
from reconciler.passes.result import PassResult
from reconciler.repository import open_repository

from .rolling import a_control, a_wave, web
from .served_rollouts import ServedRollouts, served_rollouts
from .test_rollouts_members import sicken

LATER = datetime(2099, 1, 1, tzinfo=UTC)


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[ServedRollouts]:
    with served_rollouts(tmp_path, capsys) as served:
        yield served


def waits_for_clusters(fleet: ServedRollouts, now: datetime | None = None) -> bool:
    """Run a pass, and say whether its result asks for the next one soon."""
    log = Log(stream=io.StringIO(), level=ERRORS_ONLY)
    with open_repository(str(fleet.repository.path)) as repository:
        result = reconcile_fleet(repository, ReconcileOptions(now=now), log, lambda _result: None)
    assert isinstance(result, PassResult)
    return result.waits_for_clusters


def test_clusters_that_were_given_a_change_are_looked_at_until_it_is_over(fleet: ServedRollouts) -> None:
    fleet.begin()
    assert not waits_for_clusters(fleet)
    fleet.repository.commit({"web.yaml": web(2)})
    seen = []
    for _ in range(4):
        seen.append((waits_for_clusters(fleet), fleet.live()))
        fleet.settle()
    assert seen == [(True, "211"), (True, "221"), (True, "222"), (False, "222")]


def test_clusters_that_went_back_are_looked_at_until_they_are_well_again(fleet: ServedRollouts) -> None:
    fleet.begin(gate={"deadline": "10m"}, onFailure="Rollback")
    fleet.repository.commit({"web.yaml": web(2)})
    sicken(fleet.members["oslo"])
    assert waits_for_clusters(fleet)
    assert (waits_for_clusters(fleet, LATER), fleet.live(), fleet.state()["phase"]) == (True, "111", "Held")
    assert waits_for_clusters(fleet, LATER), "oslo has version 1, and is not well with it"
    fleet.settle()
    waits_for_clusters(fleet, LATER)
    assert not waits_for_clusters(fleet, LATER)
    assert fleet.state()["phase"] == "Held"


@pytest.mark.parametrize("stop", ["approval", "pause"])
def test_stragglers_are_looked_at_while_the_others_wait_for_a_person(fleet: ServedRollouts, stop: str) -> None:
    canary = a_wave("canary", "oslo", "paris", gate={"share": 1, "deadline": "10m"})
    fleet.begin(waves=[canary, a_wave("rest", **({"approval": True} if stop == "approval" else {}))])
    fleet.repository.commit({"web.yaml": web(2)})
    assert waits_for_clusters(fleet)
    if stop == "pause":
        fleet.repository.commit({"pause.yaml": a_control("pause", change=fleet.state()["change"], verb="Pause")})
    sicken(fleet.members["paris"])
    fleet.settle("oslo")
    waits_for_clusters(fleet)
    assert (waits_for_clusters(fleet), fleet.live()) == (True, "221"), "paris can still come through, or fail"
    fleet.settle()
    waits_for_clusters(fleet)
    assert (waits_for_clusters(fleet), fleet.live()) == (False, "221")
