"""Each type of overrider says all that the rest of Argosy asks it: a new one fails here until it has a sample."""

import json
from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from overrides.admission import admit
from overrides.engine import OverrideEngine
from overrides.overriders import OVERRIDER_TYPES, RECORDED_TYPES
from overrides.overriders.overrider_type import REMOVED, OverriderType
from overrides.parsing import parse_override_policy
from overrides.policy import OverridePolicy
from overrides.record import plain_overriders
from render.model import Manifest
from tests.overriding import CLUSTERS, a_rule, results


class Sample(NamedTuple):
    """An entry, the fields of ``an_object`` that it changes, and the pointer that it names.

    ``name`` is a name that the entry would change if its pointer led there.
    """

    entry: dict[str, Any]
    changed: dict[str, Any]
    pointer: str | None = None
    may_harm: bool = False
    may_annotate: bool = False
    name: str = "web"


def an_object(**changed: Any) -> dict[str, Any]:
    """Return the object that samples change, with some top-level fields changed."""
    container = {"name": "web", "image": "r.io/web:1", "command": ["web"], "args": ["-v"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "1"}, "annotations": {"a": '{"b":1}'}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [container]}}},
        "data": {"text": "b: 1\n"},
        **changed,
    }


def a_spec(**changed: Any) -> dict[str, Any]:
    spec = deepcopy(an_object()["spec"])
    spec["template"]["spec"]["containers"][0].update(changed)
    return {"spec": spec}


def metadata(**changed: Any) -> dict[str, Any]:
    return {"metadata": {**an_object()["metadata"], **changed}}


IMAGE = "/spec/template/spec/containers/0/image"
SAMPLES: dict[str, Sample] = {
    "imageOverrider": Sample(
        {"predicate": {"path": IMAGE}, "component": "Tag", "operator": "replace", "value": "2"},
        a_spec(image="r.io/web:2"),
        pointer=IMAGE,
        name="web:1",
    ),
    "commandOverrider": Sample(
        {"containerName": "web", "operator": "add", "value": ["run"]}, a_spec(command=["web", "run"])
    ),
    "argsOverrider": Sample({"containerName": "web", "operator": "remove", "value": ["-v"]}, a_spec(args=[])),
    "labelsOverrider": Sample({"operator": "replace", "value": {"a": "2"}}, metadata(labels={"a": "2"})),
    "annotationsOverrider": Sample(
        {"operator": "remove", "value": {"a": ""}}, metadata(annotations={}), may_annotate=True
    ),
    "fieldOverrider": Sample(
        {"fieldPath": "/data/text", "yaml": [{"subPath": "/b", "operator": "replace", "value": 2}]},
        {"data": {"text": "b: 2\n"}},
        pointer="/data/text",
        name="b: 1",
        may_harm=True,
        may_annotate=True,
    ),
    "plaintext": Sample(
        {"path": "/spec", "operator": "add", "value": {"replicas": 3}},
        {"spec": {"replicas": 3}},
        pointer="/spec",
        may_harm=True,
        may_annotate=True,
    ),
}
"""A sample by the name of each type."""

every_type = pytest.mark.parametrize("type_", OVERRIDER_TYPES, ids=lambda type_: str(type_.name))


def a_policy(type_: OverriderType[Any], entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "p"},
        "spec": {"overrideRules": [a_rule(**{type_.name: [entry]})]},
    }


def parsed(type_: OverriderType[Any], entry: dict[str, Any]) -> OverridePolicy:
    return parse_override_policy(a_policy(type_, entry))


def overridden(type_: OverriderType[Any], manifest: Manifest) -> Any:
    return results([parsed(type_, SAMPLES[type_.name].entry)], manifest)["eu-1"]


def test_every_type_has_a_sample() -> None:
    """Add a sample of a new type to ``SAMPLES``; the tests below say what else its value must state."""
    assert {each.name for each in OVERRIDER_TYPES} == SAMPLES.keys()


