"""The command line's say in what a run may do to members."""

from reconciler.members.options import AccessOptions


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
