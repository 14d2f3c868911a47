"""The reference is whole: every field, annotation, trailer and variable has its place, and schemas say what counts."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from reconciler.cli import COMMANDS, run
from reconciler.reference.exit_codes import EXIT_CODES
from reconciler.reference.fields import FLEET_FIELDS, POLICY_TEST_FIELDS
from reconciler.reference.schemas import INPUTS, KINDS, json_schema_of_kind, nodes_by_field_path
from reconciler.reference.topics import TOPICS, load_topic
from render.admission.findings import Findings
from render.admission.template_annotations import check_template_annotations
from render.documents import parse_documents
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet

from .tables import each_row

ROOT = Path(__file__).parent.parent
SOURCES = [path for name in ("render", "overrides", "reconciler") for path in sorted((ROOT / name).rglob("*.py"))]
OURS = re.compile(r"argosy\.dev/(?!v1)[a-z-]+")
VARIABLE = re.compile(r"""(?<=["'`])ARGOSY_[A-Z_]+[A-Z]\b""")


def entries(name: str) -> set[str]:
    """The names a topic explains."""
    return {entry.name for section in load_topic(name).sections for entry in section.entries}


def literals(pattern: re.Pattern[str]) -> set[str]:
    """Return the matches of a pattern in the code, the pages of reference left out."""
    texts = [path.read_text(encoding="utf-8") for path in SOURCES if path.parent.name != "reference"]
    return {found for text in texts for found in pattern.findall(text)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: str) -> None:
    Draft202012Validator.check_schema(json_schema_of_kind(kind))


@each_row("kind", INPUTS)
def test_every_field_that_people_write_has_its_sentence(kind: str) -> None:
    found = INPUTS[kind]
    assert list(found.fields) == ["metadata.name", *(path for path, _ in nodes_by_field_path(found.spec, "spec"))]


def test_every_sentence_is_whole() -> None:
    about = {path: field.about for path, field in [*FLEET_FIELDS.items(), *POLICY_TEST_FIELDS.items()]}
    assert {path: text for path, text in about.items() if not re.fullmatch(r"(?s)[`A-Z].*\.", text)} == {}


def test_what_counts_when_a_field_is_left_out_is_as_written() -> None:
    written: dict[str, Any] = {}
    for path, field in FLEET_FIELDS.items():
        if field.default is not None:
            *above, name = path.split(".")
            place = written
            for each in above:
                place = place.setdefault(each, {})
            place[name] = field.default
    assert parse_fleet(written) == parse_fleet({}) == Fleet()


class Written(NamedTuple):
    why: str
    spec: dict[str, Any]
    is_right: bool


FLEETS = [
    Written("an empty spec", {}, is_right=True),
    Written("a member by its context", {"clusters": [{"name": "a", "context": "b"}]}, is_right=True),
    Written("a budget", {"movementGuard": {"fleet": {"replicas": 0}}}, is_right=True),
    Written("a typo", {"defaultNamspace": "apps"}, is_right=False),
    Written("an unknown position of a switch", {"claims": "sticky"}, is_right=False),
    Written("a number in quotes", {"removalGuard": {"count": "10"}}, is_right=False),
    Written("a limit below zero", {"movementGuard": {"minimumClusters": -1}}, is_right=False),
    Written("a kind without scope", {"kinds": [{"kind": "B"}]}, is_right=False),
    Written("a text where a list belongs", {"mirrors": "paris"}, is_right=False),
]


@each_row("case", FLEETS, ids=lambda case: case.why)
def test_the_schema_of_a_fleet(case: Written) -> None:
    document = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "x"}, "spec": case.spec}
    assert Draft202012Validator(json_schema_of_kind("Fleet")).is_valid(document) is case.is_right


