"""Globalizations and Localizations as rules of override policies, in their order.

Each becomes one rule whose operations are the difference that it makes in the first cluster it is for. The rules are
then tried in every cluster: where any gets something else than Clusternet sends, rules for names of clusters with the
whole difference take their place.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from render.federations.decoding import WrongShape, decode_label_selector
from render.federations.patches import PatchFailed, manifest_after_operations, operations_between
from render.federations.units import Operation, Remark, Rule, refused_remark, remark_exact_for_now
from render.model import Manifest
from render.selectors import matches_labels

from .overriding import selected_overrides, sort_key_of_override
from .scheduling import ManagedCluster

_IDENTITY = ("/apiVersion", "/kind", "/metadata/name", "/metadata/namespace")
Made = Callable[[Sequence[Manifest]], dict[str, Any]]
"""Return an object with overriding documents applied; PatchFailed where they cannot be."""


class OverriddenFeed(Struct, frozen=True, kw_only=True):
    """The rules of one object, and what to know about them."""

    rules: tuple[Rule, ...] = ()
    remarks: tuple[Remark, ...] = ()


class Reached(Struct, frozen=True, kw_only=True):
    """The clusters that an object goes to, and the name of each by key and by namespace."""

    clusters: Sequence[ManagedCluster]
    names: Mapping[str, str]

    def names_in(self, namespace: str) -> tuple[str, ...]:
        """Return the names of the clusters of a namespace; what is not known goes by the namespace itself."""
        found = tuple(name for key, name in self.names.items() if key.partition("/")[0] == namespace)
        return found or (namespace,)


def rules_of_overridden_feed(
    source: Manifest, overriding: Sequence[Manifest], members: Reached, made: Made
) -> OverriddenFeed:
    """Return rules that make of an object what Clusternet makes of it; ``source`` is what feeds name."""
    if not overriding:
        return OverriddenFeed()
    base, wanted = made(()), {}
    remarks: list[Remark] = []
    for cluster in members.clusters:
        try:
            wanted[cluster.key] = made(selected_overrides(source, cluster, overriding))
        except (WrongShape, PatchFailed) as error:
            what = (
                f"{members.names[cluster.key]}: Clusternet cannot apply its overrides ({error}), and sends it nothing"
            )
            remarks.append(refused_remark("clusternet-override-fails", what))
    try:
        rules = _rules_per_override(source, overriding, members, made)
    except (WrongShape, PatchFailed) as error:
        if not members.clusters:
            return OverriddenFeed(remarks=(refused_remark("clusternet-override-fails", str(error)),))
        rules = ()
    if not _has_same_result(base, rules, members, wanted):
        rules = _rules_per_cluster(base, members, wanted)
        what = "its overrides depend on each other: what each cluster gets of them now is written by cluster"
        remarks.append(remark_exact_for_now("overrides-frozen", what))
    return _feed_without_identity_changes(rules, tuple(remarks))


def _rules_per_override(
    source: Manifest, overriding: Sequence[Manifest], members: Reached, made: Made
) -> tuple[Rule, ...]:
    rules = []
    ordered = sorted(overriding, key=sort_key_of_override)
    for place, each in enumerate(ordered):
        first = next((one for one in members.clusters if each in selected_overrides(source, one, [each])), None)
        if first is None and members.clusters:
            continue
        before = ordered[:place] if first is None else selected_overrides(source, first, ordered[:place])
        operations = tuple(operations_between(made(before), made([*before, each])))
        if operations:
            rules.append(replace(_rule_targeting_override(each, members), operations=operations))
    return tuple(rules)


def _rule_targeting_override(document: Manifest, members: Reached) -> Rule:
    if document["kind"] == "Globalization":
        selector = decode_label_selector((document.get("spec") or {}).get("clusterAffinity"), "spec.clusterAffinity")
        is_all = selector is None or not (selector.match_labels or selector.match_expressions)
        return Rule(operations=(), selector=None if is_all else selector)
    return Rule(operations=(), names=members.names_in(str(document["metadata"].get("namespace", ""))))


def _has_same_result(base: Any, rules: Sequence[Rule], members: Reached, wanted: Mapping[str, Any]) -> bool:
    for cluster in members.clusters:
        if cluster.key not in wanted:
            continue
        current = base
        for rule in rules:
            is_named = not rule.names or members.names[cluster.key] in rule.names
            if is_named and (rule.selector is None or matches_labels(rule.selector, cluster.labels)):
                try:
                    current = manifest_after_operations(current, rule.operations)
                except PatchFailed:
                    return False
        if current != wanted[cluster.key]:
            return False
    return True


def _rules_per_cluster(base: Any, members: Reached, wanted: Mapping[str, Any]) -> tuple[Rule, ...]:
    groups: list[tuple[tuple[Operation, ...], list[str]]] = []
    for cluster in members.clusters:
        operations = tuple(operations_between(base, wanted[cluster.key])) if cluster.key in wanted else ()
        if not operations:
            continue
        name = members.names[cluster.key]
        same = next((names for known, names in groups if known == operations), None)
        if same is None:
            groups.append((operations, [name]))
        else:
            same.append(name)
    return tuple(Rule(operations=operations, names=tuple(names)) for operations, names in groups)


def _feed_without_identity_changes(rules: Sequence[Rule], remarks: tuple[Remark, ...]) -> OverriddenFeed:
    kept = []
    for rule in rules:
        operations = tuple(each for each in rule.operations if each["path"] not in _IDENTITY)
        if len(operations) < len(rule.operations):
            remarks = (
                *remarks,
                refused_remark("override-identity", "an override of what the object is has no counterpart"),
            )
        if operations:
            kept.append(replace(rule, operations=operations))
    return OverriddenFeed(rules=tuple(kept), remarks=tuple(dict.fromkeys(remarks)))
