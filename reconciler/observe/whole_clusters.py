"""Everything that clusters hold, listed once: for those whose fleet is taken over, and never in a pass.

Every cluster is read by itself, with a deadline over all that it is asked, and one that fails is named. A kind is
listed in a version that all clusters serve. Contents of Secrets are never asked for.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.gathering import results_of_members
from reconciler.members.listing import Listing, list_objects, read_object
from reconciler.members.parallel import results_in_parallel
from reconciler.members.visits import MemberReach
from reconciler.plans.retention import scaled_objects
from render.model import Manifest, ObjectRef
from render.values import DiscreetStruct

from .objects import NAMESPACES

MOST_OBJECTS = 200_000
"""The objects of one cluster that are read at most."""
_USABLE = frozenset({"list", "create"})
_Found = Mapping[ObjectRef, Manifest] | Failure


def _includes_no_namespace(_namespace: str) -> bool:
    return False


def _includes_every_kind(_resource: Resource) -> bool:
    return True


class ReadingOptions(Struct, frozen=True, kw_only=True):
    """The options of reading clusters: its reach, and what is left out.

    ``namespaces`` are the only ones to read (none: all but those that ``is_skipped`` says). Objects of
    ``skipped_kinds`` are not asked for, and of those of ``metadata_kinds`` the metadata alone; both are named as
    ``Kind.group``.
    ``is_wanted`` says of a kind whether it is asked for at all.
    """

    reach: MemberReach
    namespaces: tuple[str, ...] = ()
    is_skipped: Callable[[str], bool] = _includes_no_namespace
    skipped_kinds: Collection[str] = ()
    metadata_kinds: Collection[str] = ()
    is_wanted: Callable[[Resource], bool] = _includes_every_kind


class WholeCluster(DiscreetStruct, frozen=True, kw_only=True):
    """All objects of a cluster, those that autoscalers scale, and the kinds that could not be listed, with the reason.

    ``skipped`` are the kinds it serves that nobody asked for.
    """

    UNSHOWN = ("objects",)

    name: str
    objects: tuple[Manifest, ...] = ()
    scaled: frozenset[ObjectRef] = frozenset()
    unlisted: Mapping[str, Failure] = field(default_factory=dict)
    skipped: frozenset[str] = frozenset()


class _Opened(Struct, frozen=True, kw_only=True):
    client: Client
    discovery: Discovery


def read_clusters(names: Sequence[str], options: ReadingOptions) -> dict[str, WholeCluster | Failure]:
    """Read clusters at once; each is either read or has failed."""
    began = options.reach.clock()
    opened = results_of_members(names, partial(_open_cluster, options), options.reach, began=began)
    found = {name: each for name, each in opened.items() if isinstance(each, _Opened)}
    versions = common_versions(each.discovery for each in found.values())
    read = results_of_members(
        list(found), lambda name: _read_cluster(name, found[name], versions, options), options.reach, began=began
    )
    return {name: read.get(name) or _as_failure(opened[name]) for name in names}


def _as_failure(outcome: Any) -> Failure:
    assert isinstance(outcome, Failure)
    return outcome


def _open_cluster(options: ReadingOptions, name: str) -> _Opened | Failure:
    client = options.reach.open(name)
    if isinstance(client, Failure):
        return client
    discovery = discover_served_kinds(client)
    return discovery if isinstance(discovery, Failure) else _Opened(client=client, discovery=discovery)


def common_versions(discoveries: Iterable[Discovery]) -> dict[tuple[str, str], str]:
    """Return the version of each kind that all clusters with it serve, the first of them that one prefers."""
    served: dict[tuple[str, str], list[str]] = {}
    for discovery in discoveries:
        here: dict[tuple[str, str], list[str]] = {}
        for resource in discovery.resources.values():
            here.setdefault((resource.group, resource.kind), []).append(resource.api_version)
        for kind, versions in here.items():
            known = served.get(kind)
            served[kind] = versions if known is None else [each for each in known if each in versions]
    return {kind: versions[0] for kind, versions in served.items() if versions}


def _read_cluster(
    name: str, opened: _Opened, versions: Mapping[tuple[str, str], str], options: ReadingOptions
) -> WholeCluster | Failure:
    client, resources = opened.client, _resources_to_read(opened.discovery, versions)
    listings = [each for resource in resources for each in _listings_of_resource(resource, options)]
    listed = results_in_parallel(partial(list_objects, client), listings, limit=client.concurrency)
    found = [
        *zip((each.resource.group_kind for each in listings), listed, strict=True),
        *_read_namespaces(client, options),
    ]
    if client.stopped is not None:
        return client.stopped
    unlisted = {kind: each for kind, each in found if isinstance(each, Failure)}
    late = next((each for each in unlisted.values() if each.kind is FailureKind.DEADLINE), None)
    if late is not None:
        return late
    objects = _distinct_manifests((each for _, each in found if not isinstance(each, Failure)), options)
    if len(objects) > MOST_OBJECTS:
        return _failure_of_too_many_objects(objects)
    return WholeCluster(
        name=name,
        objects=objects,
        scaled=scaled_objects(objects),
        unlisted=unlisted | {group: _failure_of_unavailable_group(group) for group in opened.discovery.unavailable},
        skipped=frozenset(each.group_kind for each in resources if each.group_kind in options.skipped_kinds),
    )


def _resources_to_read(discovery: Discovery, versions: Mapping[tuple[str, str], str]) -> list[Resource]:
    """Return each kind once: in the common version, or the one that this cluster prefers."""
    found: dict[tuple[str, str], Resource] = {}
    for resource in discovery.resources.values():
        kind = resource.group, resource.kind
        if kind not in found or resource.api_version == versions.get(kind):
            found[kind] = resource
    return [each for each in found.values() if each.verbs >= _USABLE]


def _listings_of_resource(resource: Resource, options: ReadingOptions) -> Iterable[Listing]:
    if resource.group_kind in options.skipped_kinds or not options.is_wanted(resource):
        return
    listing = Listing(resource=resource, metadata_only=resource.group_kind in options.metadata_kinds)
    if not options.namespaces:
        yield listing
    elif resource.is_namespaced:
        yield from (replace(listing, only_namespace=each) for each in options.namespaces)


def _read_namespaces(client: Client, options: ReadingOptions) -> Iterable[tuple[str, _Found]]:
    """Yield the Namespaces that are read alone, for their labels."""
    for name in options.namespaces:
        ref = ObjectRef("", "Namespace", "", name)
        space = read_object(client, NAMESPACES, ref)
        if space is not None:
            yield "Namespace", space if isinstance(space, Failure) else {ref: space}


def _distinct_manifests(found: Iterable[Mapping[ObjectRef, Manifest]], options: ReadingOptions) -> tuple[Manifest, ...]:
    """Return objects once: old servers have some in two groups, of which the first listed is the one to go by."""
    objects: dict[str, Manifest] = {}
    for each in found:
        for ref, manifest in each.items():
            namespace = ref.name if ref.group_kind == "Namespace" else ref.namespace
            if options.namespaces or not options.is_skipped(namespace):
                objects.setdefault(str(manifest["metadata"].get("uid") or ref), _without_managed_fields(manifest))
    return tuple(objects.values())


def _without_managed_fields(manifest: Manifest) -> Manifest:
    """Return an object without its managed fields, which are half of it and tell nothing here."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
    return {**manifest, "metadata": metadata}


def _failure_of_unavailable_group(group: str) -> Failure:
    return Failure(kind=FailureKind.ALONE, message=f"the API of {group} does not answer", hint="see to its APIService")


def _failure_of_too_many_objects(objects: Sequence[Manifest]) -> Failure:
    kind, count = Counter(ObjectRef.of(each).group_kind for each in objects).most_common(1)[0]
    return Failure(
        kind=FailureKind.ANSWER_TOO_LARGE,
        message=f"it has {len(objects)} objects, {count} of them {kind}; at most {MOST_OBJECTS} are read",
        hint="read it in parts, with --namespace",
    )
