"""The status of each object in each cluster, as in Karmada's Work: applied, healthy, and the status it reports.

Two conditions say it all: ``Applied``, and ``Healthy`` with the most telling reason. Nothing in a Work's status names
its cluster, so that equal ones are one blob whatever the number of clusters.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import to_builtins

from reconciler.deliver.results import FAILED_ACTIONS, ClusterReport, ObjectResult, live_objects
from reconciler.ledger.conditions import new_condition
from reconciler.ledger.work import LiveReplicas
from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import Failure, FailureKind
from reconciler.observe.findings import Finding
from reconciler.observe.progress import NOT_HEALTHY, progress_of_live_object, unmet_health
from reconciler.plans.allocated_fields import live_without_allocated_fields
from reconciler.plans.model import SUSPENDED_AND_MISSING, PlannedObject
from render.interpretation.progress import LiveState, Progress
from render.interpretation.statuses import GENERATION_ANNOTATION
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.model import WORK_API_VERSION, Manifest, ObjectRef
from render.values import DiscreetStruct

from .live_scale import live_replicas

APPLIED, HEALTHY, DISPATCHING = "Applied", "Healthy", "Dispatching"
STATUS_REFLECTED = "StatusReflected"
"""The condition that is only written where it is False: the interpreter failed, and the last reported status stays."""
SUSPENDED = "SuspendDispatching"
_OWN_METADATA = frozenset({"uid", "resourceVersion", "managedFields", "creationTimestamp"})
"""The metadata that differs from cluster to cluster and is in no status."""
_READ_OF_LIVE = (
    Operation.INTERPRET_HEALTH,
    Operation.INTERPRET_STATUS,
    Operation.INTERPRET_REPLICA,
    Operation.INTERPRET_COMPONENT,
    Operation.REVISE_REPLICA,
)
"""The operations by which a status is made of a live object."""
_OWN_LAYERS = frozenset({Layer.NATIVE, Layer.NONE})
_TELLING_NO_TIMES = frozenset({("apps/v1", "Deployment")})
"""The kinds of whose status no time in a condition is reported, or asked about; of another version all is reported."""
CONDITION_TIMES = frozenset({"lastTransitionTime", "lastUpdateTime"})


class Health(StrEnum):
    """An object's health, in Karmada's words."""

    HEALTHY = "Healthy"
    UNHEALTHY = "Unhealthy"
    UNKNOWN = "Unknown"


class WorkStatus(DiscreetStruct, frozen=True, kw_only=True):
    """The status of one object in one cluster after a pass; its ``conditions`` have no times yet.

    ``live`` are the replicas that it asks for there (None: nobody knows, or it has none). ``rolled_out`` is the version
    of a rollout that it stands at ("": none, or nobody asks). ``may_be_earlier``: it is healthy by a status that may
    tell of what the object was before the cluster's commit.
    """

    UNSHOWN = ("reported",)

    ref: ObjectRef
    version: str
    conditions: tuple[Mapping[str, str], ...]
    health: Health
    reported: Any = None
    findings: tuple[Finding, ...] = ()
    live: LiveReplicas | None = None
    rolled_out: str = ""
    may_be_earlier: bool = False


class WorkInputs(NamedTuple):
    """The inputs of one object's status: its plan, its result, the live object and the findings about it.

    ``version`` is the one that a rollout let the cluster have ("": no rollout asks for it), if it is applied.
    ``may_be_earlier``: the status of the live object may tell of an earlier generation, and nobody else can tell.
    """

    item: PlannedObject
    result: ObjectResult | None
    live: Manifest | None
    findings: tuple[Finding, ...] = ()
    version: str = ""
    may_be_earlier: bool = False


def work_inputs_of_report(report: ClusterReport) -> tuple[WorkInputs, ...]:
    """Return the inputs for every object a cluster should hold; none where it was not applied to."""
    if report.plan is None or report.applied is None:
        return ()
    results = {result.ref: result for result in report.applied.results}
    live = live_objects(report)
    return tuple(
        WorkInputs(item, results.get(item.ref), live.get(item.ref), report.findings.get(item.ref, ()))
        for item in sorted(report.plan.objects, key=lambda item: item.ref)
    )


def work_status_of(inputs: WorkInputs, interpreter: Interpreter) -> WorkStatus:
    """Return the status of one object in one cluster."""
    item, result, live, findings, rolled_out, may_be_earlier = inputs
    version = _api_version_without_group(item, live)
    applied, replicas = _applied_condition(item, result), live_replicas(live, interpreter)
    if live is None or applied["status"] != "True":
        unknown = new_condition(HEALTHY, "Unknown", "NotApplied", "it is not in the cluster as it should be")
        return WorkStatus(
            ref=item.ref,
            version=version,
            conditions=(*_suspension_conditions(item), applied, unknown),
            health=Health.UNKNOWN,
            live=replicas,
        )
    health, state = health_and_progress(live, interpreter)
    first = findings[0] if findings and health is not Health.HEALTHY else None
    reason, message = (first.reason, first.message) if first else (state.reason, state.message)
    healthy = {Health.HEALTHY: "True", Health.UNHEALTHY: "False", Health.UNKNOWN: "Unknown"}[health]
    reported, faults = _status_and_faults(live, interpreter)
    return WorkStatus(
        ref=item.ref,
        version=version,
        conditions=(
            *_suspension_conditions(item),
            applied,
            new_condition(HEALTHY, healthy, reason or str(health), message),
            *faults,
        ),
        health=health,
        reported=reported,
        findings=findings if health is not Health.HEALTHY else (),
        live=replicas,
        rolled_out=rolled_out,
        may_be_earlier=may_be_earlier and health is Health.HEALTHY,
    )


def inputs_as_read_by_own_rules(inputs: WorkInputs, interpreter: Interpreter) -> WorkInputs:
    """Return the inputs without fields that no rule of Argosy's own asks about, and that no two clusters have alike.

    These are what the cluster allocated to the object, and the times in the conditions of a Deployment. A rule of the
    source may ask about anything.
    """
    live, want = inputs.live, inputs.item.manifest
    if live is None or want is None:
        return inputs
    shared = live_without_allocated_fields(live, want)
    if (live.get("apiVersion"), live.get("kind")) in _TELLING_NO_TIMES:
        shared = _without_times_of_conditions(shared)
    is_read_by_others = shared is not live and not _OWN_LAYERS.issuperset(
        interpreter.answering_layer(each, live) for each in _READ_OF_LIVE
    )
    return inputs if shared is live or is_read_by_others else inputs._replace(live=shared)


def _without_times_of_conditions(live: Manifest) -> Manifest:
    status = live.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    if not (isinstance(conditions, list) and all(isinstance(each, dict) for each in conditions)):
        return live
    timeless = [
        {name: value for name, value in each.items() if name not in CONDITION_TIMES or not isinstance(value, str)}
        for each in conditions
    ]
    return {**live, "status": {**live["status"], "conditions": timeless}}


def have_equal_work_status(one: WorkInputs, other: WorkInputs) -> bool:
    """Return whether two clusters' objects have equal statuses: all is equal but the metadata no two objects share."""
    return (
        _distinguished_words(one) == _distinguished_words(other)
        and (one.findings, one.version, one.may_be_earlier) == (other.findings, other.version, other.may_be_earlier)
        and _are_equal_beside_metadata(one.live, other.live)
    )


