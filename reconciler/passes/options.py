"""The options of ``argosy reconcile``, apart from what carries them out, which takes long to import."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from reconciler.guards.allowances import Allowed
from reconciler.members.options import DeliveryOptions, names_of_reached_members

if TYPE_CHECKING:
    from datetime import datetime

    from render.settings.fleet import Fleet


def never_stop() -> bool:
    """Return that a pass goes on to its end."""
    return False


def _discard_commit(_commit: str) -> None:
    return


class ReconcileOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy reconcile``; ``delivery`` are those that concern members.

    ``is_stopping`` is asked before each member: where it says so, no further one is begun. Where ``is_making_way`` says
    so, to a pass over a newer commit, no more are begun than are at once, and slow ones are left. ``on_source`` is told
    the source commit once it is found. ``now`` is the time of the pass (None: the time of day). With
    ``accept_settings``, the settings that the source changes are meant; ``accepted_settings`` is a file that says so.
    ``jobs`` processes may share the work of a pass that makes much (0: as many as there are processors).
    """

    rev: str = ""
    bootstrap: bool = False
    accept_rewind: bool = False
    accept_settings: bool = False
    accepted_settings: str = ""
    allowed: Allowed = field(default_factory=Allowed)
    dry_run: bool = False
    output: str = "text"
    jobs: int = 1
    now: "datetime | None" = None
    delivery: DeliveryOptions = field(default_factory=DeliveryOptions)
    is_stopping: Callable[[], bool] = never_stop
    is_making_way: Callable[[], bool] = never_stop
    on_source: Callable[[str], None] = _discard_commit


def is_reaching(fleet: "Fleet", options: ReconcileOptions) -> bool:
    """Return whether a pass reaches members: argosy.yaml or the command line says how, and it may write."""
    return not options.dry_run and names_of_reached_members(fleet, options.delivery) != frozenset()
