"""Discovery of a cluster's kinds: their paths and scopes, and the groups that could not be asked.

Aggregated discovery answers in two requests; an older server is asked group by group. A group whose backend is down is
*unavailable*: its kinds are unknown, which is never the same as gone.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field

from render.model import ObjectRef, group_of

from .exchange import JSON, Answer, Client, Expected, Failure, FailureKind, Request

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ",".join([_AGGREGATED.format("v2"), _AGGREGATED.format("v2beta1"), JSON])
_AGGREGATED_KIND = "APIGroupDiscoveryList"
_SCALE = "scale"


class Resource(Struct, frozen=True, order=True, kw_only=True):
    """A served kind: the paths of its objects and the verbs it takes; ``is_scaled``: it has the scale subresource.

    ``singular`` and ``short_names`` are what people may call it beside its plural; ``categories`` name many kinds.
    """

    group: str
    version: str
    kind: str
    plural: str
    is_namespaced: bool
    verbs: frozenset[str] = frozenset()
    is_scaled: bool = False
    singular: str = ""
    short_names: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()

    @property
    def api_version(self) -> str:
        """Group and version as manifests write them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """Kind and group: ``Deployment.apps``."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def collection(self, namespace: str = "") -> str:
        """Return the path of all objects, or of those in a namespace."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        return f"{base}{inside}/{self.plural}"

    def path(self, ref: ObjectRef) -> str:
        """Return the path of one object."""
        return f"{self.collection(ref.namespace if self.is_namespaced else '')}/{quote(ref.name, safe='')}"


class Discovery(Struct, frozen=True, kw_only=True):
    """Every served kind by ``(apiVersion, kind)``, in the server's order of preference, and the groups that failed."""

    resources: Mapping[tuple[str, str], Resource] = field(default_factory=dict)
    unavailable: frozenset[str] = frozenset()

    def resource(self, api_version: str, kind: str) -> Resource | None:
        """Return the kind as served in exactly this version."""
        return self.resources.get((api_version, kind))

    def preferred_resource(self, group: str, kind: str) -> Resource | None:
        """Return the kind in the version the server prefers."""
        served = (item for item in self.resources.values() if item.kind == kind and item.group == group)
        return next(served, None)

    def versions(self, group: str, kind: str) -> tuple[str, ...]:
        """Return the apiVersions that serve a kind."""
        return tuple(item.api_version for item in self.resources.values() if item.kind == kind and item.group == group)


def discover_served_kinds(client: Client) -> Discovery | Failure:
    """Ask a cluster for the kinds it serves."""
    bodies = list[Mapping[str, Any]]()
    for path in ("/api", "/apis"):
        answer = client.send(Request(method="GET", path=path, expects=Expected.DISCOVERY, accept=_ACCEPT))
        if isinstance(answer, Failure):
            return answer
        bodies.append(answer.body)
    if all(body.get("kind") == _AGGREGATED_KIND for body in bodies):
        return _discovery_in_bodies(_SameBodies(bodies))
    resources: dict[tuple[str, str], Resource] = {}
    unavailable: set[str] = set()
    for body in bodies:
        if body.get("kind") == _AGGREGATED_KIND:
            _read_aggregated_discovery(body, resources, unavailable)
        elif failure := _read_legacy_discovery(client, body, resources, unavailable):
            return failure
    return Discovery(resources=resources, unavailable=frozenset(unavailable))


class _SameBodies:
    """The bodies of answers; equal to others only where these are the very same objects.

    What members answered equally is one object (``shapes``), so that it is read once for all of them.
    """

    def __init__(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        self.bodies = bodies

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.bodies)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameBodies) and all(map(is_, self.bodies, other.bodies))


@lru_cache(maxsize=8)
def _discovery_in_bodies(same: _SameBodies) -> Discovery:
    resources: dict[tuple[str, str], Resource] = {}
    unavailable: set[str] = set()
    for body in same.bodies:
        _read_aggregated_discovery(body, resources, unavailable)
    return Discovery(resources=resources, unavailable=frozenset(unavailable))


def _read_aggregated_discovery(
    body: Mapping[str, Any], resources: dict[tuple[str, str], Resource], unavailable: set[str]
) -> None:
    for item in body.get("items") or ():
        group = (item.get("metadata") or {}).get("name") or ""
        for version in item.get("versions") or ():
            if version.get("freshness") == "Stale":
                unavailable.add(group)
            for entry in version.get("resources") or ():
                kind = entry.get("responseKind") or {}
                if kind.get("kind"):
                    _add_resource(resources, _aggregated_resource(group, version["version"], entry))


def _aggregated_resource(group: str, version: str, entry: Mapping[str, Any]) -> Resource:
    return Resource(
        group=group,
        version=version,
        kind=entry["responseKind"]["kind"],
        plural=entry["resource"],
        is_namespaced=entry.get("scope") == "Namespaced",
        verbs=frozenset(entry.get("verbs") or ()),
        is_scaled=any(each.get("subresource") == _SCALE for each in entry.get("subresources") or ()),
        singular=entry.get("singularResource") or "",
        short_names=frozenset(entry.get("shortNames") or ()),
        categories=frozenset(entry.get("categories") or ()),
    )


def _read_legacy_discovery(
    client: Client, body: Mapping[str, Any], resources: dict[tuple[str, str], Resource], unavailable: set[str]
) -> Failure | None:
    """Ask an older server for every group and version it names."""
    for api_version in _group_versions_in(body):
        answer = client.send(
            Request(method="GET", path=_discovery_path_of_version(api_version), expects=Expected.DISCOVERY, tries=2)
        )
        if isinstance(answer, Failure):
            if client.stopped or answer.kind is FailureKind.DEADLINE:
                return answer
            unavailable.add(group_of(api_version))
            continue
        for resource in _resources_in_answer(answer, api_version):
            _add_resource(resources, resource)
    return None


def _group_versions_in(body: Mapping[str, Any]) -> list[str]:
    """Return the group versions of an APIVersions or APIGroupList, the preferred one of a group first."""
    named = list(body.get("versions") or ()) if body.get("kind") == "APIVersions" else []
    for group in body.get("groups") or ():
        preferred = (group.get("preferredVersion") or {}).get("groupVersion")
        versions = [item["groupVersion"] for item in group.get("versions") or ()]
        named += sorted(versions, key=lambda version: (version != preferred, versions.index(version)))
    return named


def _resources_in_answer(answer: Answer, api_version: str) -> tuple[Resource, ...]:
    group = group_of(api_version)
    served = answer.body.get("resources") or ()
    names = {entry["name"] for entry in served}
    return tuple(
        Resource(
            group=group,
            version=api_version.rpartition("/")[2],
            kind=entry["kind"],
            plural=entry["name"],
            is_namespaced=bool(entry.get("namespaced")),
            verbs=frozenset(entry.get("verbs") or ()),
            is_scaled=f"{entry['name']}/{_SCALE}" in names,
            singular=entry.get("singularName") or "",
            short_names=frozenset(entry.get("shortNames") or ()),
            categories=frozenset(entry.get("categories") or ()),
        )
        for entry in served
        if "/" not in entry["name"]
    )


def _discovery_path_of_version(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _add_resource(resources: dict[tuple[str, str], Resource], resource: Resource) -> None:
    """Keep a kind; of two resources of one kind the one that can be listed and patched counts."""
    key = (resource.api_version, resource.kind)
    if key not in resources or {"list", "patch"} <= resource.verbs:
        resources[key] = resource
