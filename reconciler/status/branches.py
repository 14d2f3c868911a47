"""The rendered and the status branch read together, as they are known here or fetched."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from reconciler.console.log import Log
from reconciler.names.kinds import named_object
from reconciler.publish.branches import publication_of
from reconciler.publish.reading import read_source
from reconciler.publish.status_branch import StatusBranch
from reconciler.record.recorded_status import RecordedStatus, read_recorded
from reconciler.repository import Repository, open_repository
from render.binding import Binding
from render.errors import ConfigError, ReconcileError

from .fleet import FleetStatus, fleet_status

Tips = tuple[str | None, ...]
"""The commits of HEAD, of the rendered branch and of the status branch."""

POLL_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFleet:
    """The fleet as its rendered branch describes it, and what its status branch records of it."""

    fleet: FleetStatus
    recorded: RecordedStatus


def read_recorded_fleet(repository: Repository, log: Log) -> RecordedFleet:
    """Read both branches as they are known here."""
    fleet = fleet_status(repository, log)
    publication = publication_of(repository, fleet.source.desired.fleet)
    status = StatusBranch(publication=publication, branch=fleet.source.desired.fleet.status_branch)
    tip = repository.tip(publication.ref(status.branch))
    return RecordedFleet(fleet=fleet, recorded=read_recorded(status, tip))


def fetched_tips(repository: Repository) -> Tips:
    """Fetch the rendered and the status branch and return their tips, HEAD first."""
    head = repository.resolve("HEAD")
    fleet = read_source(repository, head).desired.fleet
    publication = publication_of(repository, fleet)
    return head, *(publication.current_tip(branch) for branch in (fleet.rendered_branch, fleet.status_branch))


def follow_branches(
    log: Log, show: Callable[[RecordedFleet, bool], object], pause: Callable[[float], object] = time.sleep
) -> NoReturn:
    """Show the fleet, and again whenever a branch moved, until the process is interrupted.

    ``show`` gets the fleet and whether this is the first time. An error ends the first look; afterwards it becomes a
    warning, once for as long as it is the same, because a remote that is away for a while comes back.
    """
    known: Tips = ()
    problem = ""
    while True:
        try:
            known, problem = _shown_if_moved(log, show, known), ""
        except ReconcileError as error:
            if not known:
                raise
            if str(error) != problem:
                problem = str(error)
                log.warning(problem)
        pause(POLL_SECONDS)


def _shown_if_moved(log: Log, show: Callable[[RecordedFleet, bool], object], known: Tips) -> Tips:
    with open_repository(log.repository) as repository:
        tips = fetched_tips(repository)
        if tips != known:
            show(read_recorded_fleet(repository, log), not known)
    return tips


def binding_named(branches: RecordedFleet, noun: str, name: str, namespace: str) -> Binding:
    """Return the binding of the object that is meant; ConfigError when no policy selects it."""
    ref = named_object(noun, name, namespace, branches.fleet.source.desired.templates)
    binding = branches.fleet.previous.bindings.get(ref)
    if binding is None:
        raise ConfigError(f"{ref} has no binding: no policy selects it", hint=f"argosy explain {noun}/{name}")
    return binding
