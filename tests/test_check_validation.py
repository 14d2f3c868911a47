"""``argosy validate`` in every form, through the command line; and what its forms must survive."""

import json
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.check.reports import annotations_of_validation, junit_of_validation, sarif_of_validation
from reconciler.check.source_warnings import pruned_field_warnings
from reconciler.check.validation import Validation
from reconciler.console.junit import JUnitCase, JUnitSuite, junit_xml
from render.errors import Problem
from render.model import ObjectRef, Template
from tests.build import NGINX, Ended, Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from tests.tables import each_row

WARNED = a_policy(selectors=[{**NGINX, "name": "ngnix"}, NGINX])
BROKEN: dict[str, Any] = {**a_policy(), "spec": {"resourceSelectors": [], "plcement": {}}}
HINT = "did you mean 'nginx'?"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.commit({"member1.yaml": a_cluster("member1"), "nginx.yaml": a_deployment(), "policy.yaml": WARNED})
    return made


def validate(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str) -> Ended:
    return argosy(repository, capsys, "validate", *options)


def test_a_warning_stands_at_its_line(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        f"policy.yaml:8: spec.resourceSelectors[0]: selects no template\n  hint: {HINT}\n"
        "0 problems, 1 warning: 1 template, 1 propagation policy, 0 override policies, 1 cluster in 3 files\n"
    )
    assert validate(repository, capsys) == (0, f"warning: {text}", "")
    assert validate(repository, capsys, "--strict") == (1, f"error: {text}", "")


