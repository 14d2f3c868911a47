"""The members' part of a pass: looked at before it renders, applied to and recorded after, where the fleet is reached.

A fleet is reached when argosy.yaml or the command line says how; otherwise a pass renders and leaves members alone.
"""

from dataclasses import dataclass, replace
from typing import Any

import click

from reconciler.delivery.applying import Delivery, Fleetwide
from reconciler.delivery.cluster_report import ClusterReport
from reconciler.delivery.deliveries import (
    asked_of,
    deliver,
    delivery_of,
    exit_code,
    member_access,
    plain_reports,
    summary_row,
)
from reconciler.members.kube_members import MemberAccess, Members
from reconciler.members.webhooks import calling_interpreter
from reconciler.plain import as_json
from reconciler.report import Log
from reconciler.status.member_watch import Watch, watch_members
from reconciler.tables import table

from .asking import answered_pass
from .guard import Allowance
from .interpretations import standing
from .one_pass import Outcome
from .publication import Publication
from .reading import Evidence, Source
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
    def evidence(self) -> Evidence:
        """What to render by; a webhook that failed is asked again."""
        return Evidence(facts=self.watch.facts, answers=standing(self.watch.answers))

    def interpreted(self, outcome: Outcome, log: Log) -> Outcome:
        """Return a pass with the answers to what it had to ask webhooks."""
        asking = self.fleetwide.interpreter
        return answered_pass(outcome, self.evidence, asking.send, log) if asking and asking.send else outcome

    def apply(self, outcome: Outcome, commit: str, log: Log) -> tuple[ClusterReport, ...]:
        """Apply the rendered commit to the members and return what came of each."""
        answers = outcome.rendered.built.webhooks.used
        recorded = replace(self.fleetwide, record=self.watch.recording(outcome.source.desired, commit, answers))
        return deliver(recorded, commit, self.delivery, self.access, log)


def show_reports(reports: tuple[ClusterReport, ...], *, told: dict[str, Any], output: str) -> int:
    """Print a line for each member, or as JSON all that is told of the pass with it; return the exit code."""
    if output == "json":
        click.echo(as_json({**told, "clusters": plain_reports(reports)}), nl=False)
    else:
        click.echo(table(HEADER, [summary_row(report) for report in reports]), nl=False)
    return exit_code(reports)


def look_at_members(source: Source, publication: Publication, options: ReconcileOptions, log: Log) -> PassDelivery:
    """Look at the members this pass is for."""
    desired = source.desired
    fleetwide = Fleetwide(
        publication=publication,
        fleet=desired.fleet,
        members=desired.clusters,
        interpreter=calling_interpreter(desired),
    )
    work_tree = str(publication.repository.folder.work_tree or "")
    access = member_access(desired.fleet, options.delivery, work_tree)
    allowed = {each.cluster: each.count for each in map(Allowance.parse, options.allowed)}
    delivery = delivery_of(asked_of(fleetwide, options.delivery, log), options.delivery, allowed)
    watch = watch_members(fleetwide, delivery, Members(access).open, log)
    return PassDelivery(fleetwide=fleetwide, delivery=delivery, access=access, watch=watch)
