"""The plan for one cluster: a pure function of what it must hold, what it holds, and what it may hold of ours.

Everything is decided here, each decision with its reason, before anything is written: what is created, configured or
left alone, what conflicts, what is pruned and what is kept. Applying carries the plan out; only an object that changed
in between is planned again, by the same rules.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.inventory import HeldObject, HistoryPlace, Inventory
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Failure, FailureKind
from render.boundary import INTERNAL, REPORT_IT, result_or_substitute, words_of_unexpected_error
from render.kinds import KUBERNETES
from render.model import Manifest, ObjectRef, is_encrypted_by_sops
from render.words import first_few

from .applyset import ApplySet
from .context import PlanContext
from .equal_objects import PlansOfEquals
from .membership import is_member
from .model import Action, ClusterDesired, DesiredObject, ObservedCluster, Plan, PlannedObject, PlanOptions
from .object import plan_of_unserved_object
from .prune import EMPTYING, NO_MEMBER, PruneHold, forbids_pruning, plan_deletions
from .retention import scaled_objects
from .stages import CRD, sort_key_by_stage

OWN_CONTEXT = "give each member the context of its own cluster; argosy.yaml says which under clusters"
"""The hint where the contexts of two members lead to the same cluster."""


def make_plan(
    desired: ClusterDesired,
    observed: ObservedCluster,
    inventory: Inventory,
    options: PlanOptions | None = None,
    equals: PlansOfEquals | None = None,
) -> Plan:
    """Return all that will be done to a cluster, and why; ``equals`` are the plans for others of the same apply."""
    options = options or PlanOptions()
    refusal = observed.failure or _refusal_of_desired(desired, observed, inventory, options)
    inventory = _with_recovered_objects(inventory, observed, options)
    plan = _empty_plan(desired, observed, options, refusal)
    if refusal:
        return plan
    wanted = tuple(_with_scope_of_cluster(item, observed.discovery) for item in desired.objects)
    context = _cluster_context(wanted, desired, observed, inventory, options, equals or PlansOfEquals())
    # One object that no rule expected fails alone: the others are planned, and applied, all the same.
    made = (
        result_or_substitute(partial(_plan_of_desired_object, item, context), partial(_failed_plan_of, item))
        for item in wanted
    )
    objects = sorted(made, key=lambda item: sort_key_by_stage(item.ref))
    hold = _reason_to_hold_pruning(desired, observed, inventory, options)
    deletions = plan_deletions(frozenset(item.ref for item in wanted), observed, inventory, options, hold)
    plan = replace(
        plan,
        objects=tuple(objects),
        deletions=deletions,
        prune_hold=hold.reason or next((EMPTYING for item in deletions if item.message == EMPTYING), ""),
        unlisted=observed.unlisted_kinds,
        autoscaled=context.autoscaled,
        are_scalers_known=observed.are_scalers_known,
        is_converged=context.is_converged,
        held_objects=inventory.held_objects,
        answered=context.answered,
    )
    return _plan_with_applysets(plan, desired, observed, inventory)


def _empty_plan(
    desired: ClusterDesired, observed: ObservedCluster, options: PlanOptions, refusal: Failure | None
) -> Plan:
    return Plan(
        cluster=desired.cluster,
        commit=desired.commit,
        uid=observed.uid,
        refusal=refusal,
        discovery=observed.discovery,
        admission=observed.admission,
        options=options,
    )


def _plan_with_applysets(plan: Plan, desired: ClusterDesired, observed: ObservedCluster, inventory: Inventory) -> Plan:
    """Return a plan with what the ApplySet contains now, and what it will contain."""
    options = plan.options
    recorded = options.applyset.set_recorded_on_parent(observed.parent)
    unseen = _members_not_looked_at(options.applyset, recorded, observed)
    kept = (item.ref for item in plan.deletions if item.action is Action.KEPT and item.reason not in NO_MEMBER)
    members = options.applyset.set_with_kinds_of([*(item.ref for item in plan.objects), *kept]).united_with(unseen)
    is_new = plan.writes or _should_parent_name_commit(recorded.commit, desired, inventory, options)
    return replace(
        plan,
        members=replace(members, commit=desired.commit if is_new else recorded.commit),
        unseen=unseen,
        recorded=recorded,
        parent_refusal=options.applyset.refusal(observed.parent),
        former=_shared_former_set(observed, options.applyset),
    )


def _should_parent_name_commit(given: str, desired: ClusterDesired, inventory: Inventory, options: PlanOptions) -> bool:
    """Return whether the parent is to name the commit, and not the one given before, though nothing is written.

    Where an attempt at the commit is recorded and the parent does not name it, it could not be written then.
    """
    if desired.commit in inventory.attempted and given not in {"", desired.commit}:
        return True
    return options.names_commit or _history_place(given, desired, inventory, options) is not HistoryPlace.BEFORE


def _shared_former_set(observed: ObservedCluster, applyset: ApplySet) -> ApplySet | None:
    """Return the set that fleets shared before each had its own, where it is still there and Argosy's."""
    parent = observed.former_parent
    return applyset.former.set_recorded_on_parent(parent) if parent and not applyset.former.refusal(parent) else None


