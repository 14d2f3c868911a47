"""Retain rules of the source: what they keep is sent while it is ours, and left to its owner otherwise."""

from typing import Any, NamedTuple

import pytest

from reconciler.plans.retention import RetainFailed, left_to_owners, retention_by
from render.interpreter import Interpreter

from .applying import Cluster, outcomes
from .build import a_config_map, a_deployment
from .tables import each_row

KEEP_SIZE = (
    "function Retain(desiredObj, observedObj) desiredObj.data.size = observedObj.data.size return desiredObj end"
)


def a_rule(script: str, *, api_version: str = "v1", kind: str = "ConfigMap") -> Interpreter:
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "keep"},
        "spec": {
            "target": {"apiVersion": api_version, "kind": kind},
            "customizations": {"retention": {"luaScript": script}},
        },
    }
    return Interpreter.of([customization])


class Kept(NamedTuple):
    """A template, the object a rule made of it, the live one with our fields, and the payload that is sent."""

    why: str
    want: dict[str, Any]
    kept: dict[str, Any]
    live: dict[str, Any]
    fields: dict[str, Any]
    sent: dict[str, Any]


SAID, THERE = {"spec": {"size": 1, "color": "red"}}, {"spec": {"size": 9, "color": "red", "note": "x"}}
OURS: dict[str, Any] = {"f:spec": {"f:size": {}, "f:color": {}}}
THEIRS: dict[str, Any] = {"f:spec": {"f:color": {}}}
FROM_THERE = {"spec": {"size": 9, "color": "red"}}
KEPT = [
    Kept("what is ours is sent as it is there", SAID, FROM_THERE, THERE, OURS, FROM_THERE),
    Kept("what is somebody else's is left out", SAID, FROM_THERE, THERE, THEIRS, {"spec": {"color": "red"}}),
    Kept(
        "what a rule makes up is sent",
        SAID,
        {"spec": {"size": 5, "color": "red"}},
        THERE,
        THEIRS,
        {"spec": {"size": 5, "color": "red"}},
    ),
    Kept("what it takes along is left out", SAID, {"spec": {**SAID["spec"], "note": "x"}}, THERE, OURS, SAID),
    Kept("a whole part it takes along is left out", {}, THERE, THERE, {}, {}),
    Kept("a list is one value", {"l": [1]}, {"l": [1, 2]}, {"l": [1, 2]}, {}, {}),
    Kept("a list of ours is sent whole", {"l": [1]}, {"l": [1, 2]}, {"l": [1, 2]}, {"f:l": {"v:1": {}}}, {"l": [1, 2]}),
    Kept("nothing there", SAID, {"spec": {"size": 1}}, {}, {}, {"spec": {"size": 1}}),
    Kept("an empty part of the template stays", {"spec": {}}, {"spec": {}}, THERE, {}, {"spec": {}}),
]


@each_row("case", KEPT, ids=lambda case: case.why)
def test_what_a_rule_kept(case: Kept) -> None:
    assert left_to_owners(case.want, case.kept, case.live, case.fields) == case.sent


def test_kinds_of_kubernetes_are_kept_by_field_ownership_alone() -> None:
    web = a_deployment("web")
    there = {**web, "spec": {**web["spec"], "replicas": 9}}
    assert retention_by(Interpreter())(web, there) is web
    labelled = {
        **web,
        "metadata": {**web["metadata"], "labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}},
    }
    assert retention_by(Interpreter())(labelled, there) is labelled


def test_a_bundled_rule_is_heard() -> None:
    flow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {}}
    kept = retention_by(Interpreter())(flow, {**flow, "spec": {"suspend": True}})
    assert kept["spec"] == {"suspend": True}


def test_a_rule_never_makes_another_object() -> None:
    renames = a_rule("function Retain(desiredObj) desiredObj.metadata.name = 'other' return desiredObj end")
    with pytest.raises(RetainFailed) as raised:
        retention_by(renames)(a_config_map("settings"), a_config_map("settings"))
    assert str(raised.value) == "ConfigMap settings: Retain makes it another object"


def test_what_somebody_else_sets_stays_and_costs_no_write(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space, size="1", color="red")
    retain = retention_by(a_rule(KEEP_SIZE))
    cluster.apply(settings, retain=retain)
    cluster.edit("configmaps", "settings", {"data": {"size": "9"}}, manager="the-controller")
    for _ in range(2):
        sender = cluster.client()
        assert outcomes(cluster.apply(settings, client=sender, retain=retain)) == {
            "ConfigMap settings": "unchanged UpToDate"
        }
        assert [write for write in sender.writes if write.endswith("/settings")] == []
    newer = {**settings, "data": {"size": "2", "color": "blue"}}
    cluster.apply(newer, retain=retain)
    assert cluster.read("configmaps", "settings")["data"] == {"size": "9", "color": "blue"}


def test_an_object_of_somebody_elses_is_adopted_as_the_rule_keeps_it(cluster: Cluster) -> None:
    there = a_config_map("settings", namespace=cluster.space, size="9", color="red")
    cluster.create("configmaps", there)
    wanted = {**there, "data": {"size": "1", "color": "red"}}
    retain = retention_by(a_rule(KEEP_SIZE))
    assert outcomes(cluster.apply(wanted, retain=retain)) == {"ConfigMap settings": "adopted Equal"}
    assert cluster.read("configmaps", "settings")["data"] == {"size": "9", "color": "red"}


def test_a_rule_that_fails_blocks_its_own_object(cluster: Cluster) -> None:
    names = ("bad", "good")
    maps = {name: a_config_map(name, namespace=cluster.space, size="1") for name in names}
    cluster.apply(*maps.values())
    fails = a_rule("function Retain(d) if d.metadata.name == 'bad' then error('no') end return d end")
    changed = [{**each, "data": {"size": "2"}} for each in maps.values()]
    done = cluster.apply(*changed, retain=retention_by(fails))
    assert outcomes(done) == {"ConfigMap bad": "blocked InterpreterFailed", "ConfigMap good": "configured Changed"}
    failed = next(result for result in done.results if result.ref.name == "bad")
    assert (failed.message, failed.hint) == (
        f"ConfigMap {cluster.space}/bad: Retain: ResourceInterpreterCustomization keep: line 1: no",
        "correct its Retain rule, or see to its webhook",
    )
    assert cluster.read("configmaps", "bad")["data"] == {"size": "1"}
