"""The request of one replica in the whole units capacity is compared in: thousandths of a CPU, ones of all else."""

from functools import lru_cache

from render.quantity import amount_rounded_up, milli_value_of_amount, parse_quantity
from render.resources import Component, ReplicaRequirements

Request = tuple[tuple[str, int], ...]
"""Resources with the positive amounts asked for, in name order."""

CPU = "cpu"


def units_of_quantity(resource: str, quantity: str) -> int:
    """Return a quantity in the units of its resource, rounded up.

    >>> units_of_quantity("cpu", "1500m"), units_of_quantity("memory", "1Ki")
    (1500, 1024)
    """
    amount = parse_quantity(quantity)
    return milli_value_of_amount(amount) if resource == CPU else amount_rounded_up(amount)


def request_of_replica(requirements: ReplicaRequirements | None) -> Request:
    """Return the request of one replica; resources it asks nothing of are left out."""
    if requirements is None or not requirements.resource_request:
        return ()
    return _request_of_quantities(tuple(sorted(requirements.resource_request.items())))


def request_of_set(components: tuple[Component, ...]) -> tuple[Request, int]:
    """Return the request of a full set of components together, and its number of pods."""
    total: dict[str, int] = {}
    for component in components:
        for name, amount in request_of_replica(component.requirements):
            total[name] = total.get(name, 0) + amount * component.replicas
    pods = sum(component.replicas for component in components)
    return tuple(sorted((name, amount) for name, amount in total.items() if amount > 0)), pods


@lru_cache(maxsize=4096)
def _request_of_quantities(quantities: tuple[tuple[str, str], ...]) -> Request:
    amounts = ((name, units_of_quantity(name, quantity)) for name, quantity in quantities)
    return tuple((name, amount) for name, amount in amounts if amount > 0)