def _with_recovered_objects(inventory: Inventory, observed: ObservedCluster, options: PlanOptions) -> Inventory:
    """Return an inventory with what was lost of it: objects of the fleet that its rendered history names."""
    live, applyset = observed.live, options.applyset
    found = [
        item
        for item in options.recovered
        if item.ref in live
        and is_member(live[item.ref], applyset, is_held=False)
        and item.ref not in inventory.held_objects
    ]
    return inventory.with_objects([*inventory.held_objects.values(), *found]) if found else inventory


def _refusal_of_desired(
    desired: ClusterDesired, observed: ObservedCluster, inventory: Inventory, options: PlanOptions
) -> Failure | None:
    """Return why nothing may be done to this cluster; None when everything may."""
    # Kubeconfig contexts get repointed; applying and pruning by the inventory of another cluster would wreck this one.
    if inventory.uid and observed.uid != inventory.uid:
        return failure_of_another_cluster(desired.cluster, observed.uid, inventory.uid)
    known_as = options.applyset.set_recorded_on_parent(observed.parent).member
    if not inventory.converged and known_as not in {"", options.applyset.member, *options.former_names}:
        return failure_of_known_cluster(desired.cluster, known_as)
    if options.twins:
        return Failure(
            kind=FailureKind.WRONG_CLUSTER,
            message=(
                f"the context of {desired.cluster!r} leads to the same cluster as that of {first_few(options.twins)}"
            ),
            hint=OWN_CONTEXT,
        )
    return None if options.allow_older else _failure_to_follow(desired, observed, inventory, options)


def failure_of_known_cluster(cluster: str, known_as: str) -> Failure:
    """Return the failure of a context that leads to the cluster of another member."""
    return Failure(
        kind=FailureKind.WRONG_CLUSTER,
        message=f"the context of {cluster!r} leads to the cluster that this fleet knows as {known_as!r}",
        hint=f"correct the context; if it is the same cluster: argosy cluster rename {known_as} {cluster}",
    )


def failure_of_another_cluster(cluster: str, uid: str, recorded: str) -> Failure:
    """Return the failure of a context that leads to the cluster with a UID, and not to the recorded one."""
    return Failure(
        kind=FailureKind.WRONG_CLUSTER,
        message=f"the context of {cluster!r} leads to another cluster: the UID of its kube-system namespace"
        f" is {uid or 'unknown'}, not {recorded}",
        hint="correct the context; if the cluster was built anew, take it in again:"
        f" argosy cluster rejoin {cluster} --accept-uid {uid or 'UID'}",
    )


def _failure_to_follow(
    desired: ClusterDesired, observed: ObservedCluster, inventory: Inventory, options: PlanOptions
) -> Failure | None:
    """Return why a commit does not follow what the cluster holds; its parent tells that where the inventory does not.

    The parent is also where the clones of a fleet meet that are on their own: they have the fleet's identity in common.
    """
    given = options.applyset.set_recorded_on_parent(observed.parent).commit
    place = _history_place(given, desired, inventory, options)
    if options.is_older or place is HistoryPlace.AFTER:
        return Failure(
            kind=FailureKind.OLDER,
            message=f"{desired.commit[:12]} is older than what {desired.cluster!r} holds",
            hint="going back is allowed when it is said: revert in the source, or pass --allow-older",
        )
    if place is HistoryPlace.SINCE:
        return Failure(
            kind=FailureKind.OLDER,
            message=f"{desired.cluster!r} was given {given[:12]} since this agent applied {desired.commit[:12]}",
            hint="take the agent back where passes apply to the cluster now; if it pulls again: --accept-rewind, once",
        )
    if place is HistoryPlace.ELSEWHERE:
        return Failure(
            kind=FailureKind.ELSEWHERE,
            message=f"{desired.cluster!r} was given {given[:12]}, which {desired.commit[:12]} does not follow: another"
            " clone of this fleet applies to it, or the rendered branch was rewound",
            hint="let one of them apply to it, and bootstrap the other as a fleet of its own; if this one is right:"
            " --allow-older",
        )
    return None