def _distinguished_words(inputs: WorkInputs) -> tuple[str, ...]:
    item, source = inputs.item, inputs.result or inputs.item
    return source.action, source.reason, source.message, item.reason, _api_version_without_group(item, inputs.live)


def _are_equal_beside_metadata(one: Manifest | None, other: Manifest | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.keys() != other.keys() or any(one[key] != other[key] for key in one if key != "metadata"):
        return False
    first, second = one["metadata"], other["metadata"]
    return all(first.get(key) == second.get(key) for key in first.keys() | second.keys() if key not in _OWN_METADATA)


def health_and_progress(live: Manifest, interpreter: Interpreter) -> tuple[Health, LiveState]:
    """Return an object's health and its progress: healthy only if its interpreter and its conditions agree on it."""
    state = result_or_failure(lambda: progress_of_live_object(live))
    if isinstance(state, Failure):
        return Health.UNKNOWN, LiveState(Progress.UNKNOWN, str(state.kind), "its status has fields of wrong types")
    try:
        is_healthy = interpreter.is_healthy(live)
    except InterpreterError as error:
        return Health.UNKNOWN, LiveState(Progress.UNKNOWN, "InterpreterError", str(error))
    if is_healthy and state.progress is Progress.CURRENT:
        return Health.HEALTHY, state
    if state.progress is Progress.CURRENT:
        unmet = result_or_failure(lambda: unmet_health(live))
        return Health.UNHEALTHY, unmet if isinstance(unmet, LiveState) else NOT_HEALTHY
    return Health.UNHEALTHY, state


def _status_and_faults(live: Manifest, interpreter: Interpreter) -> tuple[Any, tuple[dict[str, str], ...]]:
    """Return the part of an object's status that is reported, and a condition where its interpreter fails."""
    metadata = live["metadata"]
    annotations = {GENERATION_ANNOTATION: "0", **(metadata.get("annotations") or {})}
    try:
        # A template in Git has no generation to be passed on, and Karmada's rules insist on one.
        return interpreter.reflect_status({**live, "metadata": {**metadata, "annotations": annotations}}), ()
    except InterpreterError as error:
        return None, (new_condition(STATUS_REFLECTED, "False", "ReflectStatusFailed", str(error)),)


def _applied_condition(item: PlannedObject, result: ObjectResult | None) -> dict[str, str]:
    action, source = (result.action, result) if result is not None else (item.action, item)
    if action in FAILED_ACTIONS:
        message = ": ".join(filter(None, (source.reason, source.message)))
        # Nobody at the member of an agent sees its log, and this hint is the command that ends the trouble.
        cure = f"; {source.hint}" if source.reason == FailureKind.FORBIDDEN and source.hint else ""
        return new_condition(APPLIED, "False", "AppliedFailed", f"{message}{cure}")
    if item.reason == SUSPENDED and item.live is None:
        return new_condition(APPLIED, "False", "AppliedFailed", SUSPENDED_AND_MISSING)
    return new_condition(APPLIED, "True", "AppliedSuccessful", "Manifest has been successfully applied")


def _suspension_conditions(item: PlannedObject) -> Iterable[dict[str, str]]:
    return [new_condition(DISPATCHING, "False", SUSPENDED)] if item.reason == SUSPENDED else []


def _api_version_without_group(item: PlannedObject, live: Manifest | None) -> str:
    manifest = item.manifest or (item.desired.manifest if item.desired else None) or live or {}
    return str(manifest.get("apiVersion") or "").rpartition("/")[2]


def work_manifest(status: WorkStatus) -> dict[str, Any]:
    """Return the Work as the status branch keeps it, without any time."""
    from reconciler.pipeline.karmada_works import work_name

    ref = status.ref
    identifier = {
        "ordinal": 0,
        "group": ref.group,
        "version": status.version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
    }
    entry = {"identifier": {key: word for key, word in identifier.items() if word != ""}, "health": str(status.health)}
    reported = {"status": status.reported} if status.reported is not None else {}
    found = [
        {
            key: word
            for key, word in (
                ("about", each.about),
                ("container", each.container),
                ("reason", each.reason),
                ("message", each.message),
            )
            if word
        }
        for each in status.findings
    ]
    return {
        "apiVersion": WORK_API_VERSION,
        "kind": "Work",
        "metadata": {"name": work_name(ref)},
        "status": {"conditions": list(status.conditions), "manifestStatuses": [{**entry, **reported}]},
        **({"live": to_builtins(status.live)} if status.live is not None else {}),
        **({"rolledOut": status.rolled_out} if status.rolled_out else {}),
        **({"mayBeEarlier": True} if status.may_be_earlier else {}),
        **({"findings": found} if found else {}),
    }
