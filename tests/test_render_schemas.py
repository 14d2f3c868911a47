"""Values checked against schemas: each finding with its path and message, and what is right without one."""

from typing import Any, NamedTuple

from render.documents import Hole
from render.schemas import SchemaSet, check_manifest
from render.schemas.steps import path_of_steps

from .tables import each_row

DEFINITIONS: dict[str, Any] = {
    "Object": {
        "properties": {
            "spec": {"$ref": "Spec"},
            "data": {"type": "object", "additionalProperties": {"type": "string", "format": "byte"}},
            "any": {},
            "shape": {"type": "object"},
        }
    },
    "Spec": {
        "properties": {
            "replicas": {"type": "integer", "format": "int32"},
            "generation": {"type": "integer", "format": "int64"},
            "paused": {"type": "boolean"},
            "name": {"type": "string"},
            "ratio": {"type": "number"},
            "policy": {"type": "string", "enum": ["Always", "Never", "OnFailure"]},
            "port": {"x-kubernetes-int-or-string": True},
            "cpu": {"format": "quantity"},
            "since": {"type": "string", "format": "date-time"},
            "args": {"type": "array", "items": {"type": "string"}},
            "children": {"type": "array", "items": {"$ref": "Spec"}},
        },
        "required": ["name"],
    },
}


class Case(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: tuple[str, ...] = ()


CASES = [
    Case("everything right", {"name": "a", "replicas": 2, "paused": True, "args": ["a"], "port": 80, "cpu": "500m"}),
    Case("a null is no value", {"name": "a", "replicas": None, "args": None, "children": [None], "policy": None}),
    Case("a required field is missing", {}, (":0: spec.name: required, but missing",)),
    Case("a required field is null", {"name": None}, (":0: spec.name: required, but missing",)),
    Case(
        "a field nearly of a known name",
        {"name": "a", "replica": 4},
        (":0: spec.replica: unknown field\n  hint: did you mean 'replicas'?",),
    ),
    Case(
        "a field like no other",
        {"name": "a", "x": 4},
        (f":0: spec.x: unknown field\n  hint: known here: {', '.join(sorted(DEFINITIONS['Spec']['properties']))}",),
    ),
    Case(
        "a number for a text",
        {"name": 80},
        (":0: spec.name: must be a string, not a number\n  hint: put it in quotes",),
    ),
    Case(
        "a text for a number",
        {"name": "a", "replicas": "4"},
        (":0: spec.replicas: must be a whole number, not a string\n  hint: write it without quotes",),
    ),
    Case("a fraction", {"name": "a", "replicas": 1.5}, (":0: spec.replicas: must be a whole number",)),
    Case("a whole number written with a point", {"name": "a", "replicas": 2.0, "port": 80.0}),
    Case("a number still to be filled in", {"name": "a", "replicas": Hole("replicas"), "port": Hole("replicas")}),
    Case(
        "too large for 32 bits",
        {"name": "a", "replicas": 1 << 31, "generation": 1 << 31},
        (":0: spec.replicas: must be from -2147483648 to 2147483647",),
    ),
    Case(
        "a text for a flag",
        {"name": "a", "paused": "true"},
        (":0: spec.paused: must be a boolean, not a string\n  hint: write true or false, without quotes",),
    ),
    Case("a ratio", {"name": "a", "ratio": 0.5}),
    Case("a text for a ratio", {"name": "a", "ratio": "1"}, (":0: spec.ratio: must be a number, not a string",)),
    Case(
        "a word in other letters",
        {"name": "a", "policy": "always"},
        (":0: spec.policy: none of the values it may have\n  hint: did you mean 'Always'?",),
    ),
    Case(
        "another word",
        {"name": "a", "policy": "x"},
        (":0: spec.policy: none of the values it may have\n  hint: write 'Always', 'Never' or 'OnFailure'",),
    ),
    Case("an empty word is left to its default", {"name": "a", "policy": ""}),
    Case("a port by name", {"name": "a", "port": "http"}),
    Case("a list of ports", {"name": "a", "port": [80]}, (
        ":0: spec.port: must be a whole number or a string, not a list",
    )),
    Case("quantities", {"name": "a", "cpu": 0.5, "children": [{"name": "b", "cpu": 1}, {"name": "b", "cpu": "1e3"}]}),
    Case(
        "no quantity",
        {"name": "a", "cpu": "1 core"},
        (":0: spec.cpu: must be a quantity such as '500m', '2' or '64Mi'",),
    ),
    Case(
        "a flag for a quantity",
        {"name": "a", "cpu": True},
        (":0: spec.cpu: must be a quantity such as '500m', '2' or '64Mi', not a boolean",),
    ),
    Case("a time", {"name": "a", "since": "2026-01-02T03:04:05.5+01:00"}),
    Case(
        "a day for a time",
        {"name": "a", "since": "2026-01-02"},
        (":0: spec.since: must be a time of RFC 3339, such as '2026-01-02T03:04:05Z'",),
    ),
    Case(
        "a day that no calendar has",
        {"name": "a", "since": "2026-02-30T03:04:05Z"},
        (":0: spec.since: must be a time of RFC 3339, such as '2026-01-02T03:04:05Z'",),
    ),
    Case(
        "a text for a list",
        {"name": "a", "args": "x"},
        (":0: spec.args: must be a list, not a string\n  hint: write it as a list, also of one",),
    ),
    Case(
        "deep inside",
        {"name": "a", "children": [{"name": "b"}, {"nam": "c"}]},
        (
            ":0: spec.children[1].nam: unknown field\n  hint: did you mean 'name'?",
            ":0: spec.children[1].name: required, but missing",
        ),
    ),
    Case("a text for an object", {"name": "a", "children": ["x"]}, (
        ":0: spec.children[0]: must be an object, not a string",
    )),
]  # fmt: skip


def said(manifest: dict[str, Any]) -> tuple[str, ...]:
    check = SchemaSet(DEFINITIONS.__getitem__).of_definition("Object")
    return tuple(f":0: {str(problem).lstrip(': ')}" for problem in check_manifest(check, manifest).problems)


@each_row("case", CASES, ids=lambda case: case.why)
def test_a_value_is_checked(case: Case) -> None:
    assert said({"spec": case.spec}) == case.want


def test_maps_and_free_values_are_checked_as_far_as_they_are_told() -> None:
    manifest = {"data": {"a.b": "no base64", "good": "AAEC\n"}, "any": [1, {"x": None}], "shape": {"x": 1}}
    assert said(manifest) == (":0: data[a.b]: must be base64",)
    wrong = (":0: data: must be an object, not a list", ":0: shape: must be an object, not a string")
    assert said({"data": [], "shape": "x"}) == wrong


def test_steps_are_written_as_a_path() -> None:
    assert (
        path_of_steps(((((None, "metadata"), "annotations"), "example.com/a"), 0))
        == "metadata.annotations[example.com/a][0]"
    )
    assert path_of_steps(None) == ""
