"""Static assignments: a ResourceQuota for each cluster that a FederatedResourceQuota names, and what members report."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from render.model import Manifest
from render.quantity import Amount

from .sums import parse_amounts, sum_of_amounts

Plain = dict[str, Any]


class ReportedQuota(Struct, frozen=True, kw_only=True):
    """The hard limits and the usage that one cluster reports of its share."""

    cluster: str
    hard: Mapping[str, Amount] = field(default_factory=dict)
    used: Mapping[str, Amount] = field(default_factory=dict)


def resource_quotas_by_cluster(quota: Manifest, clusters: Collection[str]) -> Iterator[tuple[str, Plain]]:
    """Yield the cluster and the ResourceQuota of each assignment; of several for one cluster the first counts."""
    done: set[str] = set()
    for assignment in quota["spec"].get("staticAssignments") or ():
        cluster, hard = assignment["clusterName"], assignment.get("hard")
        if cluster in clusters and cluster not in done:
            done.add(cluster)
            if hard is not None:
                yield cluster, resource_quota_of_share(quota, hard)


def resource_quota_of_share(quota: Manifest, hard: Mapping[str, Any]) -> Plain:
    """Return the ResourceQuota of a share."""
    metadata = quota["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"hard": dict(hard)},
    }


def reported_quota(cluster: str, status: Manifest) -> ReportedQuota:
    """Return what a cluster reports in the status of its ResourceQuota."""
    return ReportedQuota(
        cluster=cluster, hard=parse_amounts(status.get("hard")), used=parse_amounts(status.get("used"))
    )


def sum_of_reported_usage(reports: Iterable[ReportedQuota]) -> dict[str, Amount]:
    """Return the sum of what clusters report as used, of all resources."""
    return sum_of_amounts(report.used for report in reports)
