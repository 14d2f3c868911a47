"""What names, namespaces and metadata an object may have."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.source.templates import check_identity, path_segment_fault
from render.admission.findings import Findings


def faults(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    findings = Findings()
    check_identity(manifest, findings)
    return [(problem.field, problem.kind) for problem in findings.problems]


class Case(NamedTuple):
    why: str
    api_version: str
    kind: str
    name: Any
    want: list[tuple[str, str]] = []  # noqa: RUF012 - never changed


INVALID = [("metadata.name", "Invalid")]
CASES = [
    Case("a DNS name", "v1", "ConfigMap", "web-1.eu"),
    Case("capitals are no DNS name", "v1", "ConfigMap", "Web", INVALID),
    Case("colons are no DNS name", "apps/v1", "Deployment", "system:web", INVALID),
    Case("a role may have colons and capitals", "rbac.authorization.k8s.io/v1", "ClusterRole", "system:Web"),
    Case("a role may not have a slash", "rbac.authorization.k8s.io/v1", "ClusterRole", "system/web", INVALID),
    Case("an unknown kind may be named as it likes", "acme.example/v1", "Widget", "A_b:c"),
    Case("but not like the folder itself", "acme.example/v1", "Widget", ".", INVALID),
    Case("nor like the folder above", "acme.example/v1", "Widget", "..", INVALID),
    Case("nor with an escaped slash", "acme.example/v1", "Widget", "a%2fb", INVALID),
    Case("nor on two lines", "acme.example/v1", "Widget", "a\nb", INVALID),
    Case("nor backwards", "acme.example/v1", "Widget", "a\u202eb", INVALID),
    Case("a namespace is one label", "v1", "Namespace", "shop.eu", INVALID),
    Case("a namespace of another group is not", "acme.example/v1", "Namespace", "shop.eu"),
    Case("a name is text", "v1", "ConfigMap", 5, [("metadata.name", "TypeInvalid")]),
    Case("null is no name", "v1", "ConfigMap", None, [("metadata.name", "Required")]),
    Case("a group in capitals", "Apps/v1", "Widget", "a", [("apiVersion", "Invalid")]),
    Case("a version in capitals", "apps/V1", "Widget", "a", [("apiVersion", "Invalid")]),
    Case("a version that climbs", "../v1", "Widget", "a", [("apiVersion", "Invalid")]),
    Case("a kind with a dot", "v1", "Config.Map", "a", [("kind", "Invalid")]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_check_identity(case: Case) -> None:
    manifest = {"apiVersion": case.api_version, "kind": case.kind, "metadata": {"name": case.name}}
    assert faults(manifest) == case.want


def test_everything_wrong_with_metadata_is_said_at_once() -> None:
    metadata = {"name": "A", "namespace": "a/b", "labels": {"-": "x y"}, "annotations": {"a b": "c"}}
    assert faults({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}) == [
        ("metadata.name", "Invalid"),
        ("metadata.namespace", "Invalid"),
        ("metadata.labels", "Invalid"),
        ("metadata.labels", "Invalid"),
        ("metadata.annotations", "Invalid"),
    ]


def test_fields_of_metadata_nobody_reads_are_not_ours_to_judge() -> None:
    assert faults({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "clusterName": 5}}) == []


@given(st.text(max_size=300))
def test_a_name_that_passes_is_one_harmless_part_of_a_path(name: str) -> None:
    if not path_segment_fault(name) and name:
        assert "/" not in name
        assert name not in {".", ".."}
        assert name.isprintable()
        assert len(name.encode()) <= 253
