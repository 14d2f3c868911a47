"""Propagation policies that are probably mistaken: each rule by a source that breaks it, and one that does not."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from reconciler.check.policies import policy_warnings
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.binding import Binding
from render.model import ObjectRef
from tests.build import a_cluster, a_cluster_policy, a_config_map, a_deployment, a_policy, as_bytes, on_clusters
from tests.sources import source_of
from tests.tables import each_row

CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
ONE = {**CONFIG_MAPS, "name": "one"}
HERE = on_clusters("member1")


class Lint(NamedTuple):
    """Warnings about a source's policies; ``held``: the policy that claims ConfigMap ``one`` in the previous commit."""

    why: str
    policies: list[dict[str, Any]]
    want: list[str]
    held: str = ""


def failing_over(seconds: int, **placement: Any) -> dict[str, Any]:
    application = {"decisionConditions": {"tolerationSeconds": seconds}, "purgeMode": "Directly"}
    failover = {"application": application}
    return a_policy("all", selectors=[CONFIG_MAPS], placement=HERE | placement, propagateDeps=True, failover=failover)


DIVIDED = {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}}
ONE_OF_THEM = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}
LINTS = [
    Lint(
        "what every cluster runs has nowhere to go when it fails",
        [failing_over(60)],
        [
            (
                "policies.yaml:8: spec.failover.application: every cluster runs all replicas, so that none takes over"
                " what fails: it is only made again\n  hint: divide the replicas, or name the clusters in groups"
                " (clusterAffinities) to choose one of them"
            )
        ],
    ),
    Lint("what is divided has", [failing_over(60, **DIVIDED)], []),
    Lint("what runs in one cluster of several has", [failing_over(60, **ONE_OF_THEM)], []),
    Lint(
        "no time to start",
        [failing_over(0, **DIVIDED)],
        [
            (
                "policies.yaml:10: spec.failover.application.decisionConditions.tolerationSeconds: a workload that is"
                " only starting is not healthy either, and leaves its cluster at once\n"
                "  hint: give it more time than it takes to start"
            )
        ],
    ),
    Lint("one policy for everything is fine", [a_policy("all", selectors=[CONFIG_MAPS], placement=HERE)], []),
    Lint(
        "a policy that loses every object holds nothing",
        [
            a_policy("all", selectors=[CONFIG_MAPS], placement=HERE, priority=2),
            a_policy("one", selectors=[ONE], placement=HERE, priority=1),
        ],
        [
            (
                "policies.yaml:27: spec.resourceSelectors: it claims nothing: it selects 1 object, all of which go to"
                " PropagationPolicy default/all\n  hint: for ConfigMap default/one, its priority 1 is below 2"
            )
        ],
    ),
    Lint(
        "a policy that wins one object is not shadowed",
        [
            a_policy("all", selectors=[CONFIG_MAPS], placement=HERE),
            a_policy("one", selectors=[ONE], placement=HERE),
        ],
        [],
    ),
    Lint(
        "names alone decide where priorities and selectors are equal",
        [
            a_policy("apples", selectors=[ONE], placement=HERE),
            a_policy("pears", selectors=[ONE, {**CONFIG_MAPS, "name": "second"}], placement=HERE),
        ],
        [
            (
                "policies.yaml:21: spec.priority: only its name makes it lose ConfigMap default/one to"
                " PropagationPolicy default/apples\n  hint: give one of them a higher priority"
            )
        ],
    ),
    Lint(
        "a selector may select nothing",
        [a_policy("all", selectors=[CONFIG_MAPS, {**CONFIG_MAPS, "name": "secnod"}], placement=HERE)],
        ["policies.yaml:14: spec.resourceSelectors[1]: selects no template\n  hint: did you mean 'second'?"],
    ),
    Lint(
        "a PropagationPolicy can never select a Namespace",
        [a_policy("all", selectors=[CONFIG_MAPS, {"apiVersion": "v1", "kind": "Namespace"}], placement=HERE)],
        [
            (
                "policies.yaml:15: spec.resourceSelectors[1].kind: Namespace lives in no namespace,"
                " and a PropagationPolicy selects in its own alone\n  hint: select it with a ClusterPropagationPolicy"
            )
        ],
    ),
    Lint(
        "a ClusterPropagationPolicy that only backs others up holds nothing",
        [
            a_policy("all", selectors=[CONFIG_MAPS], placement=HERE),
            a_cluster_policy("backup", selectors=[ONE], placement=HERE, priority=9),
        ],
        [
            (
                "policies.yaml:25: spec.resourceSelectors: it claims nothing: it selects 1 object, all of which go to"
                " PropagationPolicy default/all\n"
                "  hint: for ConfigMap default/one, a PropagationPolicy of the namespace"
                " comes before every ClusterPropagationPolicy"
            )
        ],
    ),
    Lint(
        "a better policy takes over what Karmada would leave",
        [
            a_policy("all", selectors=[CONFIG_MAPS], placement=HERE),
            a_policy("one", selectors=[ONE], placement=HERE),
        ],
        [
            (
                "policies.yaml:15: it takes ConfigMap default/one over from PropagationPolicy default/all,"
                " where Karmada"
                " would leave what is claimed\n  hint: if that is not meant, set claims: Sticky in argosy.yaml"
            )
        ],
        held="PropagationPolicy default/all",
    ),
    Lint(
        "nothing is taken over from a policy that is gone",
        [a_policy("all", selectors=[CONFIG_MAPS], placement=HERE)],
        [],
        held="PropagationPolicy default/gone",
    ),
]


