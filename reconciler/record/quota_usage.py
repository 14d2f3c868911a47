"""The usage of a fleet's quotas: from its bindings, and from what members report of their ResourceQuotas."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.quota import QuotaFile
from reconciler.members.boundary import result_or_failure
from reconciler.source.desired import Desired
from render.binding import Binding
from render.model import Manifest, ObjectRef
from render.quota.enforcement import QuotaUsage, parse_federated_quota, usage_of_quota
from render.quota.shares import ReportedQuota, reported_quota, resource_quotas_by_cluster

from .recorded_status import RecordedStatus, path_in_cluster
from .work_status import APPLIED


def usage_of_each_quota(
    desired: Desired, bindings: Collection[Binding], recorded: RecordedStatus
) -> Iterator[QuotaUsage]:
    """Yield the usage of each quota of the source."""
    is_enforced = desired.fleet.feature_gates.federated_quota_enforcement
    for template in desired.quotas:
        shares = _reported_shares_of_quota(template.manifest, recorded)
        yield usage_of_quota(parse_federated_quota(template.manifest), bindings, shares, is_enforced=is_enforced)


def quota_file(usage: QuotaUsage) -> QuotaFile:
    """Return a quota's status as its file."""
    return QuotaFile.of_quota(usage.quota.namespace, usage.quota.name, usage.status)


def unsettled_quota_shares(desired: Desired, recorded: RecordedStatus) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Return the shares of quotas that change more often than they are recorded: since when, and when they were seen.

    A share is known by the namespace and the name of its quota, and its cluster.
    """
    return {
        (template.ref.namespace, template.ref.name, cluster): (
            str(work["unsettled"]),
            str(work.get("observedAt") or ""),
        )
        for template in desired.quotas
        for cluster, work in _work_by_cluster_of_quota(template.manifest, recorded)
        if work is not None and "unsettled" in work
    }


def _work_by_cluster_of_quota(manifest: Manifest, recorded: RecordedStatus) -> Iterator[tuple[str, Manifest | None]]:
    """Yield the clusters of a quota's assignments, by name, each with the Work of its share."""
    metadata = manifest["metadata"]
    below = path_in_cluster(ObjectRef("", "ResourceQuota", metadata["namespace"], metadata["name"]))
    assigned = {each["clusterName"] for each in manifest["spec"].get("staticAssignments") or ()}
    for cluster, _ in sorted(resource_quotas_by_cluster(manifest, assigned), key=lambda each: each[0]):
        yield cluster, recorded.manifest(f"works/{cluster}/{below}")


def _reported_shares_of_quota(manifest: Manifest, recorded: RecordedStatus) -> Iterator[ReportedQuota]:
    """Yield what the clusters of a quota's assignments report, by name."""
    for cluster, work in _work_by_cluster_of_quota(manifest, recorded):
        status = _reported_status_in_work(work) if work else None
        share = result_or_failure(partial(reported_quota, cluster, status)) if status is not None else None
        if isinstance(share, ReportedQuota):
            yield share


def _reported_status_in_work(work: Manifest) -> Mapping[str, Any] | None:
    """Return the status of an object in a cluster, where it is applied and reports one."""
    status = work.get("status") or {}
    if condition_of_type(status.get("conditions"), APPLIED).get("status") != "True":
        return None
    entry: Mapping[str, Any] = next(iter(status.get("manifestStatuses") or ()), {})
    found = entry.get("status")
    return found if isinstance(found, Mapping) else None
