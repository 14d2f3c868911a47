"""Facts in place of what the source declares of clusters: observed facts replace it; without any, it stands."""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.facts import APIS, ClusterFacts, Facts
from render.cluster import Cluster, Taint
from render.failover.health import taints_with_those_of_ready
from render.model import Manifest
from render.parsing import parse_api_enablements, parse_resource_summary, recorded_scales
from render.settings.fleet import Fleet

FactsOf = Callable[[Fleet], Facts]
"""The facts of a fleet, given its settings; only called where a source depends on them."""


def no_facts(_fleet: Fleet) -> Facts:
    """Return no facts."""
    return {}


def clusters_corrected_by_facts(clusters: Iterable[Cluster], facts: Facts) -> tuple[Cluster, ...]:
    """Return the clusters as the scheduler must see them: as the source declares them, corrected by facts."""
    read = _ServedApis()
    return tuple(
        _cluster_corrected_by_facts(cluster, facts[cluster.name], read) if cluster.name in facts else cluster
        for cluster in clusters
    )


class _ServedApis(Struct):
    """The APIs of clusters, with the scales among them: of a list that many have, they are read once."""

    known: dict[int, tuple[frozenset[tuple[str, str]] | None, Mapping[tuple[str, str], Manifest]]] = field(
        default_factory=dict
    )

    def of(self, status: Manifest) -> tuple[frozenset[tuple[str, str]] | None, Mapping[tuple[str, str], Manifest]]:
        """Return the kinds that a cluster serves (None: its status tells of none), and their scale subresources."""
        apis = status.get(APIS)
        found = self.known.get(id(apis))
        if found is None:  # facts keep each list for longer than this lives, so that no other one has its identity
            found = self.known[id(apis)] = parse_api_enablements(apis), recorded_scales(status)
        return found


def _cluster_corrected_by_facts(cluster: Cluster, facts: ClusterFacts, read: _ServedApis) -> Cluster:
    status, (served, scales) = facts.status, read.of(facts.status)
    summary = parse_resource_summary(status.get("resourceSummary"))
    return replace(
        cluster,
        taints=_taints_with_observed_health(cluster.taints, facts),
        api_enablements=cluster.api_enablements if served is None else served,
        scales=scales or cluster.scales,
        kubernetes_version=status.get("kubernetesVersion") or cluster.kubernetes_version,
        resource_summary=cluster.resource_summary if summary is None else replace(summary, is_declared=False),
    )


def _taints_with_observed_health(taints: tuple[Taint, ...], facts: ClusterFacts) -> tuple[Taint, ...]:
    """Give a cluster the taints that follow from its observed readiness, in place of those the source still carries.

    Karmada's cluster controller writes these taints at run time; an exported Cluster may hold one that is out of date.
    """
    ready = next((each for each in facts.status.get("conditions") or () if each.get("type") == "Ready"), None)
    if ready is None:
        return taints
    return taints_with_those_of_ready(taints, str(ready.get("status")))