def test_every_file_of_the_examples_is_as_its_schema_says() -> None:
    checked = set()
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        for document in parse_documents(path.read_bytes()):
            value = document.value if isinstance(document.value, dict) else {}
            if value.get("apiVersion") == "argosy.dev/v1alpha1" and value.get("kind") in INPUTS:
                Draft202012Validator(json_schema_of_kind(value["kind"])).validate(value)
                checked.add(value["kind"])
    assert checked == set(INPUTS)


def test_every_annotation_of_ours_is_explained() -> None:
    assert literals(OURS) - entries("annotations") == set()


def test_every_annotation_of_templates_that_is_explained_is_known_when_they_are_read() -> None:
    (of_templates,) = (
        section for section in load_topic("annotations").sections if section.title == "In resource templates"
    )
    findings = Findings()
    annotations = {entry.name: "true" for entry in of_templates.entries}
    check_template_annotations({"metadata": {"annotations": annotations}}, findings)
    assert [each.field for each in findings.warnings] == ["metadata.annotations[work.karmada.io/conflict-resolution]"]
    assert findings.problems == []


def test_every_annotation_that_is_explained_is_in_the_code() -> None:
    every = re.compile(r"[a-z.]+/[a-z-]+")
    assert entries("annotations") - literals(every) == set()


def test_every_trailer_is_explained() -> None:
    assert literals(re.compile(r"\bArgosy-[A-Z][A-Za-z]*(?:-[A-Z][a-z]+)*\b")) == entries("trailers")


def test_every_variable_of_ours_is_explained() -> None:
    assert literals(VARIABLE) - {"_ARGOSY_COMPLETE", "ARGOSY_COMPLETE"} - entries("environment") == set()


def test_every_exit_code_is_explained() -> None:
    assert entries("exit-codes") == set(map(str, EXIT_CODES))


def test_help_lists_commands_and_topics(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help"]) == 0
    said = capsys.readouterr().out
    assert [name for name in (*COMMANDS, *TOPICS) if f"\n  {name} " not in said] == []
    assert set(COMMANDS) & set(TOPICS) == set()


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_says_everything_it_has(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", name]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{TOPICS[name]}\n\n")
    assert [entry for entry in entries(name) if entry not in said] == []


@pytest.mark.parametrize("words", [["render"], ["cluster"], ["cluster", "join"], ["help"]], ids=" ".join)
def test_help_of_a_command_is_its_own(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--help"]) == 0
    own = capsys.readouterr().out
    assert run(["help", *words]) == 0
    assert capsys.readouterr().out == own


UNKNOWN = [
    (["help", "exitcodes"], "there is no command or topic 'exitcodes'", "did you mean 'exit-codes'?"),
    (["help", "rendr"], "there is no command or topic 'rendr'", "did you mean 'render'?"),
    (["help", "cluster", "jion"], "there is no command or topic 'cluster jion'", "did you mean 'join'?"),
    (["schema", "Fleeet"], "there is no schema of 'Fleeet'", "did you mean 'Fleet'?"),
]


@pytest.mark.parametrize(("words", "said", "hint"), UNKNOWN, ids=lambda value: " ".join(value)[:20])
def test_a_word_that_is_unknown_is_answered_with_the_nearest(
    words: list[str], said: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert capsys.readouterr().err == f"argosy: {said}\n  hint: {hint}\n"


@pytest.mark.parametrize(
    ("noun", "kind"),
    [
        ("pp", "PropagationPolicy"),
        ("cpp", "ClusterPropagationPolicy"),
        ("overridepolicies", "OverridePolicy"),
        ("fhpa", "FederatedHPA"),
        ("propagationpolicies.policy.karmada.io", "PropagationPolicy"),
        ("Fleets", "Fleet"),
        ("helmchart", "HelmChart"),
    ],
)
def test_a_schema_is_found_by_every_name_that_explain_takes(
    noun: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schema", noun]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == kind


def test_a_schema_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "fleet"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema_of_kind("Fleet")
    assert run(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["KIND", *KINDS]
