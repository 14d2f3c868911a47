"""Attempts are on the status branch before the first write, and looking for them again costs little."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from reconciler.branches.publication import Publication
from reconciler.branches.status_branch import StatusBranch, read_inventories
from reconciler.deliver.attempts import FRESH_SECONDS, AttemptRecord
from reconciler.ledger.holds import RELEASED, ClusterHold, HoldRules
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.exchange import Failure, FailureKind
from reconciler.repository import open_repository

from .build import Repository
from .waiting import eventually, joined

SINCE = "2027-01-15T08:00:00Z"
COMMIT, OTHER = "c0ffee" + 34 * "0", "beef" + 36 * "0"


class Hour:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def status(tmp_path: Path) -> Iterator[StatusBranch]:
    with open_repository(str(Repository.create(tmp_path / "fleet").path)) as repository:
        yield StatusBranch(publication=Publication(repository=repository), branch="argosy/status")


def recorded(status: StatusBranch, clock: Hour) -> AttemptRecord:
    attempts = AttemptRecord(status=status, hold_rules=HoldRules(commit=COMMIT), now=1_800_000_000, clock=clock)
    attempts.record({"eu": "uid-eu"})
    return attempts


def test_what_was_announced_a_moment_ago_is_not_looked_up_again(status: StatusBranch) -> None:
    clock = Hour()
    attempts, tip = recorded(status, clock), status.tip()
    clock.now = FRESH_SECONDS - 1
    other_pass_converges(status)
    attempts.ensure_recorded("eu", "uid-eu", COMMIT)
    assert read_inventories(status, status.tip())["eu"].attempted == ()
    assert status.tip() != tip


def test_a_cluster_that_answered_late_is_announced_by_itself(status: StatusBranch) -> None:
    attempts = recorded(status, Hour())
    attempts.ensure_recorded("us", "uid-us", COMMIT)
    assert read_inventories(status, status.tip()) == {
        "eu": Inventory(cluster="eu", uid="uid-eu", attempted=(COMMIT,)),
        "us": Inventory(cluster="us", uid="uid-us", attempted=(COMMIT,)),
    }


def test_an_attempt_that_another_pass_forgot_is_written_down_again(status: StatusBranch) -> None:
    clock = Hour()
    attempts = recorded(status, clock)
    other_pass_converges(status)
    clock.now = FRESH_SECONDS
    attempts.ensure_recorded("eu", "uid-eu", COMMIT)
    assert read_inventories(status, status.tip()) == {
        "eu": Inventory(cluster="eu", uid="uid-eu", converged=OTHER, attempted=(COMMIT,))
    }


def test_one_that_a_pass_elsewhere_forgot_is_written_down_again(tmp_path: Path) -> None:
    """The remote is asked anew for that; one that does not answer meanwhile keeps nobody from going on."""
    hub = Repository.create(tmp_path / "hub.git", bare=True)
    clones = [Repository.create(tmp_path / name) for name in ("ours", "theirs")]
    for clone in clones:
        clone.git("remote", "add", "origin", str(hub.path))
    opened = (open_repository(str(clone.path)) for clone in clones)
    publications = (Publication(repository=each, remote="origin") for each in opened)
    ours, theirs = (StatusBranch(publication=each, branch="argosy/status") for each in publications)
    clock = Hour()
    attempts = recorded(ours, clock)
    other_pass_converges(theirs)
    clock.now = FRESH_SECONDS
    hub.path.rename(tmp_path / "away")
    attempts.ensure_recorded("eu", "uid-eu", COMMIT)
    (tmp_path / "away").rename(hub.path)
    clock.now = 2 * FRESH_SECONDS
    attempts.ensure_recorded("eu", "uid-eu", COMMIT)
    theirs.ask_remote_again()
    assert read_inventories(theirs, theirs.tip()) == {
        "eu": Inventory(cluster="eu", uid="uid-eu", converged=OTHER, attempted=(COMMIT,))
    }


def test_clusters_that_come_while_a_commit_is_made_share_the_next_one(status: StatusBranch) -> None:
    attempts, names = recorded(status, Hour()), [f"late-{number}" for number in range(8)]
    threads = [threading.Thread(target=attempts.ensure_recorded, args=(name, f"uid-{name}", COMMIT)) for name in names]
    with attempts.turn:
        for thread in threads:
            thread.start()
        eventually(lambda: attempts.wanted.keys() >= set(names), "all that want to be recorded")
    joined(*threads)
    known = read_inventories(status, status.tip())
    assert {name: known[name].attempted for name in names} == dict.fromkeys(names, (COMMIT,))
    (first,) = status.repository.commit_info(str(status.tip())).parents
    assert status.repository.commit_info(first).parents == ()


def other_pass_converges(status: StatusBranch) -> None:
    before = read_inventories(status, status.tip())["eu"]
    after = before.inventory_after_apply(OTHER, ApplyOutcome.CONVERGED, ())
    status.commit(lambda _tip: {Inventory.at("eu"): after.content()}, "Apply", time=1_800_000_001)


def test_a_pass_that_a_hold_overtook_is_to_write_nothing(status: StatusBranch) -> None:
    """Somebody went back while it was at work; its plan is for the commit that is kept out now."""
    source, hold = "50ce" + 36 * "0", ClusterHold(commit=OTHER, source="50ce" + 36 * "0", by="Ada", since=SINCE)
    clock = Hour()
    attempts = AttemptRecord(
        status=status, hold_rules=HoldRules(commit=COMMIT, source=source), now=1_800_000_000, clock=clock
    )
    attempts.record({"eu": "uid-eu"})
    held = HoldRules(commit=OTHER, source=source, set_for=frozenset({"eu"}), hold=hold)
    AttemptRecord(status=status, hold_rules=held, now=1_800_000_001).record({"eu": "uid-eu"})
    clock.now = FRESH_SECONDS
    failure = attempts.ensure_recorded("eu", "uid-eu", COMMIT)
    assert failure == Failure(
        kind=FailureKind.HELD,
        message=f"'eu' is held at {OTHER[:12]} by Ada since {SINCE}, which was said after this pass had begun: nothing"
        " was written",
        hint="the next pass goes by it",
    )
    assert attempts.ensure_recorded("eu", "uid-eu", OTHER) is None
    known = read_inventories(status, status.tip())["eu"]
    assert (known.hold, known.attempted) == (hold, (COMMIT, OTHER))


def test_a_hold_is_over_with_the_attempt_at_a_commit_of_another_source(status: StatusBranch) -> None:
    """It is taken away in the commit that records the attempt, and one whose UID is not known yet may be held."""
    hold = ClusterHold(commit=OTHER, source="50ce" + 36 * "0", by="Ada", since=SINCE)
    held = HoldRules(commit=OTHER, source=hold.source, set_for=frozenset({"eu", "us"}), hold=hold)
    AttemptRecord(status=status, hold_rules=held, now=1_800_000_000).record({"eu": "uid-eu"})
    assert read_inventories(status, status.tip()) == {
        "eu": Inventory(cluster="eu", uid="uid-eu", attempted=(OTHER,), hold=hold),
        "us": Inventory(cluster="us", hold=hold),
    }
    other = "beef" + 36 * "0"
    for source, until, now, left in (
        (hold.source, "", "", True),
        (other, "", "", False),
        (hold.source, "2027-01-15T09:00:00Z", "2027-01-15T08:59:59Z", True),
        (other, "2027-01-15T09:00:00Z", "2027-01-15T08:59:59Z", True),
        (hold.source, "2027-01-15T09:00:00Z", "2027-01-15T09:00:00Z", False),
        (other, "2027-01-15T09:00:00Z", "2027-01-15T09:00:00Z", False),
        (hold.source, RELEASED, "2999-01-15T09:00:00Z", True),
        (other, RELEASED, "2999-01-15T09:00:00Z", True),
    ):
        rules, known = HoldRules(commit=COMMIT, source=source, now=now), replace(hold, until=until)
        assert (rules.hold_after("eu", known) is not None) is left
        assert (rules.ended_hold("eu", known) is None) is left
        assert rules.commit_for("eu", known) == (OTHER if left else COMMIT)
    newer = HoldRules(commit=COMMIT, source="beef" + 36 * "0")
    AttemptRecord(status=status, hold_rules=newer, now=1_800_000_000).record({"eu": "uid-eu"})
    assert read_inventories(status, status.tip())["eu"].hold is None
