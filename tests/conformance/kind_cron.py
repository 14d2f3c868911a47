"""CronFederatedHPA: schedules and their next times; rules run over time, exchanged, and their histories."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from render.cron import next_time, parse_schedule, time_zone
from render.cron.execution import state_after_due_rules, state_with_rules_in_force
from render.cron.rules import CronState, Execution, RuleHistory, Scale, cron_rule
from render.timing import instant_text, parse_instant

from . import Case

ADMISSION = "admission: "


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    return _next_times(given, expected) if given["mode"] == "next" else _run(given, expected)


def _next_times(given: Mapping[str, Any], expected: Mapping[str, Any]) -> str | None:
    found: list[str] = []
    failure = ""
    try:
        schedule = parse_schedule(given["schedule"])
        named = given["timeZone"] if schedule.zone is None else schedule.zone
        time_zone(given["timeZone"] or "")
        at: datetime | None = _instant(given["from"])
        zone = time_zone(named or "")
        while len(found) < 6 and at and (at := next_time(schedule, at, zone)):
            found.append(instant_text(at))
    except (ValueError, LookupError) as error:
        failure = str(error)
    if bool(failure) != bool(expected["startError"]):
        return f"start: {failure or 'right'}, not {expected['startError']}"
    if found != expected["next"]:
        return f"next: {found}, not {expected['next']}"
    admitted = [each["valid"] for each in expected["admission"]]
    is_valid = _is_schedule(given["schedule"])
    return None if admitted == [is_valid] * len(admitted) else f"{ADMISSION}{is_valid}, not {admitted}"


def _is_schedule(text: str) -> bool:
    try:
        parse_schedule(text)
    except ValueError:
        return False
    return not text.startswith(("@every", "TZ=", "CRON_TZ="))


class _Target:
    """The Deployment or FederatedHPA that a case scales, counting what is written to it."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        reference = given["cronFederatedHPA"]["spec"]["scaleTargetRef"]
        bounds = given["federatedHPA"]
        self.scale = Scale(replicas=given["replicas"], minimum=bounds["minReplicas"], maximum=bounds["maxReplicas"])
        self.is_missing = reference["name"] == "nosuch"
        self.is_autoscaler = reference["kind"] == "FederatedHPA"
        self.fails = False
        self.writes = 0

    def set(self, wanted: Scale) -> str:
        after = Scale(
            replicas=self.scale.replicas if wanted.replicas is None else wanted.replicas,
            minimum=self.scale.minimum if wanted.minimum is None else wanted.minimum,
            maximum=self.scale.maximum if wanted.maximum is None else wanted.maximum,
        )
        is_written = after != self.scale
        if self.is_missing or (self.fails and (is_written or not self.is_autoscaler)):
            return "failed"
        self.scale = after
        self.writes += is_written
        return ""


def _run(given: Mapping[str, Any], expected: Mapping[str, Any]) -> str | None:
    target, state = _Target(given), CronState()
    rules = given["cronFederatedHPA"]["spec"]["rules"]
    for number, (step, wanted) in enumerate(zip(given["steps"], expected["steps"], strict=True)):
        now = _instant(step["now"])
        target.fails = step.get("scaleFails", target.fails)
        state = state_after_due_rules(state, now, target.set)
        rules = step.get("rules", rules)
        failure = ""
        if step.get("reconcile"):
            restarted = state_with_rules_in_force(state, [cron_rule(rule) for rule in rules], now)
            state, failure = restarted.state, restarted.failure
        found = {
            "executionHistories": [_history(each) for each in state.histories],
            "federatedHPA": {"maxReplicas": target.scale.maximum, "minReplicas": target.scale.minimum},
            "failed": bool(failure),
            "replicas": target.scale.replicas,
            "writesSoFar": target.writes,
        }
        if found != _wanted(wanted):
            return f"step {number}: {found}, not {_wanted(wanted)}"
    return None


def _wanted(step: Mapping[str, Any]) -> dict[str, Any]:
    histories = [
        {**each, "failedExecutions": [{**run, "message": ""} for run in each["failedExecutions"]]}
        if "failedExecutions" in each
        else each
        for each in step["executionHistories"] or ()
    ]
    kept = {name: step[name] for name in ("federatedHPA", "replicas", "writesSoFar")}
    return {**kept, "executionHistories": histories, "failed": bool(step.get("reconcileError"))}


def _history(history: RuleHistory) -> dict[str, Any]:
    found: dict[str, Any] = {"ruleName": history.name}
    if history.upcoming:
        found["nextExecutionTime"] = instant_text(history.upcoming)
    if history.successes:
        found["successfulExecutions"] = [_success(each) for each in history.successes]
    if history.failures:
        found["failedExecutions"] = [{**_times(each), "message": ""} for each in history.failures]
    return found


def _success(run: Execution) -> dict[str, Any]:
    applied = {
        "appliedReplicas": run.scale.replicas,
        "appliedMinReplicas": run.scale.minimum,
        "appliedMaxReplicas": run.scale.maximum,
    }
    return {**_times(run), **{name: value for name, value in applied.items() if value is not None}}


def _times(run: Execution) -> dict[str, str]:
    return {"scheduleTime": instant_text(run.due), "executionTime": instant_text(run.ran)}


def _instant(text: str) -> datetime:
    instant = parse_instant(text)
    assert instant is not None
    return instant
