"""The second half of a pass: what was rendered is applied, where the fleet says how its members are reached."""

import click

from .applying import Fleetwide
from .deliveries import deliver, delivery_of, exit_code, is_configured, member_access, summary_row
from .guard import Allowance
from .passes import Outcome
from .publication import Publication
from .reconcile_options import ReconcileOptions
from .report import Log
from .tables import table

HEADER = ("CLUSTER", "UNCHANGED", "WRITTEN", "DELETED", "FAILED", "STATE")


def is_applying(outcome: Outcome, options: ReconcileOptions) -> bool:
    """Whether this pass applies what it rendered."""
    return bool(options.delivery) and is_configured(outcome.source.desired.fleet, options.delivery)


def apply_outcome(outcome: Outcome, commit: str, publication: Publication, options: ReconcileOptions, log: Log) -> int:
    """Apply the rendered commit to the members, print a line for each, and return the exit code."""
    desired = outcome.source.desired
    fleetwide = Fleetwide(publication=publication, fleet=desired.fleet, members=desired.clusters)
    work_tree = str(outcome.repository.folder.work_tree or "")
    access = member_access(desired.fleet, options.delivery, work_tree)
    allowed = {each.cluster: each.count for each in map(Allowance.parse, options.allowed)}
    reports = deliver(fleetwide, commit, delivery_of(options.delivery, allowed), access, log)
    if options.output == "text":
        click.echo(table(HEADER, [summary_row(report) for report in reports]), nl=False)
    return exit_code(reports)
