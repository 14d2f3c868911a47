"""A pass ends by one rule, whoever runs it: of several errors the one counts that kept most from happening."""

from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

from reconciler.deliver.reports import exit_code_of_reports
from reconciler.deliver.results import ClusterReport
from reconciler.members.exchange import Failure, FailureKind
from reconciler.passes import ending
from reconciler.passes.ending import end_of_pass
from reconciler.passes.result import PassResult
from render.errors import ClusterError, GitError, GuardRefused

from .tables import each_row

REFUSED, FAULT, HELD = GitError("no pull request"), GitError("no push"), GuardRefused("held back")
AWAY = ClusterReport(cluster="eu", failure=Failure(kind=FailureKind.UNREACHABLE, message="no answer"))
WELL = ClusterReport(cluster="us")


class Ended(NamedTuple):
    why: str
    want: tuple[int, str]
    proposal: GitError | None = None
    fault: GitError | None = None
    count_before: GuardRefused | None = None
    reports: tuple[ClusterReport, ...] | None = (WELL,)
    problems: int = 0
    left_out: int = 0
    empty: str = ""


ENDED = [
    Ended("all is well", (0, "")),
    Ended("members are left alone", (0, ""), reports=None),
    Ended("an object has no place", (1, ""), problems=1),
    Ended("an object is left out", (1, ""), left_out=1),
    Ended("nothing is rendered of all that there is", (1, ""), empty="no cluster takes any of them"),
    Ended("one member of two is away, and an object is left out", (7, ""), reports=(WELL, AWAY), left_out=1),
    Ended("one member of two is away", (7, ""), reports=(WELL, AWAY)),
    Ended("one is away, and an object has no place", (7, ""), reports=(WELL, AWAY), problems=1),
    Ended("all members are away", (5, "no cluster could be used"), reports=(AWAY,), problems=1),
    Ended("a cluster is held back, and all members are away", (6, "held back"), count_before=HELD, reports=(AWAY,)),
    Ended("a fault beside a cluster that is held back", (4, "no push"), fault=FAULT, count_before=HELD),
    Ended("a proposal beside all of it", (4, "no pull request"), REFUSED, FAULT, HELD, (AWAY,), 1),
]


@pytest.mark.parametrize("case", ENDED, ids=lambda case: case.why)
def test_the_end_of_a_pass(case: Ended, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(_outcome: Any) -> None:
        if case.count_before is not None:
            raise case.count_before

    monkeypatch.setattr(ending, "check_removals_held_back", check)
    monkeypatch.setattr(ending, "problems_by_object", lambda _outcome: [object()] * case.problems)
    monkeypatch.setattr(ending, "reason_for_empty_outcome", lambda _outcome: case.empty)
    monkeypatch.setattr(ending, "PassResult", SimpleNamespace)
    proposal = SimpleNamespace(error=case.proposal)
    outcome = SimpleNamespace(source=SimpleNamespace(objects_left_out=(object(),) * case.left_out))
    result = SimpleNamespace(proposal=proposal, fault=case.fault, outcome=outcome, reports=case.reports)
    end = end_of_pass(cast("PassResult", result))
    assert (end.code, "" if end.error is None else end.error.message) == case.want


class Away(NamedTuple):
    why: str
    hints: tuple[str, ...]
    want: str


ABOVE = "the lines above say what each answered"
ALL_AWAY = [
    Away("one name of two members is not resolved", ("see the resolver", "see the resolver"), "see the resolver"),
    Away("each needs something else", ("see the resolver", "log in"), ABOVE),
    Away("one answered what nobody knows", ("log in", ""), ABOVE),
    Away("nobody knows what helps", ("",), ABOVE),
]


@each_row("case", ALL_AWAY)
def test_where_nothing_is_reached_the_hint_is_what_helps(case: Away) -> None:
    """No other command is named: it would see no more than what was just seen, or be given other credentials."""
    failures = (Failure(kind=FailureKind.NAME, message="no", hint=hint) for hint in case.hints)
    reports = [ClusterReport(cluster=f"c{number}", failure=failure) for number, failure in enumerate(failures)]
    with pytest.raises(ClusterError) as refused:
        exit_code_of_reports(reports)
    assert refused.value.hint == case.want
