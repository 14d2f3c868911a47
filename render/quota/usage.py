"""The usage of a FederatedResourceQuota, as its status says it: what workloads request, and what clusters report."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from render.binding import Binding

from .enforcement import FederatedQuota
from .shares import ReportedQuota, overall_used
from .sums import Amounts, summed, usage, written_amounts

Plain = dict[str, Any]


class QuotaUsage(Struct, frozen=True, kw_only=True):
    """A quota with what is used of it, and what clusters report of their shares.

    Where it is enforced, that is what placed workloads of its namespace request of the resources that it limits;
    otherwise it is what the clusters report.
    """

    quota: FederatedQuota
    used: Amounts
    shares: tuple[ReportedQuota, ...] = ()

    @property
    def status(self) -> Plain:
        """The status that Karmada gives the quota."""
        shares = [
            {"clusterName": each.cluster, "hard": written_amounts(each.hard), "used": written_amounts(each.used)}
            for each in self.shares
        ]
        return {
            "overall": written_amounts(self.quota.overall),
            "overallUsed": written_amounts(self.used),
            **({"aggregatedStatus": shares} if shares else {}),
        }


def quota_usage(
    quota: FederatedQuota, bindings: Iterable[Binding], shares: Iterable[ReportedQuota], *, is_enforced: bool
) -> QuotaUsage:
    """Return what is used of a quota, given the bindings of a fleet and the reports of clusters, by cluster name."""
    reports = tuple(shares)
    if not is_enforced:
        return QuotaUsage(quota=quota, used=overall_used(reports), shares=reports)
    placed = summed(usage(binding) for binding in bindings if binding.ref.namespace == quota.namespace)
    return QuotaUsage(
        quota=quota, used={name: placed.get(name, 0) for name in quota.overall if name in placed}, shares=reports
    )
