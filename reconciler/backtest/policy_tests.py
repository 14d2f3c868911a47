"""The backtest that a PolicyTest asks for: the present policies and settings, over the recorded past of the fleet."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.console.clock import given_or_current_time
from reconciler.console.instants import time_before
from reconciler.console.log import Log
from reconciler.repository import Repository
from reconciler.source.desired import Desired
from reconciler.source.expected_backtests import ExpectedBacktest
from reconciler.source.policy_tests import PolicyTest
from reconciler.trial.backtests import BacktestFindings
from render.errors import ConfigError, GitError
from render.words import counted_noun

from .backtesting import Backtest, BacktestQuestion, backtest_of_changes
from .measures import FleetCounts
from .past import AskedTime
from .proposed import changes_to_source
from .replay import FLAP_WITHIN

_SHORT = 12


def findings_of_test(repository: Repository, log: Log, test: PolicyTest, desired: Desired) -> BacktestFindings:
    """Replay the past that a test is about; where that cannot be done, the findings say why, and what helps."""
    if test.backtest is None:
        return BacktestFindings()
    question = BacktestQuestion(asked=_asked_time(test.backtest), flap_within=test.backtest.flap_within or FLAP_WITHIN)
    try:
        fleet, _ = fleet_in_force(repository, repository.resolve("HEAD"), rendered_tip_or_none)
        proposed = changes_to_source(desired, test.settings)
        backtest = backtest_of_changes(repository, fleet, question, proposed, log)
    except (ConfigError, GitError) as error:
        # A hint about an option is about the command's own words, and not about a field of the test.
        hint = "" if error.hint.startswith("--") else error.hint
        return BacktestFindings(faults=(f"{error.message}: {hint}" if hint else error.message,))
    replayed = backtest.replayed
    return BacktestFindings(
        since=backtest.past.begin,
        until=backtest.past.end,
        rendered=len(backtest.past.rendered),
        identical=replayed.identical,
        first_difference=replayed.first_difference,
        really=_sums(replayed.truth),
        replayed=_sums(replayed.replay),
        faults=tuple(_faults_of_backtest(backtest)),
    )


def _asked_time(expected: ExpectedBacktest) -> AskedTime:
    since: datetime | timedelta = expected.since
    if isinstance(since, timedelta):
        since = time_before(given_or_current_time(expected.until), since)
    return AskedTime(since=since, until=expected.until)


def _faults_of_backtest(backtest: Backtest) -> Iterator[str]:
    """Yield the reasons why a part of the time that was asked about is not replayed, with what helps."""
    if backtest.past.is_cut_off:
        helps = f"; {' and '.join(backtest.fetches)} brings them" if backtest.fetches else ""
        yield f"earlier commits of that time are not in this clone{helps}"
    if unread := backtest.replayed.unread:
        last = unread[-1]
        yield (
            f"{counted_noun(len(unread), 'rendered commit')} cannot be replayed, for the source is refused now; the"
            f" last one is {last.commit[:_SHORT]}, which a later time leaves out"
        )


def _sums(counts: FleetCounts) -> Mapping[str, float]:
    """Return the sums over all objects, by the names that tests have for them."""
    total = counts.total
    return {
        "movedReplicas": total.moved_replicas,
        "evictions": total.evictions,
        "flaps": total.flaps,
        "unscheduledMinutes": round(total.unscheduled / 60, 1),
        "replicaMinutesNotReady": round(counts.down / 60, 1),
    }
