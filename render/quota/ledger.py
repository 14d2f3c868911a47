"""The quotas of a fleet during one pass: every placement that is decided takes its share before the next is asked for.

What is placed already counts with the requests that it has now, so a quota may be exceeded before anything is asked.
Then nothing more is placed of that resource, and everything may shrink.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from render.binding import Binding
from render.model import TargetCluster

from .enforcement import FederatedQuota, answered
from .sums import Amounts, difference, summed, usage


class QuotaLedger:
    """The usage of each namespace that a quota limits, as the pass goes on."""

    __slots__ = ("_quotas", "_used")

    def __init__(self, quotas: Iterable[FederatedQuota], bindings: Iterable[Binding]) -> None:
        self._quotas: dict[str, list[FederatedQuota]] = {}
        for quota in sorted(quotas, key=lambda each: each.name):
            self._quotas.setdefault(quota.namespace, []).append(quota)
        used: dict[str, list[Amounts]] = {namespace: [] for namespace in self._quotas}
        for binding in bindings:
            if binding.ref.namespace in used:
                used[binding.ref.namespace].append(usage(binding))
        self._used: dict[str, Amounts] = {namespace: summed(each) for namespace, each in used.items()}

    def refusal(self, binding: Binding, targets: tuple[TargetCluster, ...]) -> str:
        """Return why other targets of a binding would exceed a quota; an empty text where they would not."""
        quotas = self._quotas.get(binding.ref.namespace)
        if not quotas or targets is binding.targets:
            return ""
        added = {name: amount for name, amount in self._change(binding, targets).items() if amount > 0}
        used = self._used[binding.ref.namespace]
        asked = [
            replace(quota, used={name: used.get(name, 0) for name in added if name in quota.overall})
            for quota in quotas
        ]
        return " ".join(answered(asked, added).refusals)

    def take(self, binding: Binding, targets: tuple[TargetCluster, ...]) -> None:
        """Let a binding have other targets from now on."""
        namespace = binding.ref.namespace
        if namespace in self._used and targets is not binding.targets:
            self._used[namespace] = summed((self._used[namespace], self._change(binding, targets)))

    def _change(self, binding: Binding, targets: tuple[TargetCluster, ...]) -> Amounts:
        return difference(usage(replace(binding, targets=targets)), usage(binding))
