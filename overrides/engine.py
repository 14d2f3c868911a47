"""Overrides for a whole fleet: one run for each class of clusters in which the same rules apply.

1. Find the ClusterOverridePolicies that select the manifest, in the order they apply.
2. Split the clusters into classes by the rules that target them, and run each class' rules once.
   Rules with which several classes begin run once for all, and a rule runs once on the very same values of the fields
   it reaches: it returns a new manifest, which shares the parts it did not touch with the one it was given.
3. For a namespaced manifest do the same with the OverridePolicies of its namespace - on each class' result, because
   they see labels the first round changed.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from render.bits import Mask
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.model import Manifest, ciphertext_of_sops_document, is_encrypted_by_sops, is_signed_whole_by_sops

from .draft import Draft
from .errors import OverrideError
from .matching import OverridePolicyIndex
from .policy import OverridePolicy
from .record import AppliedRule, RuleRun
from .rules import CompiledPolicy, CompiledRule, Planned, RulePlan, compile_policy, plan_of_rule_runs, run_edits_of_rule

_MOST_PLANS_KEPT = 1024
_NOTHING = object()


class Overridden(Struct, frozen=True, kw_only=True):
    """The result for one class of clusters: the manifest after its rules, or the error of the rule that stopped.

    Without an edit the manifest is the one given, not a copy. ``applied`` names the rules that apply, in order; with an
    error they end in a round that was not finished. ``runs`` are the runs of those that were applied, in order.
    """

    clusters: Mask
    manifest: Manifest | None
    applied: tuple[AppliedRule, ...] = ()
    runs: tuple[RuleRun, ...] = ()
    error: OverrideError | None = None


class OverrideEngine:
    """The override policies of a fleet, compiled; plans for sets of clusters are kept for the life of a pass."""

    def __init__(self, policies: Iterable[OverridePolicy], clusters: Iterable[Cluster] | ClusterIndex) -> None:
        index = clusters if isinstance(clusters, ClusterIndex) else ClusterIndex(clusters)
        by_namespace: defaultdict[str, list[CompiledPolicy]] = defaultdict(list)
        for policy in policies:
            by_namespace[policy.namespace].append(compile_policy(policy, index))
        self._indexes = {namespace: OverridePolicyIndex(compiled) for namespace, compiled in by_namespace.items()}
        self._plans: dict[tuple[tuple[CompiledRule, ...], Mask], RulePlan] = {}

    def override(self, manifest: Manifest, clusters: Mask) -> tuple[Overridden, ...]:
        """Return a manifest as it must be in each class of these clusters; an error stays in its class.

        A manifest that SOPS signed as a whole is the same everywhere; of one whose ciphertext alone is signed, the
        readable fields may differ.
        """
        if is_signed_whole_by_sops(manifest):
            return (Overridden(clusters=clusters, manifest=manifest),)
        found = self._overridden_by_all_policies(manifest, clusters)
        return tuple(_checked_ciphertext(each, manifest) for each in found) if is_encrypted_by_sops(manifest) else found

    def _overridden_by_all_policies(self, manifest: Manifest, clusters: Mask) -> tuple[Overridden, ...]:
        runs = _Runs()
        first = self._overridden_by_policies_of_namespace("", Overridden(clusters=clusters, manifest=manifest), runs)
        namespace = manifest["metadata"].get("namespace")
        if not namespace or namespace not in self._indexes:
            return tuple(first)
        return tuple(
            second
            for overridden in first
            for second in self._overridden_by_policies_of_namespace(namespace, overridden, runs)
        )

    def _overridden_by_policies_of_namespace(
        self, namespace: str, given: Overridden, runs: "_Runs"
    ) -> list[Overridden]:
        """Apply the policies of a namespace, the empty one for those of the cluster scope."""
        index = self._indexes.get(namespace)
        if index is None or given.manifest is None:
            return [given]
        return runs.overridden_by_plan(self._plan_of_rules(index.rules_for(given.manifest), given.clusters), given)

    def _plan_of_rules(self, rules: tuple[CompiledRule, ...], clusters: Mask) -> RulePlan:
        known = self._plans.get((rules, clusters))
        if known is None:
            if len(self._plans) >= _MOST_PLANS_KEPT:
                self._plans.clear()
            known = self._plans[rules, clusters] = plan_of_rule_runs(rules, clusters)
        return known


def _checked_ciphertext(overridden: Overridden, given: Manifest) -> Overridden:
    """Return the error of the rule that changed what SOPS encrypted, where one did."""
    wanted = ciphertext_of_sops_document(given)
    if overridden.manifest is None or ciphertext_of_sops_document(overridden.manifest) == wanted:
        return overridden
    applied = next(run.applied for run in overridden.runs if ciphertext_of_sops_document(run.after) != wanted)
    message, hint = "changes what SOPS encrypted", "change readable fields alone, or encrypt another object"
    error = OverrideError(applied.origin, applied.rule, message, hint=hint)
    return replace(overridden, manifest=None, runs=(), error=error)


class _RuleState(NamedTuple):
    """A manifest after some rules, or the error of the one that was refused."""

    manifest: Manifest | None
    runs: tuple[RuleRun, ...]
    error: OverrideError | None = None


class _Runs:
    """The runs of rules on one template's manifests, each found once for the same values where the rule reaches."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        # Keys are ids of values, so each entry keeps their manifest alive: no id can be given to another value.
        self._known: dict[tuple[object, ...], tuple[RuleRun | OverrideError, Manifest]] = {}

    def overridden_by_plan(self, plan: RulePlan, given: Overridden) -> list[Overridden]:
        """Run a plan on a manifest; a rule that is refused ends every class that has it with its error."""
        states = [_RuleState(given.manifest, given.runs)]
        for step in plan.steps:
            states.append(self._state_after_step(step, states[step.state]))
        return [
            Overridden(
                clusters=clusters,
                manifest=states[state].manifest,
                applied=(*given.applied, *applied),
                runs=states[state].runs,
                error=states[state].error,
            )
            for clusters, applied, state in plan.classes
        ]

    def _state_after_step(self, step: Planned, state: _RuleState) -> _RuleState:
        if state.manifest is None:
            return state
        found = self._run_of_step(step, state.manifest)
        if isinstance(found, OverrideError):
            return _RuleState(None, (), found)
        return _RuleState(_manifest_after_run(found, state.manifest, step.rule.reach or ()), (*state.runs, found))

    def _run_of_step(self, step: Planned, before: Manifest) -> RuleRun | OverrideError:
        reach = step.rule.reach
        if reach is None:
            return _run_or_error(step, before)
        key = (step.rule, *[id(before.get(field, _NOTHING)) for field in reach])
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _run_or_error(step, before), before
        return known[0]


def _run_or_error(step: Planned, before: Manifest) -> RuleRun | OverrideError:
    draft = Draft(before)
    return run_edits_of_rule(step.rule, draft) or RuleRun(step.rule.applied, before, draft.root, step.place)


def _manifest_after_run(run: RuleRun, before: Manifest, reach: Iterable[str]) -> Manifest:
    """Return the result of a rule for a manifest that equals the one of its run in the fields the rule reaches."""
    if run.after is run.before:
        return before
    if run.before is before:
        return run.after
    made = dict(before)
    for field in reach:
        if field in run.after:
            made[field] = run.after[field]
        else:
            made.pop(field, None)
    return made
