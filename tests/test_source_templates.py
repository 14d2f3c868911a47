"""Templates: the names and metadata an object may have, and the counts and namespace an API server would add."""

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from reconciler.source.identity import check_identity, fault_of_path_segment
from reconciler.source.templates import manifest_with_api_defaults, manifest_with_namespace
from render.admission.findings import Findings

from .tables import each_row


def faults(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    findings = Findings()
    check_identity(manifest, findings)
    return [(problem.field, problem.kind) for problem in findings.problems]


class Identity(NamedTuple):
    why: str
    api_version: str
    kind: str
    name: Any
    want: list[tuple[str, str]] = []  # noqa: RUF012 - never changed


INVALID = [("metadata.name", "Invalid")]
IDENTITIES = [
    Identity("a DNS name", "v1", "ConfigMap", "web-1.eu"),
    Identity("capitals are no DNS name", "v1", "ConfigMap", "Web", INVALID),
    Identity("colons are no DNS name", "apps/v1", "Deployment", "system:web", INVALID),
    Identity("a role may have colons and capitals", "rbac.authorization.k8s.io/v1", "ClusterRole", "system:Web"),
    Identity("a role may not have a slash", "rbac.authorization.k8s.io/v1", "ClusterRole", "system/web", INVALID),
    Identity("an unknown kind may be named as it likes", "acme.example/v1", "Widget", "A_b:c"),
    Identity("but not like the folder itself", "acme.example/v1", "Widget", ".", INVALID),
    Identity("nor like the folder above", "acme.example/v1", "Widget", "..", INVALID),
    Identity("nor with an escaped slash", "acme.example/v1", "Widget", "a%2fb", INVALID),
    Identity("nor on two lines", "acme.example/v1", "Widget", "a\nb", INVALID),
    Identity("nor backwards", "acme.example/v1", "Widget", "a\u202eb", INVALID),
    Identity("a namespace is one label", "v1", "Namespace", "shop.eu", INVALID),
    Identity("a namespace of another group is not", "acme.example/v1", "Namespace", "shop.eu"),
    Identity("a name is text", "v1", "ConfigMap", 5, [("metadata.name", "TypeInvalid")]),
    Identity("null is no name", "v1", "ConfigMap", None, [("metadata.name", "Required")]),
    Identity("a group in capitals", "Apps/v1", "Widget", "a", [("apiVersion", "Invalid")]),
    Identity("a version in capitals", "apps/V1", "Widget", "a", [("apiVersion", "Invalid")]),
    Identity("a version that climbs", "../v1", "Widget", "a", [("apiVersion", "Invalid")]),
    Identity("a kind with a dot", "v1", "Config.Map", "a", [("kind", "Invalid")]),
]


@each_row("case", IDENTITIES, ids=lambda case: case.why)
def test_check_identity(case: Identity) -> None:
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


def test_finalizers_are_a_list_of_texts() -> None:
    found = [
        faults({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": finalizers}})
        for finalizers in (["a.b/c"], None, "a", {"a": "b"}, [True, "a", {}])
    ]
    listed, first, third = "metadata.finalizers", "metadata.finalizers[0]", "metadata.finalizers[2]"
    wrong = "TypeInvalid"
    assert found == [[], [], [(listed, wrong)], [(listed, wrong)], [(first, wrong), (third, wrong)]]


def test_fields_of_metadata_nobody_reads_are_not_ours_to_judge() -> None:
    assert faults({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "clusterName": 5}}) == []


@given(st.text(max_size=300))
def test_a_name_that_passes_is_one_harmless_part_of_a_path(name: str) -> None:
    if not fault_of_path_segment(name) and name:
        assert "/" not in name
        assert name not in {".", ".."}
        assert name.isprintable()
        assert len(name.encode()) <= 253


class Counts(NamedTuple):
    why: str
    api_version: str
    kind: str
    spec: Any
    want: Any


COUNTS = [
    Counts("a Deployment runs once", "apps/v1", "Deployment", {"paused": True}, {"paused": True, "replicas": 1}),
    Counts("null is absent", "apps/v1", "StatefulSet", {"replicas": None}, {"replicas": 1}),
    Counts("a ReplicaSet runs once", "apps/v1", "ReplicaSet", {}, {"replicas": 1}),
    Counts("0 is a number", "apps/v1", "Deployment", {"replicas": 0}, {"replicas": 0}),
    Counts("no spec at all", "apps/v1", "Deployment", None, {"replicas": 1}),
    Counts("every version of the kind", "apps/v1beta2", "Deployment", {}, {"replicas": 1}),
    Counts("a DaemonSet has no replicas", "apps/v1", "DaemonSet", {}, {}),
    Counts("another group's Deployment is not ours", "acme.example/v1", "Deployment", {}, {}),
    Counts("a Job runs one pod once", "batch/v1", "Job", {}, {"parallelism": 1, "completions": 1}),
    Counts(
        "completions run one at a time", "batch/v1", "Job", {"completions": 5}, {"completions": 5, "parallelism": 1}
    ),
    Counts("a Job with parallelism alone is a work queue", "batch/v1", "Job", {"parallelism": 3}, {"parallelism": 3}),
    Counts(
        "a Job with both keeps both",
        "batch/v1",
        "Job",
        {"parallelism": 2, "completions": 4},
        {"parallelism": 2, "completions": 4},
    ),
]


@each_row("case", COUNTS, ids=lambda case: case.why)
def test_with_api_defaults(case: Counts) -> None:
    manifest = {"apiVersion": case.api_version, "kind": case.kind, "metadata": {"name": "a"}, "spec": case.spec}
    if case.spec is None:
        del manifest["spec"]
    before = {**manifest}
    assert manifest_with_api_defaults(manifest).get("spec", {}) == case.want
    assert manifest == before


class Scope(NamedTuple):
    why: str
    namespace: Any
    is_namespaced: bool | None
    want: Any


ABSENT = object()
SCOPES = [
    Scope("a namespaced object without one gets the default", ABSENT, True, "shop"),
    Scope("null is none", None, True, "shop"),
    Scope("an empty one is none", "", True, "shop"),
    Scope("its own stays", "eu", True, "eu"),
    Scope("a cluster-scoped object has none", ABSENT, False, ABSENT),
    Scope("a cluster-scoped object loses one", "eu", False, ABSENT),
    Scope("nothing known: it keeps what it has", "eu", None, "eu"),
    Scope("nothing known: it gets nothing", ABSENT, None, ABSENT),
]


@each_row("case", SCOPES, ids=lambda case: case.why)
def test_with_namespace(case: Scope) -> None:
    metadata = {"name": "a"} if case.namespace is ABSENT else {"name": "a", "namespace": case.namespace}
    manifest = {"apiVersion": "v1", "kind": "X", "metadata": metadata}
    before = {**metadata}
    settled = manifest_with_namespace(manifest, is_namespaced=case.is_namespaced, default="shop")
    assert settled["metadata"].get("namespace", ABSENT) == case.want
    assert metadata == before
