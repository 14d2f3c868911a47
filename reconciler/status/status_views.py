"""What ``argosy status`` says where there is a status branch: of the fleet, of a cluster, of an object."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from reconciler.explanation.inquiry_subjects import is_cluster_noun
from reconciler.kind_names import found_object
from reconciler.passes.publication import publication_of
from reconciler.passes.reading import read_source
from reconciler.report import Log
from reconciler.repository import Repository, open_repository
from reconciler.tables import table
from reconciler.unknown_names import check_clusters
from render.documents import emit
from render.errors import ConfigError

from .member_watch import read_recorded
from .recorded import Recorded, ailing_objects, cluster_lines
from .status_branch import StatusBranch
from .status_objects import cluster_text, cluster_value, object_text, object_value, objects_of_binding
from .statuses import FleetStatus, as_value, fleet_status, print_bindings, print_head, show_rendered, troubles

POLL_SECONDS = 5.0


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

    repository: Repository
    fleet: FleetStatus
    recorded: Recorded


def show_views(log: Log, options: StatusOptions) -> int:
    """Print what is asked for, and with ``watch`` again whenever a branch moved."""
    if options.watch:
        return _watched(log, options, pause=time.sleep)
    with open_repository(log.repository, refresh=False) as repository:
        return _shown(told(repository), options)


def told(repository: Repository) -> Telling:
    """Read both branches as they are known here."""
    fleet = fleet_status(repository)
    status = _status_branch(repository)
    tip = status.publication.repository.tip(status.publication.ref(status.branch))
    return Telling(repository=repository, fleet=fleet, recorded=read_recorded(status, tip))


def _status_branch(repository: Repository) -> StatusBranch:
    fleet = read_source(repository, repository.resolve("HEAD")).desired.fleet
    return StatusBranch(publication=publication_of(repository, fleet), branch=fleet.status_branch)


def _watched(log: Log, options: StatusOptions, *, pause: Callable[[float], object]) -> int:
    seen: tuple[str | None, ...] = ()
    while True:
        with open_repository(log.repository) as repository:
            now = fetched_tips(repository)
            if now != seen:
                if seen:
                    click.echo()
                _shown(told(repository), options)
                seen = now
        pause(POLL_SECONDS)


def fetched_tips(repository: Repository) -> tuple[str | None, ...]:
    """Fetch the rendered and the status branch and return where they stand."""
    fleet = read_source(repository, repository.resolve("HEAD")).desired.fleet
    publication = publication_of(repository, fleet)
    return tuple(publication.current_tip(branch) for branch in (fleet.rendered_branch, fleet.status_branch))


def _shown(telling: Telling, options: StatusOptions) -> int:
    noun, _, name = options.subject.partition("/")
    if not options.subject:
        return _fleet_shown(telling, options)
    if is_cluster_noun(noun):
        return _cluster_shown(telling, name, options)
    return _object_shown(telling, noun, name, options)


def _cluster_shown(telling: Telling, name: str, options: StatusOptions) -> int:
    records = telling.recorded.clusters()
    if name not in records:
        check_clusters([name], set(records) | telling.fleet.members)
        raise ConfigError(f"nothing is recorded of cluster {name!r} yet", hint="argosy apply")
    value = cluster_value(name, telling.recorded)
    _printed(value, options, cluster_text(name, telling.recorded, every=options.output == "wide"), f"cluster/{name}")
    return 0 if records[name].state.ready == "True" and all(map(_is_fine, value["objects"])) else 1


def _is_fine(value: dict[str, Any]) -> bool:
    return bool(value["applied"]) and value["health"] == "Healthy"


def _object_shown(telling: Telling, noun: str, name: str, options: StatusOptions) -> int:
    templates = read_source(telling.repository, telling.fleet.head).desired.templates
    ref = found_object(noun, name, options.namespace, templates)
    binding = telling.fleet.previous.bindings.get(ref)
    if binding is None:
        raise ConfigError(f"{ref} has no binding: no policy selects it", hint=f"argosy explain {noun}/{name}")
    value = object_value(binding, telling.recorded)
    _printed(value, options, object_text(binding, telling.recorded), f"{ref.group_kind.lower()}/{ref.name}")
    objects = objects_of_binding(binding, telling.recorded)
    fine = bool(objects) and all(each.applied == "True" and each.health == "Healthy" for each in objects)
    return 0 if fine and not troubles(binding) else 1


def _fleet_shown(telling: Telling, options: StatusOptions) -> int:
    recorded = telling.recorded
    if not recorded.files:
        return show_rendered(telling.fleet, options.output)
    value = fleet_value(telling)
    ailing = value.get("unwell") or []
    if options.output in {"json", "yaml"}:
        _printed(value, options, "", "")
    elif options.output == "name":
        click.echo("\n".join(f"cluster/{name}" for name in value["clusters"]))
    else:
        print_head(telling.fleet)
        header = ("CLUSTER", "READY", "VERSION", "OBJECTS", "UNHEALTHY", "REPLICAS", "CONVERGED", "SINCE", "NOTE")
        click.echo(table(header, [_row(name, each) for name, each in value["clusters"].items()]), nl=False)
        print_bindings(telling.fleet, wide=options.output == "wide")
        rows = [(each["object"], each["cluster"], each["reason"], each["since"]) for each in ailing]
        if rows:
            click.echo("\n" + table(("NOT WELL", "CLUSTER", "REASON", "SINCE"), rows), nl=False)
    bad = any(troubles(binding) for binding in telling.fleet.previous.bindings.values())
    late = any(record.state.ready not in {"", "True"} for record in recorded.clusters().values())
    return 1 if bad or late or ailing else 0


def fleet_value(telling: Telling) -> dict[str, Any]:
    """Return the fleet as plain data: what the rendered branch says, and what was seen of every cluster."""
    value, lines = as_value(telling.fleet), cluster_lines(telling.recorded, {})
    for name, cluster in value["clusters"].items():
        line = lines.get(name)
        if line is not None:
            cluster |= {
                "ready": line.ready,
                "version": line.version,
                "converged": line.converged or None,
                "outcome": line.outcome,
                "unhealthy": line.unhealthy,
                "since": line.since,
            }
    found = ailing_objects(telling.recorded)
    value["unwell"] = [
        {"object": each.object, "cluster": each.cluster, "reason": each.reason, "since": each.since} for each in found
    ]
    return value


def _row(name: str, cluster: dict[str, Any]) -> tuple[str, ...]:
    outcome = cluster.get("outcome") or ""
    notes = ["" if cluster["connected"] else "disconnected", "" if outcome == "Converged" else outcome]
    return (
        name,
        cluster.get("ready") or "",
        cluster.get("version") or "",
        str(cluster["objects"]),
        str(cluster.get("unhealthy", "")),
        str(cluster["replicas"]),
        (cluster.get("converged") or "")[:12],
        cluster.get("since") or "",
        " ".join(filter(None, notes)),
    )


def _printed(value: dict[str, Any], options: StatusOptions, text: str, name: str) -> None:
    if options.output == "json":
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
    elif options.output == "yaml":
        click.echo(emit(value).decode(), nl=False)
    else:
        click.echo(name if options.output == "name" else text, nl=options.output == "name")
