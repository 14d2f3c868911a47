"""A rule runs anew wherever what it reads has another value: nothing a rule reaches is forgotten."""

from typing import Any, NamedTuple

from overrides.draft import Draft
from overrides.engine import OverrideEngine
from overrides.rules import compile_recorded_rule, run_edits_of_rule
from render.model import Manifest
from tests.overriding import CLUSTERS, EVERY, a_rule, an_override, patching
from tests.tables import each_row

IMAGE = "/spec/template/spec/containers/0/image"
OBJECT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "1"}, "annotations": {"a": "1"}},
    "spec": {
        "template": {"spec": {"containers": [{"name": "web", "image": "web:1", "command": ["a"], "args": ["a"]}]}},
        "list": ["a"],
    },
    "data": {"json": '{"a":1}', "yaml": "a: 1\n"},
    "a~1b": {"image": "read:1"},
    "a/b": {"image": "written:1"},
}


class Reach(NamedTuple):
    why: str
    first: dict[str, Any]
    second: dict[str, Any]


def tagged(**predicate: Any) -> dict[str, Any]:
    return a_rule(imageOverrider=[{"component": "Tag", "operator": "add", "value": "-x", **predicate}])


def words(kind: str) -> dict[str, Any]:
    return a_rule(**{kind: [{"containerName": "web", "operator": "add", "value": ["b"]}]})


def entries(kind: str, operator: str) -> dict[str, Any]:
    return a_rule(**{kind: [{"operator": operator, "value": {"b": "2"}}]})


def text(name: str) -> dict[str, Any]:
    edits = {name: [{"subPath": "/b", "operator": "add", "value": 2}]}
    return a_rule(fieldOverrider=[{"fieldPath": f"/data/{name}", **edits}])


CASES = [
    Reach("images", patching(IMAGE, "web:2", on="eu-1"), tagged()),
    Reach("the image of a predicate", patching(IMAGE, "web:2", on="eu-1"), tagged(predicate={"path": IMAGE})),
    Reach(
        "a predicate reads where its words say",
        patching("/a~01b/image", "read:2", on="eu-1"),
        tagged(predicate={"path": "/a~1b/image"}),
    ),
    Reach(
        "a predicate writes where its path says",
        patching("/a~1b", {"image": "written:2", "more": True}, on="eu-1"),
        tagged(predicate={"path": "/a~1b/image"}),
    ),
    Reach(
        "commands", patching("/spec/template/spec/containers/0/command", ["c"], on="eu-1"), words("commandOverrider")
    ),
    Reach("args", patching("/spec/template/spec/containers/0/args", ["c"], on="eu-1"), words("argsOverrider")),
    Reach("labels", patching("/metadata/labels", {"b": "1"}, on="eu-1"), entries("labelsOverrider", "replace")),
    Reach("annotations", patching("/metadata/annotations", {}, on="eu-1"), entries("annotationsOverrider", "add")),
    Reach("a JSON text", patching("/data/json", '{"a":3}', on="eu-1"), text("json")),
    Reach("a YAML text", patching("/data/yaml", "a: 3\n", on="eu-1"), text("yaml")),
    Reach("a patch", patching("/spec/list", [], on="eu-1"), patching("/spec/list/-", "b", operator="add")),
    Reach(
        "a patch of what comes", patching("/new", {}, operator="add", on="eu-1"), patching("/new", 1, operator="add")
    ),
    Reach(
        "a patch of what goes", patching("/data", operator="remove", on="eu-1"), patching("/data", {}, operator="add")
    ),
    Reach("a field that goes", patching("/spec/list", [], on="eu-1"), patching("/data", operator="remove")),
    Reach(
        "a path with words before its first slash",
        patching("/spec/list", [], on="eu-1"),
        patching("x/spec/list/-", "b", operator="add"),
    ),
    Reach(
        "the whole object",
        patching("/spec/list", [], on="eu-1"),
        patching("", {key: OBJECT[key] for key in ("apiVersion", "kind", "metadata")}),
    ),
    Reach(
        "several fields",
        patching("/data/json", "{}", on="eu-1"),
        {"overriders": {**tagged()["overriders"], **text("json")["overriders"]}},
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_what_another_rule_left_there_counts(case: Reach) -> None:
    policies = [an_override("a", case.first), an_override("b", case.second)]
    classes = OverrideEngine(policies, CLUSTERS).override(OBJECT, EVERY)
    assert [overridden.clusters for overridden in classes] == [0b001, 0b110]
    for overridden in classes:
        alone: Manifest = OBJECT
        for record in overridden.applied:
            draft = Draft(alone)
            assert run_edits_of_rule(compile_recorded_rule(record), draft) is None
            alone = draft.root
        assert overridden.manifest == alone


def test_what_a_rule_leaves_as_it_is_is_not_copied() -> None:
    idle = a_rule(labelsOverrider=[{"operator": "remove", "value": {"nowhere": ""}}])
    policies = [an_override("a", patching("/spec/list", [], on="eu-1")), an_override("b", idle)]
    own, others = OverrideEngine(policies, CLUSTERS).override(OBJECT, EVERY)
    assert own.manifest is own.runs[0].after
    assert others.manifest is OBJECT


def test_what_cannot_be_applied_to_one_is_tried_on_another() -> None:
    policies = [
        an_override("a", patching("/spec/nope", 1, operator="add", on="eu-1")),
        an_override("b", patching("/spec/nope", 2)),
    ]
    own, others = OverrideEngine(policies, CLUSTERS).override(OBJECT, EVERY)
    assert (own.error, own.manifest) == (None, {**OBJECT, "spec": {**OBJECT["spec"], "nope": 2}})
    assert str(others.error) == (
        "ClusterOverridePolicy b: spec.overrideRules[0].overriders.plaintext[0]: 'nope' does not exist in /spec"
    )
