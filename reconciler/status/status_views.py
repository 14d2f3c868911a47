"""What ``argosy status`` says: of the fleet, of a cluster, of an object - once, or whenever a branch moved."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from reconciler.explanation.inquiry_subjects import is_cluster_noun
from reconciler.kind_names import found_object
from reconciler.passes.publication import publication_of
from reconciler.passes.reading import read_source
from reconciler.report import Log
from reconciler.repository import Repository, open_repository
from reconciler.unknown_names import check_clusters
from render.binding import Binding
from render.documents import emit
from render.errors import ConfigError, ReconcileError

from . import rendered_views
from .fleet_views import fleet_text, fleet_value, is_well
from .member_watch import read_recorded
from .recorded import Recorded
from .status_branch import StatusBranch
from .status_objects import cluster_text, cluster_value, object_text, object_value, objects_of_binding
from .statuses import FleetStatus, fleet_status, troubles

POLL_SECONDS = 5.0
Tips = tuple[str | None, ...]
"""HEAD and where the branches stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusOptions:
    """What to show and how; ``subject`` is ``cluster/NAME``, ``KIND/NAME`` or nothing for the fleet."""

    subject: str = ""
    namespace: str = ""
    output: str = "table"
    watch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """The fleet as its rendered and its status branch tell of it."""

    fleet: FleetStatus
    recorded: Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is to be shown: as text, as plain data and as a name, and whether all is well with it."""

    text: str
    value: dict[str, Any] = field(repr=False)
    name: str
    is_fine: bool


def show_views(log: Log, options: StatusOptions, pause: Callable[[float], object] = time.sleep) -> int:
    """Print what is asked for, and with ``watch`` again whenever a branch moved, pausing between the looks."""
    if options.watch:
        return _watched(log, options, pause)
    with open_repository(log.repository, refresh=False) as repository:
        return _shown(told(repository, log), options)


def told(repository: Repository, log: Log) -> Telling:
    """Read both branches as they are known here."""
    fleet = fleet_status(repository, log)
    publication = publication_of(repository, fleet.source.desired.fleet)
    status = StatusBranch(publication=publication, branch=fleet.source.desired.fleet.status_branch)
    tip = repository.tip(publication.ref(status.branch))
    return Telling(fleet=fleet, recorded=read_recorded(status, tip))


def _watched(log: Log, options: StatusOptions, pause: Callable[[float], object]) -> int:
    """Show what is new until somebody ends it; once something was shown, a look that fails is only told of."""
    seen: Tips = ()
    complaint = ""
    while True:
        try:
            seen, complaint = _looked(log, options, seen), ""
        except ReconcileError as error:
            if not seen:
                raise
            if str(error) != complaint:
                complaint = str(error)
                log.warning(complaint)
        pause(POLL_SECONDS)


def _looked(log: Log, options: StatusOptions, seen: Tips) -> Tips:
    with open_repository(log.repository) as repository:
        now = fetched_tips(repository)
        if now != seen:
            telling = told(repository, log)
            click.echo("\n" if seen else "", nl=False)
            _shown(telling, options)
    return now


def fetched_tips(repository: Repository) -> Tips:
    """Fetch the rendered and the status branch and return where they stand, HEAD first."""
    head = repository.resolve("HEAD")
    fleet = read_source(repository, head).desired.fleet
    publication = publication_of(repository, fleet)
    return head, *(publication.current_tip(branch) for branch in (fleet.rendered_branch, fleet.status_branch))


def _shown(telling: Telling, options: StatusOptions) -> int:
    view = _view(telling, options)
    if options.output == "json":
        click.echo(json.dumps(view.value, indent=2, ensure_ascii=False))
    elif options.output == "yaml":
        click.echo(emit(view.value).decode(), nl=False)
    elif options.output == "name":
        click.echo(view.name)
    else:
        click.echo(view.text, nl=False)
    return 0 if view.is_fine else 1


def _view(telling: Telling, options: StatusOptions) -> View:
    noun, _, name = options.subject.partition("/")
    if not options.subject:
        return _fleet_view(telling, is_wide=options.output == "wide")
    if is_cluster_noun(noun):
        return _cluster_view(telling, name, is_wide=options.output == "wide")
    return _object_view(telling, bound(telling, noun, name, options.namespace))


def _fleet_view(telling: Telling, *, is_wide: bool) -> View:
    fleet, recorded = telling.fleet, telling.recorded
    return View(
        text="".join(fleet_text(fleet, recorded, wide=is_wide)),
        value=fleet_value(fleet, recorded),
        name="\n".join(f"cluster/{name}" for name in fleet.clusters),
        is_fine=is_well(fleet, recorded),
    )


def _cluster_view(telling: Telling, name: str, *, is_wide: bool) -> View:
    fleet, recorded = telling.fleet, telling.recorded
    records = recorded.clusters()
    check_clusters([name], {*records, *fleet.clusters})
    if name not in records or name not in fleet.members:
        has_status = bool(recorded.files)
        is_fine = rendered_views.is_cluster_fine(name, fleet) and not (has_status and name in fleet.members)
        return View(
            text=rendered_views.cluster_text(name, fleet, has_status=has_status),
            value=rendered_views.cluster_value(name, fleet),
            name=f"cluster/{name}",
            is_fine=is_fine,
        )
    value = cluster_value(name, recorded)
    is_fine = records[name].state.ready == "True" and all(map(_is_fine, value["objects"]))
    text = cluster_text(name, recorded, every=is_wide)
    return View(text=text, value=value, name=f"cluster/{name}", is_fine=is_fine)


def _is_fine(value: dict[str, Any]) -> bool:
    return bool(value["applied"]) and value["health"] == "Healthy"


def bound(telling: Telling, noun: str, name: str, namespace: str) -> Binding:
    """Return the binding of the object that is meant; ConfigError when no policy selects it."""
    ref = found_object(noun, name, namespace, telling.fleet.source.desired.templates)
    binding = telling.fleet.previous.bindings.get(ref)
    if binding is None:
        raise ConfigError(f"{ref} has no binding: no policy selects it", hint=f"argosy explain {noun}/{name}")
    return binding


def _object_view(telling: Telling, binding: Binding) -> View:
    fleet, recorded = telling.fleet, telling.recorded
    name = f"{binding.ref.group_kind.lower()}/{binding.ref.name}"
    value = object_value(binding, recorded, fleet.members)
    if not recorded.files:
        text = rendered_views.object_text(binding, fleet)
        return View(text=text, value=value, name=name, is_fine=not troubles(binding))
    objects = objects_of_binding(binding, recorded, fleet.members)
    fine = bool(objects) and all(each.applied == "True" and each.health == "Healthy" for each in objects)
    text = object_text(binding, recorded, fleet.members)
    return View(text=text, value=value, name=name, is_fine=fine and not troubles(binding))
