"""PriceLists from admitted objects."""

from collections.abc import Mapping
from typing import Any

from render.model import Manifest
from render.notations import decimal_number
from render.parsing.selectors import parse_cluster_affinity

from .price_list import PriceEntry, PriceList, Rates


def parse_price_list(manifest: Manifest, *, path: str = "", document: int = 0) -> PriceList:
    """Return the value of an admitted PriceList."""
    spec = manifest["spec"]
    return PriceList(
        name=manifest["metadata"]["name"],
        currency=spec["currency"],
        entries=tuple(map(_parse_entry, spec["prices"])),
        path=path,
        document=document,
    )


def _parse_entry(plain: Manifest) -> PriceEntry:
    return PriceEntry(
        cluster_affinity=parse_cluster_affinity(plain.get("clusterAffinity") or {}),
        per_hour=_parse_rates(plain.get("perHour") or {}),
        carbon=_parse_rates(plain.get("carbon") or {}),
    )


def _parse_rates(plain: Mapping[str, Any]) -> Rates:
    """Return the exact amounts of admitted numbers, by name."""
    found = {name: decimal_number(value) for name, value in sorted(plain.items())}
    return {name: amount for name, amount in found.items() if amount is not None}
