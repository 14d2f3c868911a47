"""``argosy status``: what the branches say about the fleet, a cluster or an object."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from reconciler.console.log import Log
from reconciler.names.subjects import check_clusters, is_cluster_noun
from reconciler.repository import open_repository
from reconciler.status import rendered_views
from reconciler.status.branches import RecordedFleet, Tips, binding_named, fetched_tips, read_recorded_fleet
from reconciler.status.fleet import binding_problems
from reconciler.status.fleet_views import fleet_text, fleet_value, is_well
from reconciler.status.objects import cluster_text, cluster_value, object_text, object_value, objects_of_binding
from render.binding import Binding
from render.documents import emit
from render.errors import ReconcileError

from .options.subject_options import parsed_subject, with_namespace_options

POLL_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusOptions:
    """What to show and how; ``subject`` is ``cluster/NAME``, ``KIND/NAME`` or nothing for the fleet."""

    subject: str = ""
    namespace: str = ""
    output: str = "table"
    watch: bool = False


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
        return _shown(read_recorded_fleet(repository, log), options)


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
            telling = read_recorded_fleet(repository, log)
            click.echo("\n" if seen else "", nl=False)
            _shown(telling, options)
    return now


def _shown(telling: RecordedFleet, options: StatusOptions) -> int:
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


def _view(telling: RecordedFleet, options: StatusOptions) -> View:
    noun, _, name = options.subject.partition("/")
    if not options.subject:
        return _fleet_view(telling, is_wide=options.output == "wide")
    if is_cluster_noun(noun):
        return _cluster_view(telling, name, is_wide=options.output == "wide")
    return _object_view(telling, binding_named(telling, noun, name, options.namespace))


def _fleet_view(telling: RecordedFleet, *, is_wide: bool) -> View:
    fleet, recorded = telling.fleet, telling.recorded
    return View(
        text="".join(fleet_text(fleet, recorded, wide=is_wide)),
        value=fleet_value(fleet, recorded),
        name="\n".join(f"cluster/{name}" for name in fleet.clusters),
        is_fine=is_well(fleet, recorded),
    )


def _cluster_view(telling: RecordedFleet, name: str, *, is_wide: bool) -> View:
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


def _object_view(telling: RecordedFleet, binding: Binding) -> View:
    fleet, recorded = telling.fleet, telling.recorded
    name = f"{binding.ref.group_kind.lower()}/{binding.ref.name}"
    value = object_value(binding, recorded, fleet.members)
    if not recorded.files:
        text = rendered_views.object_text(binding, fleet)
        return View(text=text, value=value, name=name, is_fine=not binding_problems(binding))
    objects = objects_of_binding(binding, recorded, fleet.members)
    fine = bool(objects) and all(each.applied == "True" and each.health == "Healthy" for each in objects)
    text = object_text(binding, recorded, fleet.members)
    return View(text=text, value=value, name=name, is_fine=fine and not binding_problems(binding))


@click.command(epilog="Exit codes: 0 all is well; 1 something is not placed, not applied or not healthy.")
@click.argument("subject", nargs=-1, metavar="[cluster/NAME | KIND/NAME]")
@with_namespace_options("The namespace the object is in.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "json", "yaml", "name"]),
    default="table",
    help="Output format; wide lists every binding, or every object of a cluster.",
)
@click.option("-w", "--watch", is_flag=True, help="Fetch again and again, and show what is new, until ^C.")
@click.pass_obj
def command(log: Log, /, subject: tuple[str, ...], namespace: str, output: str, *, watch: bool) -> int:
    """Show what the branches say: of the fleet, of one cluster (cluster/NAME) or of one object (KIND/NAME).

    Which source is rendered, what every cluster holds since when, and why something is not as it should be, down to
    the container or the warning that says so. Nothing is fetched without --watch, and no cluster is asked.
    """
    return show_views(
        log, StatusOptions(subject=parsed_subject(subject), namespace=namespace, output=output, watch=watch)
    )
