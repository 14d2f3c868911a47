"""Files of every kind, edited at random, end in no bug; ``python -m tests.fuzz --minutes 10`` does so for longer."""

from pathlib import Path

import pytest

from tests.fuzz.files import KINDS, case_of, read_source, targets_of
from tests.workflows import ROOT

SEED = 20_261_126
CASES = {
    **dict.fromkeys(KINDS, 200),
    "source": 400,
    "branches": 8,
    "registries": 60,
    "plugins": 40,
    "tools": 6,
}
SEEDS = sorted((ROOT / "tests" / "vectors" / "fuzz").glob("*.yaml"))


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_edited_end_in_no_bug(kind: str) -> None:
    with targets_of([kind]) as targets:
        found = [case_of(targets[kind], kind, SEED, case) for case in range(CASES[kind])]
    assert [each for each in found if each] == []


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.stem)
def test_what_once_ended_in_a_bug_does_so_no_more(seed: Path) -> None:
    assert read_source({"a.yaml": seed.read_bytes()}) is None


@pytest.mark.parametrize(("kind", "case"), [("outsides", 1540), ("source", 3553)])
def test_a_case_that_once_ended_in_a_bug_does_so_no_more(kind: str, case: int) -> None:
    with targets_of([kind]) as targets:
        assert case_of(targets[kind], kind, 77, case) is None
