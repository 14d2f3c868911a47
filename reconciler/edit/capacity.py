"""``argosy cluster set``: the capacity that a member's Cluster declares, where nobody observes it.

The scheduler reads ``status.resourceSummary.allocatable`` of the Cluster in the source while there are no facts of the
member; dynamic strategies need it.
"""

from collections.abc import Mapping

import click

from render.documents.editing import Edit
from render.model import Manifest
from render.quantity import parse_quantity

PATH = ("status", "resourceSummary", "allocatable")


def capacity_edits(manifest: Manifest, amounts: Mapping[str, str]) -> tuple[Edit, ...]:
    """Return the edits that declare amounts by resource; none for those that are declared already."""
    for resource, amount in amounts.items():
        if not is_amount(amount):
            raise click.UsageError(f"--{resource} {amount!r} is no amount; write one such as 16, 500m or 64Gi")
    allocatable = manifest
    for key in PATH:
        allocatable = allocatable.get(key) or {}
    return tuple(
        Edit((*PATH, resource), amount)
        for resource, amount in sorted(amounts.items())
        if str(allocatable.get(resource, "")) != amount
    )


def is_amount(text: str) -> bool:
    """Say whether a text is a quantity of at least 0.

    >>> [is_amount(text) for text in ("16", "500m", "64Gi", "-1", "many")]
    [True, True, True, False, False]
    """
    try:
        return parse_quantity(text) >= 0
    except ValueError:
        return False
