"""The fleet that an object belongs to: this one, another one, or another tool's set.

Every fleet has an ApplySet and a field manager of its own. Versions before that gave all fleets the same ones, so an
object that carries those is this fleet's only if a commit that its cluster was given names it (``is_held``).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from render.expressions import lazy_expression
from render.model import Manifest

from .applyset import TOOL, ApplySet, applyset_id_of_member
from .ownership import managed_fields_entry

_FLEET = lazy_expression(r"argosy-(?P<name>.+)-(?P<root>[0-9a-f]{12})")
OTHER_SET = "another ApplySet"
FORMER_FLEET = "a fleet that an earlier version of Argosy applied"


def is_labelled(live: Manifest, applyset: ApplySet, *, is_held: bool) -> bool:
    """Return whether an object carries the label of this fleet."""
    label = applyset_id_of_member(live)
    return label == applyset.id or (is_held and label == applyset.former.id)


def managed_fields_of_fleet(live: Manifest, applyset: ApplySet, *, is_held: bool) -> Mapping[str, Any] | None:
    """Return the managed-fields entry of this fleet; None when it never applied the object."""
    entry = managed_fields_entry(live, applyset.manager)
    return managed_fields_entry(live, applyset.former.manager) if entry is None and is_held else entry


def is_member(live: Manifest, applyset: ApplySet, *, is_held: bool) -> bool:
    """Return whether an object is this fleet's: it carries its label, and its field manager applied it."""
    return (
        is_labelled(live, applyset, is_held=is_held)
        and managed_fields_of_fleet(live, applyset, is_held=is_held) is not None
    )


def fleet_or_set_that_claims(live: Manifest, applyset: ApplySet, *, is_held: bool) -> str:
    """Return the name of the other fleet or set that an object is in, empty when it is in none.

    Where its label was taken off, its fields still tell whose it is.
    """
    label = applyset_id_of_member(live)
    if label == applyset.id:
        return ""
    is_ours = (
        is_labelled(live, applyset, is_held=is_held)
        or managed_fields_of_fleet(live, applyset, is_held=is_held) is not None
    )
    if not label:
        return "" if is_ours else next(map(fleet_name_of_manager, other_managers(live, applyset)), "")
    if label == applyset.former.id:
        return "" if is_ours else FORMER_FLEET
    others = (ApplySet(name=name, namespace=applyset.namespace) for name in other_managers(live, applyset))
    return next((fleet_name_of_manager(other.manager) for other in others if other.id == label), OTHER_SET)


def other_managers(live: Manifest, applyset: ApplySet) -> Iterator[str]:
    """Yield the field managers of other fleets that applied an object."""
    for entry in live["metadata"].get("managedFields") or ():
        manager = str(entry.get("manager") or "")
        if entry.get("operation") == "Apply" and manager != applyset.manager and fleet_name_of_manager(manager):
            yield manager


def is_manager_of_fleet(manager: str) -> bool:
    """Return whether a field manager is that of a fleet, which applies and never updates."""
    return manager == TOOL or _FLEET.fullmatch(manager) is not None


def fleet_name_of_manager(manager: str) -> str:
    """Return the name of the fleet that a field manager stands for, empty when it stands for none.

    >>> fleet_name_of_manager("argosy-edge-3f9c2d1a0b4c")
    "the fleet 'edge' (3f9c2d1a0b4c)"
    """
    matched = _FLEET.fullmatch(manager)
    return f"the fleet {matched['name']!r} ({matched['root']})" if matched else ""
