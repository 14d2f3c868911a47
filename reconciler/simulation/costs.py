"""The costs of a month as a fleet is, with all that is concerned placed anew, and as it ends up by itself.

All are priced alike, by what is supposed to be in the source. Replicas that are decided cost something wherever they
are: also in a cluster that does not answer, until they are placed elsewhere.
"""

from collections.abc import Iterator

from msgspec import Struct

from render.cluster_index import ClusterIndex
from render.prices.amounts import shown_amount
from render.prices.cluster_prices import prices_of_clusters
from render.prices.costs import FleetCosts, costs_of_bindings
from render.words import counted_noun

from .passes import Simulation


class SimulatedCosts(Struct, frozen=True, kw_only=True):
    """The costs of a month before what is supposed, placed anew, and when the horizon has come."""

    before: FleetCosts
    ideal: FleetCosts
    last: FleetCosts


def costs_of_simulation(simulation: Simulation) -> SimulatedCosts | None:
    """Return the costs of a simulation; None where the source has no prices."""
    base, ideal = simulation.base, simulation.ideal
    price_lists = ideal.inputs.desired.price_lists
    if not price_lists:
        return None
    known = {each.name: each for side in (ideal, base) for each in side.inputs.desired.clusters}
    prices = prices_of_clusters(price_lists, ClusterIndex(known.values()))
    anew = {**base.bindings, **ideal.bindings} if ideal.inputs.scope is not None else ideal.bindings
    sides = (base.bindings, anew, simulation.last.bindings)
    costs = [costs_of_bindings(each.values(), prices) for each in sides]
    return SimulatedCosts(before=costs[0], ideal=costs[1], last=costs[2])


def lines_of_simulated_costs(simulation: Simulation) -> Iterator[str]:
    """Yield the costs of a simulation, and how much is in no sum; nothing where there are no prices."""
    costs = costs_of_simulation(simulation)
    if costs is None:
        return
    currency = costs.before.currency
    yield f"{shown_amount(costs.before.total)} {currency} a month as it is"
    for side, words in ((costs.ideal, "placed anew"), (costs.last, "by itself, in the end")):
        more = shown_amount(side.total - costs.before.total, is_signed=True)
        yield f"{shown_amount(side.total)} {currency} a month {words} ({more})"
    unknown, unrequested = len(costs.last.money.unknown), len(costs.last.unrequested)
    if unknown or unrequested:
        counts = f"{counted_noun(unknown, 'object')} of unknown cost, {unrequested} that request nothing"
        yield f"not in it: {counts}"
