"""Policies compiled for a fleet: each rule with the clusters it targets and its edits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from render.bits import Mask
from render.cluster_index import ClusterIndex

from .draft import Draft
from .edits import Edit, compiled_edits
from .errors import OverrideError, Refused
from .policy import OverridePolicy
from .reach import reach_of
from .record import Applied, applied_rule


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule of a policy: where it applies, what it does, how it is recorded, and the fields it reaches (None: all)."""

    clusters: Mask
    edits: tuple[Edit, ...]
    applied: Applied
    reach: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPolicy:
    """A policy with its rules in order."""

    policy: OverridePolicy
    rules: tuple[Rule, ...]


def compiled_policy(policy: OverridePolicy, clusters: ClusterIndex) -> CompiledPolicy:
    """Compile a policy; a rule without target cluster means every cluster."""
    rules = (
        compiled_rule(
            applied_rule(policy, rule),
            clusters.all if rule.target_cluster is None else clusters.matching(rule.target_cluster),
        )
        for rule in policy.rules
    )
    return CompiledPolicy(policy, tuple(rules))


def compiled_rule(applied: Applied, clusters: Mask = 0) -> Rule:
    """Compile a rule from its record."""
    edits = compiled_edits(applied.overriders, f"{applied.rule}.overriders")
    return Rule(clusters, edits, applied, reach_of(applied.overriders))


def run_rule(rule: Rule, draft: Draft) -> OverrideError | None:
    """Run the edits of one rule on a draft, up to the first that is refused."""
    for edit in rule.edits:
        try:
            edit.change(draft)
        except Refused as refusal:
            return OverrideError(
                rule.applied.origin, f"{edit.field}{refusal.within}", refusal.message, hint=refusal.hint
            )
    return None


def classes(rules: Sequence[Rule], clusters: Mask) -> tuple[tuple[Mask, tuple[Rule, ...]], ...]:
    """Split clusters into those to which the same rules apply, in the order of each class' first cluster.

    Every rule splits the classes it cuts through. The class without rules stays first, so that many rules for one
    cluster each take one step each.
    """
    if not clusters:
        return ()
    masks = [clusters]
    chosen: list[tuple[Rule, ...]] = [()]
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
    """A rule in a plan: the state it runs on (0: what is given, n: what step n left), and its place in the order."""

    state: int
    rule: Rule
    place: int


class PlannedClass(NamedTuple):
    """A class of clusters in a plan: the rules that apply there, and the state in which they leave a manifest."""

    clusters: Mask
    applied: tuple[Applied, ...]
    state: int


class Plan(NamedTuple):
    """How rules run in all classes of clusters: rules with which several classes begin run once for all of them."""

    steps: tuple[Planned, ...]
    classes: tuple[PlannedClass, ...]


def plan_of(rules: Sequence[Rule], clusters: Mask) -> Plan:
    """Plan the runs of rules, given in the order they apply, in some clusters."""
    places = {rule: place for place, rule in enumerate(rules)}
    steps: list[Planned] = []
    state_after: dict[tuple[int, Rule], int] = {}
    planned = []
    for mask, chosen in classes(rules, clusters):
        state = 0
        for rule in chosen:
            if (state, rule) not in state_after:
                steps.append(Planned(state, rule, places[rule]))
                state_after[state, rule] = len(steps)
            state = state_after[state, rule]
        planned.append(PlannedClass(mask, tuple(rule.applied for rule in chosen), state))
    return Plan(tuple(steps), tuple(planned))
