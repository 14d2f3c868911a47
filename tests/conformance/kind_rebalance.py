"""WorkloadRebalancer: pass after pass over one, with bindings that are there, missing, or refuse to be updated."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from reconciler.pipeline.dependencies import binding_name
from render.rebalancers.rebalancing import (
    NamedWorkload,
    Rebalancer,
    RebalancerPass,
    RebalancerStatus,
    RequestOutcome,
    parse_named_workload,
    rebalancer_pass,
)
from render.timing import instant_text, parse_instant

from . import Case
from .timed import requeue_seconds


class _Bindings:
    """The bindings of a case, by namespace and name, and the time that each was last asked to be rescheduled."""

    def __init__(self, bindings: list[Mapping[str, Any]]) -> None:
        self.triggered: dict[str, str] = {}
        self.refusing = ""
        for each in bindings:
            self.create(each)

    def create(self, binding: Mapping[str, Any]) -> None:
        metadata = binding["metadata"]
        key = f"{metadata.get('namespace') or ''}/{metadata['name']}"
        self.triggered[key] = binding["spec"].get("rescheduleTriggeredAt") or ""

    def trigger(self, workload: NamedWorkload, created: datetime) -> RequestOutcome:
        name = binding_name(workload.ref)
        key = f"{workload.namespace}/{name}"
        if key not in self.triggered:
            return RequestOutcome.FAILED
        triggered = parse_instant(self.triggered[key])
        if triggered is None or created > triggered:
            if name == self.refusing:
                return RequestOutcome.PENDING
            self.triggered[key] = instant_text(created)
        return RequestOutcome.SUCCESSFUL


def check(case: Case) -> str | None:
    given = case["input"]
    bindings, status, is_deleted = _Bindings(given["bindings"]), RebalancerStatus(), False
    rebalancer = _rebalancer(given["rebalancer"])
    for number, (step, expected) in enumerate(zip(given["steps"], case["expected"]["steps"], strict=False)):
        bindings.refusing = step.get("failUpdateOf") or ""
        if created := step.get("createdBinding"):
            bindings.create(created)
        if "workloads" in step:
            workloads = tuple(map(parse_named_workload, step["workloads"]))
            rebalancer = replace(rebalancer, workloads=workloads, generation=step["generation"])
        now = _instant(step["now"])
        result = rebalancer_pass(rebalancer, status, now, bindings.trigger)
        is_deleted = is_deleted or (result.is_expired and not result.is_changed)
        found = _found(result, now, bindings, is_deleted=is_deleted)
        if found != _wanted(expected):
            return f"step {number}: {found}, not {_wanted(expected)}"
        status = result.status
    return None


def _found(result: RebalancerPass, now: datetime, bindings: _Bindings, *, is_deleted: bool) -> dict[str, Any]:
    is_conflict = result.is_expired and result.is_changed
    return {
        "deleted": is_deleted,
        "failed": result.retries > 0 or is_conflict,
        "requeueAfterSeconds": requeue_seconds(result.expires, now),
        "rescheduleTriggeredAt": dict(bindings.triggered),
        "status": None if is_deleted else _status(result.status),
    }


def _status(status: RebalancerStatus) -> dict[str, Any]:
    return {
        "observedGeneration": status.generation,
        "finishTime": instant_text(status.finished) if status.finished else "",
        "observedWorkloads": [(each.workload, str(each.outcome), each.reason) for each in status.observed],
    }


def _wanted(expected: Mapping[str, Any]) -> dict[str, Any]:
    status = expected.get("status")
    return {
        "deleted": expected["deleted"],
        "failed": bool(expected["error"]),
        "requeueAfterSeconds": expected["requeueAfterSeconds"],
        "rescheduleTriggeredAt": {key: at or "" for key, at in expected["rescheduleTriggeredAt"].items()},
        "status": status
        and {
            "observedGeneration": status.get("observedGeneration", 0),
            "finishTime": status.get("finishTime") or "",
            "observedWorkloads": [
                (parse_named_workload(each["workload"]), each.get("result") or "", each.get("reason") or "")
                for each in status.get("observedWorkloads") or ()
            ],
        },
    }


def _rebalancer(manifest: Mapping[str, Any]) -> Rebalancer:
    metadata, spec = manifest["metadata"], manifest["spec"]
    return Rebalancer(
        workloads=tuple(map(parse_named_workload, spec["workloads"])),
        created=_instant(metadata["creationTimestamp"]),
        generation=metadata["generation"],
        ttl_seconds=spec.get("ttlSecondsAfterFinished"),
    )


def _instant(text: str) -> datetime:
    instant = parse_instant(text)
    assert instant is not None
    return instant
