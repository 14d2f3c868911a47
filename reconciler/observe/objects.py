"""One look at a cluster: who it is, what it serves, and everything of ours in it - by lists, not object by object.

One paged LIST per kind in use, by our set's label. What should be there but carries no label (an object to adopt, a
label somebody took off) is asked for by name; many names of one namespace are first narrowed down to those that exist.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reconciler.members.discovery import Discovery, Resource, discover
from reconciler.members.exchange import Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import Listing, existing_names, list_objects, read_object
from reconciler.members.parallel import in_parallel
from reconciler.plans.applyset import PART_OF, ApplySet
from reconciler.plans.inventory import Inventory
from reconciler.plans.model import ClusterDesired, ObservedCluster
from reconciler.plans.retention import scaled_objects
from render.model import Manifest, ObjectRef

PREFLIGHT_SECONDS = 5.0
_ONE_BY_ONE = 10
_SCALERS = (("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject"))
_SCALABLE = frozenset({"Deployment.apps", "StatefulSet.apps", "ReplicaSet.apps", "ReplicationController"})
_CONFIG_MAP = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True)
_NAMESPACE = Resource(group="", version="v1", kind="Namespace", plural="namespaces", is_namespaced=False)


def observe_cluster(
    client: Client, desired: ClusterDesired, inventory: Inventory, applyset: ApplySet | None = None
) -> ObservedCluster:
    """Return what is in a cluster, as far as a plan for it needs to know."""
    chosen = applyset or ApplySet()
    seen = _identified(client, desired.cluster)
    if seen.failure or (inventory.uid and seen.uid != inventory.uid):
        return seen
    discovery = discover(client)
    if isinstance(discovery, Failure):
        return replace(seen, failure=discovery)
    parent = read_object(client, _CONFIG_MAP, chosen.parent)
    if isinstance(parent, Failure):
        return replace(seen, failure=parent)
    is_settled = inventory.manager == chosen.manager
    former = None if is_settled else read_object(client, _CONFIG_MAP, chosen.former.parent)
    if isinstance(former, Failure):
        return replace(seen, failure=former)
    listings = _listings(desired, inventory, discovery, chosen, parent)
    if not is_settled:
        sets = f"{PART_OF} in ({chosen.id},{chosen.former.id})"
        listings = {kind: replace(listing, selector=sets) for kind, listing in listings.items()}
    scalers = _scalers(desired, listings, discovery)
    seen = _listed(client, replace(seen, discovery=discovery, parent=parent, former_parent=former), listings, scalers)
    if not client.stopped:
        missing = _unlisted_refs(desired, inventory, seen, listings)
        seen = _read_by_name(client, seen, missing)
    return replace(seen, failure=client.stopped)


def _identified(client: Client, cluster: str) -> ObservedCluster:
    """Ask who the cluster is; one quick try, for a cluster that does not answer that answers nothing."""
    version = client.send(
        Request(method="GET", path="/version", expects=Expected.VERSION, timeout=PREFLIGHT_SECONDS, tries=1)
    )
    if isinstance(version, Failure):
        return ObservedCluster(cluster=cluster, failure=version)
    uid = read_uid(client)
    seen = ObservedCluster(cluster=cluster, version=str(version.body.get("gitVersion") or ""), date=version.date)
    return replace(seen, failure=uid) if isinstance(uid, Failure) else replace(seen, uid=uid)


def read_uid(client: Client) -> str | Failure:
    """Return the UID of the kube-system namespace, which is what makes a cluster this one and no other."""
    system = read_object(client, _NAMESPACE, ObjectRef("", "Namespace", "", "kube-system"))
    if isinstance(system, Failure):
        return system
    if system is None:
        return Failure(
            kind=FailureKind.WRONG_CLUSTER,
            message="there is no kube-system namespace to tell this cluster by",
            hint="point the context at a Kubernetes cluster, not at a part of one",
        )
    return str(system["metadata"]["uid"])


def _listings(
    desired: ClusterDesired, inventory: Inventory, discovery: Discovery, applyset: ApplySet, parent: Manifest | None
) -> dict[str, Listing]:
    """Return one listing per kind in use: wanted kinds in the manifests' version, the others by metadata alone."""
    recorded = applyset.recorded(parent)
    spaces = {item.ref.namespace for item in desired.objects} | {ref.namespace for ref in inventory.held}
    namespaces = tuple(sorted((spaces | recorded.namespaces) - {""}))
    chosen: dict[str, tuple[Resource, bool]] = {}
    for item in desired.objects:
        resource = discovery.resource(str(item.manifest["apiVersion"]), item.ref.kind)
        if resource:
            chosen.setdefault(resource.group_kind, (resource, False))
    for group_kind in {ref.group_kind for ref in inventory.held} | recorded.group_kinds:
        kind, _, group = group_kind.partition(".")
        preferred = discovery.preferred(group, kind)
        if preferred:
            chosen.setdefault(group_kind, (preferred, True))
    selector = f"{PART_OF}={applyset.id}"
    listings = {
        group_kind: Listing(resource=resource, selector=selector, metadata_only=metadata_only, namespaces=namespaces)
        for group_kind, (resource, metadata_only) in chosen.items()
    }
    return {group_kind: item for group_kind, item in listings.items() if "list" in item.resource.verbs}


