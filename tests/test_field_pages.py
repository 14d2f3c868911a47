"""Fields of Karmada's kinds are explained, and described as JSON Schema, without any server."""

import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from overrides.admission import all_admitted_kinds
from reconciler.cli import run
from reconciler.reference.field_pages import described_field, is_field_path, page_about_field
from reconciler.reference.karmada import KARMADA_KINDS, karmada_kinds
from reconciler.reference.schemas import INPUTS, json_schema_of_kind, nodes_by_field_path
from render.documents import parse_documents

from .full_objects import definitions_in, objects_of
from .tables import each_row

EXAMPLES = Path(__file__).parent.parent / "examples"
PAGE = """\
GROUP:      policy.karmada.io
KIND:       PropagationPolicy
VERSION:    v1alpha1

FIELD: replicaScheduling <Object>

DESCRIPTION:
    How replicas are assigned; left out, every cluster gets all of them.

FIELDS:
  replicaDivisionPreference\t<string>
  enum: Aggregated, Weighted
    `Aggregated` packs replicas into as few clusters as have room, `Weighted`
    divides them by weights.

  replicaSchedulingType\t<string>
  enum: Duplicated, Divided
  default: Divided
    `Duplicated` gives all replicas to each cluster, `Divided` shares them out.

  weightPreference\t<Object>
    The weights; left out, all clusters have the same.
"""


def explained(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = run(["explain", *words])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def test_a_field_is_explained_outside_of_any_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert explained(capsys, "pp.spec.placement.replicaScheduling") == PAGE


SPELLINGS = ["pp", "propagationpolicy", "propagationpolicies", "PropagationPolicy"]


@pytest.mark.parametrize("word", SPELLINGS)
def test_a_kind_is_known_by_each_of_its_names(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(capsys, f"{word}.spec.placement.replicaScheduling") == PAGE
    assert "  spec\t<Object> -required-\n" in explained(capsys, word)


def test_the_items_of_lists_and_maps_are_gone_through(capsys: pytest.CaptureFixture[str]) -> None:
    path = "cop.spec.overrideRules.overriders.imageOverrider.component"
    assert "FIELD: component <string>\nenum: Registry, Repository, Tag\n" in explained(capsys, path)
    assert "FIELD: spreadConstraints <[]Object>" in explained(capsys, "cpp.spec.placement.spreadConstraints")


def test_all_fields_below_are_listed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    tree = explained(capsys, "remedy.spec", "--recursive")
    assert tree.partition("FIELDS:\n")[2].splitlines()[:4] == [
        "  actions\t<[]string>",
        "  clusterAffinity\t<Object>",
        "    clusterNames\t<[]string>",
        "  decisionMatches\t<[]Object>",
    ]


REFUSED = [
    (["pp.spec.placment"], "PropagationPolicy.spec has no field 'placment'\n  hint: did you mean 'placement'?"),
    (["pp.spec.priority.value"], "PropagationPolicy.spec.priority has no field 'value'"),
    (["pp.spec", "-n", "shop"], "--namespace goes without a field"),
    (["deploy/web", "--recursive"], "--recursive goes with a field of a kind: KIND.FIELD"),
    (["deployments"], "'deployments' names nothing\n  hint: write KIND/NAME"),
    (["deploy.spec.replicas"], "'kubectl explain deploy.spec.replicas'\n"),
    (["deployments.apps"], "write KIND/NAME for an object; fields of"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_is_no_field_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["policy/web", "pp/web", "cluster/paris"])
def test_names_of_objects_are_no_fields(name: str) -> None:
    assert (is_field_path((name,)), is_field_path(tuple(name.split("/")))) == (False, False)


def test_every_kind_that_is_admitted_is_described() -> None:
    assert set(all_admitted_kinds()) | {"ResourceInterpreterWebhookConfiguration"} == {*KARMADA_KINDS, *INPUTS} - {
        "RunSettings"
    }


@each_row("name", KARMADA_KINDS)
def test_every_field_of_karmadas_kinds_has_a_sentence(name: str) -> None:
    kind = karmada_kinds()[name]
    paths = [path.removeprefix(".") for path, _ in nodes_by_field_path(kind.schema, "")]
    assert len(paths) > 8
    assert [path for path in paths if not re.fullmatch(r"(?s)[`A-Z].*\.", kind.sentence(path))] == []


@each_row("name", KARMADA_KINDS)
def test_every_field_can_be_explained(name: str) -> None:
    for path, node in nodes_by_field_path(karmada_kinds()[name].schema, ""):
        assert described_field(f"{name}{path.replace('[]', '')}").node == node


@each_row("name", INPUTS)
def test_a_page_of_argosys_own_kinds_says_what_their_schema_does(name: str) -> None:
    """Once no field of theirs was required, none had a default, and nothing was said of metadata and spec."""
    schema, page = json_schema_of_kind(name), page_about_field(described_field(name))
    assert set(re.findall(r"(?m)^  (\w+)\t.* -required-$", page)) == set(schema["required"]) - {"apiVersion", "kind"}
    for path, _ in nodes_by_field_path(INPUTS[name].schema, ""):
        shape = schema
        for step in path.removeprefix(".").replace("[]", ".[]").split("."):
            shape = shape["items"] if step == "[]" else shape["properties"][step]
        head, _, about = page_about_field(described_field(f"{name}{path.replace('[]', '')}")).partition(
            "\nDESCRIPTION:\n"
        )
        default = shape.get("default")
        said = str(default).lower() if isinstance(default, bool) else str(default)
        assert re.findall(r"(?m)^default: (.*)$", head) == ([] if default is None else [said])
        assert not about.startswith("    -\n")


def test_every_file_of_the_examples_is_as_the_schema_of_its_kind_says() -> None:
    checked = set()
    for path in sorted(EXAMPLES.rglob("*.yaml")):
        for document in parse_documents(path.read_bytes()) if "rendered" not in path.parts else ():
            value = document.value if isinstance(document.value, dict) else {}
            if value.get("kind") in KARMADA_KINDS and "karmada.io" in str(value.get("apiVersion")):
                Draft202012Validator(json_schema_of_kind(value["kind"])).validate(value)
                checked.add(value["kind"])
    assert len(checked) > 6


def test_a_schema_allows_every_field_of_the_kinds_definition(karmada: Path) -> None:
    """All but a metric from outside, which Karmada's webhooks refuse."""
    refused = set()
    for definition in definitions_in(karmada):
        if definition.kind not in KARMADA_KINDS:
            continue
        validator = Draft202012Validator(json_schema_of_kind(definition.kind))
        for steps, each in objects_of(definition):
            errors = () if "external" in steps else validator.iter_errors(each)
            refused |= {(definition.kind, error.json_path, error.message) for error in errors}
    assert refused == set()
