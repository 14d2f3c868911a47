"""A fleet at rest as a pass found it that wrote nothing, for the next pass to compare its members with.

Remembered is only what a pass that finds the same cannot decide otherwise: every object as it has to be, and nothing
asked for that is done once. What depends on time sets an end to it: a status that is written when its record is stale.
"""

import re
import time
from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from typing import Any

from reconciler.deliver.options import DeliveryOptions
from reconciler.deliver.reports import report_lines, report_table
from reconciler.deliver.results import ClusterReport, live_objects
from reconciler.members.boundary import guarded
from reconciler.members.exchange import Failure, OpenClient
from reconciler.members.options import AccessOptions, reached_members
from reconciler.members.visits import Visit, Visits
from reconciler.observe.members import MOST_SECONDS
from reconciler.observe.rest import MemberAtRest, member_at_rest
from reconciler.plans.inventory import ApplyOutcome
from reconciler.plans.model import Action
from reconciler.publish.status_branch import StatusBranch
from reconciler.record.agent_branches import is_pulling
from reconciler.record.work_changes import STALE_SECONDS
from reconciler.source.desired import Desired

from .idle_pass import FleetAtRest, ended_visits, plain_options
from .observation import utc

_OBSERVED_AT = re.compile(rb'^observedAt: "?([0-9TZ:-]+)"?$', re.MULTILINE)


def fleet_at_rest(
    reports: Iterable[ClusterReport],
    desired: Desired,
    status: StatusBranch,
    options: DeliveryOptions,
    open_client: OpenClient,
) -> FleetAtRest | None:
    """Return the fleet as a pass left it that wrote nothing, None where another pass may have something to do."""
    visited = tuple(reports)
    if not (_is_ordinary(options) and _is_plain_fleet(desired, options) and all(map(_is_at_rest, visited))):
        return None
    by_name = {report.cluster: report for report in visited}
    visits = Visits(
        lambda visit: guarded(lambda: _remembered(visit, by_name[visit.name], open_client)),
        by_name,
        limit=options.max_parallel,
    )
    found = (visit.result for visit in ended_visits(visits, time.monotonic))
    members = [member for member in found if isinstance(member, MemberAtRest)]
    if not members or len(members) != len(visited):
        return None
    return FleetAtRest(
        fleet_path=desired.fleet.path,
        options=plain_options(options),
        members=tuple(sorted(members, key=lambda member: member.cluster)),
        models={each.name: [model.plain() for model in each.resource_models] for each in desired.clusters},
        lines=tuple(line for report in visited for line in report_lines(report)),
        table=report_table(visited),
        until=_until(status, time.time()),
    )


def _remembered(visit: Visit[Any], report: ClusterReport, open_client: OpenClient) -> MemberAtRest | None:
    client = open_client(report.cluster, time.monotonic() + MOST_SECONDS)
    if isinstance(client, Failure) or report.observed is None:
        return None
    return member_at_rest(visit.heard_through(client), report.observed, live_objects(report), report.findings)


def _is_ordinary(options: DeliveryOptions) -> bool:
    """Return whether a run is as any other: options that ask for something unusual are for once."""
    unusual = {each.name for each in fields(DeliveryOptions)} - set(AccessOptions.names())
    usual = DeliveryOptions()
    return all(getattr(options, name) == getattr(usual, name) for name in unusual)


def _is_plain_fleet(desired: Desired, options: AccessOptions) -> bool:
    """Return whether all depends on what members answer: no agent tells of one, no webhook of an object."""
    reached = reached_members(desired.fleet, options)
    is_reached = reached is None or all(cluster.name in reached for cluster in desired.clusters)
    return is_reached and not desired.webhooks and not any(map(is_pulling, desired.clusters))


def _is_at_rest(report: ClusterReport) -> bool:
    """Return whether a pass found a member as it has to be, in every respect."""
    plan, applied = report.plan, report.applied
    if report.failure is not None or plan is None or applied is None:
        return False
    is_converged = applied.outcome is ApplyOutcome.CONVERGED and not applied.prune_hold and not applied.left
    is_unchanged = all(result.action is Action.UNCHANGED for result in applied.results)
    return is_converged and is_unchanged and not plan.writes and plan.former is None and plan.members == plan.recorded


def _until(status: StatusBranch, now: float) -> str:
    """Return when the first record of an object becomes stale, which may make its status worth a commit."""
    times = {
        found.group(1).decode()
        for content in set(status.read("works", status.tip()).values())
        if (found := _OBSERVED_AT.search(content))
    }
    ends = [datetime.fromisoformat(text).timestamp() + STALE_SECONDS for text in times]
    return min((utc(end) for end in ends if end > now), default="")
