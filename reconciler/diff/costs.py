"""The costs of a month before and after a change, by the prices after it: what differs is due to what is placed alone.

Where prices themselves are others, what was placed before is priced by the former ones, too, so that nobody takes the
one for the other. A fleet without prices has none of this.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reconciler.pipeline.renames import NewNames
from reconciler.source.desired import Desired
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.prices.amounts import shown_amount
from render.prices.cluster_prices import prices_of_clusters
from render.prices.costs import FleetCosts, Sums, UnknownShares, costs_of_bindings
from render.words import counted_noun, first_few

if TYPE_CHECKING:
    from reconciler.rendering.outcome import Outcome

MONTH = "a month"
_CARBON = "g CO2e"


class CostChange(Struct, frozen=True, kw_only=True):
    """An amount of a month before and after a change."""

    before: Fraction
    after: Fraction

    @property
    def difference(self) -> Fraction:
        """The amount by which it is more, or less than 0 where it is less."""
        return self.after - self.before


class CostDifference(Struct, frozen=True, kw_only=True):
    """The costs before and after a change, both by the prices after it.

    ``former`` are the costs of what stood before by the prices before, in the currency of these, where they are others
    (None: they are not, or there were none).
    """

    before: FleetCosts
    after: FleetCosts
    former: FleetCosts | None = None

    @property
    def currency(self) -> str:
        """The currency of all of it."""
        return self.after.currency

    @property
    def total(self) -> CostChange:
        """The costs of all clusters."""
        return CostChange(before=self.before.total, after=self.after.total)

    @property
    def by_cluster(self) -> Mapping[str, CostChange]:
        """The costs of each cluster in which any are known."""
        return _changes_by_cluster(self.before.money, self.after.money)

    @property
    def carbon_by_cluster(self) -> Mapping[str, CostChange]:
        """The grams of CO2e of each cluster in which any are known."""
        return _changes_by_cluster(self.before.carbon, self.after.carbon)

    @property
    def carbon(self) -> CostChange | None:
        """The grams of CO2e of all clusters; None where no list says any."""
        if not self.carbon_by_cluster:
            return None
        return CostChange(before=self.before.carbon.total, after=self.after.carbon.total)

    @property
    def is_changed(self) -> bool:
        """Say whether anything costs more or less, or is unknown that was not, or takes prices that are others."""
        is_known_as_before = self.before.money.unknown == self.after.money.unknown
        is_requested_as_before = self.before.unrequested == self.after.unrequested
        changes = (*self.by_cluster.values(), *self.carbon_by_cluster.values())
        is_moved = any(each.difference for each in changes)
        return is_moved or self.former is not None or not (is_known_as_before and is_requested_as_before)


def _changes_by_cluster(before: Sums, after: Sums) -> dict[str, CostChange]:
    old, new, nothing = before.by_cluster, after.by_cluster, Fraction(0)
    names = sorted(old.keys() | new.keys())
    return {name: CostChange(before=old.get(name, nothing), after=new.get(name, nothing)) for name in names}


Bindings = Mapping[ObjectRef, Binding]


def cost_difference(
    base: "Outcome", head: "Outcome", before: Bindings, after: Bindings, renamed: NewNames
) -> CostDifference | None:
    """Return the costs on both sides of a comparison; None where its head has no prices.

    ``before`` are the bindings of the base by the ``renamed`` names of clusters.
    """
    desired, former = head.source.desired, base.source.desired
    if not desired.price_lists:
        return None
    members = {each.name for each in desired.clusters}
    disconnected = [each for each in former.clusters if renamed.get(each.name, each.name) not in members]
    prices = prices_of_clusters(desired.price_lists, ClusterIndex([*desired.clusters, *disconnected]))
    old = costs_of_bindings(before.values(), prices)
    new = costs_of_bindings(after.values(), prices)
    left = frozenset(each.name for each in disconnected)
    going_on = {ref for ref in old.unrequested if not left.isdisjoint(each.name for each in before[ref].targets)}
    return CostDifference(
        before=old,
        after=_with_what_goes_on(replace(new, unrequested=new.unrequested | going_on), old, left) if left else new,
        former=_costs_by_former_prices(base, former, desired),
    )


def _with_what_goes_on(after: FleetCosts, before: FleetCosts, left: frozenset[str]) -> FleetCosts:
    """Return costs with those of clusters that leave the fleet, and keep what they have, of known cost or not."""
    return replace(
        after,
        money=_sums_with_what_goes_on(after.money, before.money, left),
        carbon=_sums_with_what_goes_on(after.carbon, before.carbon, left),
        clusters_with_unrequested=after.clusters_with_unrequested | (before.clusters_with_unrequested & left),
    )


def _sums_with_what_goes_on(after: Sums, before: Sums, left: frozenset[str]) -> Sums:
    known = {name: amount for name, amount in before.by_cluster.items() if name in left}
    unknown = dict(after.unknown)
    for ref, shares in before.unknown.items():
        if not left.isdisjoint(shares):
            there = {name: share for name, share in shares.items() if name in left}
            unknown[ref] = {**unknown.get(ref, {}), **there}
    return replace(after, by_cluster={**after.by_cluster, **known}, unknown=unknown)


def _costs_by_former_prices(base: "Outcome", former: Desired, desired: Desired) -> FleetCosts | None:
    """Return what the base costs by its own prices, where these are others; None where they are not."""
    lists = [[(each.currency, each.entries) for each in side.price_lists] for side in (former, desired)]
    if not former.price_lists or lists[0] == lists[1]:
        return None
    prices = prices_of_clusters(former.price_lists, ClusterIndex(former.clusters))
    return costs_of_bindings(base.rendered.built.bindings, prices)


def words_of_cost_change(change: CostChange, unit: str) -> str:
    """Return the amounts before and after a change in words, and the difference.

    >>> words_of_cost_change(CostChange(before=Fraction(100), after=Fraction(120)), "EUR")
    '100.00 -> 120.00 EUR a month (+20.00)'
    >>> words_of_cost_change(CostChange(before=Fraction(100), after=Fraction(100)), "EUR")
    '100.00 EUR a month'
    """
    before, after = shown_amount(change.before), shown_amount(change.after)
    if not change.difference:
        return f"{after} {unit} {MONTH}"
    return f"{before} -> {after} {unit} {MONTH} ({shown_amount(change.difference, is_signed=True)})"


def cost_cell(costs: CostDifference, cluster: str) -> str:
    """Return the costs of a cluster before and after a change for a table; what is not known there is a question mark.

    A plus after an amount says that the cluster has more than that, of which no cost is known.
    """
    cells = [_cell_of_side(each, cluster) for each in (costs.before, costs.after)]
    change = costs.by_cluster.get(cluster)
    if change is None or not change.difference:
        return cells[1] if cells[0] == cells[1] else " -> ".join(cells)
    return f"{' -> '.join(cells)} ({shown_amount(change.difference, is_signed=True)})"


def _cell_of_side(costs: FleetCosts, cluster: str) -> str:
    amount = costs.money.by_cluster.get(cluster, Fraction(0))
    is_partial = cluster in costs.money.partly_unknown_clusters or cluster in costs.clusters_with_unrequested
    if is_partial and not amount:
        return "?"
    return f"{shown_amount(amount)}{'+' if is_partial else ''}"


def lines_of_costs(costs: CostDifference, *, is_by_cluster: bool = True) -> Iterator[str]:
    """Yield the costs of the clusters in which they change, those of all, and what is in none of these sums."""
    for name, change in costs.by_cluster.items():
        if change.difference and is_by_cluster:
            yield f"{name}: {words_of_cost_change(change, costs.currency)}"
    yield f"all clusters: {words_of_cost_change(costs.total, costs.currency)}"
    if costs.carbon is not None:
        yield f"all clusters: {words_of_cost_change(costs.carbon, _CARBON)}, an experimental figure"
    if costs.former is not None:
        was = f"{shown_amount(costs.former.total)} {costs.former.currency} {MONTH}"
        yield f"prices are others: by the former ones, what stands there costs {was}"
    yield from lines_of_unknown_costs(costs.after)


def lines_of_unknown_costs(costs: FleetCosts) -> Iterator[str]:
    """Yield what is in no sum: objects of unknown cost, for each reason, and objects that request nothing."""
    for reason, refs in refs_by_reason(costs.money.unknown).items():
        shares = (costs.money.unknown[ref] for ref in refs)
        where = {name for each in shares for name, share in each.items() if share.reason == reason}
        said = f"{counted_noun(len(refs), 'object')} of unknown cost in {first_few(sorted(where))}, as {reason}"
        yield f"not in it: {said}: {_names(refs)}"
    if costs.unrequested:
        refs = sorted(costs.unrequested)
        verb = "requests" if len(refs) == 1 else "request"
        yield f"not in it: {counted_noun(len(refs), 'object')} that {verb} nothing: {_names(refs)}"


def refs_by_reason(unknown: UnknownShares) -> Mapping[str, list[ObjectRef]]:
    """Return the objects whose cost is unknown somewhere, by each reason."""
    found: dict[str, list[ObjectRef]] = {}
    for ref, shares in sorted(unknown.items()):
        for reason in sorted({each.reason for each in shares.values()}):
            found.setdefault(reason, []).append(ref)
    return dict(sorted(found.items()))


def _names(refs: Iterable[ObjectRef]) -> str:
    return first_few(list(map(str, refs)))
