"""Labels and annotations: entries of the object's own metadata."""

from typing import Any, NamedTuple

import pytest

from overrides.draft import Draft
from overrides.overriders.labels import LabelAnnotationOverrider, override_labels_or_annotations

ABSENT: Any = object()


class Entries(NamedTuple):
    why: str
    before: Any
    operator: str
    value: dict[str, str]
    want: Any


ENTRIES = [
    Entries("V56 adding creates the map", ABSENT, "add", {"test2": "test2"}, {"test2": "test2"}),
    Entries("V57 replacing touches what is there", {"foo": "foo", "bar": "bar"}, "replace",
            {"foo": "exist", "non-exist": "x"}, {"foo": "exist", "bar": "bar"}),
    Entries("V58 removing goes by key", {"foo": "foo", "bar": "bar"}, "remove", {"foo": "anything", "non-exist": "x"},
            {"bar": "bar"}),
    Entries("V59 adding overwrites", {"foo": "foo"}, "add", {"foo": "new"}, {"foo": "new"}),
    Entries("V60 a slash is part of a key", {"foo": "foo", "testannotation/projectId": "v"}, "remove",
            {"testannotation/projectId": "x"}, {"foo": "foo"}),
    Entries("V60 and is added as it is", {}, "add", {"testannotation/projectId": "v"},
            {"testannotation/projectId": "v"}),
    Entries("V61 removing from nothing", ABSENT, "remove", {"x": "y"}, ABSENT),
    Entries("replacing in nothing", ABSENT, "replace", {"x": "y"}, ABSENT),
    Entries("the last one leaves an empty map", {"x": "y"}, "remove", {"x": ""}, {}),
    Entries("adding nothing creates no map", ABSENT, "add", {}, ABSENT),
    Entries("adding to entries that are not all strings starts anew", {"a": 1, "b": "x"}, "add", {"c": "d"},
            {"c": "d"}),
    Entries("replacing among such finds none", {"a": 1, "b": "x"}, "replace", {"b": "y"}, {"a": 1, "b": "x"}),
    Entries("removing among such finds none", {"a": 1, "b": "x"}, "remove", {"b": ""}, {"a": 1, "b": "x"}),
    Entries("adding to null", None, "add", {"a": "b"}, {"a": "b"}),
]  # fmt: skip


def manifest(field: str, entries: Any) -> dict[str, Any]:
    metadata = {"name": "web"} if entries is ABSENT else {"name": "web", field: entries}
    return {"kind": "Deployment", "metadata": metadata, "spec": {"template": {"metadata": {field: {"foo": "foo"}}}}}


@pytest.mark.parametrize("field", ["labels", "annotations"])
@pytest.mark.parametrize("case", ENTRIES, ids=lambda case: case.why)
def test_entries_are_edited(case: Entries, field: Any) -> None:
    draft = Draft(manifest(field, case.before))
    override_labels_or_annotations(
        draft, LabelAnnotationOverrider(operator=case.operator, value=case.value), field=field
    )
    assert draft.root == manifest(field, case.want)


def test_an_edit_without_effect_copies_nothing() -> None:
    given = manifest("labels", {"a": "b"})
    draft = Draft(given)
    override_labels_or_annotations(draft, LabelAnnotationOverrider(operator="remove", value={"x": ""}), field="labels")
    assert draft.root is given
