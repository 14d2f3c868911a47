"""The state of CronFederatedHPAs as bindings record it: the rules in force, when each fires next, and its runs."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import Struct

from render.autoscaling import ReplicaBounds
from render.timing import FIRST, instant_text, parse_instant

from .rules import (
    FAILURES_KEPT,
    SUCCESSES_KEPT,
    CronMemory,
    CronRule,
    CronState,
    Execution,
    RuleHistory,
    Scale,
    ScaledBounds,
    ScaledReplicas,
)

Plain = dict[str, Any]


class RunRecord(Struct, frozen=True, kw_only=True):
    """One run of a rule as a binding records it."""

    due: str
    ran: str
    replicas: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    message: str | None = None


class RuleInForce(Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule as it decides, as a binding records it."""

    schedule: str
    time_zone: str | None = None
    target_replicas: int | None = None
    target_min_replicas: int | None = None
    target_max_replicas: int | None = None
    successful_history_limit: int | None = None
    failed_history_limit: int | None = None


class RuleRecord(Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule as a binding records it: how it decides, when it fires next, and its runs."""

    name: str
    in_force: RuleInForce | None = None
    next: str | None = None
    runs: list[RunRecord] | None = None
    failed_runs: list[RunRecord] | None = None


class CronRecord(Struct, frozen=True, kw_only=True):
    """The state of a CronFederatedHPA as a binding records it."""

    name: str
    rules: list[RuleRecord]


class ScaledReplicasRecord(Struct, frozen=True, kw_only=True):
    """The replicas that a rule set, as a binding records them."""

    replicas: int
    template: int
    by: str
    rule: str
    at: str


class ScaledBoundsRecord(Struct, frozen=True, kw_only=True, rename="camel"):
    """The bounds that a rule set, as a binding records them."""

    minimum: int
    maximum: int
    own_minimum: int
    own_maximum: int
    by: str
    rule: str
    at: str


def cron_memories_of_records(recorded: Iterable[CronRecord]) -> tuple[CronMemory, ...]:
    """Return the states that a binding records."""
    return tuple(CronMemory(autoscaler=each.name, state=_cron_state(each.rules)) for each in recorded)


def plain_memories(memories: Iterable[CronMemory]) -> list[Plain]:
    """Return states as a binding records them."""
    return [
        {
            "name": each.autoscaler,
            "rules": [_plain_history(known, each.state.in_force.get(known.name)) for known in each.state.histories],
        }
        for each in memories
    ]


def scaled_replicas(recorded: ScaledReplicasRecord | None) -> ScaledReplicas | None:
    """Return the replicas that a rule set, as a binding records them; None where none did."""
    if recorded is None:
        return None
    return ScaledReplicas(
        replicas=recorded.replicas,
        template=recorded.template,
        autoscaler=recorded.by,
        rule=recorded.rule,
        due=_instant_in_text(recorded.at),
    )


def plain_scaled_replicas(scaled: ScaledReplicas | None) -> Plain:
    """Return the replicas that a rule set as a binding records them; nothing where none did."""
    if scaled is None:
        return {}
    return {
        "replicas": scaled.replicas,
        "template": scaled.template,
        "by": scaled.autoscaler,
        "rule": scaled.rule,
        "at": instant_text(scaled.due),
    }


def scaled_bounds(recorded: ScaledBoundsRecord | None) -> ScaledBounds | None:
    """Return the bounds that a rule set, as a binding records them; None where none did."""
    if recorded is None:
        return None
    return ScaledBounds(
        bounds=ReplicaBounds(minimum=recorded.minimum, maximum=recorded.maximum),
        own=ReplicaBounds(minimum=recorded.own_minimum, maximum=recorded.own_maximum),
        autoscaler=recorded.by,
        rule=recorded.rule,
        due=_instant_in_text(recorded.at),
    )


def plain_scaled_bounds(bounds: ScaledBounds | None) -> Plain:
    """Return the bounds that a rule set as a binding records them; nothing where none did."""
    if bounds is None:
        return {}
    return {
        "minimum": bounds.bounds.minimum,
        "maximum": bounds.bounds.maximum,
        "ownMinimum": bounds.own.minimum,
        "ownMaximum": bounds.own.maximum,
        "by": bounds.autoscaler,
        "rule": bounds.rule,
        "at": instant_text(bounds.due),
    }


def _cron_state(rules: Iterable[RuleRecord]) -> CronState:
    in_force = {each.name: _rule_of_record(each.name, each.in_force) for each in rules if each.in_force is not None}
    return CronState(in_force=in_force, histories=tuple(map(_history_of_record, rules)))


def _rule_of_record(name: str, recorded: RuleInForce) -> CronRule:
    limits = recorded.successful_history_limit, recorded.failed_history_limit
    return CronRule(
        name=name,
        schedule=recorded.schedule,
        zone=recorded.time_zone or "",
        scale=Scale(
            replicas=recorded.target_replicas,
            minimum=recorded.target_min_replicas,
            maximum=recorded.target_max_replicas,
        ),
        successes_kept=SUCCESSES_KEPT if limits[0] is None else limits[0],
        failures_kept=FAILURES_KEPT if limits[1] is None else limits[1],
    )


def _history_of_record(recorded: RuleRecord) -> RuleHistory:
    return RuleHistory(
        name=recorded.name,
        upcoming=None if recorded.next is None else _instant_in_text(recorded.next),
        successes=tuple(map(_execution_of_record, recorded.runs or ())),
        failures=tuple(map(_execution_of_record, recorded.failed_runs or ())),
    )


def _execution_of_record(recorded: RunRecord) -> Execution:
    return Execution(
        due=_instant_in_text(recorded.due),
        ran=_instant_in_text(recorded.ran),
        scale=Scale(replicas=recorded.replicas, minimum=recorded.minimum, maximum=recorded.maximum),
        failure=recorded.message or "",
    )


def _plain_run(run: Execution) -> Plain:
    numbers = {
        "replicas": run.scale.replicas,
        "minimum": run.scale.minimum,
        "maximum": run.scale.maximum,
        "message": run.failure or None,
    }
    times = {"due": instant_text(run.due), "ran": instant_text(run.ran)}
    return times | {name: value for name, value in numbers.items() if value is not None}


def _plain_history(history: RuleHistory, rule: CronRule | None) -> Plain:
    entry: Plain = {"name": history.name}
    if rule is not None:
        entry["inForce"] = _plain_rule(rule)
    if history.upcoming is not None:
        entry["next"] = instant_text(history.upcoming)
    if history.successes:
        entry["runs"] = list(map(_plain_run, history.successes))
    if history.failures:
        entry["failedRuns"] = list(map(_plain_run, history.failures))
    return entry


def _plain_rule(rule: CronRule) -> Plain:
    """Return what decides about a rule; what only says how much is remembered is left out where it is the default."""
    fields: Plain = {
        "schedule": rule.schedule,
        "timeZone": rule.zone,
        "targetReplicas": rule.scale.replicas,
        "targetMinReplicas": rule.scale.minimum,
        "targetMaxReplicas": rule.scale.maximum,
        "successfulHistoryLimit": rule.successes_kept,
        "failedHistoryLimit": rule.failures_kept,
    }
    defaults = {"successfulHistoryLimit": SUCCESSES_KEPT, "failedHistoryLimit": FAILURES_KEPT}
    return {name: value for name, value in fields.items() if value not in (None, "") and defaults.get(name) != value}


def _instant_in_text(text: str) -> datetime:
    return parse_instant(text) or FIRST
