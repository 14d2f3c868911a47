"""The clusters that Applications of Argo CD are for: their ``destination``, as Clusters of this source.

A policy still says where an object goes; a destination that names a Cluster leaves only this one to choose from. The
cluster that Argo CD itself runs in is no member, so a destination that names it leaves every choice.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import field

from reconciler.building.requests import UnusableRequest
from reconciler.gitops.argo.generators.parameters import server_of_cluster
from reconciler.source.broken import NO_CLUSTER
from reconciler.source.manifests import LocatedManifest
from render.model import group_of, mapping_or_empty
from render.values import DiscreetStruct

_GROUP, _KIND = "cluster.karmada.io", "Cluster"
_LOCAL_NAME = "in-cluster"
_LOCAL_SERVERS = frozenset({"https://kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local"})


class Destinations(DiscreetStruct, frozen=True):
    """The Clusters of a source, as they are written; without any, no destination is looked at."""

    UNSHOWN = ("_names_by_server",)

    clusters: tuple[Mapping[str, Any], ...] = ()
    _names_by_server: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, manifests: Iterable[LocatedManifest]) -> "Destinations":
        """Return the Clusters among manifests, by name."""
        found = {
            place.manifest["metadata"]["name"]: place.manifest
            for place in manifests
            if place.manifest["kind"] == _KIND
            and group_of(place.manifest["apiVersion"]) == _GROUP
            and _is_cluster_named(place)
        }
        by_server: dict[str, frozenset[str]] = {}
        for name, cluster in found.items():
            server = server_of_cluster(cluster).rstrip("/")
            by_server[server] = by_server.get(server, frozenset()) | {name}
        return cls(tuple(found[name] for name in sorted(found)), by_server)

    def of_application(self, spec: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the clusters that an Application is for; None: any. UnusableRequest names one that is not there."""
        written = spec.get("destination")
        destination: Mapping[str, Any] = mapping_or_empty(written)
        name, server = destination.get("name"), str(destination.get("server") or "").rstrip("/")
        if not self.clusters or not (name or server):
            return None
        if name:
            if any(each["metadata"]["name"] == name for each in self.clusters):
                return frozenset({str(name)})
            if name == _LOCAL_NAME:
                return None
            raise UnusableRequest("spec.destination.name", f"there is no Cluster {name!r} in the source", NO_CLUSTER)
        if server in self._names_by_server:
            return self._names_by_server[server]
        if server in _LOCAL_SERVERS:
            return None
        raise UnusableRequest("spec.destination.server", f"no Cluster of the source is at {server!r}", NO_CLUSTER)


def _is_cluster_named(place: LocatedManifest) -> bool:
    metadata = place.manifest.get("metadata")
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str) and bool(metadata["name"])
