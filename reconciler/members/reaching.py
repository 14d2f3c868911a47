"""Which members something says how to reach: argosy.yaml or the command line."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render.fleet import Fleet


def reached_members(fleet: "Fleet", options: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the members that argosy.yaml or the command line says how to reach; None where that is all of them.

    A kubeconfig or a folder of them on the command line is for all, ``--in-cluster`` for the one it names. Where
    something is said of some, ``--cluster`` adds those it asks for, reached by the contexts named like them.
    """
    if options.get("kubeconfig") or options.get("kubeconfigs") or fleet.reached is None:
        return None
    said = fleet.reached | frozenset(filter(None, [options.get("in_cluster")]))
    return said | frozenset(options.get("clusters") or ()) if said else said
