"""Since when conditions are false: the commits that led to it, as far back as they are here."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.reading import read_previous
from reconciler.repository import open_repository
from reconciler.status.fault_times import times_of_faults
from render.model import ObjectRef
from render.timing import instant_text

from .backtesting import commit_at
from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

BEGIN = datetime(2026, 3, 1, 8, tzinfo=UTC)
WEB = ObjectRef("apps", "Deployment", "default", "web")
NOWHERE = {"clusterAffinity": {"labelSelector": {"matchLabels": {"stage": "none"}}}}


def hour(number: int) -> str:
    return instant_text(BEGIN + timedelta(hours=number))


@pytest.fixture
def fleet(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


def placed(placement: Mapping[str, Any]) -> dict[str, Any]:
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    return {
        "oslo.yaml": a_cluster("oslo"),
        "web.yaml": a_deployment("web", replicas=1),
        "policy.yaml": a_policy("web", selectors=selectors, placement=dict(placement)),
    }


def passes(fleet: Repository, capsys: pytest.CaptureFixture[str], *steps: Mapping[str, Any]) -> None:
    """Render sources one after the other, one an hour; something else changes with each."""
    for number, files in enumerate(steps):
        other = a_deployment("other", replicas=number, namespace="shop")
        commit_at(fleet, {**files, "other.yaml": other}, BEGIN + timedelta(hours=number))
        argosy(fleet, capsys, "render", "--commit", *(["--bootstrap"] if not number else []), "--allow-removal", "*=9")


def times(path: Path, ref: str = "refs/heads/argosy/rendered") -> Mapping[tuple[ObjectRef, str], str]:
    with open_repository(str(path)) as repository:
        tip = repository.tip(ref)
        assert tip is not None
        return times_of_faults(repository, tip, read_previous(repository, tip).bindings.values())


HISTORIES: Mapping[str, tuple[tuple[Mapping[str, Any], ...], Mapping[tuple[ObjectRef, str], str]]] = {
    "nothing is at fault": ((placed(on_clusters("oslo")), {}), {}),
    "from the first on": ((placed(NOWHERE), {}, {}), {(WEB, "Scheduled"): hour(0)}),
    "since a policy led to it": ((placed(on_clusters("oslo")), {}, placed(NOWHERE), {}), {(WEB, "Scheduled"): hour(2)}),
    "once more, after it was well": (
        (placed(NOWHERE), placed(on_clusters("oslo")), placed(NOWHERE), {}),
        {(WEB, "Scheduled"): hour(2)},
    ),
}


@pytest.mark.parametrize("why", HISTORIES)
def test_a_condition_is_false_since_the_commit_that_led_to_it(
    why: str, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    steps, expected = HISTORIES[why]
    passes(fleet, capsys, *steps)
    assert times(fleet.path) == expected


def test_where_history_is_cut_off_nobody_says_that_it_began_there(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passes(fleet, capsys, placed(NOWHERE), {}, {})
    clone = tmp_path / "clone"
    fleet.git("clone", "-q", "--depth", "1", "--branch", "argosy/rendered", f"file://{fleet.path}", str(clone))
    assert times(clone) == {}
