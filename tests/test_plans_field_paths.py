"""Field paths as API servers write them, and plain data without what stands at one."""

from typing import Any, NamedTuple

import pytest

from reconciler.plans.field_paths import (
    MISSING,
    Key,
    Member,
    Path,
    parse_path,
    parse_step,
    path_text,
    value_at,
    value_without_path,
)

from .tables import each_row

POD: dict[str, Any] = {
    "metadata": {"labels": {"app.kubernetes.io/name": "web", "tier": "front"}, "finalizers": ["a", "b"]},
    "spec": {"containers": [{"name": "web", "image": "x", "env": [{"name": "A"}]}, {"name": "side"}]},
}


class Text(NamedTuple):
    why: str
    text: str
    path: Path


TEXTS = [
    Text("fields", ".spec.replicas", ("spec", "replicas")),
    Text(
        "an item by name",
        '.spec.containers[name="web"].image',
        ("spec", "containers", Key((("name", "web"),)), "image"),
    ),
    Text("an item by two keys", '.ports[port=80,protocol="TCP"]', ("ports", Key((("port", 80), ("protocol", "TCP"))))),
    Text("a member of a set", '.finalizers[="a.b/c"]', ("finalizers", Member("a.b/c"))),
    Text("brackets in a key", '.x[name="a]b"].y', ("x", Key((("name", "a]b"),)), "y")),
]


@each_row("case", TEXTS, ids=lambda case: case.why)
def test_a_path_is_read_back_as_it_was_written(case: Text) -> None:
    assert parse_path(case.text) == case.path
    assert path_text(case.path) == case.text


def test_the_keys_of_managed_fields_are_steps() -> None:
    assert parse_step("f:spec") == "spec"
    assert parse_step('k:{"protocol":"TCP","port":80}') == Key((("port", 80), ("protocol", "TCP")))
    assert parse_step('v:"a"') == Member("a")
    assert parse_step(".") is None


class Place(NamedTuple):
    why: str
    text: str
    value: Any
    rest: Any


CONTAINERS = POD["spec"]["containers"]
PLACES = [
    Place(
        "a field",
        '.spec.containers[name="web"].image',
        "x",
        {"containers": [{"name": "web", "env": [{"name": "A"}]}, {"name": "side"}]},
    ),
    Place("an item", '.spec.containers[name="side"]', {"name": "side"}, {"containers": [CONTAINERS[0]]}),
    Place(
        "an item of an item",
        '.spec.containers[name="web"].env[name="A"]',
        {"name": "A"},
        {"containers": [{"name": "web", "image": "x"}, {"name": "side"}]},
    ),
    Place("nothing there", ".spec.replicas", MISSING, POD["spec"]),
]


@pytest.mark.parametrize("case", PLACES, ids=lambda case: case.why)
def test_what_stands_at_a_path_and_what_is_left_without_it(case: Place) -> None:
    path = parse_path(case.text)
    assert value_at(POD, path) == case.value
    assert value_without_path(POD, path)["spec"] == case.rest


def test_a_name_with_dots_is_found_though_the_text_does_not_set_it_apart() -> None:
    path = parse_path(".metadata.labels.app.kubernetes.io/name")
    assert value_at(POD, path) == "web"
    assert value_without_path(POD, path)["metadata"]["labels"] == {"tier": "front"}


def test_a_member_of_a_set_is_found_and_taken_out() -> None:
    path = parse_path('.metadata.finalizers[="a"]')
    assert value_at(POD, path) == "a"
    assert value_without_path(POD, path)["metadata"]["finalizers"] == ["b"]


def test_a_mapping_that_loses_everything_goes_with_it() -> None:
    assert value_without_path({"a": {"b": {"c": 1}}, "d": 2}, ("a", "b", "c")) == {"d": 2}


def test_nothing_is_changed_in_place() -> None:
    before = repr(POD)
    for case in PLACES:
        value_without_path(POD, parse_path(case.text))
    assert repr(POD) == before
