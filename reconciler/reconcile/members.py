"""The members' part of a pass: observed before it renders, applied to and recorded after it."""

from dataclasses import dataclass, replace
from typing import Any

import click

from reconciler.console.json_values import as_json
from reconciler.console.log import Log
from reconciler.console.text import table
from reconciler.deliver.delivery import Delivery, FleetContext
from reconciler.deliver.results import ClusterReport
from reconciler.deliver.summary import (
    asked_of,
    deliver,
    delivery_of,
    exit_code,
    member_access,
    plain_reports,
    summary_row,
)
from reconciler.members.opening import MemberAccess, Members
from reconciler.members.parallel import in_parallel
from reconciler.members.webhooks import calling_interpreter
from reconciler.pipeline.webhook_answers import answers_file, asked, lasting_answers, parsed_answers
from reconciler.publish.branches import Publication
from reconciler.publish.outcome import Outcome, run_pass
from reconciler.publish.reading import ObservedInputs, Source
from reconciler.publish.removal_guard import Allowance
from reconciler.record.observation import Observation, observe_members
from render.interpreter.webhooks import Send

from .options import ReconcileOptions

MOST_ROUNDS = 10
"""Replicas decide placements, placements what is revised: three rounds are the rule."""
_AT_ONCE = 16


HEADER = ("CLUSTER", "UNCHANGED", "WRITTEN", "DELETED", "FAILED", "STATE")


def answered_pass(outcome: Outcome, evidence: ObservedInputs, send: Send, log: Log) -> Outcome:
    """Ask what a pass left open and run it again, until nothing is; answers count as they are read back from files."""
    for _ in range(MOST_ROUNDS):
        questions = outcome.rendered.built.webhooks.open
        if not questions:
            break
        with log.timed("ask webhooks"):
            said = in_parallel(lambda question: asked(question, send), questions.values(), limit=_AT_ONCE)
        fresh = parsed_answers(answers_file(dict(zip(questions, said, strict=True))))
        evidence = replace(evidence, answers={**evidence.answers, **fresh})
        outcome = run_pass(outcome.repository, outcome.source, outcome.previous, evidence, log)
    return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class PassDelivery:
    """How this pass reaches the members, and what it saw of them."""

    fleetwide: FleetContext
    delivery: Delivery
    access: MemberAccess
    watch: Observation

    @property
    def evidence(self) -> ObservedInputs:
        """What to render by; a webhook that failed is asked again."""
        return ObservedInputs(facts=self.watch.facts, answers=lasting_answers(self.watch.answers))

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
    fleetwide = FleetContext(
        publication=publication,
        fleet=desired.fleet,
        members=desired.clusters,
        interpreter=calling_interpreter(desired),
    )
    work_tree = str(publication.repository.folder.work_tree or "")
    access = member_access(desired.fleet, options.delivery, work_tree)
    allowed = {each.cluster: each.count for each in map(Allowance.parse, options.allowed)}
    delivery = delivery_of(asked_of(fleetwide, options.delivery, log), options.delivery, allowed)
    watch = observe_members(fleetwide, delivery, Members(access).open, log)
    return PassDelivery(fleetwide=fleetwide, delivery=delivery, access=access, watch=watch)
