"""The parts of documents that are about costs. Amounts are texts, so that no program rounds them as it reads them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field

if TYPE_CHECKING:
    from reconciler.diff.costs import CostChange, CostDifference
    from reconciler.simulation.passes import Simulation
    from render.prices.costs import FleetCosts, UnknownShares


class AmountsPart(DocumentPart, frozen=True, kw_only=True):
    """An amount of a month of 730 hours before and after a change, as decimal texts."""

    before: str
    after: str
    difference: Annotated[str, meaning_of_field("How much more it is; with a minus, how much less.")]


class ClusterCostPart(DocumentPart, frozen=True, kw_only=True):
    """The cost of a cluster, as far as it is known."""

    name: Annotated[str, meaning_of_field("The cluster.")]
    before: str
    after: str
    difference: Annotated[str, meaning_of_field("How much more it is; with a minus, how much less.")]


class UnknownCostPart(DocumentPart, frozen=True, kw_only=True):
    """An object whose cost in some clusters is unknown, and in no sum."""

    object: Annotated[str, meaning_of_field("The object.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters.")]
    reason: Annotated[str, meaning_of_field("Why it is unknown there.")]


class CostPart(DocumentPart, frozen=True, kw_only=True):
    """The costs of a month before and after a change, both by the prices after it."""

    currency: Annotated[str, meaning_of_field("The currency of all amounts, such as EUR.")]
    total: Annotated[AmountsPart, meaning_of_field("The costs of all clusters, as far as they are known.")]
    clusters: Annotated[tuple[ClusterCostPart, ...], meaning_of_field("The clusters in which anything is known.")]
    unknown: Annotated[
        tuple[UnknownCostPart, ...],
        meaning_of_field("What is of unknown cost after the change; it counts as nothing in any sum."),
    ]
    unrequested: Annotated[
        tuple[str, ...], meaning_of_field("The objects that request nothing after the change, and are in no sum.")
    ]
    former: (
        Annotated[
            str,
            meaning_of_field("What stands before costs by the prices before; absent: the prices are the same."),
        ]
        | UnsetType
    ) = UNSET
    former_currency: (
        Annotated[str, meaning_of_field("The currency of `former`; absent: it is that of all amounts.")] | UnsetType
    ) = UNSET
    carbon: (
        Annotated[
            AmountsPart,
            meaning_of_field("The grams of CO2e in all clusters, an experiment; absent: no PriceList says any."),
        ]
        | UnsetType
    ) = UNSET


CostOfChange = (
    Annotated[CostPart, meaning_of_field("The costs before and after; absent: the fleet has no PriceList.")] | UnsetType
)


class SimulatedCostPart(DocumentPart, frozen=True, kw_only=True):
    """The costs of a month of 730 hours in a simulation, as decimal texts."""

    currency: Annotated[str, meaning_of_field("The currency of all amounts, such as EUR.")]
    before: Annotated[str, meaning_of_field("What the fleet costs as it is, as far as that is known.")]
    ideal: Annotated[str, meaning_of_field("What it costs with everything concerned placed anew.")]
    last: Annotated[str, meaning_of_field("What it costs by itself, when the horizon has come.")]
    unknown: Annotated[
        tuple[UnknownCostPart, ...], meaning_of_field("What is of unknown cost then; it counts as nothing in any sum.")
    ]
    unrequested: Annotated[
        tuple[str, ...], meaning_of_field("The objects that request nothing then, and are in no sum.")
    ]


SimulatedCost = (
    Annotated[SimulatedCostPart, meaning_of_field("The costs of it; absent: the fleet has no PriceList.")] | UnsetType
)


def simulated_cost_part(simulation: "Simulation") -> SimulatedCostPart | UnsetType:
    """Return the costs of a simulation; nothing where there are no prices."""
    from reconciler.simulation.costs import costs_of_simulation
    from render.prices.amounts import exact_decimal

    costs = costs_of_simulation(simulation)
    if costs is None:
        return UNSET
    return SimulatedCostPart(
        currency=costs.before.currency,
        before=exact_decimal(costs.before.total),
        ideal=exact_decimal(costs.ideal.total),
        last=exact_decimal(costs.last.total),
        unknown=unknown_cost_parts(costs.last.money.unknown),
        unrequested=unrequested_objects(costs.last),
    )


def cost_part(costs: "CostDifference | None") -> CostPart | UnsetType:
    """Return the costs before and after a change; nothing where there are no prices."""
    from render.prices.amounts import exact_decimal

    if costs is None:
        return UNSET
    former = costs.former
    return CostPart(
        currency=costs.currency,
        total=_amounts_part(costs.total),
        clusters=_cluster_parts(costs.by_cluster),
        unknown=unknown_cost_parts(costs.after.money.unknown),
        unrequested=unrequested_objects(costs.after),
        former=UNSET if former is None else exact_decimal(former.total),
        former_currency=UNSET if former is None or former.currency == costs.currency else former.currency,
        carbon=UNSET if costs.carbon is None else _amounts_part(costs.carbon),
    )


def unknown_cost_parts(unknown: "UnknownShares") -> tuple[UnknownCostPart, ...]:
    """Return the objects of unknown cost, each with the clusters of one reason."""
    found = []
    for ref, shares in sorted(unknown.items()):
        for reason in sorted({each.reason for each in shares.values()}):
            clusters = sorted(name for name, share in shares.items() if share.reason == reason)
            found.append(UnknownCostPart(object=str(ref), clusters=tuple(clusters), reason=reason))
    return tuple(found)


def unrequested_objects(costs: "FleetCosts") -> tuple[str, ...]:
    """Return the objects that request nothing."""
    return tuple(map(str, sorted(costs.unrequested)))


def _amounts_part(change: "CostChange") -> AmountsPart:
    return AmountsPart(**_texts_of_change(change))


def _cluster_parts(changes: "Mapping[str, CostChange]") -> tuple[ClusterCostPart, ...]:
    return tuple(ClusterCostPart(name=name, **_texts_of_change(change)) for name, change in changes.items())


def _texts_of_change(change: "CostChange") -> dict[str, str]:
    from render.prices.amounts import exact_decimal

    amounts = {"before": change.before, "after": change.after, "difference": change.difference}
    return {name: exact_decimal(amount) for name, amount in amounts.items()}
