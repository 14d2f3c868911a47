"""The progress of live objects: kstatus' rules, made stricter where "current" would call a failure fine.

What applies to every kind comes first - being deleted, a controller that has not seen the newest generation, the
conditions ``Reconciling`` and ``Stalled`` - then the rules of the kind, then its ``Ready`` condition, if it has one.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from render.model import Manifest, as_mapping

from .conditions import condition_of_type


class Progress(StrEnum):
    """The progress of an object: done, under way, broken, being deleted, or nobody knows."""

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    TERMINATING = "Terminating"
    UNKNOWN = "Unknown"


class LiveState(NamedTuple):
    """An object's progress, and the reason for it."""

    progress: Progress
    reason: str = ""
    message: str = ""


CURRENT = LiveState(Progress.CURRENT)
_PAUSED = "it is paused (spec.paused), so nothing is rolled out"
Rule = Callable[[Manifest], LiveState | None]


def live_state(live: Manifest) -> LiveState:
    """Return the progress of a live object."""
    general = _general(live)
    if general is not None:
        return general
    group = str(live.get("apiVersion") or "").rpartition("/")[0]
    rule = _RULES.get((group, str(live.get("kind"))))
    if rule is not None:
        return rule(live) or CURRENT
    ready = _condition(live, "Ready")
    if ready.get("status") in {"False", "Unknown"}:
        return _under_way(ready)
    return CURRENT


def _general(live: Manifest) -> LiveState | None:
    metadata = live["metadata"]
    if metadata.get("deletionTimestamp"):
        return LiveState(Progress.TERMINATING, "Terminating", "it is being deleted")
    observed, generation = _status(live).get("observedGeneration"), metadata.get("generation")
    if isinstance(observed, int) and isinstance(generation, int) and observed != generation:
        return LiveState(Progress.IN_PROGRESS, "NotObserved", "its controller has not seen the newest generation")
    if _is(live, "Reconciling", "True"):
        return _under_way(_condition(live, "Reconciling"))
    if _is(live, "Stalled", "True"):
        return _broken(_condition(live, "Stalled"))
    return None


def _deployment(live: Manifest) -> LiveState | None:
    progressing = _condition(live, "Progressing")
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return _broken(progressing)
    failure = _condition(live, "ReplicaFailure")
    if failure.get("status") == "True":
        return _broken(failure)
    state = _rollout(live)
    is_paused = (live.get("spec") or {}).get("paused") is True
    if state is not None and is_paused and state.reason != "NotObserved":
        return state._replace(reason="Paused", message=f"{_PAUSED}; {state.message}")
    return state


def _rollout(live: Manifest) -> LiveState | None:
    status, wanted = _status(live), _wanted(live)
    for counter in ("updatedReplicas", "readyReplicas", "availableReplicas"):
        if _count(status, counter) < wanted:
            return _short(counter, _count(status, counter), wanted)
    if _count(status, "replicas") > _count(status, "updatedReplicas"):
        return LiveState(Progress.IN_PROGRESS, "OldReplicas", "replicas of an older revision are still there")
    if "observedGeneration" not in status:
        return LiveState(Progress.IN_PROGRESS, "NotObserved", "its controller has not seen it yet")
    return None


def _replica_set(live: Manifest) -> LiveState | None:
    failure = _condition(live, "ReplicaFailure")
    if failure.get("status") == "True":
        return _broken(failure)
    status, wanted = _status(live), _wanted(live)
    ready = _count(status, "availableReplicas")
    return None if ready >= wanted else _short("availableReplicas", ready, wanted)


def _stateful_set(live: Manifest) -> LiveState | None:
    strategy = (live.get("spec") or {}).get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return None
    status, wanted = _status(live), _wanted(live)
    for counter in ("replicas", "readyReplicas"):
        if _count(status, counter) < wanted:
            return _short(counter, _count(status, counter), wanted)
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    least, updated = wanted - partition, _count(status, "updatedReplicas")
    if updated < least:
        return _short("updatedReplicas", updated, least)
    if not partition and status.get("currentRevision") != status.get("updateRevision"):
        return LiveState(Progress.IN_PROGRESS, "OldReplicas", "replicas of an older revision are still there")
    return None


def _daemon_set(live: Manifest) -> LiveState | None:
    status = _status(live)
    if "observedGeneration" not in status:
        return LiveState(Progress.IN_PROGRESS, "NotObserved", "its controller has not seen it yet")
    wanted = _count(status, "desiredNumberScheduled")
    for counter in ("currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady"):
        if _count(status, counter) < wanted:
            return _short(counter, _count(status, counter), wanted)
    return None


