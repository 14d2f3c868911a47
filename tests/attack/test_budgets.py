"""Budgets: large input takes a bounded time or is refused; the growth of that time is measured in the benchmark."""

import re

import pytest

from reconciler.source.ignoring import MOST_TRIED
from tests.bench.bench_growth import MOST
from tests.build import Repository, a_config_map, argosy
from tests.growth import BUDGETS, Budget, seconds_of
from tests.workflows import ROOT

SECONDS = 10.0
PAGE = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("budget", BUDGETS, ids=lambda budget: budget.row)
def test_a_large_input_takes_no_more_than_seconds(budget: Budget) -> None:
    assert seconds_of(budget.work(10 * budget.size)) < SECONDS


def test_the_page_has_a_row_for_each_budget() -> None:
    table = PAGE.partition("### Budgets")[2].partition("###")[0]
    rows = re.findall(r"^\| (.+?) \| .+ \| `attack/test_budgets\.py` \|$", table, re.MULTILINE)
    assert rows == [budget.row for budget in BUDGETS]
    assert "fifteen times" in table
    assert MOST == 15


def test_lines_to_ignore_that_have_to_be_tried_are_limited(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"*a{number}*b\n" for number in range(MOST_TRIED))
    repository.commit({"a.yaml": a_config_map("a"), ".argosyignore": f"{lines}*.tmp.yaml\n/docs/\n"})
    assert argosy(repository, capsys, "validate").code == 0
    repository.commit({".argosyignore": f"{lines}x/*\n"})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.splitlines()[:2]) == (
        3,
        [
            ".argosyignore: 1001 lines to ignore have wildcards other than *.SUFFIX, but at most 1000 are tried",
            "  hint: name files, folders or suffixes, of which there may be any number",
        ],
    )
