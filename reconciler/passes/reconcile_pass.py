"""One reconcile pass, from the branches to the commit and, where members are reached, to the clusters.

1. find the source commit, and read the source, the previous rendered commit and the publication (``PassInputs``);
2. look at the members, where the fleet says how to reach them; otherwise use the facts on the status branch;
3. render: a pure function of the source, the facts and the previous commit;
4. guard, commit and push by compare-and-swap: where somebody else was faster, everything is done again;
5. apply to the members and record the reports; and write the checkpoint for the next pass (``idle_pass``).

A source that is refused on the way changes nothing: members get the last good commit again (``refused_pass``).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from reconciler.branches.checkpoint import BranchTips
from reconciler.branches.left_out import log_skipped_files
from reconciler.branches.mirrors import update_mirrors
from reconciler.branches.publication import maintain_repository
from reconciler.branches.reading import (
    ObservedInputs,
    Source,
    read_again_with_facts,
    read_observed_inputs,
    read_source,
)
from reconciler.console.clock import given_or_current_time
from reconciler.console.idle_options import is_option_given, refuse_given_options
from reconciler.console.log import Log
from reconciler.guards.continuity import continued_source
from reconciler.guards.limits import check_allowed_subjects
from reconciler.guards.source_branch import SourceElsewhere
from reconciler.pipeline.health import workloads_with_changed_health
from reconciler.pipeline.scope import Scope
from reconciler.rendering.guarded_outcome import check_guards
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, commit_outcome, run_pass
from reconciler.rendering.rendered_objects import refuse_objects_clusters_reject
from reconciler.repository import Repository
from reconciler.repository.processes import usable_processors
from render.cluster import is_applied_by_own_agent
from render.errors import ConfigError, GuardRefused, InputError, SourceMoved
from render.timing import Flip, earliest_flip

from .checkpointing import EndedRender, PassSeen, SeenFacts
from .ended_delivery import WAYS, warn_of_ended_delivery
from .ended_holds import end_holds_of_pulling_members
from .incremental import scope_after_previous_pass
from .options import ReconcileOptions, is_reaching
from .pass_inputs import PassInputs, is_proposing, read_inputs, recorded_inputs
from .result import OnCommit, PassResult
from .settings_check import acceptance_of
from .source_tip import SourceBranchGone, SourceTip, find_source
from .taken_back import has_unwell_clusters_taken_back

if TYPE_CHECKING:  # what speaks to clusters is only imported for fleets whose members are reached
    from reconciler.deliver.results import ClusterReport
    from reconciler.members.visits import MemberReach
    from reconciler.source.desired import Desired

    from .members import ReachedMembers
    from .refused_pass import RefusedPass
    from .remembered_members import RememberedMember

_TRIES = 5


def reconcile_fleet(
    repository: Repository, options: ReconcileOptions, log: Log, on_commit: OnCommit
) -> "PassResult | RefusedPass":
    """Run one pass, again where somebody else moved a branch first; SourceMoved after too many tries.

    The error of a source that is refused ends it, unless there are members that get the last good commit meanwhile.
    """
    repository.processes = options.jobs or usable_processors()
    acceptance_of(options)  # a file of the machine that cannot be used is no fault of the source
    tip = _source_or_error(repository, options, log)
    if isinstance(tip, SourceTip):
        options.on_source(tip.commit)
    for remaining in reversed(range(_TRIES)):
        try:
            result = _run_pass(repository, tip, options, log, on_commit)
            break
        except SourceMoved as error:
            if not remaining:
                raise
            log.info("somebody else was faster; rendering again", reason=error.message)
    maintain_repository(repository, log)
    return result


def _source_or_error(
    repository: Repository, options: ReconcileOptions, log: Log
) -> SourceTip | SourceBranchGone | SourceElsewhere:
    """Return the source of a pass; or why there is none, though members may get the last good commit."""
    try:
        return find_source(repository, options.rev, log)
    except (SourceBranchGone, SourceElsewhere) as error:
        return error


def _run_pass(
    repository: Repository,
    tip: SourceTip | SourceBranchGone | SourceElsewhere,
    options: ReconcileOptions,
    log: Log,
    on_commit: OnCommit,
) -> "PassResult | RefusedPass":
    members: ReachedMembers | None = None
    if not isinstance(tip, SourceTip):
        from .refused_pass import SourceRefused, keep_last_good

        commit = tip.commit if isinstance(tip, SourceBranchGone) else repository.resolve("HEAD")
        return keep_last_good(repository, SourceRefused(commit, tip), options, log, on_commit)
    try:
        inputs = read_inputs(repository, tip, options, log)
        _check_named_clusters(inputs, options)
        warn_of_ended_delivery(repository, inputs.previous, inputs.source, options.delivery, log)
        members = _reach_members(inputs, options, log)
        result = render_for_members(inputs, members, options, log) if members else render_only(inputs, options, log)
    except (InputError, ConfigError, GuardRefused) as error:
        from .refused_pass import SourceRefused, keep_last_good

        return keep_last_good(repository, SourceRefused(tip.commit, error, members), options, log, on_commit)
    on_commit(result)
    if members is None:
        return result
    return _result_with_reports(result, inputs, members, options, log)


def _check_named_clusters(inputs: PassInputs, options: ReconcileOptions) -> None:
    """Refuse options that name no cluster, also where they come to nothing: in a dry run, or with nothing new."""
    desired, delivery = inputs.source.desired, options.delivery
    check_allowed_subjects(options.allowed, desired, inputs.previous)
    if options.dry_run and any(map(is_option_given, delivery.names())):
        from reconciler.members.choice import refuse_unknown_choice

        refuse_unknown_choice(delivery, (cluster.name for cluster in desired.clusters))


def _reach_members(inputs: PassInputs, options: ReconcileOptions, log: Log) -> "ReachedMembers | None":
    """Observe the members of a pass, and look at those again of which a gate asks for a newer status.

    None where it reaches none, and no agent or other tool tells of one.
    """
    desired = inputs.source.desired
    is_reported_by_others = desired.fleet.is_reported_by_tools or any(map(is_applied_by_own_agent, desired.clusters))
    if is_reaching(desired.fleet, options) or (not options.dry_run and is_reported_by_others):
        from .fresh_looks import members_after_looks
        from .members import observe_and_connect

        members = observe_and_connect(desired, inputs.publication, options, log)
        return members_after_looks(members, inputs.previous, desired, inputs.source.commit, log)
    if not options.dry_run:
        refuse_given_options(options.delivery.names(), f"goes with clusters that are reached: {WAYS} say how")
    return None


def render_only(inputs: PassInputs, options: ReconcileOptions, log: Log) -> PassResult:
    """Run a pass that reaches no member: it uses the recorded facts, and looks at what changed where it can."""
    repository, previous = inputs.publication.repository, inputs.previous
    observed = recorded_inputs(inputs.publication, inputs.source)
    given = RenderInputs(observed=observed, now=given_or_current_time(options.now), allowed=options.allowed)
    source = _source_with_facts(repository, inputs, observed, log)
    scope = None
    if previous is not None and not is_proposing(source):
        scope = scope_after_previous_pass(repository, previous, source, given)
    given = replace(given, scope=scope)
    given, asked = _inputs_with_reviews(given, inputs, source, options, log)
    outcome = run_pass(repository, source, previous, given, log)
    if not options.dry_run:  # which asks nobody
        outcome = _outcome_with_checks(outcome, given, inputs, log)
    outcome = replace(outcome, next_question=earliest_flip((outcome.next_question, asked)))
    refuse_objects_clusters_reject(outcome, log)
    if options.dry_run:
        return _commit_pass(outcome, inputs, options, log).with_holds()
    seen = PassSeen.of_outcome(outcome, SeenFacts(folder=observed.folder))
    result = _commit_pass(outcome, inputs, options, log, seen.record_for_clones(outcome)).with_holds()
    if inputs.tip.ref:
        _write_checkpoint(result, inputs, seen)
    return result


def render_for_members(
    inputs: PassInputs, members: "ReachedMembers", options: ReconcileOptions, log: Log
) -> PassResult:
    """Run the first part of a pass that reaches members: render and commit by what they answered."""
    repository = inputs.publication.repository
    source = _source_with_facts(repository, inputs, members.observed, log)
    given = RenderInputs(observed=members.observed, now=members.now, allowed=options.allowed)
    given = replace(given, scope=_scope_of_members(inputs, source, given))
    given, asked = _inputs_with_reviews(given, inputs, source, options, log)
    outcome = run_pass(repository, source, inputs.previous, given, log)
    outcome = members.with_webhook_answers(outcome, log)
    if not options.dry_run:  # which asks nobody
        outcome = _outcome_with_checks(outcome, given, inputs, log, members.reach)
    outcome = replace(outcome, next_question=earliest_flip((outcome.next_question, asked)))
    refuse_objects_clusters_reject(outcome, log)
    return replace(_commit_pass(outcome, inputs, options, log), behind=members.observation.behind)


def _inputs_with_reviews(
    given: RenderInputs, inputs: PassInputs, source: Source, options: ReconcileOptions, log: Log
) -> tuple[RenderInputs, Flip | None]:
    """Return the inputs of a pass by what the forge says of reviews, and when it is asked again."""
    if options.dry_run or not source.desired.fleet.rollouts.reviewers:  # a dry run asks nobody
        return given, None
    from .asked_reviews import inputs_with_reviews

    return inputs_with_reviews(given, inputs.publication, source, inputs.previous, log)


def _outcome_with_checks(
    outcome: Outcome, given: RenderInputs, inputs: PassInputs, log: Log, reach: "MemberReach | None" = None
) -> Outcome:
    """Return a pass rendered by what the checks of its rollouts answer; ``reach`` leads to members, if any."""
    if not (outcome.rendered.built.rolled.questions or given.observed.checks):
        return outcome
    from .asked_checks import pass_with_checks_asked

    return pass_with_checks_asked(outcome, given, inputs.publication, log, reach)


def _scope_of_members(inputs: PassInputs, source: Source, given: RenderInputs) -> Scope | None:
    """Return what a pass has to look at whose members gave the facts that are recorded; None for everything."""
    if inputs.previous is None or is_proposing(source):
        return None
    recorded = recorded_inputs(inputs.publication, source)
    if recorded.facts != given.observed.facts:
        return None
    observed = replace(given.observed, folder=recorded.folder, rendered_ids=recorded.rendered_ids)
    given = replace(given, observed=observed)
    return scope_after_previous_pass(inputs.publication.repository, inputs.previous, source, given)


class _Applied(NamedTuple):
    """The commit that members were applied to: its source, the members that were idle before, and the reports."""

    desired: "Desired"
    known: "Mapping[str, RememberedMember]"
    reports: "tuple[ClusterReport, ...]"


def _result_with_reports(
    result: PassResult, inputs: PassInputs, members: "ReachedMembers", options: ReconcileOptions, log: Log
) -> PassResult:
    """Run the second part of a pass that reaches members: apply to them and record the reports.

    What was rendered is applied, or what is merged while a newer commit is proposed. The checkpoint tells the next pass
    what this one rendered by and which members were left idle, so that it skips them where it finds them so, and
    ends where it finds all of them so and nothing was written. While a proposal waits, only the latter counts.
    """
    from .remembering import EndedPass

    status, before = members.context.status, members.context.status.tip()
    apply = _apply_rendered if result.proposal is None else _apply_merged
    applied = apply(result, inputs, members, options, log)
    ended = {each.cluster: each.ended_hold for each in applied.reports if each.ended_hold is not None}
    result = replace(result, reports=applied.reports, ended_holds={**result.ended_holds, **ended}).with_holds()
    if options.is_stopping() or options.is_making_way():
        return result
    recorded = read_observed_inputs(result.publication.repository, status.tip())
    result = replace(result, is_taken_back=has_unwell_clusters_taken_back(result.outcome, recorded.health))
    if not inputs.tip.ref or recorded.facts != members.observation.facts:
        return result
    fleet = EndedPass(
        reports=applied.reports,
        desired=applied.desired,
        options=options.delivery,
        reach=members.reach,
        status=status,
        before=before,
        known=applied.known,
        failures=members.observation.failures,
        is_idle=result.commit is None and status.tip() == before,
    ).remembered_fleet()
    if result.proposal is None or fleet.is_idle:
        facts = _facts_after_apply(applied.desired, members, recorded, is_rendered_by_them=result.proposal is None)
        _write_checkpoint(result, inputs, PassSeen.of_outcome(result.outcome, facts), fleet.plain())
    return result


def _facts_after_apply(
    desired: "Desired", members: "ReachedMembers", recorded: ObservedInputs, *, is_rendered_by_them: bool
) -> SeenFacts:
    """Return the facts of a pass; what it recorded after it had rendered is news to the next one."""
    turned = None
    if is_rendered_by_them:
        turned = workloads_with_changed_health(desired, members.observed.health, recorded.health)
    return SeenFacts(folder=recorded.folder, turned=turned)


def _apply_rendered(
    result: PassResult, inputs: PassInputs, members: "ReachedMembers", options: ReconcileOptions, log: Log
) -> _Applied:
    """Apply what was rendered to the members, but for those that the last pass left idle and that still are."""
    from .remembering import remembered_members

    desired, status = result.outcome.source.desired, members.context.status
    tips = BranchTips(source=inputs.tip.commit, rendered=result.rendered, status=status.tip())
    known = remembered_members(desired, options.delivery, status, tips)
    return _Applied(desired, known.members, members.apply(result.outcome, result.rendered or "", known, log))


def _apply_merged(
    result: PassResult, _inputs: PassInputs, members: "ReachedMembers", _options: ReconcileOptions, log: Log
) -> _Applied:
    """Apply what is merged to the members."""
    previous, repository = result.outcome.previous, result.publication.repository
    assert previous is not None
    facts = read_observed_inputs(repository, previous.commit).facts
    merged = read_source(repository, previous.source, facts=lambda _fleet: facts).desired
    desired = replace(merged, fleet=result.outcome.source.desired.fleet)
    return _Applied(desired, {}, members.apply_merged(desired, previous.commit, log))


def _source_with_facts(repository: Repository, inputs: PassInputs, observed: ObservedInputs, log: Log) -> Source:
    """Return the source with the scopes of kinds that only facts know, after logging its warnings."""
    source = read_again_with_facts(repository, inputs.source, observed.facts)
    if source is not inputs.source:
        source = continued_source(repository, source, inputs.previous)
    log.warn_of(source.desired.warnings)
    log_skipped_files(source.desired, log)
    return source


def _commit_pass(
    outcome: Outcome, inputs: PassInputs, options: ReconcileOptions, log: Log, record: str = ""
) -> PassResult:
    """Guard a pass and commit it with its ``record`` ("": it has none), mirrors included."""
    settings = inputs.settings
    outcome = replace(outcome, is_rewound=inputs.is_rewound, new_settings=settings.changes, source_branch=inputs.branch)
    check_guards(outcome, options.allowed, log)
    if options.dry_run:
        return PassResult(outcome=outcome, publication=inputs.publication, commit=None)
    if outcome.previous is not None and is_proposing(outcome.source):
        from .proposing import propose_commit

        proposal = propose_commit(outcome, inputs.publication, log)
        if proposal is not None:
            settings.record_proposed(inputs.publication.repository, outcome.source.desired.fleet)
            return PassResult(outcome=outcome, publication=inputs.publication, commit=None, proposal=proposal)
    with log.timed("commit"):
        commit = commit_outcome(outcome, inputs.publication, outcome.source.desired.fleet.rendered_branch, record)
        mirrored = update_mirrors(outcome.folders_at(commit), inputs.publication)
    merged = settings.merged_commit(outcome.previous, commit)
    settings.record_place_of_branches(inputs.publication.repository, outcome.source.desired.fleet, merged, log)
    mirrored.log_mirrored_branches(log)
    result = PassResult(outcome=outcome, publication=inputs.publication, commit=commit, fault=mirrored.fault)
    if result.rendered is None:
        return result
    ended = end_holds_of_pulling_members(outcome.source.desired, inputs.publication, result.rendered, log)
    return replace(result, ended_holds=ended)


def _write_checkpoint(
    result: PassResult, inputs: PassInputs, seen: PassSeen, members: dict[str, Any] | None = None
) -> None:
    """Write the checkpoint of a pass, unless the forge that it proposes to has yet to be asked."""
    proposal = result.proposal
    if result.rendered is None or result.fault or (proposal is not None and proposal.error is not None):
        return
    ended = EndedRender(
        outcome=result.outcome,
        publication=inputs.publication,
        tip=inputs.tip,
        rendered=result.rendered,
        proposed=proposal.commit if proposal is not None else "",
        flip=result.flip,
        waits_for_clusters=result.waits_for_clusters,
    )
    ended.write_checkpoint(seen, members)