def test_every_type_is_recorded_once() -> None:
    assert sorted(each.name for each in RECORDED_TYPES) == sorted(SAMPLES)


@every_type
def test_a_sample_is_admitted_and_a_mistyped_field_of_it_is_not(type_: OverriderType[Any]) -> None:
    admitted = admit(a_policy(type_, SAMPLES[type_.name].entry))
    assert (admitted.problems, admitted.warnings) == ((), ())
    found = admit(a_policy(type_, {**SAMPLES[type_.name].entry, "operatr": "add"})).problems
    field = f"spec.overrideRules[0].overriders.{type_.name}[0].operatr"
    assert [(each.field, each.message) for each in found] == [(field, "unknown field")]


@every_type
def test_a_sample_is_recorded_as_it_was_written(type_: OverriderType[Any]) -> None:
    (rule,) = parsed(type_, SAMPLES[type_.name].entry).rules
    assert plain_overriders(rule.overriders) == {type_.name: [SAMPLES[type_.name].entry]}


@every_type
def test_a_sample_changes_what_it_says_and_leaves_the_object_alone(type_: OverriderType[Any]) -> None:
    given = an_object()
    assert overridden(type_, given) == an_object(**SAMPLES[type_.name].changed)
    assert given == an_object()


@every_type
def test_nothing_outside_of_its_reach_is_read_or_changed(type_: OverriderType[Any]) -> None:
    (rule,) = parsed(type_, SAMPLES[type_.name].entry).rules
    (overrider,) = rule.overriders.lists[0].overriders
    reach = set(type_.reach(overrider))
    assert reach & {None, *SAMPLES[type_.name].changed}
    for field in ("metadata", "spec", "data"):
        if None not in reach and field not in reach:
            # Without a name the object could not be told from others, and no type reaches it there.
            other = metadata(labels={}, annotations={}) if field == "metadata" else {field: {}}
            assert overridden(type_, an_object(**other)) == an_object(**{**SAMPLES[type_.name].changed, **other})


@every_type
def test_an_identity_is_not_changed_where_authors_choose_the_path(type_: OverriderType[Any]) -> None:
    sample = SAMPLES[type_.name]
    (rule,) = parsed(type_, sample.entry).rules
    (overrider,) = rule.overriders.lists[0].overriders
    assert type_.pointer(overrider) == sample.pointer
    assert (sample.pointer is not None) == ('"/' in json.dumps(sample.entry))
    if sample.pointer is not None:
        elsewhere = json.loads(json.dumps(sample.entry).replace(json.dumps(sample.pointer), '"/metadata/name"'))
        (found,) = OverrideEngine([parsed(type_, elsewhere)], CLUSTERS).override(
            an_object(**metadata(name=sample.name)), 0b001
        )
        assert found.manifest is None
        assert found.error is not None
        assert "metadata.name" in found.error.message


@every_type
def test_what_it_may_do_is_said(type_: OverriderType[Any]) -> None:
    sample = SAMPLES[type_.name]
    (rule,) = parsed(type_, sample.entry).rules
    assert (rule.overriders.may_harm, rule.overriders.may_annotate) == (sample.may_harm, sample.may_annotate)


@every_type
def test_a_setting_is_what_stands_there_afterwards(type_: OverriderType[Any]) -> None:
    """Two policies that set one path differently are told of, so what is said of a path must be true."""
    sample = SAMPLES[type_.name]
    (rule,) = parsed(type_, sample.entry).rules
    (overrider,) = rule.overriders.lists[0].overriders
    after = an_object(**sample.changed)
    for path, value in type_.settings(overrider):
        if path.startswith("/"):
            assert value_at(after, path) == (None if value is REMOVED else value)


def value_at(manifest: Any, path: str) -> Any:
    for key in path[1:].split("/"):
        manifest = manifest.get(key) if isinstance(manifest, dict) else None
    return manifest
