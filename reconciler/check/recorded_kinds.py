"""The kinds of a member as resources, without asking it: by its facts, by its tree, and by Kubernetes' own names."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconciler.members.discovery import Discovery, Resource
from reconciler.observe.admission import ADMISSION_GROUP, ADMISSION_KINDS
from reconciler.plans.cluster import defined_kinds
from reconciler.plans.model import ClusterDesired
from reconciler.plans.stages import CRD
from render.kinds import BUILT_IN
from render.model import Manifest, ObjectRef, group_of

_AUTOSCALERS = ("autoscaling/v2", "HorizontalPodAutoscaler")
_REPLICA_SETS = ("apps/v1", "ReplicaSet")
"""Kinds that every cluster serves, and that are asked for whether or not a tree has any."""


class RecordedKinds(Struct, frozen=True, kw_only=True):
    """The kinds of a member, and those of a tree whose resource nothing tells: it is guessed as kubectl does."""

    discovery: Discovery
    guessed: tuple[Resource, ...] = ()


def kinds_recorded_of(desired: ClusterDesired, other_objects: Iterable[ObjectRef], status: Manifest) -> RecordedKinds:
    """Return the kinds of a tree, and of objects that earlier commits left, as a cluster of this status serves them."""
    definitions = (item.manifest for item in desired.objects if item.ref.group_kind == CRD)
    resources_found = [
        *_kinds_of_status(status),
        *(kind for manifest in definitions for kind in defined_kinds(manifest)),
    ]
    known = {(each.group, each.kind): each for each in resources_found}
    resources = {(each.api_version, each.kind): each for each in resources_found}
    guessed = {}
    for api_version, kind, is_namespaced in _kinds_in_use(desired, other_objects):
        guess = _guessed_resource(api_version, kind, is_namespaced=is_namespaced)
        # A kind has one name, whatever its version.
        named = replace(known.get((guess.group, kind), guess), version=guess.version)
        resources.setdefault((api_version, kind), named)
        if (guess.group, kind) not in known and (guess.group, kind) not in BUILT_IN:
            guessed[guess.group_kind] = guess
    discovery = Discovery(resources=resources)
    return RecordedKinds(discovery=discovery, guessed=tuple(guessed[name] for name in sorted(guessed)))


def _kinds_of_status(status: Manifest) -> Iterator[Resource]:
    for served in status.get("apiEnablements") or ():
        version = str(served["groupVersion"])
        for each in served.get("resources") or ():
            yield Resource(
                group=group_of(version),
                version=version.rpartition("/")[2],
                kind=str(each["kind"]),
                plural=str(each["name"]),
                is_namespaced=bool(each.get("namespaced")),
            )


def _kinds_in_use(desired: ClusterDesired, other_objects: Iterable[ObjectRef]) -> Iterator[tuple[str, str, bool]]:
    """Yield the kinds that are asked for, each with a version; what is only held has none that is known."""
    for item in desired.objects:
        yield str(item.manifest["apiVersion"]), item.ref.kind, bool(item.ref.namespace)
    for ref in sorted(other_objects):
        yield f"{ref.group}/" if ref.group else "v1", ref.kind, bool(ref.namespace)
    yield from ((*_AUTOSCALERS, True), (*_REPLICA_SETS, True))
    yield from ((f"{ADMISSION_GROUP}/v1", kind, False) for kind in ADMISSION_KINDS)


def _guessed_resource(api_version: str, kind: str, *, is_namespaced: bool) -> Resource:
    """Return a kind under the name that Kubernetes' own tools guess for it.

    >>> [
    ...     _guessed_resource("v1", kind, is_namespaced=True).plural
    ...     for kind in ("Ingress", "NetworkPolicy", "Endpoints", "Pod")
    ... ]
    ['ingresses', 'networkpolicies', 'endpoints', 'pods']
    """
    name = kind.lower()
    if name == "endpoints":
        plural = name
    elif name.endswith("s"):
        plural = f"{name}es"
    else:
        plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    version = api_version.rpartition("/")[2]
    return Resource(group=group_of(api_version), version=version, kind=kind, plural=plural, is_namespaced=is_namespaced)


def line_of_guessed_kind(resource: Resource) -> str:
    """Return the line that says which name of a kind is a guess."""
    return (
        f"neither facts nor a CustomResourceDefinition of the tree name the resource of {resource.group_kind}:"
        f" {resource.plural!r} is a guess"
    )
