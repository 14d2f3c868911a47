"""Facts: what the scheduler reads of the members, as the values one render used.

A cluster's facts are the parts of a Cluster's ``status`` that decide placements: served APIs, whether it is ready, and
its capacity. Observed facts replace what the source declares; without any, the declaration stands.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from render.cluster import Cluster
from render.documents import emit, parse_documents
from render.model import Manifest
from render.parsing import cluster as parse_cluster

API_VERSION = "argosy.dev/v1alpha1"
KIND = "ClusterFacts"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """The facts of one cluster: its ``status``, as plain data of Karmada's Cluster API."""

    name: str
    status: Manifest

    def file(self) -> bytes:
        """Return the facts as the file that records them."""
        return emit({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": self.name}, "status": self.status})

    @classmethod
    def parse(cls, content: bytes) -> "ClusterFacts":
        """Read facts back from their file."""
        value = parse_documents(content)[0].value
        return cls(name=value["metadata"]["name"], status=value.get("status") or {})


Facts = Mapping[str, ClusterFacts]
"""Facts by cluster name; a cluster without an entry was never observed."""


def with_facts(clusters: Iterable[Cluster], facts: Facts) -> tuple[Cluster, ...]:
    """Return the clusters as the scheduler must see them: declared by the source, corrected by what was seen."""
    return tuple(_corrected(cluster, facts[cluster.name]) if cluster.name in facts else cluster for cluster in clusters)


def _corrected(cluster: Cluster, facts: ClusterFacts) -> Cluster:
    seen = parse_cluster({"metadata": {"name": cluster.name}, "spec": {}, "status": facts.status})
    summary = seen.resource_summary
    return replace(
        cluster,
        api_enablements=cluster.api_enablements if seen.api_enablements is None else seen.api_enablements,
        resource_summary=cluster.resource_summary if summary is None else replace(summary, is_declared=False),
    )
