"""The command line's say in which members a run is for, how they are reached, and what it may do to them."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from render.settings.fleet import Fleet


class AccessOptions(Struct, frozen=True, kw_only=True):
    """The options that choose members and say how they are reached; empty ones leave it to argosy.yaml."""

    clusters: tuple[str, ...] = ()
    selector: str = ""
    shard: tuple[int, int] = (1, 1)
    max_parallel: int = 32
    timeout: float = 300.0
    kubeconfig: str = ""
    kubeconfigs: str = ""
    in_cluster: str = ""
    as_user: str = ""
    as_groups: tuple[str, ...] = ()

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the options, by which click knows them as well."""
        return cls.__struct_fields__


def names_of_reached_members(fleet: "Fleet", options: AccessOptions) -> frozenset[str] | None:
    """Return the members that argosy.yaml or the command line says how to reach; None where that is all of them.

    A kubeconfig or a folder of them on the command line is for all, ``--in-cluster`` for the one it names. Where
    some are described, ``--cluster`` adds those it asks for, reached by the contexts named like them.
    """
    if options.kubeconfig or options.kubeconfigs or fleet.reachable_members is None:
        return None
    described = fleet.reachable_members | frozenset(filter(None, [options.in_cluster]))
    return described | frozenset(options.clusters) if described else described


class DeliveryOptions(AccessOptions, frozen=True, kw_only=True):
    """The options of a run that applies: those that choose and reach members, and what may be written there."""

    rehearse: bool = False
    no_prune: bool = False
    orphans: bool = False
    yes: bool = False
    confirmed: tuple[str, ...] = ()
    confirm_all: bool = False
    allow_older: bool = False
    migrate_from: tuple[str, ...] = ()
    take_from: tuple[str, ...] = ()
    remove_foreign: bool = False
