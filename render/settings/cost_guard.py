"""``spec.maxCostIncrease``: the limits on how much more one commit may cost a month."""

from typing import Annotated

from msgspec import Struct

from .setting import MOST, FleetSetting


class CostGuard(Struct, frozen=True, kw_only=True):
    """The most by which the known costs of a month may rise in one commit (None: no limit)."""

    percent: Annotated[
        int | None,
        FleetSetting(
            "percent",
            "So many percent more than what was placed costs; left out means any. Where nothing had a known cost, it"
            " says nothing.",
            reach=MOST,
        ),
    ] = None
    amount: Annotated[
        int | None,
        FleetSetting(
            "amount", "So much more a month, in the currency of the PriceLists; left out means any.", reach=MOST
        ),
    ] = None


COST_GUARD = FleetSetting(
    "maxCostIncrease",
    "The limits on how much more the workloads of the fleet may cost after one commit, by the PriceLists of its source."
    " An object whose replicas differ where no price is known is not judged, and a warning names it.",
    in_karmada="Karmada knows no prices",
)
