"""Sums of resources as Karmada's quotas add them up.

The usage of workloads is exact. Where a change is added to it, each addend is rounded up first: CPU to thousandths, all
else to whole units; of a negative fraction the whole part plus one is taken. Names that no scheduler counts are
dropped from sums, and so are totals that are not positive.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from render.binding import Binding
from render.quantity import Amount, QuantityFormat, format_quantity, parse_quantity
from render.resources import ReplicaRequirements

Amounts = Mapping[str, Amount]

_COUNTED = frozenset({"cpu", "memory", "pods", "ephemeral-storage"})
_PREFIXES = ("hugepages-", "attachable-volumes-")
_BINARY = frozenset({"memory", "ephemeral-storage"})


def usage_of_binding(binding: Binding) -> dict[str, Amount]:
    """Return what the placed replicas of a workload request; of one with components, all of them in each cluster."""
    if binding.components:
        each = sum_of_amounts(
            _amounts_of_replicas(component.requirements, component.replicas) for component in binding.components
        )
        return _amounts_without_zeros({name: amount * len(binding.targets) for name, amount in each.items()})
    return _amounts_without_zeros(
        _amounts_of_replicas(binding.requirements, sum(target.replicas for target in binding.targets))
    )


def difference_of_amounts(after: Amounts, before: Amounts) -> dict[str, Amount]:
    """Return what was added from one usage to another; what is less is negative."""
    return _amounts_without_zeros(
        {name: after.get(name, 0) - before.get(name, 0) for name in after.keys() | before.keys()}
    )


def sum_of_amounts(addends: Iterable[Amounts]) -> dict[str, Amount]:
    """Return the exact sum of amounts."""
    sums: dict[str, Amount] = {}
    for addend in addends:
        for name, amount in addend.items():
            sums[name] = sums.get(name, 0) + amount
    return sums


def sum_as_admission_keeps_it(addends: Iterable[Amounts]) -> dict[str, Amount]:
    """Return the sum of amounts as the admission of a change keeps it."""
    sums: dict[str, Amount] = {}
    for addend in addends:
        for name, amount in addend.items():
            if is_resource_summed(name):
                sums[name] = sums.get(name, 0) + _rounded_amount(name, amount)
    return {name: amount for name, amount in sums.items() if amount > 0}


def is_resource_summed(name: str) -> bool:
    """Say whether sums of a resource are kept at all."""
    return name in _COUNTED or name.startswith(_PREFIXES) or ("/" in name and not name.startswith("requests."))


def parse_amounts(plain: Mapping[str, object] | None) -> dict[str, Amount]:
    """Return the amounts of quantities in YAML."""
    return {name: parse_quantity(str(quantity)) for name, quantity in (plain or {}).items()}


def quantities_of_amounts(amounts: Amounts) -> dict[str, str]:
    """Return amounts as quantities in YAML."""
    return {name: quantity_of_amount(name, amounts[name]) for name in sorted(amounts)}


def quantity_of_amount(name: str, amount: Amount) -> str:
    """Return an amount as a quantity; of memory and storage in powers of 1,024 where that is shorter."""
    is_binary = name in _BINARY or name.startswith("hugepages-")
    return format_quantity(amount, QuantityFormat.BINARY_SI if is_binary else QuantityFormat.DECIMAL_SI)


def _amounts_of_replicas(requirements: ReplicaRequirements | None, count: int) -> dict[str, Amount]:
    requests = requirements.resource_request if requirements else {}
    return {name: parse_quantity(quantity) * count for name, quantity in requests.items()}


def _amounts_without_zeros(amounts: Amounts) -> dict[str, Amount]:
    return {name: amount for name, amount in amounts.items() if amount}


def _rounded_amount(name: str, amount: Amount) -> Amount:
    if name == "cpu":
        return Fraction(_amount_rounded_up(amount * 1000), 1000)
    return _amount_rounded_up(amount)


def _amount_rounded_up(amount: Amount) -> int:
    whole = int(amount)
    return whole if amount == whole else whole + 1
