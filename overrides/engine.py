"""Overrides for a whole fleet: one run for each class of clusters in which the same rules apply.

1. Find the ClusterOverridePolicies that select the manifest, in the order they apply.
2. Split the clusters into classes by the rules that target them, and run each class' rules once, on one draft.
3. For a namespaced manifest do the same with the OverridePolicies of its namespace - on each class' result, because
   they see labels the first round changed.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from render.bits import Mask
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.model import Manifest

from .draft import Draft
from .errors import OverrideError
from .matching import PolicyIndex
from .policy import OverridePolicy
from .record import Applied
from .rules import CompiledPolicy, Rule, classes, compiled_policy, run_rule

_Classes = tuple[tuple[Mask, tuple[Rule, ...]], ...]
_MOST_SPLITS_KEPT = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Overridden:
    """What one class of clusters gets: the manifest after its rules, or the error of the rule that stopped.

    Without an edit the manifest is the one given, not a copy. ``applied`` names the rules that apply, in order; with an
    error they end in a round that was not finished.
    """

    clusters: Mask
    manifest: Manifest | None
    applied: tuple[Applied, ...] = ()
    error: OverrideError | None = None


class OverrideEngine:
    """The override policies of a fleet, compiled; what it works out about clusters is kept for the life of a pass."""

    def __init__(self, policies: Iterable[OverridePolicy], clusters: Iterable[Cluster] | ClusterIndex) -> None:
        index = clusters if isinstance(clusters, ClusterIndex) else ClusterIndex(clusters)
        by_namespace: defaultdict[str, list[CompiledPolicy]] = defaultdict(list)
        for policy in policies:
            by_namespace[policy.namespace].append(compiled_policy(policy, index))
        self._indexes = {namespace: PolicyIndex(compiled) for namespace, compiled in by_namespace.items()}
        self._splits: dict[tuple[tuple[Rule, ...], Mask], _Classes] = {}

    def override(self, manifest: Manifest, clusters: Mask) -> tuple[Overridden, ...]:
        """Say what a manifest becomes in each of the clusters, by class; an error stays in its class."""
        first = self._round("", Overridden(clusters=clusters, manifest=manifest))
        namespace = manifest["metadata"].get("namespace")
        if not namespace or namespace not in self._indexes:
            return tuple(first)
        return tuple(second for overridden in first for second in self._round(namespace, overridden))

    def _round(self, namespace: str, given: Overridden) -> list[Overridden]:
        """Apply the policies of a namespace, the empty one for those of the cluster scope."""
        index = self._indexes.get(namespace)
        if index is None or given.manifest is None:
            return [given]
        rules = index.rules_for(given.manifest)
        return [_run(chosen, mask, given) for mask, chosen in self._split(rules, given.clusters)]

    def _split(self, rules: tuple[Rule, ...], clusters: Mask) -> _Classes:
        known = self._splits.get((rules, clusters))
        if known is None:
            if len(self._splits) >= _MOST_SPLITS_KEPT:
                self._splits.clear()
            known = self._splits[rules, clusters] = classes(rules, clusters)
        return known


def _run(rules: Sequence[Rule], clusters: Mask, given: Overridden) -> Overridden:
    """Run rules on a manifest; the first that is refused ends the class with its error."""
    if not rules:
        return Overridden(clusters=clusters, manifest=given.manifest, applied=given.applied)
    applied = (*given.applied, *(rule.applied for rule in rules))
    draft = Draft(given.manifest)
    for rule in rules:
        error = run_rule(rule, draft)
        if error:
            return Overridden(clusters=clusters, manifest=None, applied=applied, error=error)
    return Overridden(clusters=clusters, manifest=draft.root, applied=applied)
