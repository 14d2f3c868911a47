"""The applied overrides, as Karmada records them on a Work."""

import json
from typing import Any

from overrides.engine import OverrideEngine
from overrides.record import APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES, applied_annotations
from tests.build import a_deployment
from tests.overriding import CLUSTERS, a_rule, an_override, labelled, selecting

WEB = a_deployment("web", namespace="shop")

# Every field there is, in the API's order.
EVERYTHING: dict[str, Any] = {
    "plaintext": [
        {"path": "/metadata/annotations", "operator": "add", "value": {"text": '{"a":1}', "yaml": ""}},
        {"path": "/metadata/annotations/yaml", "operator": "remove", "value": None},
    ],
    "imageOverrider": [
        {"component": "Registry", "operator": "remove"},
        {
            "predicate": {"path": "/spec/template/spec/containers/0/image"},
            "component": "Tag",
            "operator": "replace",
            "value": "<v2>",
        },
    ],
    "commandOverrider": [{"containerName": "web", "operator": "remove"}],
    "argsOverrider": [{"containerName": "web", "operator": "add", "value": ["-v"]}],
    "labelsOverrider": [{"operator": "add", "value": {"a": "1", "b": "2"}}],
    "annotationsOverrider": [{"operator": "add", "value": {"text": "{}"}}],
    "fieldOverrider": [
        {
            "fieldPath": "/metadata/annotations/text",
            "json": [{"subPath": "/a", "operator": "add", "value": 1.5}],
        },
        {
            "fieldPath": "/metadata/annotations/text",
            "yaml": [{"subPath": "/a", "operator": "remove", "value": None}],
        },
    ],
}


def annotations(*policies: Any) -> dict[str, str]:
    (overridden,) = OverrideEngine(policies, CLUSTERS).override(WEB, 0b001)
    assert overridden.error is None
    return applied_annotations(overridden.applied)


def test_a_rule_is_recorded_as_it_was_written() -> None:
    recorded = annotations(an_override("p", a_rule(**EVERYTHING)))
    want = json.dumps([{"policyName": "p", "overriders": EVERYTHING}], separators=(",", ":"))
    assert recorded == {APPLIED_CLUSTER_OVERRIDES: want.replace("<", "\\u003c").replace(">", "\\u003e")}


def test_rules_are_recorded_by_policy_name_whatever_their_order() -> None:
    recorded = annotations(
        an_override("b", labelled(x="1")),
        an_override("a", labelled(x="2"), labelled(x="3"), selectors=selecting(name="web")),
        an_override("c", a_rule(), namespace="shop"),
        an_override("d", labelled(on="us-1", x="4")),
    )

    def item(name: str, value: str) -> dict[str, Any]:
        return {"policyName": name, "overriders": {"labelsOverrider": [{"operator": "add", "value": {"x": value}}]}}

    assert {key: json.loads(text) for key, text in recorded.items()} == {
        APPLIED_CLUSTER_OVERRIDES: [item("a", "2"), item("a", "3"), item("b", "1")],
        APPLIED_OVERRIDES: [{"policyName": "c", "overriders": {}}],
    }


def test_nothing_is_recorded_where_nothing_applied() -> None:
    assert annotations(an_override("p", labelled(on="us-1", x="1"))) == {}
