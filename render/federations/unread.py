"""Federations whose objects are recognised by their API groups, and that Argosy does not read.

Their objects are delivered like any others where a policy selects them, as to a cluster that is the hub of one. Nothing
becomes of what they say about clusters, which whoever has them should know.
"""

from collections.abc import Iterable, Mapping
from functools import cache

_TITLE_BY_GROUP: Mapping[str, str] = {
    "open-cluster-management.io": "Open Cluster Management",
    "kubernetes-fleet.io": "KubeFleet",
    "fleet.azure.com": "KubeFleet",
    "fleet.cattle.io": "Rancher Fleet",
    "projectsveltos.io": "Sveltos",
}
"""The federations by what the names of their API groups are or end in."""


@cache
def unread_federation_of_group(group: str) -> str:
    """Return the federation that an API group is of and that is not read; empty for any other.

    >>> unread_federation_of_group("work.open-cluster-management.io"), unread_federation_of_group("apps")
    ('Open Cluster Management', '')
    """
    found = (title for name, title in _TITLE_BY_GROUP.items() if group == name or group.endswith(f".{name}"))
    return next(found, "")


def unread_federations_among(groups: Iterable[str]) -> tuple[str, ...]:
    """Return the federations that API groups are of and that are not read, each once, by name."""
    return tuple(sorted({title for group in groups if (title := unread_federation_of_group(group))}))
