"""A CronFederatedHPA as values, of admitted YAML: its rules, what each did, and what it scales."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from render.autoscaling import ReplicaBounds
from render.model import Manifest, ObjectRef, group_of

SUCCESSES_KEPT = 3
FAILURES_KEPT = 3


class Scale(Struct, frozen=True, kw_only=True):
    """The numbers that a rule sets: replicas of a workload, or bounds of a FederatedHPA. None sets nothing."""

    replicas: int | None = None
    minimum: int | None = None
    maximum: int | None = None


class CronRule(Struct, frozen=True, kw_only=True):
    """A rule: when it fires, in which time zone, and what it sets then."""

    name: str
    schedule: str
    zone: str = ""
    scale: Scale = field(default_factory=Scale)
    is_suspended: bool = False
    successes_kept: int = SUCCESSES_KEPT
    failures_kept: int = FAILURES_KEPT


class Execution(Struct, frozen=True, kw_only=True):
    """One run of a rule: when it was due, when it ran, and what it set, or the failure."""

    due: datetime
    ran: datetime
    scale: Scale = field(default_factory=Scale)
    failure: str = ""


class RuleHistory(Struct, frozen=True, kw_only=True):
    """The latest runs of a rule, newest first, and when it fires next (None: never, or it is suspended)."""

    name: str
    upcoming: datetime | None = None
    successes: tuple[Execution, ...] = ()
    failures: tuple[Execution, ...] = ()


class CronState(Struct, frozen=True, kw_only=True):
    """The memory of a CronFederatedHPA: the rules in force by name, and the history of each."""

    in_force: Mapping[str, CronRule] = field(default_factory=dict)
    histories: tuple[RuleHistory, ...] = ()


class CronAutoscaler(Struct, frozen=True, kw_only=True):
    """A CronFederatedHPA of the source: what it scales, its rules, and where it stands.

    ``deadline`` is for how many seconds after it was due a rule may fire (None: for ever).
    """

    name: str
    target: ObjectRef
    rules: tuple[CronRule, ...] = ()
    deadline: int | None = None
    path: str = ""
    document: int = 0


class CronMemory(Struct, frozen=True, kw_only=True):
    """The state of a CronFederatedHPA as the binding of the workload that it scales records it."""

    autoscaler: str
    state: CronState = field(default_factory=CronState)


class ScaledReplicas(Struct, frozen=True, kw_only=True):
    """The replicas that a rule set, in place of the template's own, with the rule and the time it was due."""

    replicas: int
    template: int
    autoscaler: str
    rule: str
    due: datetime


class ScaledBounds(Struct, frozen=True, kw_only=True):
    """The bounds that a rule set, in place of the FederatedHPA's own, with the rule and the time it was due."""

    bounds: ReplicaBounds
    own: ReplicaBounds
    autoscaler: str
    rule: str
    due: datetime


def cron_autoscaler(manifest: Manifest, *, path: str = "", document: int = 0) -> CronAutoscaler:
    """Return the value of an admitted CronFederatedHPA; what it scales is in its own namespace."""
    metadata, target = manifest["metadata"], manifest["spec"]["scaleTargetRef"]
    group = group_of(target.get("apiVersion") or "")
    return CronAutoscaler(
        name=metadata["name"],
        target=ObjectRef(group, target["kind"], metadata["namespace"], target["name"]),
        rules=cron_rules(manifest),
        path=path,
        document=document,
    )


def cron_rules(manifest: Manifest) -> tuple[CronRule, ...]:
    """Return the rules of a CronFederatedHPA, in its order."""
    return tuple(map(cron_rule, manifest["spec"].get("rules") or ()))


def cron_rule(rule: Manifest) -> CronRule:
    """Return a rule of a CronFederatedHPA."""
    return CronRule(
        name=rule["name"],
        schedule=rule["schedule"],
        zone=rule.get("timeZone") or "",
        scale=Scale(
            replicas=rule.get("targetReplicas"),
            minimum=rule.get("targetMinReplicas"),
            maximum=rule.get("targetMaxReplicas"),
        ),
        is_suspended=bool(rule.get("suspend")),
        successes_kept=_history_limit_or_default(rule.get("successfulHistoryLimit"), SUCCESSES_KEPT),
        failures_kept=_history_limit_or_default(rule.get("failedHistoryLimit"), FAILURES_KEPT),
    )


def _history_limit_or_default(value: Any, default: int) -> int:
    return default if value is None else int(value)
