"""The rules that applied, as messages name them and as Karmada records them on a Work."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import Struct

from render.model import Manifest

from .errors import PolicyOrigin
from .jsontext import json_text
from .overriders import RECORDED_TYPES
from .policy import OverridePolicy, Overriders, RuleWithCluster

APPLIED_CLUSTER_OVERRIDES = "policy.karmada.io/applied-cluster-overrides"
APPLIED_OVERRIDES = "policy.karmada.io/applied-overrides"


class AppliedRule(Struct, frozen=True, kw_only=True):
    """A rule that applied: its policy as ``ClusterOverridePolicy name``, its field path, and its overriders."""

    policy: str
    rule: str
    origin: PolicyOrigin
    source: OverridePolicy
    overriders: Overriders


class RuleRun(NamedTuple):
    """One run of a rule on a manifest; ``place`` is the rule's in the order its round of policies applies.

    The manifests share every part the rule did not touch, and nobody changes either. They are those of the class of
    clusters for which it ran: another class for which it did the same may differ in fields the rule does not reach.
    """

    applied: AppliedRule
    before: Manifest
    after: Manifest
    place: int


def origin_of(policy: OverridePolicy) -> PolicyOrigin:
    """Return the place of a policy."""
    return PolicyOrigin(policy=str(policy), path=policy.path, document=policy.document)


def applied_rule_of_policy(policy: OverridePolicy, rule: RuleWithCluster) -> AppliedRule:
    """Return the record of a rule."""
    return AppliedRule(
        policy=str(policy), rule=rule.path, origin=origin_of(policy), source=policy, overriders=rule.overriders
    )


def applied_annotations(applied: Iterable[AppliedRule]) -> dict[str, str]:
    """Return the annotations Karmada puts on a Work: the rules that applied, by policy name; none if none did."""
    items: dict[str, list[AppliedRule]] = {}
    for rule in applied:
        key = APPLIED_OVERRIDES if rule.source.namespace else APPLIED_CLUSTER_OVERRIDES
        items.setdefault(key, []).append(rule)
    return {key: _json_of_rules(sorted(rules, key=lambda rule: rule.source.name)) for key, rules in items.items()}


def _json_of_rules(rules: Iterable[AppliedRule]) -> str:
    shadows = [{"policyName": rule.source.name, "overriders": plain_overriders(rule.overriders)} for rule in rules]
    return json_text(shadows)


def plain_overriders(overriders: Overriders) -> dict[str, Any]:
    """Return overriders as plain data in the API's spelling and order, empty lists left out."""
    by_type = {each.type.name: list(map(each.type.plain, each.overriders)) for each in overriders.lists}
    return {each.name: by_type[each.name] for each in RECORDED_TYPES if each.name in by_type}
