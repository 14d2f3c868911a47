"""Enforcement: a change of placed replicas is allowed while no quota of its namespace is exceeded by it.

A quota looks at a change that adds or takes something of what it limits. Then every name it limits must be within its
limit, also one that the change is not about: a quota that is exceeded refuses to let go of other resources, too.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from render.model import Manifest
from render.quantity import Amount

from .sums import Amounts, amounts, total, written_amount


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


def quota(manifest: Manifest) -> FederatedQuota:
    """Return the value of an admitted FederatedResourceQuota."""
    metadata = manifest["metadata"]
    return FederatedQuota(
        namespace=metadata.get("namespace") or "",
        name=metadata["name"],
        overall=amounts(manifest["spec"].get("overall")),
        used=amounts((manifest.get("status") or {}).get("overallUsed")),
    )


def answered(quotas: Iterable[FederatedQuota], added: Amounts) -> QuotaAnswer:
    """Ask quotas about a change of usage; the first that refuses it says for which resources."""
    before, after = tuple(quotas), []
    for each in before:
        relevant = {name: amount for name, amount in added.items() if name in each.overall}
        if not relevant:
            after.append(each)
            continue
        potential = total((each.used, relevant))
        exceeded = sorted(name for name in potential if name in each.overall and potential[name] > each.overall[name])
        if exceeded:
            return QuotaAnswer(quotas=before, refusals=tuple(_refusal(each, name, potential) for name in exceeded))
        after.append(replace(each, used=potential))
    return QuotaAnswer(quotas=tuple(after))


def _refusal(quota: FederatedQuota, name: str, potential: Amounts) -> str:
    wanted, limit = (written_amount(name, each[name]) for each in (potential, quota.overall))
    return f"{quota} exceeded for resource {name}: requested sum {wanted}, limit {limit}."
