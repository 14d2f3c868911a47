"""The status of each binding: scheduled, applied everywhere, and the status its object reports in every cluster.

It is the status of Karmada's ResourceBinding, with the status that the template itself would get there.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reconciler.ledger.conditions import condition_of_type, conditions_with_times, new_condition
from reconciler.ledger.health import ReportedHealth
from reconciler.ledger.work import LiveReplicas
from reconciler.pipeline.dependencies import binding_name
from reconciler.pipeline.health import is_status_asked_for
from render.binding import Binding
from render.failover.eviction import clusters_with_a_copy
from render.interpretation.progress import NOT_OBSERVED
from render.interpreter import Interpreter, InterpreterError, Operation
from render.model import BINDING_API_VERSION, Manifest, Template

from .work_status import APPLIED, HEALTHY

FULLY_APPLIED = "FullyApplied"
STATUS_AGGREGATED = "StatusAggregated"
"""The condition that is only written where it is False: the interpreter failed, and the last status stays."""
BINDING_NAMES = (("metadata", "name"), ("spec", "resource", "name"))
"""The paths of the names by which the statuses of most bindings differ alone."""
Works = Mapping[str, Manifest]
"""The Works of one object by cluster."""


class BindingInputs(Struct, frozen=True, kw_only=True):
    """The inputs of a binding's status. ``template`` is None for one whose template was deleted.

    ``works`` and ``members`` are those of the clusters that are observed.
    """

    binding: Binding
    template: Template | None
    works: Works
    members: Container[str]

    @property
    def expected_members(self) -> tuple[str, ...]:
        """The members that should have the object."""
        return tuple(name for name in expected_clusters(self.binding) if name in self.members)


def binding_status_after(
    inputs: BindingInputs, before: Manifest | None, interpreter: Interpreter, now: str
) -> Manifest:
    """Return a binding's status file as a value; equal to ``before`` when nothing in it changed."""
    binding, ref = inputs.binding, inputs.binding.ref
    items = aggregated_status_items(inputs)
    known = before.get("status") or {} if before else {}
    scheduled = [new_condition(each.type, each.status, each.reason, each.message) for each in binding.conditions]
    template_status, faults = _template_status_and_faults(inputs, items, before, interpreter)
    conditions = conditions_with_times(
        [*scheduled, fully_applied_condition(inputs.expected_members, items), *faults],
        known.get("conditions") or (),
        now,
    )
    namespace = {"namespace": ref.namespace} if ref.namespace else {}
    return {
        "apiVersion": BINDING_API_VERSION,
        "kind": "ResourceBinding" if ref.namespace else "ClusterResourceBinding",
        "metadata": {"name": binding_name(ref), **namespace},
        "spec": {"resource": {"apiVersion": binding.api_version, "kind": ref.kind, **namespace, "name": ref.name}},
        "status": {"conditions": conditions, **({"aggregatedStatus": items} if items else {})},
        **({"templateStatus": template_status} if template_status else {}),
    }


def expected_clusters(binding: Binding) -> tuple[str, ...]:
    """Return the clusters of a binding's object: its targets, those of what requires it, those it is evicted from.

    So are those that it would leave, if others were to get it. A cluster it leaves at once (``purgeMode: Directly``)
    is not among them.
    """
    required = (snapshot.clusters for snapshot in binding.required_by)
    kept = (name for each in binding.kept if each.replicas is not None for name in each.clusters)
    return tuple(sorted({*clusters_with_a_copy(binding.targets, required, binding.eviction_tasks), *kept}))


def aggregated_status_items(inputs: BindingInputs) -> list[dict[str, Any]]:
    """Return ``aggregatedStatus``: an item for every cluster that has a Work of the object, by cluster name."""
    works = {name: inputs.works[name] for name in inputs.expected_members if name in inputs.works}
    # Most clusters have one and the same Work.
    distinct = {id(work): (name, work) for name, work in works.items()}
    items = {id_: _item_of_cluster(name, work) for id_, (name, work) in distinct.items()}
    return [{**items[id(work)], "clusterName": name} for name, work in works.items()]


