"""Scopes of kinds: built in before the source's CRDs, before facts, before argosy.yaml."""

from typing import Any, NamedTuple

import pytest

from reconciler.source.facts import ClusterFacts
from reconciler.source.kind_scopes import BUILT_IN, Scopes
from render.fleet import Fleet, KindScope
from tests.clusters import Member


def a_definition(group: str, kind: str, scope: Any) -> dict[str, Any]:
    spec = {"group": group, "names": {"kind": kind}, "scope": scope}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}


def facts_of(name: str, group_version: str, kind: str, **resource: bool) -> ClusterFacts:
    resources = [{"name": f"{kind.lower()}s", "kind": kind, **resource}]
    return ClusterFacts(name=name, status={"apiEnablements": [{"groupVersion": group_version, "resources": resources}]})


class Case(NamedTuple):
    why: str
    group: str
    kind: str
    want: bool | None


SCOPES = Scopes.of(
    [
        a_definition("example.io", "Widget", "Namespaced"),
        a_definition("example.io", "Shelf", "Cluster"),
        a_definition("example.io", "Broken", "Everywhere"),
        a_definition("apps", "Deployment", "Cluster"),
        {"kind": "CustomResourceDefinition", "spec": "x"},
        {"kind": "CustomResourceDefinition", "spec": {"names": []}},
        {"kind": "ConfigMap", "spec": {"group": "example.io", "names": {"kind": "Odd"}, "scope": "Cluster"}},
    ],
    lambda: {
        "eu": facts_of("eu", "example.io/v1", "Shelf", namespaced=True),
        "eu-2": facts_of("eu-2", "seen.io/v1", "Thing", namespaced=False),
        "us": facts_of("us", "seen.io/v2", "Torn", namespaced=True),
        "us-2": facts_of("us-2", "seen.io/v1", "Torn", namespaced=False),
        "us-3": facts_of("us-3", "seen.io/v1", "Silent"),
    },
    Fleet(
        kinds=(
            KindScope(group="seen.io", kind="Thing", is_namespaced=True),
            KindScope(group="seen.io", kind="Torn", is_namespaced=False),
            KindScope(group="far.io", kind="Star", is_namespaced=True),
        )
    ),
)

CASES = [
    Case("kinds of Kubernetes are known", "batch", "Job", True),
    Case("also those of the core group", "", "Namespace", False),
    Case("Karmada's kinds are known", "policy.karmada.io", "ClusterOverridePolicy", False),
    Case("a definition cannot change what is built in", "apps", "Deployment", True),
    Case("a definition in the source says it", "example.io", "Widget", True),
    Case("a definition wins over what a member served", "example.io", "Shelf", False),
    Case("a definition nobody could apply says nothing", "example.io", "Broken", None),
    Case("no other object defines anything", "example.io", "Odd", None),
    Case("what a member serves wins over argosy.yaml", "seen.io", "Thing", False),
    Case("where members disagree argosy.yaml decides", "seen.io", "Torn", False),
    Case("a fact without scope says nothing", "seen.io", "Silent", None),
    Case("argosy.yaml says it last", "far.io", "Star", True),
    Case("a known kind of another group is unknown", "example.io", "Deployment", None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_scope(case: Case) -> None:
    assert SCOPES.is_namespaced(case.group, case.kind) is case.want


def test_members_are_only_asked_for_what_nothing_better_tells() -> None:
    def unreadable() -> dict[str, ClusterFacts]:
        raise AssertionError("nobody had to ask")

    scopes = Scopes.of([a_definition("example.io", "Widget", "Namespaced")], unreadable, Fleet())
    assert (scopes.is_namespaced("example.io", "Widget"), scopes.is_namespaced("apps", "Deployment")) == (True, True)
    assert [scopes.is_fact_scoped(*kind) for kind in (("example.io", "Widget"), ("", "Pod"), ("far.io", "Star"))] == [
        False,
        False,
        True,
    ]


@pytest.mark.cluster
def test_a_real_api_server_agrees(members: tuple[Member, ...]) -> None:
    served = {}
    versions = [each["groupVersion"] for group in members[0].read("/apis")["groups"] for each in group["versions"]]
    for path in ("/api/v1", *(f"/apis/{version}" for version in versions)):
        for resource in members[0].read(path)["resources"]:
            if "/" not in resource["name"]:
                group = path.removeprefix("/apis/").rpartition("/")[0] if path != "/api/v1" else ""
                served[group, resource["kind"]] = resource["namespaced"]
    own = {kind: scope for kind, scope in served.items() if "." not in kind[0] or kind[0].endswith(".k8s.io")}
    assert {kind: BUILT_IN.get(kind) for kind in own} == own