def _history_place(given: str, desired: ClusterDesired, inventory: Inventory, options: PlanOptions) -> HistoryPlace:
    if given in {"", desired.commit, *inventory.commits}:
        return HistoryPlace.BEFORE
    return options.history_place(given)


def _members_not_looked_at(applyset: ApplySet, recorded: ApplySet, observed: ObservedCluster) -> ApplySet:
    """Return what the parent names and could not be looked at: it stays named, for objects may be there."""
    unavailable = observed.discovery.unavailable - {""}
    kinds = frozenset(
        each
        for each in recorded.group_kinds
        if each in observed.unlisted_kinds or each.partition(".")[2] in unavailable
    )
    return replace(applyset, group_kinds=kinds, namespaces=recorded.namespaces if kinds else frozenset())


def _reason_to_hold_pruning(
    desired: ClusterDesired, observed: ObservedCluster, inventory: Inventory, options: PlanOptions
) -> PruneHold:
    """Return why nothing may be pruned in this pass; an empty hold when pruning is safe.

    What is missing because it could not be rendered or discovered looks just like what nobody wants any more. A kind
    that could not be listed is no such case: its objects are not known, and those of others are none of its.
    """
    if not desired.is_complete:
        return PruneHold(reason="not all of it could be rendered")
    if refused := options.applyset.refusal(observed.parent):
        return PruneHold(reason=refused)
    unanswered = {ref.group for ref in inventory.held_objects} & observed.discovery.unavailable
    if unanswered:
        reason = f"the API of {', '.join(sorted(unanswered))} does not answer"
        return PruneHold(reason=reason, spares_interceptors=True)
    return PruneHold()


class _ClusterContext(Struct, frozen=True, kw_only=True):
    """The values that all objects of a cluster are planned by.

    ``planned_kinds`` are the kinds that CRDs of this very plan define, by API version and kind. ``duplicates`` are
    objects that more than one manifest describes.
    """

    observed: ObservedCluster
    options: PlanOptions
    planned_kinds: Mapping[tuple[str, str], Resource]
    duplicates: frozenset[ObjectRef]
    autoscaled: frozenset[ObjectRef]
    is_converged: bool
    held_objects: Container[ObjectRef]
    answered: frozenset[str]
    equals: PlansOfEquals


def _cluster_context(
    wanted: Iterable[DesiredObject],
    desired: ClusterDesired,
    observed: ObservedCluster,
    inventory: Inventory,
    options: PlanOptions,
    equals: PlansOfEquals,
) -> _ClusterContext:
    counts = Counter(item.ref for item in wanted)
    kinds = (kind for item in desired.objects if item.ref.group_kind == CRD for kind in defined_kinds(item.manifest))
    return _ClusterContext(
        observed=observed,
        options=options,
        planned_kinds={(kind.api_version, kind.kind): kind for kind in kinds},
        duplicates=frozenset(ref for ref, count in counts.items() if count > 1),
        autoscaled=observed.autoscaled | scaled_objects(item.manifest for item in desired.objects),
        is_converged=bool(desired.commit) and inventory.converged == desired.commit and not inventory.attempted,
        held_objects=inventory.held_objects,
        answered=inventory.answered or frozenset(),
        equals=equals,
    )


def _with_scope_of_cluster(item: DesiredObject, discovery: Discovery) -> DesiredObject:
    """Return an object by the identity it has in the cluster, which alone knows whether its kind has namespaces."""
    resource = discovery.resource(str(item.manifest.get("apiVersion")), item.ref.kind) if item.ref.namespace else None
    if resource is None or resource.is_namespaced:
        return item
    return replace(item, ref=replace(item.ref, namespace=""))


