"""Every kind of object, changed and adopted as ``kubectl apply --server-side`` has it, and told of truly."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .bench import bench_adoptions, bench_edits
from .clusters import Member, members_of_a_fleet
from .edits.adoptions import Adoptions
from .edits.both_ways import BothWays

pytestmark = pytest.mark.cluster

SEED = 37
BATCHES = 4
ADOPTIONS = 112


@pytest.fixture
def servers() -> Iterator[tuple[list[Member], Path]]:
    with members_of_a_fleet(("ours", "theirs")) as running:
        yield running


def test_edits_come_to_the_same_as_by_kubectl(servers: tuple[list[Member], Path]) -> None:
    """More pairs: ``python -m tests.bench edits --pairs 2000``."""
    (ours, theirs), folder = servers
    both = BothWays(ours, theirs, folder, seed=SEED, copies=1)
    outcomes = [both.first(), *(both.batch() for _ in range(BATCHES))]
    assert "\n".join(bench_edits.told(each) for outcome in outcomes for each in outcome.differences) == ""
    assert sum(each.pairs for each in outcomes) > 50 * BATCHES
    assert both.unrest() == []


def test_an_object_is_adopted_if_and_only_if_no_value_changes(servers: tuple[list[Member], Path]) -> None:
    """More pairs: ``python -m tests.bench adoptions --pairs 500``."""
    (ours, trial), folder = servers
    outcome = Adoptions(ours, trial, folder, seed=SEED, pairs=ADOPTIONS).run()
    assert bench_adoptions.told(outcome) == ""
    assert outcome.pairs > ADOPTIONS * 0.9
    assert ADOPTIONS * 0.2 < outcome.adopted < ADOPTIONS * 0.8
