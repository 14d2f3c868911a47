"""Karmada's recorded answers are ours: the committed samples, and whole recordings where they lie beside a checkout."""

from pathlib import Path

import pytest

from tests.conformance import cases_in, has_adapter, run
from tests.conformance.__main__ import main
from tests.conformance.differences import DIFFERENCES
from tests.conformance.fleets import first_difference
from tests.conformance.sample import sampled

HERE = Path(__file__).parent
SAMPLES = sorted((HERE / "vectors").glob("*.jsonl.gz"))
RECORDED = HERE.parent.parent / "shared" / "conformance"
RECORDINGS = sorted([path for folder in (".", "federations", "time") for path in RECORDED.glob(f"{folder}/*.jsonl.gz")])
FLEETS = sorted(path.parent for path in (HERE.parent.parent / "shared" / "fleets").glob("*/expected.json"))
RUNNABLE = [path for path in RECORDINGS if has_adapter(next(cases_in(path))["kind"])]
ONLY_SAMPLED = [path for path in SAMPLES if path.name not in {each.name for each in RUNNABLE}]
"""The samples of recordings that are not here: any other sample is a part of one that is."""


@pytest.mark.parametrize(
    "path", ONLY_SAMPLED + RUNNABLE, ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}"
)
def test_every_answer_is_karmadas_or_deliberately_different(path: Path) -> None:
    tallies = run(cases_in(path))
    assert tallies
    assert {tally.kind: [f"{bad.id}: {bad.message}" for bad in tally.unexplained] for tally in tallies.values()} == {
        kind: [] for kind in tallies
    }


def test_whole_fleets_come_out_as_in_karmada(tmp_path: Path) -> None:
    """One in six; ``python -m tests.conformance --fleet ../shared/fleets`` runs them all."""
    found = {fleet.name: first_difference(fleet, tmp_path / fleet.name) for fleet in FLEETS[::6]}
    assert {name: difference for name, difference in found.items() if difference} == {}


def test_deliberate_differences_stay_few_and_each_says_why() -> None:
    assert len({rule.name for rule in DIFFERENCES}) <= 10
    assert all(rule.why and rule.name for rule in DIFFERENCES)


def test_a_file_without_adapter_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text('{"id": "odd-1", "kind": "odd", "tags": [], "input": {}, "expected": {}}\n')
    assert main([str(path)]) == 2
    assert capsys.readouterr().err == ("no adapter for cases of kind 'odd': write tests/conformance/kind_odd.py\n")


def test_a_sample_prefers_rare_features() -> None:
    cases = [{"id": str(number), "kind": "k", "tags": ["rare" if number == 70 else "common"]} for number in range(99)]
    assert [case["id"] for case in sampled(cases, 10**6)] == [str(number) for number in range(99)]
    assert "70" in {case["id"] for case in sampled(cases, 10)}
