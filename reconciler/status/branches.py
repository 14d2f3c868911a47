"""The rendered and the status branch read together, as they are known here or fetched."""

from dataclasses import dataclass

from reconciler.console.log import Log
from reconciler.names.kinds import named_object
from reconciler.publish.branches import publication_of
from reconciler.publish.reading import read_source
from reconciler.publish.status_branch import StatusBranch
from reconciler.record.observation import read_recorded
from reconciler.record.recorded import Recorded
from reconciler.repository import Repository
from render.binding import Binding
from render.errors import ConfigError

from .fleet import FleetStatus, fleet_status

Tips = tuple[str | None, ...]
"""HEAD and where the branches stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFleet:
    """The fleet as its rendered and its status branch tell of it."""

    fleet: FleetStatus
    recorded: Recorded


def read_recorded_fleet(repository: Repository, log: Log) -> RecordedFleet:
    """Read both branches as they are known here."""
    fleet = fleet_status(repository, log)
    publication = publication_of(repository, fleet.source.desired.fleet)
    status = StatusBranch(publication=publication, branch=fleet.source.desired.fleet.status_branch)
    tip = repository.tip(publication.ref(status.branch))
    return RecordedFleet(fleet=fleet, recorded=read_recorded(status, tip))


def fetched_tips(repository: Repository) -> Tips:
    """Fetch the rendered and the status branch and return where they stand, HEAD first."""
    head = repository.resolve("HEAD")
    fleet = read_source(repository, head).desired.fleet
    publication = publication_of(repository, fleet)
    return head, *(publication.current_tip(branch) for branch in (fleet.rendered_branch, fleet.status_branch))


def binding_named(telling: RecordedFleet, noun: str, name: str, namespace: str) -> Binding:
    """Return the binding of the object that is meant; ConfigError when no policy selects it."""
    ref = named_object(noun, name, namespace, telling.fleet.source.desired.templates)
    binding = telling.fleet.previous.bindings.get(ref)
    if binding is None:
        raise ConfigError(f"{ref} has no binding: no policy selects it", hint=f"argosy explain {noun}/{name}")
    return binding
