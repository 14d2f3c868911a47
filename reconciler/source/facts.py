"""Facts in place of what the source declares of clusters: observed facts replace it; without any, it stands."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts, Facts
from render.cluster import Cluster, Taint
from render.failover.health import taints_with_those_of_ready
from render.parsing import parse_cluster
from render.settings.fleet import Fleet

FactsOf = Callable[[Fleet], Facts]
"""The facts of a fleet, given its settings; only called where a source depends on them."""


def no_facts(_fleet: Fleet) -> Facts:
    """Return no facts."""
    return {}


def clusters_corrected_by_facts(clusters: Iterable[Cluster], facts: Facts) -> tuple[Cluster, ...]:
    """Return the clusters as the scheduler must see them: as the source declares them, corrected by facts."""
    return tuple(
        _cluster_corrected_by_facts(cluster, facts[cluster.name]) if cluster.name in facts else cluster
        for cluster in clusters
    )


def _cluster_corrected_by_facts(cluster: Cluster, facts: ClusterFacts) -> Cluster:
    observed = parse_cluster({"metadata": {"name": cluster.name}, "spec": {}, "status": facts.status})
    summary = observed.resource_summary
    return replace(
        cluster,
        taints=_taints_with_observed_health(cluster.taints, facts),
        api_enablements=cluster.api_enablements if observed.api_enablements is None else observed.api_enablements,
        scales=observed.scales or cluster.scales,
        kubernetes_version=observed.kubernetes_version or cluster.kubernetes_version,
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
