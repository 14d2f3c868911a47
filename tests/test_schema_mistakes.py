"""The mistakes that people make most: what is said of each, without a server and before anything is rendered."""

from pathlib import Path
from typing import Any

import pytest

from reconciler.source.schemas.checks import SchemaChecks
from render.documents import parse_documents
from render.interpreter.pruning import manifest_without_pruned_fields
from render.schemas.rules.workloads import fault_of_cron_schedule
from tests.clusters import Member
from tests.tables import each_row

TABLE = Path(__file__).parent / "vectors" / "schema_mistakes.yaml"
CASES = [each.value for each in parse_documents(TABLE.read_bytes())]
CHECKS = SchemaChecks(lambda: ())


def said(manifest: Any) -> list[str]:
    return [
        str(problem).removeprefix(":0: ")
        for problem in CHECKS.findings(manifest_without_pruned_fields(manifest)).problems
    ]


def test_the_table_is_long() -> None:
    assert len([case for case in CASES if case["says"]]) >= 60
    assert len([case for case in CASES if not case["says"]]) >= 20
    assert len({case["why"] for case in CASES}) == len(CASES)


@each_row("case", CASES, ids=lambda case: case["why"])
def test_a_mistake_is_named(case: Any) -> None:
    assert said(case["object"]) == case["says"]


@pytest.mark.cluster
def test_a_server_refuses_and_takes_the_same(members: tuple[Member, ...]) -> None:
    """Each object is sent as Argosy sends it, by a server-side apply that is asked to be strict and stores nothing."""
    refused = {case["why"]: members[0].dry_apply(case["object"])[0] >= 400 for case in CASES}
    assert refused == {case["why"]: bool(case["says"]) for case in CASES}


@each_row(
    ("schedule", "want"),
    [
        ("*/15 0-6,12 1 jan-mar,DEC mon-FRI/2", ""),
        ("@every 1h30m", ""),
        ("0 24 * * *", "'24' is no hour from 0 to 23"),
        ("0 0 0 * *", "'0' is no day of the month from 1 to 31"),
        ("0 0 * feb-jan *", "'feb-jan' is no month from 1 to 12"),
        ("0 0 * * funday", "'funday' is no day of the week from 0 to 6"),
        ("", "must have 5 fields, not 0"),
    ],
)
def test_a_schedule_is_read(schedule: str, want: str) -> None:
    assert fault_of_cron_schedule(schedule) == want
