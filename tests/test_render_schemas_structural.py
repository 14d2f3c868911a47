"""Objects of custom kinds checked against the schemas of their CustomResourceDefinitions, as servers check them."""

import copy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.source.schemas.checks import DefinitionSchemas
from reconciler.source.schemas.kubernetes import KubernetesSchemas
from render.documents import parse_documents
from render.model import ObjectRef, Template
from render.schemas import StructuralSchemas, check_manifest
from tests.build import Repository, a_cluster, a_cluster_policy, argosy, on_clusters
from tests.tables import each_row

VECTOR = (Path(__file__).parent / "vectors/custom_kind.yaml").read_bytes()
DEFINITION, GADGET = (each.value for each in parse_documents(VECTOR))


class Case(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: tuple[str, ...] = ()


CASES = [
    Case("everything right", {}),
    Case("a field that has a default may be missing", {"mode": None}),
    Case("a field that may be null is there", {"note": None}),
    Case("null is no value elsewhere", {"size": None}, ("spec.size: required, but missing",)),
    Case("a misspelt field", {"sizes": 1}, ("spec.sizes: unknown field\n  hint: did you mean 'size'?",)),
    Case("a field of an object that keeps what it is given", {"free": {"other": 1}}),
    Case(
        "a known field of an object that keeps what it is given",
        {"free": {"known": 1}},
        ("spec.free.known: must be a string, not a number\n  hint: put it in quotes",),
    ),
    Case("anything where anything is kept", {"whatever": True}),
    Case("a field of an object without any", {"empty": {"a": 1}}, (
        "spec.empty.a: unknown field\n  hint: known here: nothing",
    )),
    Case("less than the least", {"size": 0}, ("spec.size: must be at least 1",)),
    Case("more than the most", {"size": 11}, ("spec.size: must be at most 10",)),
    Case("too long", {"note": "longer"}, ("spec.note: must be at most 5 characters long",)),
    Case("too short", {"note": ""}, ("spec.note: must be at least 1 characters long",)),
    Case("too many items", {"tags": ["a", "b", "c"]}, ("spec.tags: must have at most 2 items",)),
    Case("too few items", {"tags": []}, ("spec.tags: must have at least 1 items",)),
    Case("too many entries", {"limits": {"a": 1, "b": 1, "c": 1}}, ("spec.limits: must have at most 2 entries",)),
    Case(
        "an entry of another type",
        {"limits": {"a.b": "1"}},
        ("spec.limits[a.b]: must be a whole number, not a string\n  hint: write it without quotes",),
    ),
    Case(
        "another word",
        {"mode": "fast"},
        ("spec.mode: none of the values it may have\n  hint: did you mean 'Fast'?",),
    ),
    Case("an empty word", {"mode": ""}, (
        "spec.mode: none of the values it may have\n  hint: write 'Fast' or 'Slow'",
    )),
    Case("a list for a port", {"port": []}, ("spec.port: must be a whole number or a string, not a list",)),
    Case(
        "an object inside without its kind",
        {"inner": {"apiVersion": "v1", "metadata": {"name": "a"}, "dat": {}}},
        ("spec.inner.dat: unknown field\n  hint: did you mean 'data'?", "spec.inner.kind: required, but missing"),
    ),
]  # fmt: skip


def schemas(definition: Any = DEFINITION) -> DefinitionSchemas:
    template = Template(ref=ObjectRef.of(definition), manifest=definition)
    return DefinitionSchemas([template], KubernetesSchemas().metadata)


def said(manifest: Any, definition: Any = DEFINITION) -> tuple[str, ...]:
    return tuple(str(each).removeprefix(": ") for each in schemas(definition).findings(manifest).problems)


@each_row("case", CASES, ids=lambda case: case.why)
def test_a_value_is_checked(case: Case) -> None:
    assert said({**GADGET, "spec": {**GADGET["spec"], **case.spec}}) == case.want


def test_the_root_is_checked_with_its_metadata() -> None:
    wrong = {**GADGET, "metadata": {"name": "a", "lables": {}}, "specs": {}}
    assert said(wrong) == (
        "specs: unknown field\n  hint: did you mean 'spec'?",
        "metadata.lables: unknown field\n  hint: did you mean 'labels'?",
    )


def test_a_version_that_is_not_served_is_named() -> None:
    assert said({**GADGET, "apiVersion": "schemas.example.com/v1alpha1"}) == (
        (
            "apiVersion: its CustomResourceDefinition does not serve Gadget in 'schemas.example.com/v1alpha1'\n"
            "  hint: write 'schemas.example.com/v1'"
        ),
    )


def test_a_definition_that_keeps_everything_checks_nothing() -> None:
    definition = copy.deepcopy(DEFINITION)
    definition["spec"]["preserveUnknownFields"] = True
    assert said({**GADGET, "spec": {"bogus": 1}}, definition) == ()


def test_a_broken_definition_is_the_only_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    select = [{"apiVersion": "schemas.example.com/v1", "kind": "Gadget"}]
    policy = a_cluster_policy("all", selectors=select, placement=on_clusters("m"))
    wrong = {**GADGET, "spec": {**GADGET["spec"], "sizes": 3}}
    repository.commit({"clusters/m.yaml": a_cluster("m"), "policy.yaml": policy, "a.yaml": DEFINITION, "b.yaml": wrong})
    problem = "b.yaml:31: spec.sizes: unknown field\n  hint: did you mean 'size'?\n"
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.startswith(problem)) == (3, True)
    broken = copy.deepcopy(DEFINITION)
    broken["spec"]["name"] = broken["spec"].pop("names")
    broken["spec"]["names"] = {"kind": "Gadget", "pural": "gadgets"}
    repository.commit({"a.yaml": broken})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, "b.yaml" in ended.out, "spec.names.pural: unknown field" in ended.out) == (3, False, True)


def test_nothing_stands_twice_in_a_set() -> None:
    tags = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    check = StructuralSchemas(lambda *_: None).of_object({"properties": {"tags": tags}})
    assert check_manifest(check, {"tags": ["a", "b"]}).problems == []
    assert list(map(str, check_manifest(check, {"tags": ["a", "b", "a"]}).problems)) == [
        "tags[2]: stands in the list before"
    ]


def test_entries_of_a_map_list_are_told_apart_by_their_keys() -> None:
    """A key that is not written counts as its default."""
    fields = {"name": {"type": "string"}, "kind": {"type": "string", "default": "Service"}}
    entries = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "kind"],
        "items": {"type": "object", "properties": fields},
    }
    check = StructuralSchemas(lambda *_: None).of_object({"properties": {"entries": entries}})
    assert check_manifest(check, {"entries": [{"name": "a"}, {"name": "a", "kind": "Other"}]}).problems == []
    found = check_manifest(check, {"entries": [{"name": "a"}, {"name": "a", "kind": "Service"}]}).problems
    assert list(map(str, found)) == ["entries[1]: an entry before it has the same name and kind"]
