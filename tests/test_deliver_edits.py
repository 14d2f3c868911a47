"""Edits of every kind of object arrive as ``kubectl apply --server-side`` would bring them, and are told truly."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .bench.bench_edits import told
from .clusters import Member, members_of_a_fleet
from .edits.both_ways import BothWays

pytestmark = pytest.mark.cluster

SEED = 37
BATCHES = 4


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[list[Member], Path]]:
    with members_of_a_fleet(("ours", "theirs")) as running:
        yield running


def test_edits_come_to_the_same_as_by_kubectl(servers: tuple[list[Member], Path]) -> None:
    """More pairs: ``python -m tests.bench edits --pairs 2000``."""
    (ours, theirs), folder = servers
    both = BothWays(ours, theirs, folder, seed=SEED, copies=1)
    outcomes = [both.first(), *(both.batch() for _ in range(BATCHES))]
    assert "\n".join(told(each) for outcome in outcomes for each in outcome.differences) == ""
    assert sum(each.pairs for each in outcomes) > 50 * BATCHES
    assert both.unrest() == []
