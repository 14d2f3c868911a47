"""The capacity and the place that a Cluster declares, read from the command line and written as edits.

The capacity is ``status.resourceSummary.allocatable``. The scheduler reads it while there are no facts of the member;
dynamic strategies need it. The place is the region, the zones and the provider of its spec, by which spread constraints
and field selectors go.
"""

from collections.abc import Iterable, Mapping

import click
from msgspec import Struct

from render.documents.editing import Edit
from render.model import Manifest, mapping_or_empty
from render.quantity import parse_quantity

_ALLOCATABLE = ("status", "resourceSummary", "allocatable")
_OPTIONS = frozenset({"cpu", "memory", "pods"})
"""The resources that have an option of their own."""


class MemberFields(Struct, frozen=True, kw_only=True):
    """The fields that are to be declared of a member: its place, and its capacity by resource; empty ones stay."""

    region: str = ""
    zones: tuple[str, ...] = ()
    provider: str = ""
    capacity: Mapping[str, str] = {}

    @property
    def has_place(self) -> bool:
        """True where something is said of the place."""
        return bool(self.region or self.zones or self.provider)

    def __bool__(self) -> bool:
        return self.has_place or bool(self.capacity)

    def __str__(self) -> str:
        place = (("region", self.region), ("zones", "/".join(self.zones)), ("provider", self.provider))
        words = [f"{name} {value}" for name, value in place if value]
        return ", ".join([*words, *(f"{resource} {amount}" for resource, amount in self.capacity.items())])


def parse_capacity(options: Mapping[str, str], pairs: Iterable[str]) -> Mapping[str, str]:
    """Return the capacity that options and pairs such as ``nvidia.com/gpu=8`` declare, by resource."""
    found = {resource: amount for resource, amount in options.items() if amount}
    for pair in (each for text in pairs for each in text.split(",")):
        resource, sign, amount = pair.strip().partition("=")
        if not (sign and resource):
            raise click.UsageError(f"--capacity {pair!r} is no capacity; write RESOURCE=AMOUNT, such as cpu=64")
        if found.get(resource, amount) != amount:
            raise click.UsageError(f"{resource} is given twice, as {found[resource]} and {amount}")
        found[resource] = amount
    for resource, amount in found.items():
        if not is_nonnegative_quantity(amount):
            option = f"--{resource}" if options.get(resource) else f"--capacity {resource}"
            raise click.UsageError(f"{option} {amount!r} is no amount; write one such as 16, 500m or 64Gi")
        if resource == "pods" and not amount.isdigit():
            raise click.UsageError(f"--pods {amount!r} is no number of pods; write one such as 110")
    return found


def field_edits(manifest: Manifest, wanted: MemberFields) -> tuple[Edit, ...]:
    """Return the edits that declare fields; none for those that are declared already."""
    return (*_place_edits(manifest, wanted), *_capacity_edits(manifest, wanted.capacity))


def _place_edits(manifest: Manifest, wanted: MemberFields) -> tuple[Edit, ...]:
    spec = mapping_or_empty(manifest.get("spec"))
    texts = (("region", wanted.region), ("provider", wanted.provider))
    edits = [Edit(("spec", name), value) for name, value in texts if value and spec.get(name) != value]
    zones = list(wanted.zones)
    if zones and zones != (spec.get("zones") or []):
        edits += [Edit(("spec", "zones"), zones), *([Edit(("spec", "zone"))] if "zone" in spec else [])]
    return tuple(edits)


def _capacity_edits(manifest: Manifest, amounts: Mapping[str, str]) -> tuple[Edit, ...]:
    allocatable = manifest
    for key in _ALLOCATABLE:
        allocatable = mapping_or_empty(allocatable.get(key))
    return tuple(
        Edit((*_ALLOCATABLE, resource), amount)
        for resource, amount in sorted(amounts.items())
        if str(allocatable.get(resource, "")) != amount
    )


def status_of_capacity(amounts: Mapping[str, str]) -> Mapping[str, object]:
    """Return the part of a new Cluster that declares a capacity; nothing where none is declared."""
    return {"status": {"resourceSummary": {"allocatable": dict(sorted(amounts.items()))}}} if amounts else {}


def is_nonnegative_quantity(text: str) -> bool:
    """Say whether a text is a quantity of at least 0.

    >>> [is_nonnegative_quantity(text) for text in ("16", "500m", "64Gi", "-1", "many")]
    [True, True, True, False, False]
    """
    try:
        return parse_quantity(text) >= 0
    except ValueError:
        return False
