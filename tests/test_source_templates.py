"""Templates as an API server would have completed them: counts and namespaces."""

from typing import Any, NamedTuple

import pytest

from reconciler.source.templates import with_api_defaults, with_namespace


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


@pytest.mark.parametrize("case", COUNTS, ids=lambda case: case.why)
def test_with_api_defaults(case: Counts) -> None:
    manifest = {"apiVersion": case.api_version, "kind": case.kind, "metadata": {"name": "a"}, "spec": case.spec}
    if case.spec is None:
        del manifest["spec"]
    before = {**manifest}
    assert with_api_defaults(manifest).get("spec", {}) == case.want
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


@pytest.mark.parametrize("case", SCOPES, ids=lambda case: case.why)
def test_with_namespace(case: Scope) -> None:
    metadata = {"name": "a"} if case.namespace is ABSENT else {"name": "a", "namespace": case.namespace}
    manifest = {"apiVersion": "v1", "kind": "X", "metadata": metadata}
    before = {**metadata}
    settled = with_namespace(manifest, is_namespaced=case.is_namespaced, default="shop")
    assert settled["metadata"].get("namespace", ABSENT) == case.want
    assert metadata == before
