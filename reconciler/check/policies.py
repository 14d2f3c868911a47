"""Probable mistakes in propagation policies that Karmada accepts, and objects that no policy claims any more."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from overrides.lint import LineOf
from overrides.lint.selectors import hint_of_closest_templates
from reconciler.ledger.facts import Facts
from reconciler.pipeline.claims import next_matches, policy_index, released_bindings
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.released import HINT, released_objects
from reconciler.pipeline.unknown_room import policies_of_unknown_room
from reconciler.source.desired import Desired
from reconciler.source.facts import clusters_corrected_by_facts
from reconciler.source.scopes.kind_scopes import Scopes
from render.binding import Binding
from render.cluster import is_applied_by_own_agent
from render.cluster_index import ClusterIndex
from render.errors import Problem
from render.failover.application import toleration_seconds
from render.failover.recovery import is_copied_everywhere
from render.matching.match import Match, MatchOptions, NoPolicyReason, PolicyIndex
from render.matching.precedence import CandidatePolicy
from render.model import ObjectRef, Template, group_of
from render.policy import PropagationPolicy
from render.scheduling.unknown_capacity import hint_to_make_capacity_known
from render.scheduling.unmet_placements import unmet_requirements_of_placement
from render.selectors import ResourceSelector, implicit_priority_for_template
from render.settings.switches import ClaimMode
from render.words import counted_noun, first_few, most_similar_word

SHADOWED, TIED, UNMATCHED = "ShadowedPolicy", "PolicyTie", "UnmatchedSelector"
CLUSTER_SCOPED, CLAIMS_DIFFER, WAITING = "ClusterScopedKind", "ClaimsDiffer", "WaitingPolicy"
UNMET = "UnmetPlacement"
UNKNOWN_CAPACITY = "UnknownCapacity"
COPIED, HASTY = "DuplicatedFailover", "HastyFailover"
_WAITS_FOR = {
    NoPolicyReason.WAITING_FOR_OVERRIDES: "spec.dependentOverrides",
    NoPolicyReason.WAITING_FOR_PRIORITY_CLASS: "spec.schedulePriority.priorityClassName",
}

Bindings = Mapping[ObjectRef, Binding]

RELEASED = "Released"
_MOST_HINTS = 20


class PolicyFinding(Struct, frozen=True, kw_only=True):
    """A warning about a field of a propagation policy; ``rule`` names what was looked for."""

    policy: PropagationPolicy
    rule: str
    message: str
    field: str = ""
    hint: str = ""


def policy_warnings(
    desired: Desired, *, facts: Facts, previous: Bindings, line_of: LineOf | None = None
) -> tuple[Problem, ...]:
    """Return the warnings about propagation policies, sorted; ``previous`` are the bindings rendered before."""
    index, matches = policy_index(desired), next_matches(desired, previous)
    scopes = Scopes.of((template.manifest for template in desired.templates), lambda: facts, desired.fleet)
    selected = [each for each in desired.templates if matches[each.ref].is_selected]
    shadowed = tuple(_findings_of_shadowed(selected, matches, index))
    findings = [
        *shadowed,
        *_findings_of_ties(selected, matches, index, {str(each.policy) for each in shadowed}),
        *_findings_of_waiting_policies(matches),
        *_findings_of_unmatched(desired, scopes, index),
        *_findings_of_unmet_placements(desired, facts),
        *_findings_of_unknown_capacity(desired, facts, matches),
        *_findings_of_useless_failover(desired),
        *(_findings_of_other_claims(desired, matches, previous) if desired.fleet.claims is ClaimMode.PURE else ()),
    ]
    return tuple(sorted({_problem_of_finding(each, line_of) for each in findings}))


def _problem_of_finding(finding: PolicyFinding, line_of: LineOf | None) -> Problem:
    policy = finding.policy
    line = line_of(policy.path, policy.document, finding.field) if line_of else 0
    return Problem(policy.path, line, finding.field, finding.message, finding.hint, finding.rule)


def _findings_of_shadowed(
    selected: Sequence[Template], matches: Mapping[ObjectRef, Match], index: PolicyIndex
) -> Iterator[PolicyFinding]:
    """Yield the policies that select objects and claim none, because others win every time.

    Of the first few it is counted what they lose to whom. To count that of thousands would take minutes, and nobody
    reads it.
    """
    winner_by_ref = {
        each.ref: matches[each.ref].policy or index.best_policy_and_next(each)[0].policy for each in selected
    }
    winners, first_loss = (
        {str(policy) for policy in winner_by_ref.values()},
        dict[str, tuple[Template, CandidatePolicy]](),
    )
    for template, candidate in index.selecting_policies_with_template(selected):
        if str(candidate.policy) not in winners:
            first_loss.setdefault(str(candidate.policy), (template, candidate))
    losers = [candidate.policy for _, candidate in first_loss.values()]
    losses: dict[str, list[ObjectRef]] = {str(policy): [] for policy in losers[:_MOST_HINTS]}
    for template in selected if losses else ():
        for policy in index.policies_selecting_template(losers[:_MOST_HINTS], template):
            losses[str(policy)].append(template.ref)
    for name, (template, candidate) in first_loss.items():
        message = "it claims nothing: all that it selects goes to others"
        if refs := losses.get(name):
            winner_names = first_few(sorted({str(winner_by_ref[ref]) for ref in refs}))
            message = (
                f"it claims nothing: it selects {counted_noun(len(refs), 'object')}, all of which go to {winner_names}"
            )
        lost = index.candidate(candidate.policy, template)
        why = (lost and lost.why_lost) or "another policy has claimed it, and claims are Sticky"
        hint = f"for {template.ref}, {why}"
        field = "spec.resourceSelectors"
        yield PolicyFinding(policy=candidate.policy, rule=SHADOWED, field=field, message=message, hint=hint)


def _findings_of_ties(
    selected: Iterable[Template], matches: Mapping[ObjectRef, Match], index: PolicyIndex, shadowed: Collection[str]
) -> Iterator[PolicyFinding]:
    """Yield the pairs of policies between which only names decide; of what is shadowed that is said already."""
    ties: dict[tuple[str, str], list[tuple[ObjectRef, PropagationPolicy]]] = {}
    for template in selected:
        best, policy = index.best_policy_and_next(template), matches[template.ref].policy
        if len(best) > 1:
            first, second = best
            is_first = policy is None or policy is first.policy
            if (
                is_first
                and _weight_of_candidate(first) == _weight_of_candidate(second)
                and str(second.policy) not in shadowed
            ):
                ties.setdefault((str(first.policy), str(second.policy)), []).append((template.ref, second.policy))
    for (winner, _), losses in ties.items():
        objects = first_few([str(ref) for ref, _ in losses])
        yield PolicyFinding(
            policy=losses[0][1],
            rule=TIED,
            field="spec.priority",
            message=f"only its name makes it lose {objects} to {winner}",
            hint="give one of them a higher priority",
        )


def _weight_of_candidate(candidate: CandidatePolicy) -> tuple[bool, int, int]:
    return candidate.policy.is_namespaced, candidate.policy.priority, candidate.implicit_priority


def _findings_of_waiting_policies(matches: Mapping[ObjectRef, Match]) -> Iterator[PolicyFinding]:
    """Yield the policies that are not applied because something they name is not there."""
    for match in matches.values():
        if match.waiting and match.reason in _WAITS_FOR:
            message = f"it is not applied: it waits for {match.waits_for}"
            yield PolicyFinding(policy=match.waiting, rule=WAITING, field=_WAITS_FOR[match.reason], message=message)


def _findings_of_unmatched(desired: Desired, scopes: Scopes, index: PolicyIndex) -> Iterator[PolicyFinding]:
    """Yield the selectors that select nothing; a namespaced policy can never select what has no namespace.

    The first few have a hint about what comes closest, for which all templates are looked at.
    """
    matched, hints = (
        {(str(each.policy), each.place) for _, each in index.selecting_policies_with_template(desired.templates)},
        0,
    )
    for policy in desired.policies:
        for number, selector in enumerate(policy.resource_selectors):
            if (str(policy), number) in matched:
                continue
            field = f"spec.resourceSelectors[{number}]"
            if policy.is_namespaced and scopes.is_namespaced(group_of(selector.api_version), selector.kind) is False:
                yield _finding_of_cluster_scoped_selector(policy, selector, field)
                continue
            hint, hints = "", hints + 1
            if hints <= _MOST_HINTS:
                hint = _hint_of_other_namespace(policy, selector, desired.templates)
                hint = hint or hint_of_closest_templates(selector, _templates_in_scope(policy, desired.templates))
            yield PolicyFinding(policy=policy, rule=UNMATCHED, field=field, message="selects no template", hint=hint)


def _findings_of_unmet_placements(desired: Desired, facts: Facts) -> Iterator[PolicyFinding]:
    """Yield the placements that no cluster meets, or too few."""
    index = ClusterIndex(clusters_corrected_by_facts(desired.clusters, facts))
    for policy in desired.policies:
        for each in unmet_requirements_of_placement(policy.placement, index):
            yield PolicyFinding(policy=policy, rule=UNMET, field=each.field, message=each.message, hint=each.hint)


def _findings_of_unknown_capacity(
    desired: Desired, facts: Facts, matches: Mapping[ObjectRef, Match]
) -> Iterator[PolicyFinding]:
    """Yield the policies that divide workloads by room among clusters of which no capacity is known.

    A member that the next pass reaches is observed before anything is placed there.
    """
    clusters, reached = clusters_corrected_by_facts(desired.clusters, facts), desired.fleet.reachable_members
    awaited = {
        each.name
        for each in clusters
        if not is_applied_by_own_agent(each) and (reached is None or each.name in reached) and each.name not in facts
    }
    claims = {ref: match.policy for ref, match in matches.items() if match.policy is not None}
    for policy, names in policies_of_unknown_room(desired, clusters, claims):
        if left := [name for name in names if name not in awaited]:
            gets = "it gets" if len(left) == 1 else "they get"
            yield PolicyFinding(
                policy=policy,
                rule=UNKNOWN_CAPACITY,
                field="spec.placement.replicaScheduling",
                message=f"no capacity is known of {first_few(left)}, so that {gets} no new replicas by room",
                hint=hint_to_make_capacity_known(left[0]),
            )


def _findings_of_useless_failover(desired: Desired) -> Iterator[PolicyFinding]:
    """Yield the policies whose application failover helps nobody: no cluster takes over, or none gets the time."""
    for policy in desired.policies:
        application = (policy.failover or {}).get("application")
        if application is None:
            continue
        if is_copied_everywhere(policy.placement):
            yield PolicyFinding(
                policy=policy,
                rule=COPIED,
                field="spec.failover.application",
                message="every cluster runs all replicas, so that none takes over what fails: it is only made again",
                hint="divide the replicas, or name the clusters in groups (clusterAffinities) to choose one of them",
            )
        if toleration_seconds(application) == 0:
            yield PolicyFinding(
                policy=policy,
                rule=HASTY,
                field="spec.failover.application.decisionConditions.tolerationSeconds",
                message="a workload that is only starting is not healthy either, and leaves its cluster at once",
                hint="give it more time than it takes to start",
            )


def _templates_in_scope(policy: PropagationPolicy, templates: Iterable[Template]) -> list[Template]:
    return [each for each in templates if policy.namespace in {"", each.ref.namespace}]


def _hint_of_other_namespace(
    policy: PropagationPolicy, selector: ResourceSelector, templates: Collection[Template]
) -> str:
    """Return a hint about a template that is just as selected, but in another namespace; "" for none.

    A namespace without any template of the source is more likely a slip in the policy's own namespace.
    """
    if not policy.is_namespaced:
        return ""
    anywhere = replace(selector, namespace="")
    found = {each.ref.namespace: each.ref for each in templates if implicit_priority_for_template(anywhere, each)}
    if not found:
        return ""
    near = (
        most_similar_word(policy.namespace, found)
        if all(each.ref.namespace != policy.namespace for each in templates)
        else ""
    )
    ref = found[near or min(found)]
    if near:
        return f"{ref} is in namespace {near!r}: did you mean that?"
    return f"{ref} is in another namespace: move the policy there, or use a ClusterPropagationPolicy"


def _finding_of_cluster_scoped_selector(
    policy: PropagationPolicy, selector: ResourceSelector, field: str
) -> PolicyFinding:
    return PolicyFinding(
        policy=policy,
        rule=CLUSTER_SCOPED,
        field=f"{field}.kind",
        message=f"{selector.kind} lives in no namespace, and a PropagationPolicy selects in its own alone",
        hint="select it with a ClusterPropagationPolicy",
    )


def _findings_of_other_claims(
    desired: Desired, matches: Mapping[ObjectRef, Match], previous: Bindings
) -> Iterator[PolicyFinding]:
    """Yield the policies that take objects over which Karmada would leave where they are."""
    index, options = policy_index(desired), MatchOptions(claims=ClaimMode.STICKY)
    taken: dict[tuple[str, str], list[tuple[ObjectRef, PropagationPolicy]]] = {}
    for template in desired.templates:
        claim = previous[template.ref].policy if template.ref in previous else ""
        pure = matches[template.ref].policy
        sticky = index.match(template, claim=claim, options=options).policy if claim else pure
        if pure is not None and sticky is not None and pure is not sticky:
            taken.setdefault((str(pure), str(sticky)), []).append((template.ref, pure))
    for (_, holder), takeovers in taken.items():
        objects = first_few([str(ref) for ref, _ in takeovers])
        yield PolicyFinding(
            policy=takeovers[0][1],
            rule=CLAIMS_DIFFER,
            message=f"it takes {objects} over from {holder}, where Karmada would leave what is claimed",
            hint="if that is not meant, set claims: Sticky in argosy.yaml",
        )


def released_warnings(
    desired: Desired, previous: Previous, *, facts: Facts, line_of: LineOf | None = None
) -> Iterator[Problem]:
    """Yield a warning at the template of each object that clusters keep though no policy selects it."""
    bindings = tuple(released_bindings(desired, previous.bindings))
    if not bindings:
        return
    template_by_ref = {template.ref: template for template in desired.templates}
    index = ClusterIndex(clusters_corrected_by_facts(desired.clusters, facts))
    for each in released_objects(desired, bindings, index, previous.tree):
        template = template_by_ref[each.ref]
        line = line_of(template.path, template.document, "") if line_of else 0
        yield Problem(template.path, line, "", str(each), HINT, RELEASED)
