"""A pass that is killed, or finds no space or no right to write, leaves branches old or new, and the next one goes on.

``python -m tests.bench interrupted`` does it over 200 clusters and 200 templates, 200 times.
"""

import argparse
from pathlib import Path

import pytest

from .bench.interrupted import InterruptedFleet, in_folder, on_a_small_disk
from .test_run_full_disk import has_namespaces


def given(times: int) -> argparse.Namespace:
    return argparse.Namespace(clusters=10, templates=10, times=times, seconds=120.0, seed=7, size=32)


def test_a_killed_pass_loses_nothing(tmp_path: Path) -> None:
    found = in_folder("kills", tmp_path, given(6))
    assert (found["faults"], found["count"]) == ([], 6)


@pytest.mark.parametrize("part", ["full", "read-only"])
def test_a_pass_that_cannot_write_says_why_and_changes_nothing(part: str, tmp_path: Path) -> None:
    if not has_namespaces(tmp_path):
        pytest.skip("needs a mount namespace of its own")
    found = on_a_small_disk(part, tmp_path, given(4))
    assert (found["faults"], found["left"]) == ([], [])
    assert found["count"] > 0


def test_a_branch_that_went_elsewhere_is_found(tmp_path: Path) -> None:
    """A commit that no pass made is a fault."""
    fleet = InterruptedFleet.create(tmp_path, clusters=3, templates=3, seed=1)
    before, git = fleet.tip(), fleet.repository.git
    other = git("commit-tree", "-m", "other", "argosy/rendered^{tree}")
    git("update-ref", "refs/heads/argosy/rendered", other)
    fleet.check(before, "elsewhere")
    assert fleet.faults == [f"elsewhere: argosy/rendered went from {before} to {other}"]
