"""Explanations of applied rules: every change, as a person reads it."""

from typing import Any

from overrides.engine import OverrideEngine
from overrides.explanation import RuleEffect, effects_of_rules
from overrides.policy import OverridePolicy
from render.documents import Hole
from tests.build import a_deployment
from tests.overriding import CLUSTERS, a_rule, an_override, labelled, patching, selecting

COP, LABELS, IMAGE = "ClusterOverridePolicy", "/metadata/labels", "/spec/template/spec/containers/0/image"
WEB = a_deployment("web", namespace="shop")


def steps(policies: list[OverridePolicy], manifest: dict[str, Any]) -> tuple[RuleEffect, ...]:
    (overridden,) = OverrideEngine(policies, CLUSTERS).override(manifest, 0b001)
    return effects_of_rules(manifest, overridden.applied)


def told(policies: list[OverridePolicy], manifest: dict[str, Any]) -> list[str]:
    return [
        f"{step.applied.policy} {step.applied.rule}: {'; '.join(map(str, step.changes)) or step.error}"
        for step in steps(policies, manifest)
    ]


def test_every_rule_tells_what_it_changed_in_the_order_they_applied() -> None:
    image = [{"component": "Registry", "operator": "replace", "value": "eu.r.io"}]
    policies = [
        an_override("b", labelled(tier="web", app="x"), a_rule(imageOverrider=image), selectors=selecting(name="web")),
        an_override("a", patching("/spec/replicas", operator="remove")),
        an_override("c", patching("/metadata/labels", {"only": "this"}), a_rule(), namespace="shop"),
    ]
    assert told(policies, WEB) == [
        f"{COP} a spec.overrideRules[0]: /spec/replicas: removed, was 2",
        f'{COP} b spec.overrideRules[0]: {LABELS}/app: "web" -> "x"; {LABELS}/tier: added "web"',
        f'{COP} b spec.overrideRules[1]: {IMAGE}: "nginx:1.29" -> "eu.r.io/nginx:1.29"',
        (
            f'OverridePolicy shop/c spec.overrideRules[0]: {LABELS}/app: removed, was "x"; '
            f'{LABELS}/only: added "this"; {LABELS}/tier: removed, was "web"'
        ),
        "OverridePolicy shop/c spec.overrideRules[1]: None",
    ]


def test_the_rule_that_failed_tells_why_and_is_the_last() -> None:
    policies = [an_override("a", labelled(x="1"), patching("/spec/nope", 1), labelled(y="1"))]
    assert told(policies, WEB) == [
        'ClusterOverridePolicy a spec.overrideRules[0]: /metadata/labels/x: added "1"',
        (
            "ClusterOverridePolicy a spec.overrideRules[1]: ClusterOverridePolicy a: "
            "spec.overrideRules[1].overriders.plaintext[0]: 'nope' does not exist in /spec"
        ),
    ]


def test_a_number_not_known_yet_reads_as_its_name() -> None:
    opened = {**WEB, "spec": {"replicas": Hole("replicas")}}
    assert told([an_override("a", patching("/spec/replicas", 5))], opened) == [
        'ClusterOverridePolicy a spec.overrideRules[0]: /spec/replicas: "(replicas)" -> 5'
    ]


def test_values_of_a_secret_are_hidden() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "shop"},
        "data": {"a": "aGlkZGVu", "b": "bW92ZWQ="},
        "stringData": {"c": "clear"},
    }
    edits = [
        {"path": "/data/a", "operator": "replace", "value": "bmV3"},
        {"path": "/data/b", "operator": "remove"},
        {"path": "/stringData/d", "operator": "add", "value": "clear too"},
        {"path": "/type", "operator": "add", "value": "Opaque"},
        {"path": "/metadata/labels", "operator": "add", "value": {"x": "1"}},
        {"path": "/metadata/annotations", "operator": "add", "value": {"copy": "aGlkZGVu"}},
    ]
    (step,) = steps([an_override("a", a_rule(plaintext=edits))], secret)
    assert sorted(map(str, step.changes)) == [
        "/data/a: (hidden) -> (hidden)",
        "/data/b: removed, was (hidden)",
        "/metadata/annotations: added (hidden)",
        '/metadata/labels: added {"x":"1"}',
        "/stringData/d: added (hidden)",
        '/type: added "Opaque"',
    ]
