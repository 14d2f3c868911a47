"""Proving that a Namespace or a CustomResourceDefinition can go: nothing but what came with it is lost with it."""

from dataclasses import replace

from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.listing import Listing, list_objects
from reconciler.members.parallel import in_parallel
from reconciler.plans.plan_values import Plan
from render.model import Manifest, ObjectRef

_CRD = "CustomResourceDefinition.apiextensions.k8s.io"
_BORN_WITH_NAMESPACES = frozenset(
    {
        ObjectRef("", "ConfigMap", "", "kube-root-ca.crt"),
        ObjectRef("", "ServiceAccount", "", "default"),
    }
)
_OF_NO_ACCOUNT = frozenset({"Event", "Event.events.k8s.io", "Lease.coordination.k8s.io", "Endpoints"})


def occupied_by(client: Client, plan: Plan, ref: ObjectRef) -> str:
    """Return what keeps a Namespace or CRD from being deleted: anything in it, or that it cannot be told."""
    if ref.group_kind == _CRD:
        resources = [item for item in _served(plan.discovery) if f"{item.plural}.{item.group}" == ref.name][:1]
        namespace = ""
    else:
        resources = [item for item in _served(plan.discovery) if item.is_namespaced]
        namespace = ref.name
        if plan.discovery.unavailable:
            return f"the API of {', '.join(sorted(plan.discovery.unavailable))} does not answer"
    listings = [Listing(resource=item, metadata_only=True, only_namespace=namespace) for item in resources]
    found = in_parallel(lambda item: list_objects(client, item), listings, limit=client.concurrency)
    for listing, objects in zip(listings, found, strict=True):
        if isinstance(objects, Failure):
            if objects.kind is FailureKind.NOT_SERVED:
                continue
            return f"{listing.resource.group_kind} could not be listed in it"
        others = [other for other, live in objects.items() if _counts(other, live, plan)]
        if others:
            return f"{others[0]} is in it" + (f" and {len(others) - 1} more" if len(others) > 1 else "")
    return ""


def _served(discovery: Discovery) -> list[Resource]:
    """Return one version of every kind that can be listed."""
    kinds: dict[str, Resource] = {}
    for item in discovery.resources.values():
        if "list" in item.verbs:
            kinds.setdefault(item.group_kind, item)
    return sorted(kinds.values(), key=lambda item: item.group_kind)


def _counts(ref: ObjectRef, live: Manifest, plan: Plan) -> bool:
    """Whether an object would be lost with its namespace: not what came with it, or goes with its owner."""
    if replace(ref, namespace="") in _BORN_WITH_NAMESPACES or ref.group_kind in _OF_NO_ACCOUNT:
        return False
    if ref == plan.options.applyset.parent:
        return False
    return not any(owner.get("controller") for owner in live["metadata"].get("ownerReferences") or ())
