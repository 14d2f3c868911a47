"""Problems of objects that do not survive what resilience policies ask, and warnings about what nobody can tell."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from overrides.lint import LineOf
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import Source, read_observed_inputs
from reconciler.console.clock import given_or_current_time
from reconciler.pipeline.decisions import Decisions, decisions_of_pass
from reconciler.pipeline.previous import Previous
from reconciler.rendering.inputs import RenderInputs, pipeline_inputs_of_source, time_not_before_last_pass
from reconciler.repository import Repository
from reconciler.simulation.resilience import Judgement, judgements_of_pass
from reconciler.source.desired import Desired
from render.binding import Binding
from render.errors import GitError, Problem
from render.failover.taint_eviction import NO_EXECUTE
from render.model import ObjectRef
from render.resilience.losses import clusters_lost_together, words_of_clusters_never_lost
from render.resilience.policy import CountingTime, ResiliencePolicy
from render.settings.failover import NoExecuteEviction
from render.words import first_few

_BROKEN, _UNMATCHED = "NotResilient", "UnmatchedResilience"
_UNJUDGED, _UNMOVED = "UnjudgedResilience", "NothingReschedules"
_Warn = Callable[..., Problem]


class ResilienceFindings(Struct, frozen=True, kw_only=True):
    """The problems of objects that do not survive, and warnings about what nobody can tell or nothing moves."""

    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def resilience_of_source(
    repository: Repository, source: Source, last_rendered: Callable[[], Previous | None], line_of: LineOf | None
) -> ResilienceFindings:
    """Judge the resilience policies of a source by what a pass would decide now, as far as this clone can tell."""
    fleet = source.desired.fleet
    try:
        previous = last_rendered()
        status = repository.tip(publication_of(repository, fleet).ref(fleet.status_branch))
        now = time_not_before_last_pass(repository, previous, given_or_current_time())
        given = RenderInputs(observed=read_observed_inputs(repository, status), now=now)
        source = source.without_objects_never_delivered(previous.bindings if previous else ())
        inputs = pipeline_inputs_of_source(repository, source, previous, given)
    except GitError as error:
        return ResilienceFindings(warnings=tuple(_warnings_of_unreadable_branches(source.desired, error, line_of)))
    return resilience_findings(source.desired, decisions_of_pass(inputs), line_of)


def _warnings_of_unreadable_branches(desired: Desired, error: GitError, line_of: LineOf | None) -> Iterator[Problem]:
    for policy in desired.resilience_policies:
        message = f"nobody can tell what is survived: {error.message}"
        yield _problem(policy, line_of, "spec.survive", message, error.hint, _UNJUDGED)


def resilience_findings(desired: Desired, decisions: Decisions, line_of: LineOf | None) -> ResilienceFindings:
    """Judge the resilience policies of a source by what a pass over it decides."""
    judgements = judgements_of_pass(desired, decisions)
    bindings = {each.ref: each for each in decisions.bindings}
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for policy in desired.resilience_policies:
        problem, its = partial(_problem, policy, line_of), _judgements_of_policy(policy, judgements)
        problems += [
            problem(_field(each), each.message, each.hint, _BROKEN) for each in its if each.is_placed and not each.holds
        ]
        warnings += _warnings_of_unjudged_objects(its, problem)
        warnings += _warnings_of_places(policy, desired, [bindings[ref] for ref in _refs(its)], problem)
        warnings += _warnings_of_what_nothing_moves(policy, desired, [bindings[ref] for ref in _refs(its)], problem)
    return ResilienceFindings(problems=tuple(sorted(problems)), warnings=tuple(sorted(warnings)))


def _problem(
    policy: ResiliencePolicy, line_of: LineOf | None, field: str, message: str, hint: str, kind: str
) -> Problem:
    line = line_of(policy.path, policy.document, field) if line_of else 0
    return Problem(policy.path, line, field, message, hint, kind)


def _judgements_of_policy(policy: ResiliencePolicy, judgements: Iterable[Judgement]) -> list[Judgement]:
    return [each for each in judgements if each.requirement.policy is policy]


def _field(judgement: Judgement) -> str:
    return f"spec.survive[{judgement.requirement.number}]"


def _refs(judgements: Iterable[Judgement]) -> list[ObjectRef]:
    return sorted({each.requirement.ref for each in judgements})


def _warnings_of_unjudged_objects(judgements: Sequence[Judgement], warn: _Warn) -> Iterator[Problem]:
    """Yield a warning where a policy names nothing that is propagated, and for each object that is in no cluster."""
    field = "spec.resourceSelectors"
    if not judgements:
        message = "nothing has to survive by this policy: it names no object that is propagated"
        yield warn(field, message, "", _UNMATCHED)
    for each in judgements:
        if each.holds and each.of_unknown_room:
            ref, names = each.requirement.ref, first_few(sorted(each.of_unknown_room))
            message = f"no capacity is known of {names}, where {ref} would go: nobody can tell whether there is room"
            yield warn(_field(each), message, "declare status.resourceSummary in the Cluster", _UNJUDGED)
    unplaced = {each.requirement.ref: each.message for each in judgements if not each.is_placed}
    for ref in sorted(unplaced):
        yield warn(field, unplaced[ref], f"argosy explain {ref.kind}/{ref.name} says why", _UNJUDGED)


def _warnings_of_places(
    policy: ResiliencePolicy, desired: Desired, bindings: Iterable[Binding], warn: _Warn
) -> Iterator[Problem]:
    """Yield a warning for each loss of regions and the like with which some cluster that has an object never goes."""
    used = {target.name for binding in bindings for target in binding.targets}
    for number, survived in enumerate(policy.survive):
        together = clusters_lost_together(desired.clusters, survived.field)
        without = sorted(used.difference(*together.values()))
        if without:
            what = survived.field.value
            message = words_of_clusters_never_lost(without, survived.field)
            yield warn(f"spec.survive[{number}].loss", message, f"write the {what} into the Cluster", _UNJUDGED)


def _warnings_of_what_nothing_moves(
    policy: ResiliencePolicy, desired: Desired, bindings: Sequence[Binding], warn: _Warn
) -> Iterator[Problem]:
    """Yield a warning where what counts is placed anew, and no pass would do that by itself."""
    counted = [n for n, each in enumerate(policy.survive) if each.when is CountingTime.RESCHEDULED]
    reason, hint = _why_nothing_moves(desired, bindings)
    if counted and bindings and reason:
        message = f"a loss is survived as if all were placed anew, but {reason}"
        yield warn(f"spec.survive[{counted[0]}]", message, hint, _UNMOVED)


def _why_nothing_moves(desired: Desired, bindings: Iterable[Binding]) -> tuple[str, str]:
    """Return why no pass takes objects out of a cluster that is lost, with what to do; empty texts where one does."""
    fleet, otherwise = desired.fleet, "or write when: AtOnce, to count what is left without it"
    if not fleet.feature_gates.failover:
        reason = "no pass does that: failover is off"
        return reason, f"turn on spec.featureGates.Failover in argosy.yaml, {otherwise}"
    if not any(taint.effect == NO_EXECUTE for each in desired.taint_policies for taint in each.taints):
        reason = "no pass does that: no ClusterTaintPolicy gives clusters a NoExecute taint"
        return reason, f"add one for the condition Ready, {otherwise}"
    is_for_all = fleet.failover.no_execute_eviction is NoExecuteEviction.ALWAYS
    left = [str(each.ref) for each in bindings if not is_for_all and "cluster" not in (each.failover or {})]
    if left:
        reason = f"no pass does that for {first_few(left)}: the policy that propagates it has no failover.cluster"
        return reason, f"add it there, {otherwise}"
    return "", ""
