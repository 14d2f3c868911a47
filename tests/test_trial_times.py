"""PolicyTests of rules of time: a pass at a time, after another, and the examples of it."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.admission import admit
from tests.build import Repository, argosy

EXAMPLE = Path(__file__).parent.parent / "examples" / "cron"


class Wrong(NamedTuple):
    """Times that a test may not be given, and what is said of them."""

    why: str
    given: dict[str, str]
    says: list[str]


WRONG = [
    Wrong("no time", {"now": "noon"}, ["spec.given.now: 'noon' is no time"]),
    Wrong("since alone", {"since": "2026-03-02T08:00:00Z"}, ["spec.given.since: means nothing without spec.given.now"]),
    Wrong(
        "an earlier pass that is later",
        {"since": "2026-03-02T08:00:01Z", "now": "2026-03-02T08:00:00Z"},
        ["spec.given.since: must not be after now"],
    ),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.why)
def test_times_that_cannot_be_meant_are_refused(case: Wrong) -> None:
    document: dict[str, Any] = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PolicyTest",
        "metadata": {"name": "web"},
        "spec": {"given": case.given, "expect": [{"kind": "ConfigMap", "name": "web"}]},
    }
    assert [f"{problem.field}: {problem.message}" for problem in admit(document).problems] == case.says


def test_the_rules_of_the_example_fire_when_its_tests_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    files = [path for path in EXAMPLE.rglob("*.yaml") if "rendered" not in path.parts]
    fleet.commit({str(path.relative_to(EXAMPLE)): path.read_text() for path in files})
    ended = argosy(fleet, capsys, "test")
    assert (ended.code, ended.out.count("ok ")) == (0, 4), ended.out
    later = (fleet.path / "tests.yaml").read_text().replace("2026-03-02T07:00:00Z", "2026-03-02T06:59:59Z")
    fleet.write({"tests.yaml": later})
    ended = argosy(fleet, capsys, "test")
    assert ended.code == 1
    assert "monday-begins-at-eight-in-paris" in ended.out
