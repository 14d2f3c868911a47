"""The rules that applied, as messages name them and as Karmada records them on a Work."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import Struct

from render.model import Manifest

from .errors import PolicyOrigin
from .jsontext import json_text
from .policy import (
    CommandArgsOverrider,
    FieldOverrider,
    ImageOverrider,
    LabelAnnotationOverrider,
    OverridePolicy,
    Overriders,
    PlaintextOverrider,
    RuleWithCluster,
)

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


def applied_rule(policy: OverridePolicy, rule: RuleWithCluster) -> AppliedRule:
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
    return {key: _json(sorted(rules, key=lambda rule: rule.source.name)) for key, rules in items.items()}


def _json(rules: Iterable[AppliedRule]) -> str:
    shadows = [{"policyName": rule.source.name, "overriders": overriders_of(rule.overriders)} for rule in rules]
    return json_text(shadows)


def overriders_of(overriders: Overriders) -> dict[str, Any]:
    """Return overriders as plain data in the API's spelling, empty lists left out."""
    lists = {
        "plaintext": [_plaintext(each, "path") for each in overriders.plaintext],
        "imageOverrider": [_image(each) for each in overriders.image],
        "commandOverrider": [_words(each) for each in overriders.command],
        "argsOverrider": [_words(each) for each in overriders.args],
        "labelsOverrider": [_entries(each) for each in overriders.labels],
        "annotationsOverrider": [_entries(each) for each in overriders.annotations],
        "fieldOverrider": [_field(each) for each in overriders.field],
    }
    return {key: value for key, value in lists.items() if value}


def _plaintext(overrider: PlaintextOverrider, path: str) -> dict[str, Any]:
    return {path: overrider.path, "operator": overrider.operator, "value": overrider.value}


def _image(overrider: ImageOverrider) -> dict[str, Any]:
    predicate = {} if overrider.predicate is None else {"predicate": {"path": overrider.predicate}}
    return {
        **predicate,
        "component": overrider.component,
        "operator": overrider.operator,
        **_given("value", overrider.value),
    }


def _words(overrider: CommandArgsOverrider) -> dict[str, Any]:
    words = _given("value", list(overrider.value))
    return {"containerName": overrider.container_name, "operator": overrider.operator, **words}


def _entries(overrider: LabelAnnotationOverrider) -> dict[str, Any]:
    return {"operator": overrider.operator, "value": dict(sorted(overrider.value.items()))}


def _field(overrider: FieldOverrider) -> dict[str, Any]:
    patches = {"json": overrider.json, "yaml": overrider.yaml}
    formats = {name: [_plaintext(each, "subPath") for each in patch] for name, patch in patches.items() if patch}
    return {"fieldPath": overrider.field_path, **formats}


def _given(key: str, value: Any) -> dict[str, Any]:
    return {key: value} if value else {}
