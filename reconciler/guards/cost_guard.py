"""The cost guard: how much more the placed workloads cost after a change, and whether argosy.yaml allows that.

Both sides are priced by the source after the change, so that the increase is due to what is placed:

1. what is decided counts, also where dispatching is suspended or a wave is still to come, so that it is judged once;
2. a cluster that is no member afterwards keeps what it has, and costs the same: it is on neither side;
3. an object whose replicas differ where its cost is unknown is not judged, for nobody knows by how much; nor is one
   that requests nothing. Of one whose requests differ, only what is known is judged. These are named.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from reconciler.repository.trailers import ALLOW_COST
from render.binding import Binding, binding_with_final_targets
from render.errors import GuardRefused
from render.model import ObjectRef
from render.prices.amounts import shown_amount
from render.prices.cluster_prices import ClusterPrices
from render.prices.costs import FleetCosts, Requests, costs_of_bindings, requests_of_binding
from render.settings.cost_guard import CostGuard
from render.words import counted_noun, first_few

from .allowances import CostAllowance, hint_to_allow
from .removal_guard import NOTHING_COMMITTED

_CENT = 100

Bindings = Mapping[ObjectRef, Binding]


class CostIncrease(Struct, frozen=True, kw_only=True):
    """The increase of the known costs of a month, of ``before``, and the objects that are not judged.

    ``limits`` are those of the guard.
    """

    limits: CostGuard
    currency: str
    before: Fraction
    increase: Fraction
    unjudged: tuple[ObjectRef, ...] = ()

    @property
    def broken_limits(self) -> tuple[str, ...]:
        """The limits that it breaks, in words."""
        return tuple(_words_of_broken_limits(self))


def cost_increase(before: Bindings, after: Bindings, prices: ClusterPrices, limits: CostGuard) -> CostIncrease:
    """Return by how much more the bindings after a change cost; ``prices`` are those of the clusters after it."""
    known = costs_of_bindings(map(_decided_binding, before.values()), prices).total
    changed = sorted(ref for ref in before.keys() | after.keys() if before.get(ref) is not after.get(ref))
    sides = [{ref: _decided_binding(side[ref]) for ref in changed if ref in side} for side in (before, after)]
    costs = [costs_of_bindings(side.values(), prices) for side in sides]
    unpriced = [
        {ref: _unpriced_replicas(binding, each, prices) for ref, binding in side.items()}
        for side, each in zip(sides, costs, strict=True)
    ]
    unjudged = tuple(ref for ref in changed if unpriced[0].get(ref, {}) != unpriced[1].get(ref, {}))
    # Where an object has as many replicas of unknown cost as before, the rest of it is judged nevertheless.
    left_out = {ref for ref in unjudged if len({_replicas(side.get(ref, {})) for side in unpriced}) > 1}
    totals = [
        costs_of_bindings((each for ref, each in side.items() if ref not in left_out), prices).total for side in sides
    ]
    return CostIncrease(
        limits=limits, currency=prices.currency, before=known, increase=totals[1] - totals[0], unjudged=unjudged
    )


def _decided_binding(binding: Binding) -> Binding:
    """Return a binding as it was decided, whatever clusters keep, and whatever step a move is at."""
    decided = binding_with_final_targets(binding)
    return replace(decided, kept=()) if decided.kept else decided


def _unpriced_replicas(
    binding: Binding, costs: FleetCosts, prices: ClusterPrices
) -> Mapping[str, tuple[int, Requests]]:
    """Return the replicas of an object, and the requests of one, in the members in which its cost is unknown."""
    if binding.ref in costs.unrequested:
        found = dict(binding.placed_replicas)
    else:
        found = {name: share.replicas for name, share in costs.money.unknown.get(binding.ref, {}).items()}
    requests = requests_of_binding(binding) if found else ()
    return {name: (count, requests) for name, count in found.items() if name in prices.members}


def _replicas(unpriced: Mapping[str, tuple[int, Requests]]) -> frozenset[tuple[str, int]]:
    return frozenset((name, count) for name, (count, _) in unpriced.items())


def _words_of_broken_limits(increase: CostIncrease) -> Iterator[str]:
    limits = increase.limits
    if limits.amount is not None and increase.increase > limits.amount:
        yield f"more than {limits.amount} {increase.currency}"
    if limits.percent is not None and increase.before and increase.increase * 100 > increase.before * limits.percent:
        yield f"more than {limits.percent} %"


def check_costs(
    increase: CostIncrease | None, allowances: Iterable[CostAllowance], consequence: str = NOTHING_COMMITTED
) -> None:
    """Raise GuardRefused when costs rise by more than a limit, and no allowance covers it."""
    if increase is None or not increase.broken_limits:
        return
    if any(each.covers(increase.increase, increase.currency) for each in allowances):
        return
    lines = [
        f"this change costs too much more{consequence}",
        f"  {words_of_increase(increase)}",
        *(f"  {words}" for words in words_of_unjudged_objects(increase)),
    ]
    needed = Fraction(ceil(increase.increase * _CENT), _CENT)
    trailer = f"{ALLOW_COST}: {shown_amount(needed)} {increase.currency}"
    raise GuardRefused("\n".join(lines), hint=hint_to_allow([trailer], "pass --allow-cost"))


def words_of_increase(increase: CostIncrease) -> str:
    """Return what the fleet costs before and after a change, and the limits that this breaks."""
    before, after = (shown_amount(each) for each in (increase.before, increase.before + increase.increase))
    more = f"{shown_amount(increase.increase)} more ({', '.join(increase.broken_limits)})"
    return f"the fleet: {before} -> {after} {increase.currency} a month, {more}"


def words_of_unjudged_objects(increase: CostIncrease | None) -> tuple[str, ...]:
    """Return what the guard does not judge, in words; nothing where it judges all that differs."""
    if increase is None or not increase.unjudged:
        return ()
    count, names = counted_noun(len(increase.unjudged), "object"), first_few(list(map(str, increase.unjudged)))
    verb = "differs" if len(increase.unjudged) == 1 else "differ"
    return (f"maxCostIncrease does not judge {count} that {verb} where no cost is known: {names}",)
