"""What ``argosy apply`` does: find the rendered commit and the members, deliver, and say what came of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from reconciler.delivery import live_differences
from reconciler.members.kube_members import Members
from reconciler.members.webhooks import calling_interpreter
from reconciler.passes.publication import Publication, publication_of
from reconciler.passes.reading import Source, read_evidence, read_fleet, read_source
from reconciler.passes.rendering import parsed_allowances
from reconciler.passes.trailers import SOURCE
from reconciler.passes.upkeep import keep_up
from reconciler.plain import as_json
from reconciler.report import Log
from reconciler.repository import Repository, open_repository
from reconciler.source.desired import Desired
from reconciler.status.member_watch import watch_members
from reconciler.tables import table
from render.errors import ConfigError, GitError
from render.fleet import Fleet

from .applying import Fleetwide
from .cluster_report import ClusterReport
from .deliveries import asked_of, deliver, delivery_of, exit_code, member_access, plain_reports, summary_row

_HEADER = ("CLUSTER", "UNCHANGED", "WRITTEN", "DELETED", "FAILED", "STATE")


def apply_and_show(log: Log, revision: str, delivery: Mapping[str, Any], options: Mapping[str, Any]) -> int:
    """Apply a rendered commit to the members and print what came of it; return the exit code."""
    allowances = {each.cluster: each.count for each in parsed_allowances(options["allowed"])}
    with open_repository(log.repository, progress=log.transfer) as repository:
        fleetwide, desired, commit = applied_commit(repository, revision)
        access = member_access(fleetwide.fleet, delivery, str(repository.folder.work_tree or ""))
        asked = asked_of(fleetwide, delivery, log)
        chosen = replace(delivery_of(asked, delivery, allowances), dry_run=options["dry_run"] == "server")
        if chosen.writes:
            seen = watch_members(fleetwide, chosen, Members(access).open, log)
            fleetwide = replace(fleetwide, record=seen.recording(desired, commit))
        reports = deliver(fleetwide, commit, chosen, access, log)
        keep_up(repository, log)
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
        click.echo(table(_HEADER, [summary_row(report) for report in reports]), nl=False)


def show_rehearsal(commit: str, reports: tuple[ClusterReport, ...], output: str) -> None:
    """Print what the servers would make of every object, field by field."""
    if output == "json":
        click.echo(live_differences.as_json(commit, reports))
    else:
        click.echo("".join(live_differences.as_text(reports)), nl=False)


def applied_commit(repository: Repository, revision: str) -> tuple[Fleetwide, Desired, str]:
    """Return the fleet and the source of a rendered commit, and the commit.

    How members are reached is said by that source; of the newest commit by ``HEAD``, for a change of argosy.yaml alone
    renders nothing new.
    """
    if revision:
        commit = repository.resolve(revision)
        desired = _rendered_source(repository, commit).desired
        return _fleetwide(desired.fleet, desired, publication_of(repository, desired.fleet)), desired, commit
    fleet = read_fleet(repository, repository.resolve("HEAD"))
    publication, branch = publication_of(repository, fleet), fleet.rendered_branch
    tip = publication.current_tip(branch)
    if tip is None:
        raise ConfigError(
            f"nothing is rendered yet: there is no branch {branch!r}", hint="argosy reconcile --bootstrap"
        )
    desired = _rendered_source(repository, tip).desired
    return _fleetwide(fleet, desired, publication), desired, tip


def _rendered_source(repository: Repository, commit: str) -> Source:
    evidence = read_evidence(repository, commit)
    return read_source(repository, _source_of(repository, commit), facts=lambda _fleet: evidence.facts)


def _source_of(repository: Repository, commit: str) -> str:
    named = repository.commit_info(commit).trailer(SOURCE)
    if len(named) != 1:
        raise GitError(
            f"commit {commit[:12]} was not rendered by Argosy",
            hint="name a commit of the rendered branch: git log argosy/rendered",
        )
    return named[0]


def _fleetwide(fleet: Fleet, desired: Desired, publication: Publication) -> Fleetwide:
    return Fleetwide(
        publication=publication,
        fleet=fleet,
        members=desired.clusters,
        interpreter=calling_interpreter(desired),
    )
