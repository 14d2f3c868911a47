"""The state of CronFederatedHPAs as bindings record it: the rules in force, when each fires next, and its runs."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from render.autoscaling import ReplicaBounds
from render.model import Manifest
from render.timing import FIRST, parse_instant, written

from .rules import (
    CronMemory,
    CronRule,
    CronState,
    Execution,
    RuleHistory,
    Scale,
    ScaledBounds,
    ScaledReplicas,
    cron_rule,
)

Plain = dict[str, Any]


def cron_memories(plain: Iterable[Manifest]) -> tuple[CronMemory, ...]:
    """Return the states that a binding records."""
    return tuple(CronMemory(autoscaler=each["name"], state=_state(each["rules"])) for each in plain)


def plain_memories(memories: Iterable[CronMemory]) -> list[Plain]:
    """Return states as a binding records them."""
    return [
        {
            "name": each.autoscaler,
            "rules": [_plain_history(known, each.state.in_force.get(known.name)) for known in each.state.histories],
        }
        for each in memories
    ]


def scaled_replicas(plain: Manifest | None) -> ScaledReplicas | None:
    """Return the replicas that a rule set, as a binding records them; None where none did."""
    if not plain:
        return None
    return ScaledReplicas(
        replicas=plain["replicas"],
        template=plain["template"],
        autoscaler=plain["by"],
        rule=plain["rule"],
        due=_instant(plain["at"]),
    )


def plain_scaled(scaled: ScaledReplicas | None) -> Plain:
    """Return the replicas that a rule set as a binding records them; nothing where none did."""
    if scaled is None:
        return {}
    return {
        "replicas": scaled.replicas,
        "template": scaled.template,
        "by": scaled.autoscaler,
        "rule": scaled.rule,
        "at": written(scaled.due),
    }


def scaled_bounds(plain: Manifest | None) -> ScaledBounds | None:
    """Return the bounds that a rule set, as a binding records them; None where none did."""
    if not plain:
        return None
    return ScaledBounds(
        bounds=ReplicaBounds(minimum=plain["minimum"], maximum=plain["maximum"]),
        own=ReplicaBounds(minimum=plain["ownMinimum"], maximum=plain["ownMaximum"]),
        autoscaler=plain["by"],
        rule=plain["rule"],
        due=_instant(plain["at"]),
    )


def plain_bounds(bounds: ScaledBounds | None) -> Plain:
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
        "at": written(bounds.due),
    }


def _state(entries: Iterable[Manifest]) -> CronState:
    rules = {
        each["name"]: cron_rule({**each["inForce"], "name": each["name"]}) for each in entries if "inForce" in each
    }
    return CronState(in_force=rules, histories=tuple(map(_history, entries)))


def _history(entry: Manifest) -> RuleHistory:
    return RuleHistory(
        name=entry["name"],
        upcoming=_instant(entry["next"]) if "next" in entry else None,
        successes=tuple(map(_run, entry.get("runs") or ())),
        failures=tuple(map(_run, entry.get("failedRuns") or ())),
    )


def _run(plain: Manifest) -> Execution:
    return Execution(
        due=_instant(plain["due"]),
        ran=_instant(plain["ran"]),
        scale=Scale(replicas=plain.get("replicas"), minimum=plain.get("minimum"), maximum=plain.get("maximum")),
        failure=plain.get("message") or "",
    )


def _plain_run(run: Execution) -> Plain:
    numbers = {
        "replicas": run.scale.replicas,
        "minimum": run.scale.minimum,
        "maximum": run.scale.maximum,
        "message": run.failure or None,
    }
    times = {"due": written(run.due), "ran": written(run.ran)}
    return times | {name: value for name, value in numbers.items() if value is not None}


def _plain_history(history: RuleHistory, rule: CronRule | None) -> Plain:
    entry: Plain = {"name": history.name}
    if rule is not None:
        entry["inForce"] = _plain_rule(rule)
    if history.upcoming is not None:
        entry["next"] = written(history.upcoming)
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
    given = cron_rule({"name": rule.name, "schedule": rule.schedule})
    defaults = {"successfulHistoryLimit": given.successes_kept, "failedHistoryLimit": given.failures_kept}
    return {name: value for name, value in fields.items() if value not in (None, "") and defaults.get(name) != value}


def _instant(text: str) -> datetime:
    return parse_instant(text) or FIRST
