"""Facts: the parts of the members' state that the scheduler reads, as one render used them.

A cluster's facts are the parts of a Cluster's ``status`` that decide placements: served APIs, whether it is ready, and
its capacity. Observed facts replace what the source declares; without any, the declaration stands.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from render.cluster import Cluster, Taint
from render.documents import emit, parse_documents
from render.failover.health import ready_taints
from render.model import ARGOSY_API_VERSION, Manifest
from render.parsing import cluster as parse_cluster
from render.settings.fleet import Fleet

KIND = "ClusterFacts"


class ClusterFacts(Struct, frozen=True, kw_only=True):
    """The facts of one cluster: its ``status``, as plain data of Karmada's Cluster API, and the time of observation."""

    name: str
    status: Manifest
    observed_at: str = ""

    def file(self) -> bytes:
        """Return the facts as the file that records them."""
        head = {"apiVersion": ARGOSY_API_VERSION, "kind": KIND, "metadata": {"name": self.name}}
        time = {"observedAt": self.observed_at} if self.observed_at else {}
        return emit({**head, **time, "status": self.status})

    def beside_capacity(self) -> Manifest:
        """Return the status without its capacity."""
        return {key: value for key, value in self.status.items() if key != "resourceSummary"}

    @classmethod
    def parse(cls, content: bytes) -> "ClusterFacts":
        """Read facts back from their file."""
        return cls.of(parse_documents(content)[0].value)

    @classmethod
    def of(cls, value: Manifest) -> "ClusterFacts":
        """Read facts back from the object in their file."""
        return cls(
            name=value["metadata"]["name"],
            status=value.get("status") or {},
            observed_at=value.get("observedAt") or "",
        )


Facts = Mapping[str, ClusterFacts]
"""Facts by cluster name; a cluster without an entry was never observed."""


FactsOf = Callable[[Fleet], Facts]
"""The facts of a fleet, given its settings; only called where a source depends on them."""


def no_facts(_fleet: Fleet) -> Facts:
    """Return no facts."""
    return {}


def with_facts(clusters: Iterable[Cluster], facts: Facts) -> tuple[Cluster, ...]:
    """Return the clusters as the scheduler must see them: as the source declares them, corrected by facts."""
    return tuple(
        _with_facts(cluster, facts[cluster.name]) if cluster.name in facts else cluster for cluster in clusters
    )


def _with_facts(cluster: Cluster, facts: ClusterFacts) -> Cluster:
    observed = parse_cluster({"metadata": {"name": cluster.name}, "spec": {}, "status": facts.status})
    summary = observed.resource_summary
    return replace(
        cluster,
        taints=_with_health_taint(cluster.taints, facts),
        api_enablements=cluster.api_enablements if observed.api_enablements is None else observed.api_enablements,
        kubernetes_version=observed.kubernetes_version or cluster.kubernetes_version,
        resource_summary=cluster.resource_summary if summary is None else replace(summary, is_declared=False),
    )


def _with_health_taint(taints: tuple[Taint, ...], facts: ClusterFacts) -> tuple[Taint, ...]:
    """Give a cluster the taints that follow from its observed readiness, in place of those the source still carries.

    Karmada's cluster controller writes these taints at run time; an exported Cluster may hold one that is out of date.
    """
    ready = next((each for each in facts.status.get("conditions") or () if each.get("type") == "Ready"), None)
    if ready is None:
        return taints
    return ready_taints(taints, str(ready.get("status")))