def _item_of_cluster(cluster: str, work: Manifest) -> dict[str, Any]:
    status = work["status"]
    applied = condition_of_type(status.get("conditions"), APPLIED)
    if applied.get("status") != "True":
        message = {"appliedMessage": applied["message"]} if applied.get("message") else {}
        return {"clusterName": cluster, **message, "health": "Unknown"}
    entry: Mapping[str, Any] = next(iter(status.get("manifestStatuses") or ()), {})
    reported = {"status": entry["status"]} if entry.get("status") is not None else {}
    return {"clusterName": cluster, **reported, "applied": True, "health": entry.get("health", "Unknown")}


def reported_health(cluster: str, work: Manifest, binding: Binding, *, counts_ready: bool = False) -> ReportedHealth:
    """Return the health of an object in a cluster, with the time since when; its status only where a rule reads it.

    ``counts_ready``: a move may ask for the replicas that are ready. Those of one that is not healthy are up to date
    only while a move is under way.
    """
    item = _item_of_cluster(cluster, work)
    healthy = condition_of_type(work["status"].get("conditions"), HEALTHY)
    return ReportedHealth(
        cluster=cluster,
        health=str(item["health"]),
        since=str(healthy.get("lastTransitionTime") or ""),
        healthy_until=str(work.get("healthyUntil") or ""),
        version=str(work.get("rolledOut") or "") if binding.rollout is not None else "",
        status=item.get("status") if is_status_asked_for(binding) else None,
        ready=_ready_replicas(item, work, binding, str(healthy.get("reason"))) if counts_ready else None,
    )


def _ready_replicas(item: Mapping[str, Any], work: Manifest, binding: Binding, reason: str) -> int | None:
    """Return the replicas that are ready in a cluster, of those that its object asks for; None where nobody knows.

    Nobody does while its controller has not seen what it asks for: its status is of the time before.
    """
    live, status = LiveReplicas.of_work(work), item.get("status")
    if live is None or not item.get("applied") or reason == NOT_OBSERVED or work.get("mayBeEarlier"):
        return None
    if item["health"] == "Healthy":
        return live.replicas
    if binding.moving is None or item["health"] != "Unhealthy" or not isinstance(status, Mapping):
        return None
    ready = status.get("readyReplicas", 0 if "replicas" in status or "observedGeneration" in status else None)
    return min(ready, live.replicas) if type(ready) is int else None


def fully_applied_condition(expected: Collection[str], items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the FullyApplied condition: every expected cluster, and at least one, has applied the object."""
    applied = {item["clusterName"] for item in items if item.get("applied")}
    if expected and applied.issuperset(expected):
        return new_condition(FULLY_APPLIED, "True", "FullyAppliedSuccess", "All works have been successfully applied")
    return new_condition(
        FULLY_APPLIED, "False", "FullyAppliedFailed", "Failed to apply all works, see status.aggregatedStatus"
    )


def _template_status_and_faults(
    inputs: BindingInputs, items: Iterable[Mapping[str, Any]], before: Manifest | None, interpreter: Interpreter
) -> tuple[Any, tuple[dict[str, str], ...]]:
    """Return the status of the template, with a condition where its interpreter fails and the last status stays.

    A kind without a rule has none.
    """
    known = before.get("templateStatus") if before else None
    template = inputs.template
    if template is None or not interpreter.has(Operation.AGGREGATE_STATUS, template.manifest):
        return None, ()
    manifest = {key: value for key, value in template.manifest.items() if key != "status"}
    try:
        after = interpreter.aggregate_status({**manifest, "status": known} if known else manifest, list(items))
    except InterpreterError as error:
        return known, (new_condition(STATUS_AGGREGATED, "False", "AggregateStatusFailed", str(error)),)
    return after.get("status"), ()
