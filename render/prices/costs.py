"""The cost of what bindings place: for each cluster, its replicas times what one requests times the prices there.

A share is an object in one cluster. Its cost is known where all that a replica requests has a price in that cluster;
otherwise it is unknown, with a reason, and in no sum. Nothing that is unknown counts as 0:

1. a cluster without prices, and a resource that its prices do not name;
2. pods that are as many as there are nodes, and those that run until they are done, whose hours nobody knows;
3. a cluster in which an override changes what is requested, or that keeps something else because dispatching to it is
   suspended.

An object that requests nothing is listed by itself, for it takes room that it does not tell of. Replicas are those that
are rendered: what an autoscaler adds in a member is not among them.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property

from msgspec import Struct, field

from render.binding import Binding, binding_with_final_targets
from render.documents import parse_documents
from render.expressions import lazy_expression
from render.model import ObjectRef
from render.quantity import Amount, parse_quantity

from .cluster_prices import ClusterPrices
from .price_list import Rates

HOURS_OF_MONTH = 730
NO_PRICE = "no price is known there"
PER_NODE = "its pods are as many as there are nodes"
UNTIL_DONE = "its pods run until they are done"
OVERRIDDEN = "an override changes what it requests there"
SUSPENDED = "dispatching is suspended, and something else is there"
_REASON_BY_KIND: Mapping[str, str] = {
    "DaemonSet.apps": PER_NODE,
    "CronJob.batch": UNTIL_DONE,
    "Job.batch": UNTIL_DONE,
}
_MEASURED_IN_GIB = frozenset({"memory", "ephemeral-storage"})
_GIB = 1 << 30
SCALE = _GIB * 10**27
"""Costs are summed as whole numbers of this part: prices have at most 18 decimals, and quantities nine."""

_ANYWHERE = frozenset({"resources", "overhead"})
_CONTAINERS = frozenset({"initContainers", "containers"})
_WHOLE = frozenset({"template", "spec", "podTemplate", "cpu", "instances"})
_ENDINGS = ("core", "cores", "Core", "Cores", "memory", "Memory")
"""The parts of pointers to requests, to what has them, and to the fields by which other kinds state them."""
_PATH = lazy_expression(r"^ +- path: [\"']?(.*?)[\"']?$", re.MULTILINE)

Requests = tuple[tuple[str, Amount], ...]
"""The requests of one replica, or of all components of an object together, by resource."""


class UnknownShare(Struct, frozen=True, kw_only=True):
    """An object of unknown cost in a cluster: its replicas there, and why it is unknown."""

    replicas: int
    reason: str


UnknownShares = Mapping[ObjectRef, Mapping[str, UnknownShare]]


class Sums(Struct, frozen=True, kw_only=True, dict=True):
    """The known amounts of a month of 730 hours by cluster, where any is known, and the shares that are unknown."""

    by_cluster: Mapping[str, Fraction] = field(default_factory=dict)
    unknown: UnknownShares = field(default_factory=dict)

    @cached_property
    def total(self) -> Fraction:
        """The sum of what is known."""
        return sum(self.by_cluster.values(), Fraction(0))

    @cached_property
    def partly_unknown_clusters(self) -> frozenset[str]:
        """The clusters in which something is unknown."""
        return frozenset(name for shares in self.unknown.values() for name in shares)


class FleetCosts(Struct, frozen=True, kw_only=True):
    """The costs of a month in a currency, and the grams of CO2e.

    ``unrequested`` are objects that request nothing, which stand in ``clusters_with_unrequested``.
    """

    currency: str = ""
    money: Sums = field(default_factory=Sums)
    carbon: Sums = field(default_factory=Sums)
    unrequested: frozenset[ObjectRef] = frozenset()
    clusters_with_unrequested: frozenset[str] = frozenset()

    @property
    def total(self) -> Fraction:
        """The money that is known to be paid in a month."""
        return self.money.total


def costs_of_bindings(bindings: Iterable[Binding], prices: ClusterPrices) -> FleetCosts:
    """Return what the objects of some bindings cost in a month, as far as that is known."""
    ledgers = _Ledger(prices.by_cluster), _Ledger(prices.carbon_by_cluster)
    unrequested, clusters = set[ObjectRef](), set[str]()
    for binding in () if prices.is_empty else map(binding_with_final_targets, bindings):
        if not is_running_pods(binding):
            continue
        requests = requests_of_binding(binding)
        if not requests and binding.ref.group_kind not in _REASON_BY_KIND:
            unrequested.add(binding.ref)
            clusters.update(name for name, count in binding.placed_replicas.items() if count or binding.undivided)
            continue
        reasons = reasons_not_to_know(binding)
        for ledger in ledgers:
            ledger.add(binding, requests, reasons)
    money, carbon = (ledger.sums() for ledger in ledgers)
    return FleetCosts(
        currency=prices.currency,
        money=money,
        carbon=carbon,
        unrequested=frozenset(unrequested),
        clusters_with_unrequested=frozenset(clusters),
    )


def is_of_uncountable_pods(ref: ObjectRef) -> bool:
    """Say whether nobody can count the pods of an object, or the hours for which they run."""
    return ref.group_kind in _REASON_BY_KIND


def is_running_pods(binding: Binding) -> bool:
    """Say whether the pods of an object cost something: it has replicas somewhere, or pods that nobody can count."""
    if binding.ref.group_kind in _REASON_BY_KIND:
        return bool(binding.targets)
    if binding.undivided is not None:
        return bool(binding.targets) and binding.undivided.replicas > 0
    return any(binding.placed_replicas.values())


def requests_of_binding(binding: Binding) -> Requests:
    """Return what one replica requests, or all components together; nothing where some of them request nothing."""
    pods = [(each.requirements, each.replicas) for each in binding.components] or [(binding.requirements, 1)]
    sums: dict[str, Amount] = {}
    for requirements, count in pods:
        if count and (requirements is None or not requirements.resource_request):
            return ()
        for name, quantity in requirements.resource_request.items() if requirements else ():
            sums[name] = sums.get(name, 0) + parse_quantity(quantity) * count
    return tuple(sorted((name, amount) for name, amount in sums.items() if amount))


def reasons_not_to_know(binding: Binding) -> Mapping[str, str]:
    """Return the clusters in which the requests of an object are not those of its binding, each with the reason."""
    kind = _REASON_BY_KIND.get(binding.ref.group_kind)
    if kind is not None:
        return {target.name: kind for target in binding.targets}
    overridden = dict.fromkeys(_clusters_with_overridden_requests(binding), OVERRIDDEN)
    outdated = (name for kept in binding.kept if kept.is_outdated for name in kept.clusters)
    return {**overridden, **dict.fromkeys(outdated, SUSPENDED)}


def _clusters_with_overridden_requests(binding: Binding) -> frozenset[str]:
    """Return the clusters of an object for which its requests may be others, as an override rule changes them there.

    A binding has the requests of its template, and the record of what overrides changed.
    """
    record = binding.applied_overrides
    if not any(map(_is_about_requests, _PATH.findall(record))):
        return frozenset()
    every = frozenset(target.name for target in binding.targets)
    found: frozenset[str] = frozenset()
    for entry in parse_documents(f"entries:\n{record}".encode())[0].value["entries"]:
        if any(_is_about_requests(change["path"]) for change in entry.get("changes") or ()):
            # Of many clusters the record has the number alone.
            found |= every if "clusters" not in entry else every & frozenset(entry["clusters"])
    return found


def _is_about_requests(pointer: str) -> bool:
    """Say whether what a JSON pointer leads to says what a replica requests.

    >>> _is_about_requests("/spec/template/spec/containers/0"), _is_about_requests("/spec/replicas")
    (True, False)
    """
    parts = pointer.split("/")[1:]
    if not parts:
        return False
    is_within = not _ANYWHERE.isdisjoint(parts) or not _CONTAINERS.isdisjoint(parts[-2:])
    return is_within or parts[-1] in _WHOLE or parts[-1].endswith(_ENDINGS)


class _Ledger:
    """The amounts of clusters by one kind of rates, object by object."""

    __slots__ = ("_amounts", "_rates", "_sums", "_unknown")

    def __init__(self, rates: Mapping[str, Rates]) -> None:
        self._rates = rates
        self._sums: dict[str, int] = {}
        self._unknown: dict[ObjectRef, dict[str, UnknownShare]] = {}
        self._amounts: dict[tuple[Requests, int], int | None] = {}

    def add(self, binding: Binding, requests: Requests, reasons: Mapping[str, str]) -> None:
        """Add what an object takes in each of its clusters, or that it is unknown there."""
        if not self._rates:
            return
        whole = binding.asked_replicas if binding.components else 1
        replicas = binding.placed_replicas if requests else dict.fromkeys(reasons, 0)
        known = binding.ref, reasons
        sums, rates_of = self._sums, self._rates.get
        amounts: dict[int, int | None] = {id(None): None}
        for cluster, count in replicas.items():
            rates = rates_of(cluster)
            number = id(rates)
            if number not in amounts:
                amounts[number] = self._amount(requests, rates or {})
            amount = amounts[number]
            if amount is None or cluster in reasons or count % whole:
                self._add_unknown(known, cluster, count)
            else:
                sums[cluster] = sums.get(cluster, 0) + amount * (count // whole)

    def _add_unknown(self, known: tuple[ObjectRef, Mapping[str, str]], cluster: str, count: int) -> None:
        """Add that an object is of unknown cost in a cluster; where it has no replicas, there is nothing to know."""
        ref, reasons = known
        if count or reasons.get(cluster) in _REASON_BY_KIND.values():
            share = UnknownShare(replicas=count, reason=reasons.get(cluster, NO_PRICE))
            self._unknown.setdefault(ref, {})[cluster] = share

    def _amount(self, requests: Requests, rates: Rates) -> int | None:
        """Return the amount of one replica in an hour; None where something that it requests has no rate."""
        key = requests, id(rates)
        if key not in self._amounts:
            self._amounts[key] = amount_of_requests(requests, rates)
        return self._amounts[key]

    def sums(self) -> Sums:
        """Return the amounts of a month."""
        by_cluster = {name: Fraction(self._sums[name] * HOURS_OF_MONTH, SCALE) for name in sorted(self._sums)}
        return Sums(by_cluster=by_cluster, unknown=self._unknown)


def amount_of_requests(requests: Requests, rates: Rates) -> int | None:
    """Return what one replica costs in an hour, in parts; None where something that it requests has no rate."""
    if any(name not in rates for name, _ in requests):
        return None
    return sum(int(rates[name] * amount * SCALE) // _units_of_rate(name) for name, amount in requests)


def _units_of_rate(resource: str) -> int:
    """Return how much of a resource its rate is for: a GiB of memory and storage, one of all else."""
    return _GIB if resource in _MEASURED_IN_GIB or resource.startswith("hugepages-") else 1