def _plan_of_desired_object(desired: DesiredObject, context: _ClusterContext) -> PlannedObject:
    if desired.ref in context.duplicates:
        message = "two manifests are about this object"
        return plan_of_unserved_object(desired, Action.BLOCKED, "Duplicate", message=message, hint="keep one of them")
    unreadable = _plan_of_unreadable_manifest(desired)
    if unreadable is not None:
        return unreadable
    version = str(desired.manifest["apiVersion"])
    resource = context.observed.discovery.resource(version, desired.ref.kind)
    resource = resource or context.planned_kinds.get((version, desired.ref.kind))
    if resource is None:
        return _plan_of_unserved(desired, version, context.observed.discovery)
    failure = context.observed.failure_to_see(desired.ref)
    if failure:
        return plan_of_unserved_object(
            desired, Action.BLOCKED, failure.kind, message=failure.message, hint=failure.hint
        )
    if resource.is_namespaced and not desired.ref.namespace:
        message = "it has no namespace, but its kind lives in namespaces"
        return plan_of_unserved_object(
            desired, Action.BLOCKED, "NamespaceRequired", message=message, hint="add metadata.namespace"
        )
    plan_context = PlanContext(
        desired=desired,
        resource=resource,
        options=context.options,
        is_autoscaled=desired.ref in context.autoscaled,
        are_scalers_known=context.observed.are_scalers_known,
        is_converged=context.is_converged,
        is_held=desired.ref in context.held_objects,
        answered=context.answered,
        admission=context.observed.admission,
    )
    return context.equals.plan(context.observed.live.get(desired.ref), plan_context)


def _plan_of_unreadable_manifest(desired: DesiredObject) -> PlannedObject | None:
    """Return the plan for an object whose manifest cannot be sent as it is; None for any other."""
    if is_encrypted_by_sops(desired.manifest):
        message = desired.fault or "SOPS encrypted it, and nothing here decrypts it"
        return plan_of_unserved_object(desired, Action.BLOCKED, "Encrypted", message=message, hint=desired.fault_hint)
    unread = [
        key for key in ("labels", "annotations") if not _is_mapping_of_texts(desired.manifest["metadata"].get(key))
    ]
    if not unread:
        return None
    message = f"its manifest on the rendered branch has {unread[0]} that are no map"
    return plan_of_unserved_object(
        desired, Action.BLOCKED, "Malformed", message=message, hint="argosy reconcile writes it anew"
    )


def _is_mapping_of_texts(value: Any) -> bool:
    """Say whether labels or annotations can be read, which a manifest need not have."""
    return value is None or isinstance(value, Mapping)


def _failed_plan_of(desired: DesiredObject, error: Exception) -> PlannedObject:
    """Return the plan for an object of which nobody thought: it is left alone, and no other one with it."""
    return plan_of_unserved_object(
        desired, Action.BLOCKED, INTERNAL, message=words_of_unexpected_error(error), hint=REPORT_IT
    )


def _plan_of_unserved(desired: DesiredObject, version: str, discovery: Discovery) -> PlannedObject:
    if desired.ref.group in discovery.unavailable:
        message = f"the API of {desired.ref.group} does not answer"
        return plan_of_unserved_object(
            desired, Action.BLOCKED, "APIUnavailable", message=message, hint="see to its APIService"
        )
    served = discovery.versions(desired.ref.group, desired.ref.kind)
    message = f"the cluster does not serve {desired.ref.kind} in {version}"
    hint = f"write {served[0]}" if served else _hint_of_unknown_kind(desired.ref, discovery)
    return plan_of_unserved_object(desired, Action.BLOCKED, "KindNotServed", message=message, hint=hint)


def _hint_of_unknown_kind(ref: ObjectRef, discovery: Discovery) -> str:
    """Return what to do about a kind that a cluster serves in no version: those of Kubernetes need no definition."""
    if not any((kind.group, kind.kind) == (ref.group, ref.kind) for kind in KUBERNETES):
        return "deliver its CustomResourceDefinition to this cluster as well"
    moved = (kind.group for kind in KUBERNETES if kind.kind == ref.kind and kind.group != ref.group)
    served = [version for group in moved for version in discovery.versions(group, ref.kind)]
    if served:
        return f"write {served[0]}"
    return "it is a kind of Kubernetes itself: this cluster's version or its feature gates leave it out"


def defined_kinds(crd: Manifest) -> Iterator[Resource]:
    """Yield the kinds that a CustomResourceDefinition will make the cluster serve."""
    spec = crd.get("spec") or {}
    names = spec.get("names") or {}
    for version in spec.get("versions") or ():
        if version.get("served"):
            yield Resource(
                group=str(spec.get("group")),
                version=str(version.get("name")),
                kind=str(names.get("kind")),
                plural=str(names.get("plural")),
                is_namespaced=spec.get("scope") == "Namespaced",
            )


def held_object_of_desired(desired: DesiredObject, *, preserve: bool) -> HeldObject:
    """Return an object of a commit as an inventory remembers it."""
    return HeldObject(ref=desired.ref, preserve=preserve, keep=forbids_pruning(desired.manifest))
