"""Scopes of kinds: built in before the source's CRDs, before facts, before argosy.yaml."""

from collections import Counter
from typing import Any, NamedTuple

from reconciler.ledger.facts import ClusterFacts
from reconciler.source.scopes.kind_scopes import Scopes
from reconciler.source.scopes.well_known_kinds import WELL_KNOWN
from render.kinds import BUILT_IN
from render.settings.fleet import Fleet
from render.settings.kinds import KindScope
from tests.tables import each_row


def a_definition(group: str, kind: str, scope: Any) -> dict[str, Any]:
    spec = {"group": group, "names": {"kind": kind}, "scope": scope}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}


def an_object(api_version: str, kind: str, metadata: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


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
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": "x"},
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"names": []}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "spec": {"group": "example.io", "names": {"kind": "Odd"}, "scope": "Cluster"},
        },
        an_object("new.io/v1", "Placed", {"namespace": "shop"}),
        an_object("new.io/v1", "Said", {"namespace": "shop"}),
        an_object("new.io/v1", "Torn", {"namespace": 5}),
        an_object("kyverno.io/v1", "ClusterPolicy", {"namespace": "shop"}),
    ],
    lambda: {
        "eu": facts_of("eu", "example.io/v1", "Shelf", namespaced=True),
        "eu-2": facts_of("eu-2", "seen.io/v1", "Thing", namespaced=False),
        "us": facts_of("us", "seen.io/v2", "Torn", namespaced=True),
        "us-2": facts_of("us-2", "seen.io/v1", "Torn", namespaced=False),
        "us-3": facts_of("us-3", "seen.io/v1", "Silent"),
        "us-4": facts_of("us-4", "seen.io/v1", "Beside", namespaced=False),
        "us-5": facts_of("us-5", "kyverno.io/v1", "Policy", namespaced=False),
    },
    Fleet(
        kinds=(
            KindScope(group="seen.io", kind="Thing", is_namespaced=True),
            KindScope(group="seen.io", kind="Torn", is_namespaced=False),
            KindScope(group="far.io", kind="Star", is_namespaced=True),
            KindScope(group="new.io", kind="Said", is_namespaced=False),
        )
    ),
    lambda: {("aside.io", "Hidden"): False, ("seen.io", "Beside"): True, ("example.io", "Widget"): False},
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
    Case("a definition in a file that is not rendered says it", "aside.io", "Hidden", False),
    Case("and wins over what a member serves", "seen.io", "Beside", True),
    Case("a well-known kind needs no definition", "cert-manager.io", "ClusterIssuer", False),
    Case("what a member serves wins over what is well known", "kyverno.io", "Policy", False),
    Case("a namespace on an object says that its kind has some", "new.io", "Placed", True),
    Case("and wins over argosy.yaml", "new.io", "Said", True),
    Case("but not over what is well known", "kyverno.io", "ClusterPolicy", False),
    Case("a known kind of another group is unknown", "example.io", "Deployment", None),
]


@each_row("case", CASES, ids=lambda case: case.why)
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


def test_that_an_object_has_a_namespace_does_not_make_its_kind_known() -> None:
    """A slip in the group of a policy would otherwise be taken for a kind of somebody else."""
    scopes = Scopes.of([an_object("policy.karmda.io/v1", "PropagationPolicy", {"namespace": "a"})], dict, Fleet())
    assert scopes.is_namespaced("policy.karmda.io", "PropagationPolicy") is True
    assert not scopes.is_known("policy.karmda.io", "PropagationPolicy")
    assert scopes.is_known("cert-manager.io", "Certificate")


def test_the_table_of_well_known_kinds_repeats_nothing_that_is_built_in() -> None:
    assert not WELL_KNOWN.keys() & BUILT_IN.keys()


def test_the_table_of_well_known_kinds_loses_nothing() -> None:
    """It may grow, and these numbers with it."""
    scopes = Counter(WELL_KNOWN.values())
    assert scopes[True] >= 650
    assert scopes[False] >= 212
    assert len({group for group, _ in WELL_KNOWN}) >= 177
    assert {kind for group, kind in WELL_KNOWN if not group} == {
        "BuildConfig",
        "DeploymentConfig",
        "ImageStream",
        "Route",
    }
