"""The members' part of a pass: looked at before it renders, applied to and recorded after, where the fleet is reached.

A fleet is reached when argosy.yaml or the command line says how; otherwise a pass renders and leaves members alone.
"""

from dataclasses import dataclass, replace

import click

from reconciler.delivery.applying import Delivery, Fleetwide
from reconciler.delivery.deliveries import deliver, delivery_of, exit_code, member_access, summary_row
from reconciler.members.kube_members import MemberAccess, Members
from reconciler.report import Log
from reconciler.source.desired import Desired
from reconciler.status.member_watch import Watch, watch_members
from reconciler.tables import table

from .facts import Facts
from .guard import Allowance
from .publication import Publication
from .reading import Source
from .reconcile_options import ReconcileOptions

HEADER = ("CLUSTER", "UNCHANGED", "WRITTEN", "DELETED", "FAILED", "STATE")


@dataclass(frozen=True, slots=True, kw_only=True)
class PassDelivery:
    """How this pass reaches the members, and what it saw of them."""

    fleetwide: Fleetwide
    delivery: Delivery
    access: MemberAccess
    watch: Watch

    @property
    def facts(self) -> Facts:
        """What to render by."""
        return self.watch.facts

    def apply(self, desired: Desired, commit: str, options: ReconcileOptions, log: Log) -> int:
        """Apply the rendered commit to the members, print a line for each, and return the exit code."""
        recorded = replace(self.fleetwide, record=self.watch.recording(desired, commit))
        reports = deliver(recorded, commit, self.delivery, self.access, log)
        if options.output == "text":
            click.echo(table(HEADER, [summary_row(report) for report in reports]), nl=False)
        return exit_code(reports)


def look_at_members(source: Source, publication: Publication, options: ReconcileOptions, log: Log) -> PassDelivery:
    """Look at the members this pass is for."""
    desired = source.desired
    fleetwide = Fleetwide(publication=publication, fleet=desired.fleet, members=desired.clusters)
    work_tree = str(publication.repository.folder.work_tree or "")
    access = member_access(desired.fleet, options.delivery, work_tree)
    allowed = {each.cluster: each.count for each in map(Allowance.parse, options.allowed)}
    delivery = delivery_of(options.delivery, allowed)
    watch = watch_members(fleetwide, delivery, Members(access).open, log)
    return PassDelivery(fleetwide=fleetwide, delivery=delivery, access=access, watch=watch)
