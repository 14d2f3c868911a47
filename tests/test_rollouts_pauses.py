"""Pauses at once: a record of the status branch that keeps a change from going on, and that a replay goes by."""

from pathlib import Path

import pytest

from .build import Repository, a_cluster, a_policy, argosy, on_clusters, weighted
from .rolling import WEB, a_rollout_policy, a_wave, web
from .test_rollouts_approvals import yaml_of

NOW = ("--now", "2026-03-01T09:00:00Z")


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A change that has begun in the first of two waves, of which nobody is asked."""
    repository = Repository.create(tmp_path / "fleet")
    waves = [a_wave("canary", "oslo", allowEmpty=True, approval=True), a_wave("rest", allowEmpty=True)]
    repository.commit(
        {
            **{f"clusters/{name}.yaml": a_cluster(name) for name in ("oslo", "paris")},
            "web.yaml": web(1, replicas=4),
            "policy.yaml": a_policy(
                "web", selectors=[WEB], placement=on_clusters(replicaScheduling=weighted(oslo=1, paris=1))
            ),
            "rollout.yaml": a_rollout_policy(waves=waves),
        }
    )
    argosy(repository, capsys, "reconcile", "--bootstrap", *NOW)
    repository.commit({"web.yaml": web(2, replicas=4)})
    argosy(repository, capsys, "reconcile", *NOW)
    return repository


def phase(fleet: Repository) -> str:
    return str(yaml_of(fleet.show("rollouts/default/web.yaml"))["phase"])


def test_a_pause_at_once_needs_no_change_of_the_source(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    source, change = fleet.git("rev-parse", "HEAD"), yaml_of(fleet.show("rollouts/default/web.yaml"))["change"]
    paused = argosy(fleet, capsys, "rollout", "pause", "--now", "--reason", "orders are lost")
    assert (paused.code, paused.out) == (
        0,
        f"RolloutPolicy default/web is paused for change {change}, from the next pass on\nnext:\n  argosy reconcile\n",
    )
    assert fleet.git("rev-parse", "HEAD") == source
    assert fleet.git("status", "--porcelain") == ""
    argosy(fleet, capsys, "reconcile", *NOW)
    state = yaml_of(fleet.show("rollouts/default/web.yaml"))
    assert (state["phase"], state["reason"]) == ("Paused", "PausedByControl")
    assert argosy(fleet, capsys, "verify").code == 0
    assert argosy(fleet, capsys, "rollout", "approve", "--commit").code == 0
    argosy(fleet, capsys, "reconcile", *NOW)
    assert phase(fleet) == "Paused"


def test_a_commit_that_went_by_a_pause_is_replayed_by_what_it_records(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status branch has forgotten the pause by then."""
    argosy(fleet, capsys, "rollout", "pause", "--now")
    argosy(fleet, capsys, "reconcile", *NOW)
    paused = fleet.git("rev-parse", "argosy/rendered")
    assert argosy(fleet, capsys, "rollout", "resume", "--now").code == 0
    argosy(fleet, capsys, "reconcile", *NOW)
    assert phase(fleet) == "Waiting"
    assert argosy(fleet, capsys, "verify", paused).code == 0
    assert argosy(fleet, capsys, "verify").code == 0
    assert "facts/_pauses.yaml" in fleet.files(paused)
    assert "facts/_pauses.yaml" not in fleet.files("argosy/rendered")


def test_a_pause_at_once_is_of_one_change(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(fleet, capsys, "rollout", "pause", "--now")
    fleet.commit({"web.yaml": web(3, replicas=4)})
    argosy(fleet, capsys, "reconcile", *NOW)
    assert phase(fleet) == "Waiting"


def test_a_pause_in_the_source_is_not_ended_by_a_record(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(fleet, capsys, "rollout", "pause", "--commit")
    argosy(fleet, capsys, "reconcile", *NOW)
    refused = argosy(fleet, capsys, "rollout", "resume", "--now")
    assert (refused.code, "nobody has paused RolloutPolicy default/web with --now" in refused.err) == (3, True)
    assert phase(fleet) == "Paused"


def test_no_file_is_shown_of_what_writes_none(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(fleet, capsys, "rollout", "pause", "--now", "--commit").code == 2
