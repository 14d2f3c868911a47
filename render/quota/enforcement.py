"""Enforcement: a change of placed replicas is allowed while no quota of its namespace is exceeded by it.

A quota looks at a change that adds or takes something of what it limits. Then every name it limits must be within its
limit, also one that the change is not about: a quota that is exceeded refuses to let go of other resources, too.

During a pass a ledger keeps what is used: every placement that is decided takes its share before the next is asked for.
What is placed already counts with the requests that it has now, so a quota may be exceeded before anything is asked.
Then nothing more is placed of that resource, and everything may shrink.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding
from render.model import Manifest, TargetCluster
from render.quantity import Amount

from .shares import ReportedQuota, sum_of_reported_usage
from .sums import (
    Amounts,
    difference_of_amounts,
    parse_amounts,
    quantities_of_amounts,
    quantity_of_amount,
    sum_as_admission_keeps_it,
    sum_of_amounts,
    usage_of_binding,
)


class FederatedQuota(Struct, frozen=True, kw_only=True):
    """A FederatedResourceQuota: limits for a namespace, and what is used of them so far."""

    namespace: str
    name: str
    overall: Mapping[str, Amount]
    used: Mapping[str, Amount] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"FederatedResourceQuota({self.namespace}/{self.name})"


class QuotaAnswer(Struct, frozen=True, kw_only=True):
    """The quotas after a change, and why it is refused (none: it is allowed); a refusal leaves them as they are."""

    quotas: tuple[FederatedQuota, ...]
    refusals: tuple[str, ...] = ()


def parse_federated_quota(manifest: Manifest) -> FederatedQuota:
    """Return the value of an admitted FederatedResourceQuota."""
    metadata = manifest["metadata"]
    return FederatedQuota(
        namespace=metadata.get("namespace") or "",
        name=metadata["name"],
        overall=parse_amounts(manifest["spec"].get("overall")),
        used=parse_amounts((manifest.get("status") or {}).get("overallUsed")),
    )


def answer_of_quotas(quotas: Iterable[FederatedQuota], added: Amounts) -> QuotaAnswer:
    """Ask quotas about a change of usage; the first that refuses it says for which resources."""
    before, after = tuple(quotas), []
    for each in before:
        relevant = {name: amount for name, amount in added.items() if name in each.overall}
        if not relevant:
            after.append(each)
            continue
        potential = sum_as_admission_keeps_it((each.used, relevant))
        exceeded = sorted(name for name in potential if name in each.overall and potential[name] > each.overall[name])
        if exceeded:
            return QuotaAnswer(
                quotas=before, refusals=tuple(_words_of_quota_refusal(each, name, potential) for name in exceeded)
            )
        after.append(replace(each, used=potential))
    return QuotaAnswer(quotas=tuple(after))


def _words_of_quota_refusal(quota: FederatedQuota, name: str, potential: Amounts) -> str:
    wanted, limit = (quantity_of_amount(name, each[name]) for each in (potential, quota.overall))
    return f"{quota} exceeded for resource {name}: requested sum {wanted}, limit {limit}."


class QuotaLedger:
    """The usage of each namespace that a quota limits, as the pass goes on."""

    __slots__ = ("_least", "_quotas", "_used")

    def __init__(self, quotas: Iterable[FederatedQuota], bindings: Iterable[Binding]) -> None:
        self._quotas: dict[str, list[FederatedQuota]] = {}
        for quota in sorted(quotas, key=lambda each: each.name):
            self._quotas.setdefault(quota.namespace, []).append(quota)
        self._least = {namespace: _least_limits(found) for namespace, found in self._quotas.items()}
        used: dict[str, list[Amounts]] = {namespace: [] for namespace in self._quotas}
        for binding in bindings:
            if binding.ref.namespace in used:
                used[binding.ref.namespace].append(usage_of_binding(binding))
        self._used: dict[str, Amounts] = {namespace: sum_of_amounts(each) for namespace, each in used.items()}

    def copy(self) -> "QuotaLedger":
        """Return a ledger that goes on by itself from what is used now."""
        other = copy(self)
        other.detach()
        return other

    def detach(self) -> None:
        """Share no more with what this was copied from."""
        self._used = dict(self._used)

    def quota_refusal(self, before: Binding, binding: Binding, targets: tuple[TargetCluster, ...]) -> str:
        """Return why other targets of a binding would exceed a quota; an empty text where they would not.

        ``before`` is the same binding, or the one with the components that its object has so far.
        """
        quotas = self._quotas.get(binding.ref.namespace)
        if not quotas or (targets is binding.targets and before is binding):
            return ""
        added = {name: amount for name, amount in self._change_of_usage(before, binding, targets).items() if amount > 0}
        used = self._used[binding.ref.namespace]
        least, wanted = self._least[binding.ref.namespace], sum_as_admission_keeps_it((used, added))
        places = [least[name].first_below(wanted[name]) for name in added if name in least]
        place = min((each for each in places if each is not None), default=None)
        if place is None:
            return ""
        first = quotas[place]
        asked = replace(first, used={name: used.get(name, 0) for name in added if name in first.overall})
        return " ".join(answer_of_quotas([asked], added).refusals)

    def count_new_targets(self, before: Binding, binding: Binding, targets: tuple[TargetCluster, ...]) -> None:
        """Let a binding have other targets, or components, from now on."""
        namespace = binding.ref.namespace
        if namespace in self._used and (targets is not binding.targets or before is not binding):
            self._used[namespace] = sum_of_amounts(
                (self._used[namespace], self._change_of_usage(before, binding, targets))
            )

    def _change_of_usage(self, before: Binding, binding: Binding, targets: tuple[TargetCluster, ...]) -> Amounts:
        return difference_of_amounts(usage_of_binding(replace(binding, targets=targets)), usage_of_binding(before))


class _LeastLimits:
    """The least limit of a resource among the first quotas, the first two, and so on: of those that limit it.

    So the first quota that a sum exceeds is found without a look at each.
    """

    __slots__ = ("_negated", "_places")

    def __init__(self) -> None:
        self._places: list[int] = []
        self._negated: list[Amount] = []

    def add(self, place: int, limit: Amount) -> None:
        """Add the limit of the next quota."""
        self._places.append(place)
        self._negated.append(max(-limit, self._negated[-1]) if self._negated else -limit)

    def first_below(self, wanted: Amount) -> int | None:
        """Return the place of the first quota whose limit is less than what is wanted."""
        found = bisect_right(self._negated, -wanted)
        return self._places[found] if found < len(self._places) else None


def _least_limits(quotas: Iterable[FederatedQuota]) -> dict[str, _LeastLimits]:
    found: dict[str, _LeastLimits] = {}
    for place, quota in enumerate(quotas):
        for name, limit in quota.overall.items():
            found.setdefault(name, _LeastLimits()).add(place, limit)
    return found


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
            {
                "clusterName": each.cluster,
                "hard": quantities_of_amounts(each.hard),
                "used": quantities_of_amounts(each.used),
            }
            for each in self.shares
        ]
        return {
            "overall": quantities_of_amounts(self.quota.overall),
            "overallUsed": quantities_of_amounts(self.used),
            **({"aggregatedStatus": shares} if shares else {}),
        }


def usage_of_quota(
    quota: FederatedQuota, bindings: Iterable[Binding], shares: Iterable[ReportedQuota], *, is_enforced: bool
) -> QuotaUsage:
    """Return what is used of a quota, given the bindings of a fleet and the reports of clusters, by cluster name."""
    reports = tuple(shares)
    if not is_enforced:
        return QuotaUsage(quota=quota, used=sum_of_reported_usage(reports), shares=reports)
    placed = sum_of_amounts(
        usage_of_binding(binding) for binding in bindings if binding.ref.namespace == quota.namespace
    )
    return QuotaUsage(
        quota=quota, used={name: placed.get(name, 0) for name in quota.overall if name in placed}, shares=reports
    )
