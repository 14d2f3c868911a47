"""The state of rules in a fleet: what CronFederatedHPAs scale and when, quotas, and rebalancers."""

from collections.abc import Iterator
from datetime import UTC, datetime

from reconciler.console.table_layout import DITTO
from reconciler.console.tables import text_table
from reconciler.record.quota_usage import unsettled_quota_shares, usage_of_each_quota
from reconciler.record.rebalancer_status import path_of_rebalancer_status, rebalancers_with_passes
from render.binding import Binding
from render.cron.rules import RuleHistory
from render.quota.enforcement import QuotaUsage
from render.rebalancers.rebalancing import RebalancerPass, RequestOutcome
from render.rescheduling.requests import RescheduleRequest
from render.timing import instant_text

from .branches import RecordedFleet
from .staleness import time_since_in_words


def rule_tables(branches: RecordedFleet) -> Iterator[str]:
    """Yield a table of the rules of CronFederatedHPAs, one of quotas and one of rebalancers, where there are any."""
    if rules := [row for binding in branches.fleet.bindings for row in _rows_of_cron_rules(binding)]:
        yield "\n"
        yield text_table(("SCALED BY CRON", "RULE", "LAST", "NEXT"), rules)
    unsettled = unsettled_quota_shares(branches.fleet.source.desired, branches.recorded)
    if quotas := [row for usage in usage_of_quotas(branches) for row in _rows_of_quota(usage)]:
        yield "\n"
        yield text_table(("QUOTA", "RESOURCE", "USED", "LIMIT"), quotas)
    for (namespace, name, cluster), (_, seen) in sorted(unsettled.items()):
        ago = time_since_in_words(seen, branches.now)
        yield f"quota {namespace}/{name}: its share in {cluster} changes often; seen {ago} ago\n"
    if rebalancers := [_row_of_rebalancer(*each) for each in rebalancers_with_outcome(branches)]:
        yield "\n"
        yield text_table(("REBALANCER", "RESCHEDULED", "FINISHED", "NOTE"), rebalancers)


def _rows_of_cron_rules(binding: Binding) -> Iterator[tuple[str, ...]]:
    """Yield a row for each rule that scales a workload: its last run, and when it fires next."""
    name = str(binding.ref)
    for memory in binding.cron:
        for rule in memory.state.histories:
            is_on = rule.name in memory.state.in_force
            coming = instant_text(rule.upcoming) if rule.upcoming and is_on else "never" if is_on else "suspended"
            yield name, f"{memory.autoscaler}/{rule.name}", _last_run_in_words(rule), coming
            name = DITTO


def _last_run_in_words(rule: RuleHistory) -> str:
    """Return when a rule last ran, and why that failed, if it did."""
    last = max((*rule.successes[:1], *rule.failures[:1]), key=lambda run: run.due, default=None)
    if last is None:
        return ""
    return f"{instant_text(last.due)} failed: {last.failure}" if last.failure else instant_text(last.due)


def rebalancers_with_outcome(branches: RecordedFleet) -> Iterator[tuple[RescheduleRequest, RebalancerPass]]:
    """Yield what became of the rebalancers that a pass recorded."""
    fleet, recorded = branches.fleet, branches.recorded
    now = datetime.fromtimestamp(branches.now, UTC)
    for request, done in rebalancers_with_passes(fleet.source.desired, fleet.bindings, recorded, now):
        if path_of_rebalancer_status(request) in recorded.files:
            yield request, done


def _row_of_rebalancer(request: RescheduleRequest, done: RebalancerPass) -> tuple[str, str, str, str]:
    outcomes = [each.outcome for each in done.status.observed]
    count = f"{outcomes.count(RequestOutcome.SUCCESSFUL)} of {len(outcomes)}"
    finished = instant_text(done.status.finished) if done.status.finished else ""
    return request.name, count, finished, f"its time is over: delete {request.path}" if done.is_expired else ""


def usage_of_quotas(branches: RecordedFleet) -> Iterator[QuotaUsage]:
    """Return the use of every quota of the source."""
    fleet = branches.fleet
    return usage_of_each_quota(fleet.source.desired, fleet.bindings, branches.recorded)


def _rows_of_quota(usage: QuotaUsage) -> Iterator[tuple[str, ...]]:
    """Yield a row for each resource that a quota limits."""
    name, status = f"{usage.quota.namespace}/{usage.quota.name}", usage.status
    for resource, limit in status["overall"].items():
        yield name, resource, status["overallUsed"].get(resource, "0"), limit
        name = DITTO
