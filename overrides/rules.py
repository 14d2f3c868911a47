"""Policies compiled for a fleet: each rule with the clusters it targets, its edits and the fields it reaches."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct

from render.bits import Mask
from render.boundary import result_or_substitute, unexpected_problem, words_of_unexpected_error
from render.cluster_index import ClusterIndex

from .draft import Draft
from .edits import CompiledEdit, compiled_edits
from .errors import OverrideError, Refused
from .policy import OverridePolicy, Overriders
from .record import AppliedRule, applied_rule_of_policy


class CompiledRule(Struct, frozen=True, eq=False):
    """A rule of a policy: its clusters, its edits, its record, and the fields it reaches (None: all)."""

    clusters: Mask
    edits: tuple[CompiledEdit, ...]
    applied: AppliedRule
    reach: tuple[str, ...] | None


class CompiledPolicy(Struct, frozen=True, eq=False):
    """A policy with its rules in order."""

    policy: OverridePolicy
    rules: tuple[CompiledRule, ...]


def compile_policy(policy: OverridePolicy, clusters: ClusterIndex) -> CompiledPolicy:
    """Compile a policy; a rule without target cluster means every cluster."""
    rules = (
        compile_recorded_rule(
            applied_rule_of_policy(policy, rule),
            clusters.all if rule.target_cluster is None else clusters.clusters_matching_affinity(rule.target_cluster),
        )
        for rule in policy.rules
    )
    return CompiledPolicy(policy, tuple(rules))


def compile_recorded_rule(applied: AppliedRule, clusters: Mask = 0) -> CompiledRule:
    """Compile a rule from its record."""
    edits = compiled_edits(applied.overriders, f"{applied.rule}.overriders")
    return CompiledRule(clusters, edits, applied, fields_reached_by_overriders(applied.overriders))


def fields_reached_by_overriders(overriders: Overriders) -> tuple[str, ...] | None:
    """Return the top-level fields a rule can read or change, sorted; None when they may be all there are.

    A rule that ran on one object need not run again on another with the very same values there. ``kind`` counts for
    nothing: no rule changes it, and a template has one.

    >>> from .parsing import parse_override_policy
    >>> add, labels = {"path": "/data/a", "operator": "add"}, {"operator": "remove", "value": {"a": ""}}
    >>> spec = {"overriders": {"plaintext": [add], "labelsOverrider": [labels]}}
    >>> fields_reached_by_overriders(
    ...     parse_override_policy({"metadata": {"name": "p"}, "spec": spec}).rules[0].overriders
    ... )
    ('data', 'metadata')
    """
    fields = {field for _, type_, overrider in overriders for field in type_.reach(overrider)}
    return None if None in fields else tuple(sorted(field for field in fields if field is not None))


def run_edits_of_rule(rule: CompiledRule, draft: Draft) -> OverrideError | None:
    """Run the edits of one rule on a draft, up to the first that is refused."""
    for edit in rule.edits:
        refused = result_or_substitute(partial(_refusal_of_edit, rule, edit, draft), partial(_error_of_bug, rule, edit))
        if refused is not None:
            return refused
    return None


def _refusal_of_edit(rule: CompiledRule, edit: CompiledEdit, draft: Draft) -> OverrideError | None:
    try:
        edit.change(draft)
    except Refused as refusal:
        return OverrideError(rule.applied.origin, f"{edit.field}{refusal.within}", refusal.message, hint=refusal.hint)
    return None


def _error_of_bug(rule: CompiledRule, edit: CompiledEdit, error: Exception) -> OverrideError:
    hint = unexpected_problem("", error).hint
    return OverrideError(rule.applied.origin, edit.field, words_of_unexpected_error(error), hint=hint)


def clusters_by_applied_rules(
    rules: Sequence[CompiledRule], clusters: Mask
) -> tuple[tuple[Mask, tuple[CompiledRule, ...]], ...]:
    """Split clusters into those to which the same rules apply, in the order of each class' first cluster.

    Every rule splits the classes it cuts through. The class without rules stays first, so that many rules for one
    cluster each take one step each.
    """
    if not clusters:
        return ()
    masks = [clusters]
    chosen: list[tuple[CompiledRule, ...]] = [()]
    for rule in rules:
        left = clusters & rule.clusters
        for position in range(len(masks)):
            inside = masks[position] & left
            if not inside:
                continue
            left ^= inside
            if inside == masks[position]:
                chosen[position] = (*chosen[position], rule)
            else:
                masks[position] ^= inside
                masks.append(inside)
                chosen.append((*chosen[position], rule))
            if not left:
                break
    pairs = zip(masks, chosen, strict=True)
    return tuple(sorted(pairs, key=lambda pair: pair[0] & -pair[0]))


class Planned(NamedTuple):
    """A rule in a plan: the state it runs on (0: the given one, n: the result of step n), its place in the order."""

    state: int
    rule: CompiledRule
    place: int


class PlannedClass(NamedTuple):
    """A class of clusters in a plan: the rules that apply there, and the state after the last of them."""

    clusters: Mask
    applied: tuple[AppliedRule, ...]
    state: int


class RulePlan(NamedTuple):
    """A plan to run rules in all classes of clusters; rules with which several classes begin run once for all."""

    steps: tuple[Planned, ...]
    classes: tuple[PlannedClass, ...]


def plan_of_rule_runs(rules: Sequence[CompiledRule], clusters: Mask) -> RulePlan:
    """Plan the runs of rules, given in the order they apply, in some clusters."""
    places = {rule: place for place, rule in enumerate(rules)}
    steps: list[Planned] = []
    state_after: dict[tuple[int, CompiledRule], int] = {}
    planned = []
    for mask, chosen in clusters_by_applied_rules(rules, clusters):
        state = 0
        for rule in chosen:
            if (state, rule) not in state_after:
                steps.append(Planned(state, rule, places[rule]))
                state_after[state, rule] = len(steps)
            state = state_after[state, rule]
        planned.append(PlannedClass(mask, tuple(rule.applied for rule in chosen), state))
    return RulePlan(tuple(steps), tuple(planned))
