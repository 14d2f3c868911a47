"""The status of WorkloadRebalancers on the status branch, in Karmada's form: what became of each workload, and when."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from reconciler.source.desired import Desired
from render.binding import Binding
from render.layout import object_path
from render.model import Manifest, ObjectRef
from render.rescheduling.rebalancing import (
    ObservedWorkload,
    RebalancerPass,
    RebalancerStatus,
    RequestOutcome,
    workload,
)
from render.rescheduling.requests import RescheduleRequest, answered
from render.timing import parse_instant, written

from .recorded_status import RecordedStatus

FOLDER = "rebalancers"
_GROUP, _KIND = "apps.karmada.io", "WorkloadRebalancer"


def rebalancer_path(request: RescheduleRequest) -> str:
    """Return the path of a rebalancer's status."""
    return f"{FOLDER}/{object_path(ObjectRef(_GROUP, _KIND, '', request.name))[-1]}"


def rebalancer_passes(
    desired: Desired, bindings: Collection[Binding], recorded: RecordedStatus, now: datetime
) -> Iterator[tuple[RescheduleRequest, RebalancerPass]]:
    """Yield what became of each rebalancer of the source."""
    for request in desired.reschedule_requests:
        status = _parsed(recorded.manifest(rebalancer_path(request)) or {})
        yield request, answered(request, status, bindings, now)


def rebalancer_manifest(request: RescheduleRequest, done: RebalancerPass) -> dict[str, Any]:
    """Return a rebalancer's status as the status branch keeps it."""
    finished = {"finishTime": written(done.status.finished)} if done.status.finished else {}
    return {
        "apiVersion": f"{_GROUP}/v1alpha1",
        "kind": _KIND,
        "metadata": {"name": request.name},
        "status": {"observedWorkloads": list(map(_plain, done.status.observed)), **finished},
    }


def _plain(observed: ObservedWorkload) -> dict[str, Any]:
    named = observed.workload
    fields = {
        "apiVersion": named.api_version,
        "kind": named.kind,
        "namespace": named.namespace,
        "name": named.name,
    }
    words = {"result": str(observed.outcome), "reason": observed.reason}
    return {
        "workload": {name: value for name, value in fields.items() if value},
        **{name: word for name, word in words.items() if word},
    }


def _parsed(manifest: Manifest) -> RebalancerStatus:
    """Return a recorded status; one that cannot be read counts for nothing, for it is made anew."""
    status: Mapping[str, Any] = manifest.get("status") or {}
    try:
        observed = tuple(
            ObservedWorkload(
                workload=workload(each["workload"]),
                outcome=RequestOutcome(each.get("result") or ""),
                reason=each.get("reason") or "",
            )
            for each in status.get("observedWorkloads") or ()
        )
    except (KeyError, TypeError, ValueError):
        return RebalancerStatus()
    return RebalancerStatus(observed=observed, finished=parse_instant(str(status.get("finishTime") or "")))