def test_github_shows_it_beside_the_line(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    where = "file=policy.yaml,line=8,title=spec.resourceSelectors[0]"
    text = f" {where}::selects no template%0Ahint: {HINT}\n"
    assert validate(repository, capsys, "-o", "github") == (0, f"::warning{text}", "")
    assert validate(repository, capsys, "-o", "github", "--strict") == (1, f"::error{text}", "")


def test_sarif_names_the_rule(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    run = json.loads(validate(repository, capsys, "-o", "sarif").out)["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    result = run["results"][0]
    del result["partialFingerprints"]
    place = {"artifactLocation": {"uri": "policy.yaml"}, "region": {"startLine": 8}}
    assert rules == [
        {"id": "UnmatchedSelector", "shortDescription": {"text": "A resource selector that selects nothing"}}
    ]
    assert result == {
        "ruleId": "UnmatchedSelector",
        "level": "warning",
        "message": {"text": f"spec.resourceSelectors[0]: selects no template\nHint: {HINT}"},
        "locations": [{"physicalLocation": place}],
    }


def test_junit_fails_only_what_is_strict(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    said = f"policy.yaml:8: spec.resourceSelectors[0]: selects no template\n  hint: {HINT}"
    passed = ET.fromstring(validate(repository, capsys, "-o", "junit").out)
    failed = ET.fromstring(validate(repository, capsys, "-o", "junit", "--strict").out)
    assert (passed.attrib, passed.findtext(".//system-out")) == ({"tests": "1", "failures": "0"}, said)
    assert (failed.attrib, failed.findtext(".//failure")) == ({"tests": "1", "failures": "1"}, said)


def test_a_broken_source_is_not_looked_at_any_further(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"broken.yaml": BROKEN})
    ended = validate(repository, capsys, "-o", "github")
    assert (ended.code, [line.partition("::")[2].partition(" ")[0] for line in ended.out.splitlines()]) == (
        3,
        ["error", "error"],
    )


def test_a_tree_is_compared_with_the_commit_rendered_before(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = {"apiVersion": "v1", "kind": "ConfigMap"}
    placement = on_clusters("member1")
    repository.commit({"policy.yaml": a_policy("all", selectors=[everything], placement=placement)})
    repository.commit({"one.yaml": a_config_map("one")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    better = a_policy("one", selectors=[{**everything, "name": "one"}], placement=placement)
    repository.write({"better.yaml": better, "two.yaml": a_config_map("two")})
    assert validate(repository, capsys).out.splitlines()[0] == (
        "warning: better.yaml:1: it takes ConfigMap default/one over from PropagationPolicy default/all,"
        " where Karmada would leave what is claimed"
    )


def test_a_cluster_that_was_renamed_by_hand_is_asked_about(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    everywhere = a_policy(placement={})
    repository.commit({"policy.yaml": everywhere, "member1.yaml": a_cluster("member1", region="eu")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    renamed = a_cluster("berlin", region="eu")
    repository.write({"member1.yaml": None, "berlin.yaml": renamed, "paris.yaml": a_cluster("paris", region="fr")})
    assert validate(repository, capsys).out.splitlines()[:2] == [
        "warning: berlin.yaml:4: metadata.name: member1 left, and berlin is described alike: was it renamed?",
        "  hint: if it is the same cluster: argosy cluster rename member1 berlin",
    ]
    repository.commit({})
    said = (
        "member1 left, and berlin is described alike; if it is the same cluster: argosy cluster rename member1 berlin\n"
    )
    for command in ("render", "reconcile"):
        assert argosy(repository, capsys, command).err.startswith(f"warning: {said}")
    repository.write({"berlin.yaml": a_cluster("berlin", region="us")})
    assert validate(repository, capsys).out.splitlines()[0].startswith("0 problems, 0 warnings")


TEXTS = st.text(max_size=20)
PROBLEMS = st.builds(Problem, TEXTS, st.integers(0, 99), TEXTS, TEXTS, TEXTS, st.sampled_from(["", "Invalid"]))


@given(st.lists(PROBLEMS, max_size=4), st.booleans())
def test_every_form_holds_whatever_a_repository_says(problems: list[Problem], is_strict: bool) -> None:
    found = Validation(commit="", problems=tuple(problems[:2]), warnings=tuple(problems[2:]), desired=None)
    lines = annotations_of_validation(found, is_strict=is_strict).split("\n")[:-1]
    root = ET.fromstring(junit_of_validation(found, is_strict=is_strict))
    results = json.loads(sarif_of_validation(found, is_strict=is_strict))["runs"][0]["results"]
    assert [line[:2] for line in lines] == ["::"] * len(problems)
    assert (len(root.findall(".//testcase")), len(results)) == (max(len(problems), 1), len(problems))


def test_nothing_found_is_one_passed_case() -> None:
    suite = JUnitSuite(
        name="s", cases=(JUnitCase(name="ok"), JUnitCase(name="bad", file="a.yaml", line=2, failure="no", detail="x"))
    )
    assert junit_xml([suite]) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites tests="2" failures="1">\n'
        '  <testsuite name="s" tests="2" failures="1">\n'
        '    <testcase classname="s" name="ok" />\n'
        '    <testcase classname="s" name="bad" file="a.yaml" line="2">\n'
        '      <failure message="no">x</failure>\n'
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


class Taken(NamedTuple):
    """A template, and the fields of it that no cluster gets and that are told."""

    why: str
    manifest: dict[str, Any]
    fields: tuple[str, ...] = ()


HELD = {"finalizers": ["example.com/hold"], "ownerReferences": [{"kind": "Node", "name": "a", "uid": "1"}]}
TAKEN = [
    Taken("an address", {"kind": "Service", "spec": {"clusterIP": "10.96.0.50"}}, ("spec.clusterIP",)),
    Taken("a headless Service keeps its None", {"kind": "Service", "spec": {"clusterIP": "None"}}),
    Taken("an address that was left open", {"kind": "Service", "spec": {"clusterIP": ""}}),
    Taken(
        "a time to live", {"kind": "Job", "spec": {"ttlSecondsAfterFinished": 60}}, ("spec.ttlSecondsAfterFinished",)
    ),
    Taken("an owner", {"kind": "Widget", "metadata": HELD}, ("metadata.finalizers", "metadata.ownerReferences")),
    Taken("what only a server writes", {"kind": "Service", "metadata": {"uid": "1"}, "status": {"loadBalancer": {}}}),
]


@each_row("case", TAKEN, ids=lambda case: case.why)
def test_what_people_write_and_no_cluster_gets_is_told(case: Taken) -> None:
    manifest = {"apiVersion": "v1", "metadata": {}, **case.manifest}
    template = Template(ref=ObjectRef("", manifest["kind"], "shop", "web"), manifest=manifest, path="a.yaml")
    assert tuple(warning.field for warning in pruned_field_warnings([template], None)) == case.fields