def warnings(files: Mapping[str, Any], held: str = "") -> list[str]:
    source = source_of({name: as_bytes(content) for name, content in files.items()})
    loaded = load_source(source.files, SourceReading(source.read))
    assert (loaded.problems, loaded.lines is None) == ((), False)
    ref = ObjectRef("", "ConfigMap", "default", "one")
    previous = {ref: Binding(ref=ref, api_version="v1", policy=held)} if held else {}
    line_of = loaded.lines.line_of if loaded.lines else None
    return [str(each) for each in policy_warnings(loaded.desired, facts={}, previous=previous, line_of=line_of)]


ROOM = {"cpu": "8", "memory": "32Gi", "pods": "110"}
MEMBER1 = {**a_cluster("member1"), "status": {"resourceSummary": {"allocatable": ROOM}}}


@each_row("case", LINTS, ids=lambda case: case.why)
def test_lint(case: Lint) -> None:
    files = {"member1.yaml": MEMBER1, "objects.yaml": [a_config_map("one"), a_config_map("second")]}
    assert warnings({**files, "policies.yaml": case.policies}, case.held) == case.want


def test_karmadas_claims_are_no_warning_where_they_are_kept() -> None:
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    policies = [a_policy("all", selectors=[CONFIG_MAPS]), a_policy("one", selectors=[ONE])]
    files = {"argosy.yaml": {**fleet, "spec": {"claims": "Sticky"}}, "one.yaml": a_config_map("one")}
    found = warnings({**files, "policies.yaml": policies}, held="PropagationPolicy default/all")
    assert [each for each in found if "over from" in each] == []


def test_a_custom_resource_without_namespaces_is_known_by_its_definition() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "zones.example.io"},
        "spec": {
            "group": "example.io",
            "scope": "Cluster",
            "names": {"kind": "Zone", "plural": "zones"},
            "versions": [{"name": "v1", "served": True, "storage": True}],
        },
    }
    policy = a_policy("zones", selectors=[{"apiVersion": "example.io/v1", "kind": "Zone"}])
    files = {"crd.yaml": crd, "policy.yaml": policy, "web.yaml": a_deployment()}
    assert warnings(files) == [
        (
            "policy.yaml:9: spec.resourceSelectors[0].kind: Zone lives in no namespace,"
            " and a PropagationPolicy selects in"
            " its own alone\n  hint: select it with a ClusterPropagationPolicy"
        )
    ]
