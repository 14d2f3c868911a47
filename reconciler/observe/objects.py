"""The observation of one cluster for its plan: its identity, its APIs, and everything of ours in it, by lists.

One paged LIST per kind in use, by our set's label. Wanted objects that carry no label (objects to adopt, a label that
somebody removed) are asked for by name; many names of one namespace are first narrowed down to those that exist.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from reconciler.ledger.inventory import Inventory
from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import Listing, list_objects_by_namespace_if_needed, read_object, refs_that_exist
from reconciler.members.parallel import reads_in_parallel
from reconciler.plans.applyset import PART_OF, ApplySet
from reconciler.plans.model import ClusterDesired, DesiredObject, ObservedCluster
from reconciler.plans.retention import SCALED, SCALERS, scaled_objects
from render.model import Manifest, ObjectRef

from .admission import observe_admission
from .cluster_status import MemberObservation

PREFLIGHT_SECONDS = 5.0
_ONE_BY_ONE = 10
CONFIG_MAPS = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True)
NAMESPACES = Resource(group="", version="v1", kind="Namespace", plural="namespaces", is_namespaced=False)


def observe_cluster(
    client: Client,
    desired: ClusterDesired,
    inventory: Inventory,
    applyset: ApplySet | None = None,
    look: MemberObservation | None = None,
) -> ObservedCluster:
    """Return everything in a cluster that its plan needs to know.

    A ``look`` of a moment ago tells which cluster it is and what it serves: what has changed since fails by itself.
    """
    applyset = applyset or ApplySet()
    observed = _observe_identity_and_kinds(client, desired, inventory, look)
    if observed.failure or _is_another(observed, inventory):
        return observed
    discovery = observed.discovery
    parent = read_object(client, CONFIG_MAPS, applyset.parent)
    if isinstance(parent, Failure):
        return replace(observed, failure=parent)
    is_migrated = inventory.manager == applyset.manager
    former = None if is_migrated else read_object(client, CONFIG_MAPS, applyset.former.parent)
    if isinstance(former, Failure):
        return replace(observed, failure=former)
    listings = _listings_by_kind(desired, inventory, discovery, applyset, parent)
    if not is_migrated:
        sets = f"{PART_OF} in ({applyset.id},{applyset.former.id})"
        listings = {kind: replace(listing, selector=sets) for kind, listing in listings.items()}
    scalers = _listings_of_autoscalers(desired, listings, discovery)
    wanted = _wanted_resources(desired, discovery)
    observed = replace(observed, parent=parent, former_parent=former)
    observed = _observed_with_listed_kinds(
        client, observed, [*_listings_in_each_version(listings, wanted), *scalers], wanted
    )
    if not client.stopped:
        missing = _resources_of_unlisted(wanted, inventory, observed, listings)
        observed = replace(observed, listings=None if missing else tuple(listings.values()), scalers=tuple(scalers))
        observed = _observed_with_objects_read_by_name(client, observed, missing)
        if _needs_admission_of_cluster(desired, inventory):
            observed = replace(observed, admission=observe_admission(client, discovery))
    return replace(observed, failure=client.stopped or _failure_if_out_of_time(observed))


def _observe_identity_and_kinds(
    client: Client, desired: ClusterDesired, inventory: Inventory, look: MemberObservation | None
) -> ObservedCluster:
    """Return which cluster it is and what that serves, as it was seen or as it says now."""
    if look is not None and look.discovery is not None and _is_look_enough(look, look.discovery, desired):
        return ObservedCluster(cluster=look.cluster, uid=look.identity, discovery=look.discovery)
    observed = _observe_identity(client, desired.cluster)
    # Of a cluster that is another one than it was nothing is read; the plan refuses it.
    if observed.failure or _is_another(observed, inventory):
        return observed
    discovery = discover_served_kinds(client)
    if isinstance(discovery, Failure):
        return replace(observed, failure=discovery)
    return replace(observed, discovery=discovery)


def _is_another(observed: ObservedCluster, inventory: Inventory) -> bool:
    return bool(inventory.uid) and observed.uid != inventory.uid


def _is_look_enough(look: MemberObservation, seen: Discovery, desired: ClusterDesired) -> bool:
    """Return whether a cluster said all when it was looked at, and lacked no wanted kind."""
    kinds = {(str(item.manifest["apiVersion"]), item.ref.kind) for item in desired.objects}
    return look.failure is None and bool(look.identity) and not seen.unavailable and kinds <= seen.resources.keys()


def _needs_admission_of_cluster(desired: ClusterDesired, inventory: Inventory) -> bool:
    """Return whether a plan may rely on answers of the server, which are true of what intercepts writes there.

    A cluster that has the commit already, and of which nothing had to be asked, is spared the question.
    """
    return inventory.answered != frozenset() or inventory.commits != (desired.commit,)


def _failure_if_out_of_time(observed: ObservedCluster) -> Failure | None:
    """Return the failure of an observation that took too long: what it lacks says nothing about single kinds."""
    failures = (*observed.unlisted.values(), *observed.unlisted_places.values(), *observed.unread.values())
    return next((each for each in failures if each.kind is FailureKind.DEADLINE), None)


def _observe_identity(client: Client, cluster: str) -> ObservedCluster:
    """Ask a cluster for its identity, in one quick try: one that does not answer this answers nothing."""
    version = client.send(
        Request(method="GET", path="/version", expects=Expected.VERSION, timeout=PREFLIGHT_SECONDS, tries=1)
    )
    if isinstance(version, Failure):
        return ObservedCluster(cluster=cluster, failure=version)
    uid = read_uid(client)
    if isinstance(uid, Failure):
        return ObservedCluster(cluster=cluster, failure=uid)
    return ObservedCluster(cluster=cluster, uid=uid)


def read_uid(client: Client) -> str | Failure:
    """Return the UID of the kube-system namespace, by which a cluster is known: it lasts as long as the cluster."""
    system = read_object(client, NAMESPACES, ObjectRef("", "Namespace", "", "kube-system"))
    if isinstance(system, Failure):
        return system
    if system is None:
        return Failure(
            kind=FailureKind.WRONG_CLUSTER,
            message="there is no kube-system namespace to tell this cluster by",
            hint="point the context at a Kubernetes cluster, not at a part of one",
        )
    return str(system["metadata"]["uid"])


def _listings_by_kind(
    desired: ClusterDesired, inventory: Inventory, discovery: Discovery, applyset: ApplySet, parent: Manifest | None
) -> dict[str, Listing]:
    """Return one listing per kind in use: wanted kinds in a version of the manifests, the others by metadata alone.

    Metadata has managed fields and labels, which is all that pruning asks about.
    """
    recorded = applyset.set_recorded_on_parent(parent)
    namespaces = _namespaces_by_kind(desired, inventory)
    by_group_kind: dict[str, tuple[Resource, bool]] = {}
    for item in desired.objects:
        resource = discovery.resource(str(item.manifest["apiVersion"]), item.ref.kind)
        if resource:
            by_group_kind.setdefault(resource.group_kind, (resource, False))
    for group_kind in {ref.group_kind for ref in inventory.held_objects} | recorded.group_kinds:
        kind, _, group = group_kind.partition(".")
        preferred = discovery.preferred_resource(group, kind)
        if preferred:
            by_group_kind.setdefault(group_kind, (preferred, True))
    selector = f"{PART_OF}={applyset.id}"
    listings = {
        group_kind: Listing(
            resource=resource,
            selector=selector,
            metadata_only=metadata_only,
            namespaces=tuple(sorted((namespaces.get(group_kind) or recorded.namespaces) - {""})),
        )
        for group_kind, (resource, metadata_only) in by_group_kind.items()
    }
    return {group_kind: item for group_kind, item in listings.items() if "list" in item.resource.verbs}


def _wanted_resources(desired: ClusterDesired, discovery: Discovery) -> dict[ObjectRef, Resource]:
    """Return the kind of each wanted object in the version of its manifest, as far as it is served."""
    wanted: dict[ObjectRef, Resource] = {}
    for item in desired.objects:
        resource = discovery.resource(str(item.manifest["apiVersion"]), item.ref.kind)
        if resource:
            ref = item.ref if resource.is_namespaced else replace(item.ref, namespace="")
            wanted[ref] = resource
    return wanted


def _listings_in_each_version(listings: dict[str, Listing], wanted: dict[ObjectRef, Resource]) -> list[Listing]:
    """Return listings of kinds, and again in each further version that a manifest of the kind has.

    An object is compared in the version of its manifest, for the same field may be elsewhere in another.
    """
    further = {
        resource: replace(listings[resource.group_kind], resource=resource)
        for resource in dict.fromkeys(wanted.values())
        if resource.group_kind in listings and "list" in resource.verbs
    }
    every = {listing.resource: listing for listing in listings.values()} | further
    return [every[resource] for resource in sorted(every)]


def _namespaces_by_kind(desired: ClusterDesired, inventory: Inventory) -> dict[str, set[str]]:
    """Return where each kind is, or was: an account with roles in namespaces may list it there and nowhere else."""
    namespaces: dict[str, set[str]] = defaultdict(set)
    for ref in (*(item.ref for item in desired.objects), *inventory.held_objects):
        namespaces[ref.group_kind].add(ref.namespace)
    return namespaces


def _listings_of_autoscalers(
    desired: ClusterDesired, listings: dict[str, Listing], discovery: Discovery
) -> list[Listing]:
    """Return the listings of autoscalers, which set the replicas of workloads; none where there are no workloads."""
    scalable = [item.ref.namespace for item in desired.objects if is_scalable(item)]
    has_workloads = bool(scalable) or not SCALED.isdisjoint(listings)
    served = (discovery.preferred_resource(group, kind) for group, kind in SCALERS if has_workloads)
    namespaces = tuple(sorted(set(scalable) - {""}))
    return [Listing(resource=resource, namespaces=namespaces) for resource in served if resource]


def is_scalable(item: DesiredObject) -> bool:
    """Return whether an autoscaler may set the replicas of an object."""
    return item.ref.group_kind in SCALED or "replicas" in (item.manifest.get("spec") or ())


def _observed_with_listed_kinds(
    client: Client, observed: ObservedCluster, work: list[Listing], wanted: dict[ObjectRef, Resource]
) -> ObservedCluster:
    """List every kind in use, and the autoscalers; wanted objects are taken in the version of their manifests."""
    live: dict[ObjectRef, Manifest] = {}
    unlisted: dict[str, Failure] = {}
    places: dict[tuple[str, str], Failure] = {}
    scaled, is_complete = frozenset[ObjectRef](), "autoscaling" not in observed.discovery.unavailable
    for listing, listed in zip(
        work,
        reads_in_parallel(
            lambda item: list_objects_by_namespace_if_needed(client, item), work, limit=client.concurrency
        ),
        strict=True,
    ):
        resource = listing.resource
        if not listing.selector:
            # Without the right to list autoscalers, managed fields still tell whose the replicas are.
            is_complete = is_complete and listed.first_failure is None
            scaled |= scaled_objects(listed.objects.values())
        elif listed.failure is not None:
            unlisted[resource.group_kind] = listed.failure
        else:
            live.update((ref, each) for ref, each in listed.objects.items() if wanted.get(ref, resource) == resource)
            places |= {(resource.group_kind, namespace): failure for namespace, failure in listed.unlisted.items()}
    return replace(
        observed,
        live=live,
        unlisted=unlisted,
        unlisted_places=places,
        autoscaled=scaled,
        are_scalers_known=is_complete,
    )


def probe_listing(client: Client, resource: Resource, applyset: ApplySet) -> Answer | Failure:
    """Ask once for the first object of a kind in our set, as a list does; a failure says why there is no list."""
    query = {"limit": "1", "labelSelector": f"{PART_OF}={applyset.id}"}
    return client.send(
        Request(method="GET", path=resource.collection(), expects=Expected.LIST, query=query, tries=1, timeout=10.0)
    )


def _resources_of_unlisted(
    wanted: dict[ObjectRef, Resource], inventory: Inventory, observed: ObservedCluster, listings: dict[str, Listing]
) -> dict[ObjectRef, Resource]:
    """Return the objects that may exist without our label: wanted ones and those of the inventory that no list has."""
    missing = dict(wanted)
    for ref in inventory.held_objects:
        if ref.group_kind in listings and ref not in missing:
            missing[ref] = listings[ref.group_kind].resource
    return {
        ref: resource
        for ref, resource in missing.items()
        if ref not in observed.live and observed.failure_to_see(ref) is None and "get" in resource.verbs
        if ref.namespace or not resource.is_namespaced
    }


def _observed_with_objects_read_by_name(
    client: Client, observed: ObservedCluster, missing: dict[ObjectRef, Resource]
) -> ObservedCluster:
    possible = _objects_that_may_exist(client, missing)
    live, unread = dict(observed.live), dict(observed.unread)
    outcomes: list[Any] = reads_in_parallel(
        lambda pair: read_object(client, pair[1], pair[0]), possible.items(), limit=client.concurrency
    )
    for ref, outcome in zip(possible, outcomes, strict=True):
        if isinstance(outcome, Failure):
            unread[ref] = outcome
        elif outcome is not None:
            live[ref] = outcome
    return replace(observed, live=live, unread=unread)


def _objects_that_may_exist(client: Client, missing: dict[ObjectRef, Resource]) -> dict[ObjectRef, Resource]:
    """Return the objects that can exist: not those whose namespace is absent, nor names that no list of names has."""
    namespaces = sorted({ref.namespace for ref in missing} - {""})
    spaces = {name: ObjectRef("", "Namespace", "", name) for name in namespaces}
    read = reads_in_parallel(
        lambda name: read_object(client, NAMESPACES, spaces[name]), namespaces, limit=client.concurrency
    )
    absent = {name for name, space in zip(namespaces, read, strict=True) if space is None}
    groups: dict[tuple[str, Resource], list[ObjectRef]] = defaultdict(list)
    for ref, resource in missing.items():
        if ref.namespace not in absent:
            groups[ref.namespace, resource].append(ref)
    narrowed = reads_in_parallel(
        lambda group: _refs_that_exist(client, group[0], group[1]), list(groups.items()), limit=client.concurrency
    )
    return {ref: missing[ref] for refs in narrowed for ref in sorted(refs)}


def _refs_that_exist(client: Client, place: tuple[str, Resource], refs: list[ObjectRef]) -> Iterable[ObjectRef]:
    namespace, resource = place
    if len(refs) <= _ONE_BY_ONE or "list" not in resource.verbs:
        return refs
    return refs_that_exist(client, resource, namespace, refs)
