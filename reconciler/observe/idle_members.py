"""Idle members: what a pass saw of a member it had nothing to do in, and whether the member still is so.

A pass is a function of the branches and of what members answer. Where it wrote nothing, it would write nothing again
for the same answers. So the next pass asks the same lists for metadata alone and compares digests of the answers: the
version of an object changes with every change of it, whoever makes it and to whatever part. Equal digests mean that
everything is as it was; anything else, a failure included, means that the member has to be observed and planned.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import Client, Failure
from reconciler.members.listing import ListedMetadata, Listing, list_metadata, list_objects, read_object
from reconciler.members.parallel import reads_in_parallel
from reconciler.plans.model import ObservedCluster
from reconciler.plans.retention import scaled_objects
from render.model import Manifest, ObjectRef
from render.values import DiscreetStruct

from .admission import observe_admission
from .findings import Finding, observe_findings, unwell_workloads
from .objects import CONFIG_MAPS, read_uid

FindingKeys = tuple[tuple[ObjectRef, tuple[tuple[str, str, str], ...]], ...]
"""The findings about objects as far as they are distinguished: object by object, in order."""


class IdleMember(DiscreetStruct, frozen=True, kw_only=True):
    """A member as a pass left it: its identity, its APIs, the version of the ApplySet's parent, and digests of lists.

    ``unwell`` are the workloads whose pods were asked for, ``findings`` what was found about them; ``autoscaled`` are
    the workloads that the autoscalers of ``scalers`` scale. ``admission`` is a digest of what intercepts writes, where
    that mattered.
    """

    UNSHOWN = ("unwell",)

    cluster: str
    uid: str
    apis: str
    parent: ObjectRef
    parent_version: str
    digests: tuple[tuple[Listing, str], ...]
    scalers: tuple[Listing, ...] = ()
    autoscaled: frozenset[ObjectRef] = frozenset()
    unwell: tuple[tuple[ObjectRef, Manifest], ...] = ()
    findings: FindingKeys = ()
    admission: str = ""


def idle_member(
    client: Client,
    observed: ObservedCluster,
    live: Mapping[ObjectRef, Manifest],
    findings: Mapping[ObjectRef, tuple[Finding, ...]],
    *,
    has_answers: bool = False,
) -> IdleMember | None:
    """Return a member as it was observed; None where a list does not say so, or it has changed since.

    ``live`` are the objects it should hold, about which there are these ``findings``. ``has_answers``: some of them are
    as they should be only by what the server answered once, which is true of what intercepts writes there.
    """
    if observed.listings is None or observed.unlisted_kinds or observed.unread or observed.parent is None:
        return None
    listed = reads_in_parallel(lambda each: list_metadata(client, each), observed.listings, limit=client.concurrency)
    digests = []
    for listing, metadata in zip(observed.listings, listed, strict=True):
        if not isinstance(metadata, ListedMetadata) or not _has_exactly_live_objects(
            metadata, listing.resource, observed.live
        ):
            return None
        digests.append((listing, metadata.digest))
    parent = observed.parent["metadata"]
    return IdleMember(
        cluster=observed.cluster,
        uid=observed.uid,
        apis=apis_digest(observed.discovery),
        parent=ObjectRef("", "ConfigMap", parent["namespace"], parent["name"]),
        parent_version=parent["resourceVersion"],
        digests=tuple(digests),
        scalers=observed.scalers,
        autoscaled=observed.autoscaled,
        unwell=tuple(unwell_workloads(live).items()),
        findings=_finding_keys(findings),
        admission=observed.admission.digest if has_answers else "",
    )


def _has_exactly_live_objects(metadata: ListedMetadata, resource: Resource, live: Mapping[ObjectRef, Manifest]) -> bool:
    """Return whether a list has exactly the live objects of its kind, each in the version that was observed."""
    seen = {
        ref: manifest["metadata"].get("resourceVersion")
        for ref, manifest in live.items()
        if ref.group_kind == resource.group_kind
    }
    return metadata.resource_versions(resource) == seen


def is_still_idle(client: Client, known: IdleMember) -> bool:
    """Return whether a member answers as it did when it was left idle; any failure is a no."""
    discovery = discover_served_kinds(client)
    if isinstance(discovery, Failure) or apis_digest(discovery) != known.apis:
        return False
    checks: list[Callable[[], bool]] = [
        *(partial(_has_listing_digest, client, listing, digest) for listing, digest in known.digests),
        lambda: read_uid(client) == known.uid,
        lambda: _version_of_applyset_parent(client, known.parent) == known.parent_version,
        lambda: _autoscaled_workloads(client, known.scalers) == known.autoscaled,
        lambda: _finding_keys(observe_findings(client, discovery, dict(known.unwell))) == known.findings,
        lambda: not known.admission or observe_admission(client, discovery).digest == known.admission,
    ]
    return all(reads_in_parallel(lambda check: check(), checks, limit=client.concurrency)) and client.stopped is None


def apis_digest(discovery: Discovery) -> str:
    """Return a digest of the kinds that a cluster serves, in its order of preference, and of how it serves each."""
    lines = [
        f"{api_version} {kind} {each.plural} {each.is_namespaced} {each.is_scaled} {sorted(each.verbs)}"
        for (api_version, kind), each in discovery.resources.items()
    ]
    return hashlib.sha256("\n".join([*lines, *sorted(discovery.unavailable)]).encode()).hexdigest()


def _version_of_applyset_parent(client: Client, ref: ObjectRef) -> str:
    parent = read_object(client, CONFIG_MAPS, ref)
    return "" if parent is None or isinstance(parent, Failure) else str(parent["metadata"].get("resourceVersion"))


def _has_listing_digest(client: Client, listing: Listing, digest: str) -> bool:
    metadata = list_metadata(client, listing)
    return isinstance(metadata, ListedMetadata) and metadata.digest == digest


def _autoscaled_workloads(client: Client, scalers: Iterable[Listing]) -> frozenset[ObjectRef]:
    """Return the workloads that are scaled; a list that fails says nothing, as when the plan was made."""
    lists = (list_objects(client, listing) for listing in scalers)
    return frozenset(
        ref for listed in lists if not isinstance(listed, Failure) for ref in scaled_objects(listed.values())
    )


def _finding_keys(findings: Mapping[ObjectRef, tuple[Finding, ...]]) -> FindingKeys:
    return tuple((ref, tuple(each.key for each in findings[ref])) for ref in sorted(findings))