def _job(live: Manifest) -> LiveState | None:
    # To kstatus a running Job is current; here only a completed one is done, or suspended ones would wait for ever.
    if _is(live, "Failed", "True"):
        return _broken(_condition(live, "Failed"))
    if _is(live, "Complete", "True") or _is(live, "Suspended", "True"):
        return None
    return LiveState(Progress.IN_PROGRESS, "JobRunning", "it has not completed yet")


def _pod(live: Manifest) -> LiveState | None:
    # To kstatus a failed pod is current, for it changes no more.
    phase = _status(live).get("phase")
    if phase == "Failed":
        return LiveState(Progress.FAILED, "PodFailed", str(_status(live).get("message") or "it ended in failure"))
    if phase == "Succeeded" or (phase == "Running" and _is(live, "Ready", "True")):
        return None
    return LiveState(Progress.IN_PROGRESS, "PodNotReady", f"its phase is {phase or 'unknown'}")


def _claim(live: Manifest) -> LiveState | None:
    phase = _status(live).get("phase")
    if phase == "Lost":
        return LiveState(Progress.FAILED, "ClaimLost", "the volume it was bound to is gone")
    # A claim that waits for its first consumer stays Pending for as long as no pod asks for it.
    return None


def _service(live: Manifest) -> LiveState | None:
    if (live.get("spec") or {}).get("type") != "LoadBalancer":
        return None
    addresses = (_status(live).get("loadBalancer") or {}).get("ingress")
    return None if addresses else LiveState(Progress.IN_PROGRESS, "NoAddress", "its load balancer has no address yet")


def _definition(live: Manifest) -> LiveState | None:
    names = _condition(live, "NamesAccepted")
    if names.get("status") == "False":
        return _broken(names)
    established = _condition(live, "Established")
    if established.get("status") == "True":
        return None
    is_broken = established.get("status") == "False" and established.get("reason") != "Installing"
    return _broken(established) if is_broken else _under_way(established)


def _autoscaler(live: Manifest) -> LiveState | None:
    for kind in ("AbleToScale", "ScalingActive"):
        if _is(live, kind, "False"):
            return _under_way(_condition(live, kind))
    return None


def _namespace(live: Manifest) -> LiveState | None:
    phase = _status(live).get("phase") or "Active"
    return None if phase == "Active" else LiveState(Progress.IN_PROGRESS, "NotActive", f"its phase is {phase}")


def _available(live: Manifest) -> LiveState | None:
    available = _condition(live, "Available")
    return None if available.get("status") == "True" else _under_way(available)


_RULES: Mapping[tuple[str, str], Rule] = {
    ("apps", "Deployment"): _deployment,
    ("apps", "ReplicaSet"): _replica_set,
    ("apps", "StatefulSet"): _stateful_set,
    ("apps", "DaemonSet"): _daemon_set,
    ("batch", "Job"): _job,
    ("", "Pod"): _pod,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Service"): _service,
    ("", "Namespace"): _namespace,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("apiregistration.k8s.io", "APIService"): _available,
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
}


def _short(counter: str, count: int, wanted: int) -> LiveState:
    return LiveState(Progress.IN_PROGRESS, "ReplicasMissing", f"{counter}: {count} of {wanted}")


def _broken(cause: Mapping[str, Any]) -> LiveState:
    return LiveState(Progress.FAILED, str(cause.get("reason") or ""), str(cause.get("message") or ""))


def _under_way(cause: Mapping[str, Any]) -> LiveState:
    reason = str(cause.get("reason") or "") or "NotReady"
    return LiveState(Progress.IN_PROGRESS, reason, str(cause.get("message") or ""))


def _status(live: Manifest) -> Mapping[str, Any]:
    status = live.get("status")
    return as_mapping(status)


def _condition(live: Manifest, kind: str) -> Mapping[str, Any]:
    conditions = _status(live).get("conditions")
    known = [each for each in conditions if isinstance(each, Mapping)] if isinstance(conditions, list) else []
    return condition_of_type(known, kind)


def _is(live: Manifest, kind: str, status: str) -> bool:
    return _condition(live, kind).get("status") == status


def _wanted(live: Manifest) -> int:
    replicas = (live.get("spec") or {}).get("replicas")
    return replicas if isinstance(replicas, int) else 1


def _count(status: Mapping[str, Any], counter: str) -> int:
    count = status.get(counter)
    return count if isinstance(count, int) else 0
