"""CronFederatedHPA: its schema, and the rules of Karmada's webhook for it.

Karmada admits a schedule by one library and runs it by another. Here a schedule is admitted if it can be run.
"""

from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.schema import INT32, Flag, ListOf, Record, Text, Whole
from render.admission.shared_schema import POINTER32, TEXT
from render.cron import Every, next_time, parse_schedule, time_zone
from render.timing import FIRST, instant_after

from .autoscalers import SCALE_TARGET, check_scale_target

HISTORY_LIMIT = 32
AUTOSCALING_VERSION = "autoscaling.karmada.io/v1alpha1"

CRON_SPEC = Record(
    {
        "scaleTargetRef!": SCALE_TARGET,
        "rules!": ListOf(
            Record(
                {
                    "name!": Text(min_length=1, max_length=32),
                    "schedule!": TEXT,
                    "targetReplicas": POINTER32,
                    "targetMinReplicas": POINTER32,
                    "targetMaxReplicas": POINTER32,
                    "suspend": Flag(default=False),
                    "timeZone": TEXT,
                    "successfulHistoryLimit": Whole(INT32, minimum=1, maximum=HISTORY_LIMIT, default=3),
                    "failedHistoryLimit": Whole(INT32, minimum=0, maximum=HISTORY_LIMIT, default=3),
                }
            )
        ),
    }
)

Rule = Mapping[str, Any]


def check_cron(autoscaler: Mapping[str, Any], findings: Findings) -> None:
    """Report what Karmada's webhook refuses, and schedules that it would never run."""
    spec = autoscaler["spec"]
    target = spec["scaleTargetRef"]
    is_ours = target.get("apiVersion") == AUTOSCALING_VERSION
    if is_ours and target["kind"] != "FederatedHPA":
        findings.problem("spec.scaleTargetRef.kind", "is none of this group that can be scaled", hint="FederatedHPA is")
        return
    check_scale_target(target, "spec.scaleTargetRef", findings)
    names: set[str] = set()
    for index, rule in enumerate(spec["rules"]):
        path = f"spec.rules[{index}]"
        if rule["name"] in names:
            findings.problem(f"{path}.name", "another rule here has this name", kind="Duplicate")
        names.add(rule["name"])
        _check_schedule(rule["schedule"], f"{path}.schedule", findings)
        _check_time_zone(rule.get("timeZone") or "", f"{path}.timeZone", findings)
        if is_ours:
            _check_replica_bounds(rule, path, findings)
        else:
            _check_target_replicas(rule, f"{path}.targetReplicas", target["kind"], findings)


def warn_of_cron(autoscaler: Mapping[str, Any], findings: Findings) -> None:
    """Warn of rules that never fire, or that have no rule."""
    rules = autoscaler["spec"]["rules"]
    if not rules:
        findings.warning("spec.rules", "are none, so nothing is ever scaled")
    for index, rule in enumerate(rules):
        schedule = parse_schedule(rule["schedule"])
        if next_time(schedule, instant_after(FIRST, 0).replace(year=2026), time_zone("")) is None:
            findings.warning(f"spec.rules[{index}].schedule", "never comes", hint="look at the day and the month")


def _check_schedule(text: str, path: str, findings: Findings) -> None:
    try:
        schedule = parse_schedule(text)
    except ValueError as error:
        findings.problem(path, str(error), hint="write five fields, such as '0 8 * * 1-5', or a macro such as '@daily'")
        return
    if isinstance(schedule, Every):
        findings.problem(path, "@every counts from when a process was started", hint="write five fields, or a macro")
    elif schedule.zone is not None:
        findings.problem(path, "must not begin with a time zone", hint="write it in timeZone")


def _check_time_zone(name: str, path: str, findings: Findings) -> None:
    try:
        time_zone(name)
    except LookupError as error:
        findings.problem(path, str(error), hint="write a name such as 'Europe/Berlin', in its own case")


def _check_replica_bounds(rule: Rule, path: str, findings: Findings) -> None:
    low, high = rule.get("targetMinReplicas"), rule.get("targetMaxReplicas")
    if low is None and high is None:
        findings.problem(
            f"{path}.targetMaxReplicas", "one of targetMinReplicas and targetMaxReplicas is needed for a FederatedHPA"
        )
    for name, bound in (("targetMinReplicas", low), ("targetMaxReplicas", high)):
        if bound is not None and bound <= 0:
            findings.problem(f"{path}.{name}", f"must be above 0, not {bound}")
    if low is not None and high is not None and low > high:
        findings.problem(f"{path}.targetMinReplicas", f"must not be above targetMaxReplicas, {high}")


def _check_target_replicas(rule: Rule, path: str, kind: str, findings: Findings) -> None:
    replicas = rule.get("targetReplicas")
    if replicas is None:
        findings.problem(path, f"is needed to scale {kind}")
    elif replicas < 0:
        findings.problem(path, f"must not be negative, as {replicas} is")
