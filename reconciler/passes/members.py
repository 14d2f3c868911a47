"""The members' part of a pass: observed before it renders, applied to and recorded after it."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.publication import Publication
from reconciler.branches.reading import ObservedInputs
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.deliver.orphans import orphan_agreement_on_terminal
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.refusal import SourceRefusal
from reconciler.ledger.webhook_answers import AnswersFile, read_answers
from reconciler.members.choice import members_for_pass, refuse_unknown_choice, warn_of_unreachable_pull_members
from reconciler.members.options import DeliveryOptions
from reconciler.members.parallel import results_in_parallel
from reconciler.members.visits import MemberReach
from reconciler.members.ways import member_reach
from reconciler.pipeline.webhook_answers import ask_webhook, lasting_answers
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.source.desired import Desired
from render.cluster import Cluster
from render.interpreter.webhooks import Send

from .applying import ApplyRun, Delivery
from .logged_apply import apply_and_log
from .looks_of_apply import are_looks_asked_for, remember_looks_of_apply
from .observation import Observation, observe_and_warn
from .options import ReconcileOptions, is_reaching
from .record_of_pass import PassRecord
from .remembered_members import RememberedMembers

MOST_ROUNDS = 10
"""The number of times a pass may be rendered again with new answers of webhooks.

Replicas decide placements, and placements decide which copies are revised, so three rounds are the rule.
"""
_AT_ONCE = 16


class ReachedMembers(Struct, frozen=True, kw_only=True):
    """The members a pass reaches: how they are reached, and what was observed of them; ``now`` is its time."""

    context: FleetContext
    delivery: Delivery
    reach: MemberReach
    observation: Observation
    now: datetime

    @property
    def observed(self) -> ObservedInputs:
        """The inputs to render by; a webhook that failed before is asked again."""
        return ObservedInputs(
            facts=self.observation.facts,
            answers=lasting_answers(self.observation.answers),
            schemas=self.observation.schemas,
            health=self.observation.health,
            checks=self.observation.recorded.check_answers(),
            pauses=self.observation.recorded.pauses(),
            looks=self.observation.looks,
        )

    def for_source(self, desired: Desired, publication: Publication, options: DeliveryOptions) -> "ReachedMembers":
        """Return the same members, as they were observed, for another source that has the same fleet and clusters."""
        context = FleetContext.of(desired.fleet, desired, publication)
        return replace(
            self,
            context=context,
            delivery=replace(self.delivery, options=options),
            observation=replace(self.observation, context=context),
        )

    def with_webhook_answers(self, outcome: Outcome, log: Log) -> Outcome:
        """Return a pass rendered with the answers to the questions it had to leave open."""
        interpreter = self.context.interpreter
        if interpreter is None or interpreter.send is None:
            return outcome
        return pass_with_answers(outcome, self.observed, interpreter.send, log)

    def apply(
        self, outcome: Outcome, commit: str, members_before: RememberedMembers, log: Log
    ) -> tuple[ClusterReport, ...]:
        """Apply the rendered commit to the members, unless they were idle and are, and return a report of each."""
        record = PassRecord(
            observation=self.observation,
            desired=outcome.source.desired,
            answers=outcome.rendered.built.webhooks.used,
            recorded_folders=members_before.recorded_folders,
        )
        run = replace(self._run(commit, record, log), remembered=members_before.members)
        run = replace(run, previous=outcome.as_previous(commit), manifests=outcome.manifests())
        reports = apply_and_log(run, log)
        if are_looks_asked_for(outcome.source.desired, outcome.rendered.built.rolled.states):
            remember_looks_of_apply(self.observation, self.now, reports)
        return reports

    def apply_again(
        self, desired: Desired, commit: str, refusal: SourceRefusal | None, log: Log
    ) -> tuple[ClusterReport, ...]:
        """Apply a commit that was rendered before, and record why a newer source is refused; report on each member."""
        record = PassRecord(observation=self.observation, desired=desired, refusal=refusal)
        reports = apply_and_log(self._run(commit, record, log), log)
        if are_looks_asked_for(desired, {}):
            remember_looks_of_apply(self.observation, self.now, reports)
        return reports

    def apply_merged(self, desired: Desired, commit: str, log: Log) -> tuple[ClusterReport, ...]:
        """Apply the commit that is merged, of this source, while a newer one waits for a person."""
        known = {cluster.name for cluster in desired.clusters}
        members = tuple(member for member in self.delivery.members if member.name in known)
        merged = replace(
            self,
            context=FleetContext.of(desired.fleet, desired, self.context.publication),
            delivery=replace(self.delivery, members=members),
        )
        return merged.apply_again(desired, commit, None, log)

    def _run(self, commit: str, record: PassRecord, log: Log) -> ApplyRun:
        return ApplyRun(
            context=self.context,
            commit=commit,
            delivery=self.delivery,
            reach=self.reach,
            record=record,
            agree=orphan_agreement_on_terminal(self.delivery.options, log),
        )


def observe_and_connect(
    desired: Desired, publication: Publication, options: ReconcileOptions, log: Log
) -> ReachedMembers:
    """Observe the members a pass is for."""
    context = FleetContext.of(desired.fleet, desired, publication)
    if desired.fleet.is_reported_by_tools:
        context = replace(context, tools=options.delivery)
    members: tuple[Cluster, ...] = ()
    # Where nothing says how members are reached, the pass is for what agents tell alone.
    if is_reaching(desired.fleet, options):
        members = members_for_pass(desired.fleet, desired.clusters, options.delivery, log)
    else:
        refuse_unknown_choice(options.delivery, (cluster.name for cluster in desired.clusters))
        warn_of_unreachable_pull_members(desired.clusters, options.delivery, log)
    reach = member_reach(desired.fleet, options.delivery, publication.repository.folder)
    observation = observe_and_warn(context, members, reach, log)
    return ReachedMembers(
        context=context,
        delivery=Delivery(
            members=members,
            options=options.delivery,
            allowed=options.allowed.removals_by_cluster,
            is_stopping=options.is_stopping,
            is_making_way=options.is_making_way,
        ),
        reach=reach,
        observation=observation,
        now=given_or_current_time(options.now, behind=observation.behind),
    )


def pass_with_answers(outcome: Outcome, observed: ObservedInputs, send: Send, log: Log) -> Outcome:
    """Ask webhooks what a pass left open and render it again, until nothing is open.

    Answers are used as they are read back from files, so that a replay of the commit renders the same.
    """
    for _ in range(MOST_ROUNDS):
        questions = outcome.rendered.built.webhooks.open
        if not questions:
            break
        with log.timed("ask webhooks"):
            answers = results_in_parallel(
                lambda question: ask_webhook(question, send), questions.values(), limit=_AT_ONCE
            )
        fresh = read_answers(AnswersFile.of_answers(dict(zip(questions, answers, strict=True))).content())
        observed = replace(observed, answers={**observed.answers, **fresh})
        given = RenderInputs(observed=observed, now=outcome.now, allowed=outcome.allowed)
        outcome = run_pass(outcome.repository, outcome.source, outcome.previous, given, log)
    return outcome
