"""Admission of anything: it never fails, never changes its input, and has nothing to add to what it admitted."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overrides.admission import admit, all_admitted_kinds
from overrides.parsing import parse_override_policy
from render import parsing
from render.admission import admitted_kind_of, render_kinds
from render.settings.reading import parse_fleet
from tests.conformance import cases_in
from tests.tables import each_row

CASES = list(cases_in(Path(__file__).parent / "vectors" / "admit.jsonl.gz"))
PARSERS: dict[str, Callable[[Any], object]] = {
    "PropagationPolicy": parsing.parse_propagation_policy,
    "ClusterPropagationPolicy": parsing.parse_propagation_policy,
    "OverridePolicy": parse_override_policy,
    "ClusterOverridePolicy": parse_override_policy,
    "Cluster": parsing.parse_cluster,
    "Fleet": parse_fleet,
}

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything inside a document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in entries for place in places(each, (*path, key)))]


def planted(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a document with another value at a path."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@settings(max_examples=200)
@given(data=st.data())
def test_nothing_a_document_holds_makes_admission_fail(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(CASES))["input"]
    inside = [place for place in places(document) if place and place not in {("apiVersion",), ("kind",)}]
    changed = planted(document, data.draw(st.sampled_from(inside)), data.draw(values))
    before = json.dumps(changed)
    admitted = admit(changed)
    assert json.dumps(changed) == before
    assert (admitted.object is None) == any(problem.kind != "Unknown" for problem in admitted.problems)
    if admitted.object is not None and (parse := PARSERS.get(admitted.object["kind"])):
        parse(admitted.object)


@each_row("kind", sorted(all_admitted_kinds()))
def test_what_is_admitted_needs_no_more_admission(kind: str) -> None:
    for case in CASES:
        if case["input"]["kind"] == kind and (first := admit(case["input"])).object is not None:
            again = admit(first.object)
            assert (again.object, again.problems) == (first.object, ()), case["id"]


@each_row("kind", sorted(all_admitted_kinds()))
def test_an_empty_document_has_problems_and_no_more(kind: str) -> None:
    admitted = admit({"apiVersion": all_admitted_kinds()[kind].api_version, "kind": kind})
    assert kind == "Fleet" or admitted.problems


class Missing(NamedTuple):
    why: str
    kind: str
    spec: dict[str, Any]
    want: list[str]


REQUIRED = "required, but missing"
MISSING = [
    Missing(
        "parts of a fleet",
        "Fleet",
        {"clusters": [{}], "emit": [{}], "fieldRules": [{}], "kinds": [{}], "skippedAPIs": [1], "namespaces": "No"},
        [
            f"spec.clusters[0].name: {REQUIRED}",
            f"spec.emit[0].for: {REQUIRED}",
            f"spec.emit[0].repository: {REQUIRED}",
            f"spec.fieldRules[0].path: {REQUIRED}",
            f"spec.fieldRules[0].rule: {REQUIRED}",
            f"spec.kinds[0].kind: {REQUIRED}",
            f"spec.kinds[0].scope: {REQUIRED}",
            "spec.namespaces: unknown value 'No'",
            "spec.skippedAPIs[0]: must be a string, not a number",
        ],
    ),
    Missing(
        "parts of a fleet beside a mistake that only a rule finds",
        "Fleet",
        {"clusters": [{}], "emit": [{"for": "Flux"}], "removalGuard": {"percent": 101}},
        [
            f"spec.clusters[0].name: {REQUIRED}",
            f"spec.emit[0].repository: {REQUIRED}",
            "spec.removalGuard.percent: must be at most 100, not 101",
        ],
    ),
    Missing(
        "the chart of a HelmChart",
        "HelmChart",
        {"kubeVersion": "x"},
        [
            f"metadata.name: {REQUIRED}",
            f"spec.chart: {REQUIRED}",
            "spec.kubeVersion: 'x' is no version of Kubernetes",
        ],
    ),
    Missing(
        "the address of a Source",
        "Source",
        {"git": {}, "path": "/x"},
        [
            f"metadata.name: {REQUIRED}",
            f"spec.git.url: {REQUIRED}",
            "spec.path: leads out of the content of the Source",
        ],
    ),
    Missing(
        "parts of a test",
        "PolicyTest",
        {"given": {"unschedulable": [{}]}, "expect": [{"fields": [{}]}]},
        [
            f"metadata.name: {REQUIRED}",
            f"spec.expect[0].fields[0].cluster: {REQUIRED}",
            f"spec.expect[0].fields[0].path: {REQUIRED}",
            f"spec.expect[0].kind: {REQUIRED}",
            f"spec.expect[0].name: {REQUIRED}",
            f"spec.given.unschedulable[0].cluster: {REQUIRED}",
            f"spec.given.unschedulable[0].since: {REQUIRED}",
        ],
    ),
]


@each_row("case", MISSING, ids=lambda case: case.why)
def test_what_is_missing_is_told_with_all_other_problems(case: Missing) -> None:
    admitted = admit({"apiVersion": "argosy.dev/v1alpha1", "kind": case.kind, "spec": case.spec})
    assert admitted.object is None
    assert [f"{problem.field}: {problem.message}" for problem in admitted.problems] == case.want


@each_row(
    ("api_version", "kind", "want"),
    [
        ("policy.karmada.io/v1alpha1", "PropagationPolicy", True),
        ("policy.karmada.io/v9", "PropagationPolicy", True),
        ("policy/v1alpha1", "PropagationPolicy", True),
        ("v1alpha1", "PropagationPolicy", False),
        ("cluster.x-k8s.io/v1beta1", "Cluster", False),
        ("policy/v1", "PodDisruptionBudget", False),
    ],
)
def test_a_slip_in_the_api_version_is_still_admission_s_business(api_version: str, kind: str, want: bool) -> None:
    assert (admitted_kind_of(api_version, kind, render_kinds()) is not None) is want


def test_another_kind_is_not_admitted() -> None:
    with pytest.raises(LookupError, match="ConfigMap of v1 is not admitted here"):
        admit({"apiVersion": "v1", "kind": "ConfigMap"})


def test_spaces_around_a_quantity_are_no_part_of_it() -> None:
    """As for Kubernetes, which reads it without them; whoever reads it after admission need not know."""
    spec = {"overall": {"cpu": " 5 "}, "staticAssignments": [{"clusterName": "eu", "hard": {"cpu": "1\n"}}]}
    metadata = {"name": "q", "namespace": "shop"}
    admitted = admit(
        {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "FederatedResourceQuota",
            "metadata": metadata,
            "spec": spec,
        }
    )
    assert admitted.problems == ()
    assert admitted.object is not None
    assert admitted.object["spec"] == {
        "overall": {"cpu": "5"},
        "staticAssignments": [{"clusterName": "eu", "hard": {"cpu": "1"}}],
    }