def _scalers(desired: ClusterDesired, listings: dict[str, Listing], discovery: Discovery) -> list[Listing]:
    """Return what lists whatever sets workloads' replicas; nothing where nothing has any."""
    has_workloads = not _SCALABLE.isdisjoint(listings) or any(
        "replicas" in (item.manifest.get("spec") or ()) for item in desired.objects
    )
    served = (discovery.preferred(group, kind) for group, kind in _SCALERS if has_workloads)
    return [Listing(resource=resource) for resource in served if resource]


def _listed(
    client: Client, seen: ObservedCluster, listings: dict[str, Listing], scalers: list[Listing]
) -> ObservedCluster:
    """List every kind in use, and the autoscalers."""
    live: dict[ObjectRef, Manifest] = {}
    unlisted: dict[str, Failure] = {}
    work = [*sorted(listings.values(), key=lambda item: item.resource), *scalers]
    scaled: frozenset[ObjectRef] = frozenset()
    for listing, found in zip(
        work, in_parallel(lambda item: list_objects(client, item), work, limit=client.concurrency), strict=True
    ):
        if not listing.selector:
            # Who may not look at autoscalers goes without: their fields are told by their managers as well.
            scaled |= frozenset() if isinstance(found, Failure) else scaled_objects(found.values())
        elif isinstance(found, Failure):
            unlisted[listing.resource.group_kind] = found
        else:
            live.update(found)
    return replace(seen, live=live, unlisted=unlisted, autoscaled=scaled)


def _unlisted_refs(
    desired: ClusterDesired, inventory: Inventory, seen: ObservedCluster, listings: dict[str, Listing]
) -> dict[ObjectRef, Resource]:
    """Return the objects that may exist without our label: wanted or once given, and in no list."""
    missing: dict[ObjectRef, Resource] = {}
    for item in desired.objects:
        resource = seen.discovery.resource(str(item.manifest["apiVersion"]), item.ref.kind)
        if resource:
            ref = item.ref if resource.is_namespaced else replace(item.ref, namespace="")
            missing[ref] = resource
    for ref in inventory.held:
        if ref.group_kind in listings and ref not in missing:
            missing[ref] = listings[ref.group_kind].resource
    return {
        ref: resource
        for ref, resource in missing.items()
        if ref not in seen.live and resource.group_kind not in seen.unlisted and "get" in resource.verbs
        if ref.namespace or not resource.is_namespaced
    }


def _read_by_name(client: Client, seen: ObservedCluster, missing: dict[ObjectRef, Resource]) -> ObservedCluster:
    worth_asking = _worth_asking(client, missing)
    live, unread = dict(seen.live), dict(seen.unread)
    outcomes: list[Any] = in_parallel(
        lambda pair: read_object(client, pair[1], pair[0]), worth_asking.items(), limit=client.concurrency
    )
    for ref, found in zip(worth_asking, outcomes, strict=True):
        if isinstance(found, Failure):
            unread[ref] = found
        elif found is not None:
            live[ref] = found
    return replace(seen, live=live, unread=unread)


def _worth_asking(client: Client, missing: dict[ObjectRef, Resource]) -> dict[ObjectRef, Resource]:
    """Leave out what cannot be there: objects in namespaces that do not exist, names that no list of names has."""
    namespaces = sorted({ref.namespace for ref in missing} - {""})
    spaces = {name: ObjectRef("", "Namespace", "", name) for name in namespaces}
    found = in_parallel(
        lambda name: read_object(client, _NAMESPACE, spaces[name]), namespaces, limit=client.concurrency
    )
    absent = {name for name, space in zip(namespaces, found, strict=True) if space is None}
    groups: dict[tuple[str, Resource], list[ObjectRef]] = defaultdict(list)
    for ref, resource in missing.items():
        if ref.namespace not in absent:
            groups[ref.namespace, resource].append(ref)
    narrowed = in_parallel(
        lambda group: _narrowed(client, group[0], group[1]), list(groups.items()), limit=client.concurrency
    )
    return {ref: missing[ref] for refs in narrowed for ref in sorted(refs)}


def _narrowed(client: Client, place: tuple[str, Resource], refs: list[ObjectRef]) -> Iterable[ObjectRef]:
    namespace, resource = place
    if len(refs) <= _ONE_BY_ONE or "list" not in resource.verbs:
        return refs
    return existing_names(client, resource, namespace, refs)
