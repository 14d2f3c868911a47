"""A CronFederatedHPA of admitted YAML as values."""

from typing import Any

from render.model import Manifest, ObjectRef, group_of

from .rules import FAILURES_KEPT, SUCCESSES_KEPT, CronAutoscaler, CronRule, Scale


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
        successes_kept=_limit(rule.get("successfulHistoryLimit"), SUCCESSES_KEPT),
        failures_kept=_limit(rule.get("failedHistoryLimit"), FAILURES_KEPT),
    )


def _limit(value: Any, default: int) -> int:
    return default if value is None else int(value)
