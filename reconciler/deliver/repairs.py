"""A second round over a cluster some kinds of which could not be read, once what may repair them has been applied.

A kind cannot be read while its conversion webhook fails, or the backend of its API is away. What repairs that is an
object like any other: its CustomResourceDefinition, or the Service and the Deployment behind it. So everything else is
applied first, and these kinds are looked at again in the same pass.
"""

from collections.abc import Container, Iterable

from msgspec.structs import replace

from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import Answer, Client, FailureKind
from reconciler.observe.objects import probe_listing
from reconciler.plans.model import WRITES, Action, Plan
from reconciler.plans.stages import CRD, is_interceptor
from render.model import ObjectRef

from .results import ApplySettings, ClusterResult, ObjectResult

_DONE = WRITES | {Action.DELETED, Action.HANDED_OFF}
_CHANGED = frozenset({Action.CONFIGURED, Action.DELETED})
_REFUSALS = frozenset({FailureKind.WEBHOOK, FailureKind.FORBIDDEN, FailureKind.INVALID, FailureKind.BAD_REQUEST})
"""The reasons that admission webhooks and policies refuse an object for."""
_NOTICE_SECONDS = 1.5
"""For so long a server may go by webhooks and policies that are no more as they were."""
_PAUSE = 0.2
_LONGEST_PAUSE = 2.0


def is_another_round_due(client: Client, plan: Plan, applied: ClusterResult, settings: ApplySettings) -> bool:
    """Return whether a round has done something by which another one may do what it could not."""
    return _may_be_admitted_now(client, applied) or _are_kinds_repaired(client, plan, applied, settings)


def _may_be_admitted_now(client: Client, applied: ClusterResult) -> bool:
    """Return whether something was refused and then something that refuses has changed, and let the server notice."""
    has_changed = any(is_interceptor(result.ref) and result.action in _CHANGED for result in applied.results)
    unnamed = applied.parent_failure
    refusals = {result.reason for result in applied.results if result.is_failure} | (
        {unnamed.kind} if unnamed else set()
    )
    return has_changed and not refusals.isdisjoint(_REFUSALS) and client.wait(_NOTICE_SECONDS)


def _are_kinds_repaired(client: Client, plan: Plan, applied: ClusterResult, settings: ApplySettings) -> bool:
    """Return whether any of the kinds can be read now that could not be before, where something was written since.

    A server takes a moment to take note of a definition that changed. So that is waited for, and nothing else is.
    """
    changed = [result.ref for result in applied.results if result.action in _DONE]
    broken, silent = _kinds_not_listed(plan), _groups_without_answer(plan)
    if not changed or not (broken or silent):
        return False
    waited, pause = 0.0, _PAUSE
    while not (_is_any_listable(client, plan, broken) or _is_any_silent_group_served(client, silent)):
        is_over = waited >= settings.settle_seconds or not _may_repair_kinds_soon(changed, broken, silent)
        if is_over or client.stopped or not client.wait(pause):
            return False
        waited, pause = waited + pause, min(pause * 2, _LONGEST_PAUSE)
    return True


def _is_any_listable(client: Client, plan: Plan, broken: Iterable[Resource]) -> bool:
    return any(isinstance(probe_listing(client, resource, plan.options.applyset), Answer) for resource in broken)


def _is_any_silent_group_served(client: Client, silent: frozenset[str]) -> bool:
    discovery = discover_served_kinds(client) if silent else None
    return isinstance(discovery, Discovery) and not silent <= discovery.unavailable


def _groups_without_answer(plan: Plan) -> frozenset[str]:
    """Return the groups of wanted objects whose API does not answer."""
    return plan.discovery.unavailable & {item.ref.group for item in plan.objects if item.action is Action.BLOCKED}


def _kinds_not_listed(plan: Plan) -> list[Resource]:
    """Return the kinds that could not be listed, in the version that they are wanted in."""
    resources: dict[str, Resource] = {}
    for item in plan.objects:
        if item.ref.group_kind in plan.unlisted and item.desired is not None:
            served = plan.discovery.resource(str(item.desired.manifest.get("apiVersion")), item.ref.kind)
            if served is not None:
                resources.setdefault(item.ref.group_kind, served)
    for group_kind in plan.unlisted - resources.keys():
        kind, _, group = group_kind.partition(".")
        if preferred := plan.discovery.preferred_resource(group, kind):
            resources[group_kind] = preferred
    return [resources[group_kind] for group_kind in sorted(resources)]


def _may_repair_kinds_soon(changed: Iterable[ObjectRef], broken: Iterable[Resource], silent: frozenset[str]) -> bool:
    """Return whether something changed by which a server reads a kind otherwise, a moment later."""
    definitions = {f"{resource.plural}.{resource.group}" for resource in broken}
    return any(
        (is_interceptor(ref) and ref.name.partition(".")[2] in silent)
        or (ref.group_kind == CRD and ref.name in definitions)
        for ref in changed
    )


def plan_without_repetitions(plan: Plan, first: ClusterResult) -> Plan:
    """Return the plan of a second round that sends nothing of what is still as the first was answered.

    A server may refuse the second time what it took the first time. Where what intercepts writes has changed meanwhile,
    so that another answer is due, the next pass asks for it.
    """
    versions = {
        result.ref: result.live["metadata"]["resourceVersion"]
        for result in first.results
        if result.live is not None and not result.is_failure
    }
    objects = tuple(
        replace(item, action=Action.UNCHANGED, reason="UpToDate", changes=(), is_asked=False)
        if item.action is Action.CONFIGURED and versions.get(item.ref) == item.resource_version
        else item
        for item in plan.objects
    )
    return replace(plan, objects=objects)


def merged_cluster_result(first: ClusterResult, second: ClusterResult) -> ClusterResult:
    """Return the result of two rounds: what the first wrote and the second found as it should be was written."""
    written = {result.ref: result for result in first.results if result.action in _DONE}
    results = [_merged_object_result(written.get(result.ref), result) for result in second.results]
    results_of_second: Container[ObjectRef] = {result.ref for result in second.results}
    gone = [result for result in first.results if result.action in _DONE and result.ref not in results_of_second]
    return replace(second, results=(*results, *gone))


def _merged_object_result(first: ObjectResult | None, second: ObjectResult) -> ObjectResult:
    if first is None or second.action is not Action.UNCHANGED:
        return second
    return replace(first, live=second.live or first.live)
