"""Observed health of clusters that a rollout gave its change: are they well by it, and since when.

A cluster is well once it is known that every object of the change stands there at the version that was given, and that
it is healthy; it is so since the last of them was first seen so. What nobody knows is never well. An object that was to
leave is well once nobody reports of it there any more.
"""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from render.cluster import ClusterCondition
from render.failover.health import NOT_REACHABLE, READY, is_health_unknown
from render.failover.tasks import HEALTHY
from render.model import ObjectRef
from render.object_rollout import ABSENT
from render.rollouts.state import ClusterObservation
from render.timing import FIRST, parse_instant

Versions = Mapping[ObjectRef, str]
"""The version of each object of a change that a cluster gets."""


def observations_of_clusters(
    versions_by_cluster: Mapping[str, Versions], health: ObservedHealth, suspended: Container[str]
) -> dict[str, ClusterObservation]:
    """Return what is known of the clusters that a change is for.

    ``suspended`` are those in which dispatching some of its objects is suspended.
    """
    known = {ref: {each.cluster: each for each in health.workloads.get(ref, ())} for ref in _refs(versions_by_cluster)}

    def well_since(cluster: str, versions: Versions) -> datetime | None:
        found = [time for ref, version in versions.items() if (time := _well_since(version, known[ref].get(cluster)))]
        return max(found) if found and len(found) == len(versions) else None

    return {
        cluster: ClusterObservation(
            is_reachable=is_known_to_answer(health.conditions.get(cluster)),
            is_suspended=cluster in suspended,
            well_since=well_since(cluster, versions),
        )
        for cluster, versions in versions_by_cluster.items()
    }


def _well_since(version: str, report: ReportedHealth | None) -> datetime | None:
    """Return since when an object is well at a version in a cluster; one that has left was always well."""
    if version == ABSENT:
        return FIRST if report is None else None
    if report is None or (report.version, report.health) != (version, HEALTHY):
        return None
    return parse_instant(report.since)


def _refs(versions_by_cluster: Mapping[str, Versions]) -> Iterable[ObjectRef]:
    return {ref for versions in versions_by_cluster.values() for ref in versions}


def is_known_to_answer(conditions: Iterable[ClusterCondition] | None) -> bool:
    """Say whether a cluster is known to answer, by its conditions; one that says of itself that it is not ready does.

    Of a cluster without any (None) nobody knows.
    """
    if conditions is None or is_health_unknown(conditions):
        return False
    return not any(each.type == READY and each.reason == NOT_REACHABLE.reason for each in conditions)
