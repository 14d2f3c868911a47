"""``argosy apply``: make clusters hold what a rendered commit says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from reconciler.console.json_values import as_json
from reconciler.console.log import Log
from reconciler.deliver.results import ClusterReport
from reconciler.deliver.summary import (
    asked_of,
    deliver,
    delivery_of,
    exit_code,
    member_access,
    plain_reports,
    summary_table,
)
from reconciler.diff.live import live_json, live_text
from reconciler.members.opening import Members
from reconciler.publish.branches import maintain_repository
from reconciler.reconcile.rendered_commit import applied_commit
from reconciler.record.observation import observe_members
from reconciler.repository import open_repository

from .options.member_options import split, with_delivery_options
from .render import parsed_allowances


def apply_and_show(log: Log, revision: str, delivery: Mapping[str, Any], options: Mapping[str, Any]) -> int:
    """Apply a rendered commit to the members and print what came of it; return the exit code."""
    allowances = {each.cluster: each.count for each in parsed_allowances(options["allowed"])}
    with open_repository(log.repository, progress=log.transfer) as repository:
        fleetwide, desired, commit = applied_commit(repository, revision)
        access = member_access(fleetwide.fleet, delivery, str(repository.folder.work_tree or ""))
        asked = asked_of(fleetwide, delivery, log)
        chosen = replace(delivery_of(asked, delivery, allowances), dry_run=options["dry_run"] == "server")
        if chosen.writes:
            seen = observe_members(fleetwide, chosen, Members(access).open, log)
            fleetwide = replace(fleetwide, record=seen.recording(desired, commit))
        reports = deliver(fleetwide, commit, chosen, access, log)
        maintain_repository(repository, log)
    if chosen.dry_run:
        show_rehearsal(commit, reports, options["output"])
    else:
        show(commit, reports, options["output"])
    return exit_code(reports)


def show(commit: str, reports: tuple[ClusterReport, ...], output: str) -> None:
    """Print a line per cluster, or everything as JSON."""
    if output == "json":
        value = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Application", "rendered": commit}
        click.echo(as_json({**value, "clusters": plain_reports(reports)}), nl=False)
    else:
        click.echo(summary_table(reports), nl=False)


def show_rehearsal(commit: str, reports: tuple[ClusterReport, ...], output: str) -> None:
    """Print what the servers would make of every object, field by field."""
    if output == "json":
        click.echo(live_json(commit, reports))
    else:
        click.echo("".join(live_text(reports)), nl=False)


@click.command(epilog="Exit codes: 0 converged; 1 an object failed; 5 no cluster could be used; 7 some unreachable.")
@click.argument("revision", default="", metavar="[REV]")
@click.option("--dry-run", type=click.Choice(["none", "server"]), default="none", help="server: ask, write nothing.")
@click.option("--allow-removal", "allowed", multiple=True, metavar="CLUSTER=COUNT", help="Let so many objects go.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", help="Output format.")
@with_delivery_options
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Make clusters hold what a rendered commit says  [default: the newest].

    Server-side apply under the field manager 'argosy'. An object that is not ours is left alone unless its policy's
    conflictResolution is Overwrite; an equal one is adopted. Only what earlier commits put there is ever deleted.
    What was done is recorded on the status branch. Where argosy.yaml lists clusters, it is for those and for the ones
    that --cluster names; else every cluster is reached by the context named like it.
    """
    delivery, rest = split(options)
    return apply_and_show(log, rest.pop("revision"), delivery, rest)
