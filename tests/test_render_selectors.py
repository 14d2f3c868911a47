"""The meaning of selectors, for one cluster and for all of them as a mask."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from render.bits import indexes_of_mask
from render.cluster import Cluster, Taint, first_untolerated_taint, is_tolerated
from render.cluster_index import ClusterIndex
from render.model import ObjectRef, Template
from render.parsing.selectors import parse_cluster_affinity, parse_label_selector, parse_resource_selectors
from render.placement import SpreadField, Toleration
from render.selectors import (
    ClusterAffinity,
    ImplicitPriority,
    Requirement,
    best_selector,
    holds_for_labels,
    matches_labels,
)

from .tables import each_row

NGINX = Template(
    ref=ObjectRef("apps", "Deployment", "d", "nginx"),
    manifest={"apiVersion": "apps/v1", "metadata": {"labels": {"app": "nginx"}}},
)
M1 = Cluster(name="m1", labels={"env": "p"}, provider="aws", region="us", zones=("z1", "z2"))
M2 = Cluster(name="m2")


class Selected(NamedTuple):
    why: str
    selectors: list[dict[str, object]]
    want: ImplicitPriority


DEPLOYMENTS: dict[str, object] = {"apiVersion": "apps/v1", "kind": "Deployment"}
SELECTED = [
    Selected("kind alone", [DEPLOYMENTS], ImplicitPriority.ALL),
    Selected("an empty label selector", [{**DEPLOYMENTS, "labelSelector": {}}], ImplicitPriority.LABEL),
    Selected("labels", [{**DEPLOYMENTS, "labelSelector": {"matchLabels": {"app": "nginx"}}}], ImplicitPriority.LABEL),
    Selected(
        "a name makes labels irrelevant",
        [{**DEPLOYMENTS, "name": "nginx", "labelSelector": {"matchLabels": {"app": "x"}}}],
        ImplicitPriority.NAME,
    ),
    Selected(
        "another name is no match though labels are",
        [{**DEPLOYMENTS, "name": "n2", "labelSelector": {"matchLabels": {"app": "nginx"}}}],
        ImplicitPriority.NO_MATCH,
    ),
    Selected("another namespace", [{**DEPLOYMENTS, "namespace": "e"}], ImplicitPriority.NO_MATCH),
    Selected("its namespace", [{**DEPLOYMENTS, "namespace": "d"}], ImplicitPriority.ALL),
    Selected("another version", [{**DEPLOYMENTS, "apiVersion": "apps/v1beta1"}], ImplicitPriority.NO_MATCH),
    Selected("another kind", [{**DEPLOYMENTS, "kind": "StatefulSet"}], ImplicitPriority.NO_MATCH),
    Selected("the most specific of several", [DEPLOYMENTS, {**DEPLOYMENTS, "name": "nginx"}], ImplicitPriority.NAME),
    Selected(
        "an operator Kubernetes does not know selects nothing",
        [{**DEPLOYMENTS, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["n"]}]}}],
        ImplicitPriority.NO_MATCH,
    ),
]


@each_row("case", SELECTED, ids=lambda case: case.why)
def test_how_specifically_selectors_select(case: Selected) -> None:
    assert best_selector(parse_resource_selectors(case.selectors), NGINX)[0] is case.want


class Matched(NamedTuple):
    why: str
    affinity: dict[str, object]
    want: list[str]


def zone(operator: str, *values: str) -> dict[str, object]:
    return {"fieldSelector": {"matchExpressions": [{"key": "zone", "operator": operator, "values": list(values)}]}}


def field(key: str, operator: str, *values: str) -> dict[str, object]:
    return {"fieldSelector": {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}}


MATCHED = [
    Matched("an empty affinity", {}, ["m1", "m2"]),
    Matched("exclude wins over names", {"clusterNames": ["m1"], "exclude": ["m1"]}, []),
    Matched("names", {"clusterNames": ["m2", "m9"]}, ["m2"]),
    Matched("a zone among several", zone("In", "z2", "z9"), ["m1"]),
    Matched("no zones are not in a zone", zone("NotIn", "z2"), ["m2"]),
    Matched("zones exist", zone("Exists"), ["m1"]),
    Matched("zones do not exist", zone("DoesNotExist"), ["m2"]),
    Matched("no provider is not a provider", field("provider", "NotIn", "aws"), ["m2"]),
    Matched("a provider", field("provider", "In", "aws", "gcp"), ["m1"]),
    Matched("a region exists", field("region", "Exists"), ["m1"]),
    Matched("In without values is unreadable", field("region", "In"), []),
    Matched("NotIn without values is unreadable", field("region", "NotIn"), []),
    Matched("a field no cluster has", field("planet", "NotIn", "mars"), ["m1", "m2"]),
    Matched("an empty label selector", {"labelSelector": {}, "clusterNames": ["m1"]}, ["m1"]),
    Matched("labels", {"labelSelector": {"matchLabels": {"env": "p"}}}, ["m1"]),
    Matched(
        "a label that is absent is not in",
        {"labelSelector": {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["p"]}]}},
        ["m2"],
    ),
    Matched(
        "Exists with values is unreadable",
        {"labelSelector": {"matchExpressions": [{"key": "env", "operator": "Exists", "values": ["p"]}]}},
        [],
    ),
    Matched(
        "all parts must hold",
        {"labelSelector": {"matchLabels": {"env": "p"}}, **field("region", "In", "us"), "clusterNames": ["m2"]},
        [],
    ),
]


def affinity_matches(affinity: ClusterAffinity, cluster: Cluster) -> bool:
    """Say whether an affinity means a cluster, asked cluster by cluster: what the index answers with one mask."""
    if cluster.name in affinity.exclude:
        return False
    if affinity.label_selector is not None and not matches_labels(affinity.label_selector, cluster.labels):
        return False
    if not all(field_holds(requirement, cluster) for requirement in affinity.field_selector or ()):
        return False
    return not affinity.cluster_names or cluster.name in affinity.cluster_names


def field_holds(requirement: Requirement, cluster: Cluster) -> bool:
    fields = {key: value for key, value in (("provider", cluster.provider), ("region", cluster.region)) if value}
    if requirement.key != "zone":
        return holds_for_labels(requirement, fields)
    zones = set(cluster.zones)
    return {
        "In": bool(zones) and not zones.isdisjoint(requirement.values),
        "NotIn": zones.isdisjoint(requirement.values),
        "Exists": bool(zones),
        "DoesNotExist": not zones,
    }.get(requirement.operator, False)


@each_row("case", MATCHED, ids=lambda case: case.why)
def test_cluster_affinity(case: Matched) -> None:
    affinity, index = parse_cluster_affinity(case.affinity), ClusterIndex((M2, M1))
    assert [each.name for each in (M1, M2) if affinity_matches(affinity, each)] == case.want
    assert [
        index.names[position] for position in indexes_of_mask(index.clusters_matching_affinity(affinity))
    ] == case.want


some_text = st.sampled_from(("", "a", "b", "c"))
some_expressions = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(("a", "b", "zone", "region", "provider")),
            "operator": st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist", "Gt")),
            "values": st.lists(some_text, max_size=2),
        }
    ),
    max_size=2,
)
some_affinities = st.fixed_dictionaries(
    {},
    optional={
        "labelSelector": st.fixed_dictionaries(
            {},
            optional={
                "matchLabels": st.dictionaries(st.sampled_from("ab"), some_text, max_size=2),
                "matchExpressions": some_expressions,
            },
        ),
        "fieldSelector": st.fixed_dictionaries({"matchExpressions": some_expressions}),
        "clusterNames": st.lists(st.sampled_from(("m1", "m2", "m3", "m10")), max_size=3),
        "exclude": st.lists(st.sampled_from(("m1", "m2", "m3", "m10")), max_size=2),
    },
)
some_clusters = st.lists(
    st.builds(
        Cluster,
        name=st.sampled_from(("m1", "m2", "m3", "m10")),
        labels=st.dictionaries(st.sampled_from("ab"), some_text, max_size=2),
        provider=some_text,
        region=some_text,
        zones=st.lists(some_text, max_size=2).map(tuple),
    ),
    max_size=4,
    unique_by=lambda cluster: cluster.name,
)


@given(some_affinities, some_clusters)
def test_a_mask_holds_exactly_the_clusters_that_match(affinity: dict[str, object], clusters: list[Cluster]) -> None:
    wanted, index = parse_cluster_affinity(affinity), ClusterIndex(clusters)
    one_by_one = [each.name for each in index.clusters if affinity_matches(wanted, each)]
    assert [
        index.names[position] for position in index.indexes_in_mask(index.clusters_matching_affinity(wanted))
    ] == one_by_one


def test_labels_may_be_selected_by_expressions() -> None:
    selector = parse_label_selector({"matchExpressions": [{"key": "env", "operator": "In", "values": ["p", "q"]}]})
    assert selector is not None
    assert [matches_labels(selector, labels) for labels in ({"env": "q"}, {"env": "r"}, {})] == [True, False, False]


class Tolerated(NamedTuple):
    why: str
    taint: Taint
    toleration: Toleration
    want: bool


NO_SCHEDULE = Taint(key="k", value="v", effect="NoSchedule")
TOLERATED = [
    Tolerated(
        "an empty effect covers every effect", NO_SCHEDULE, Toleration(key="k", operator="Equal", value="v"), True
    ),
    Tolerated("no operator is Equal", NO_SCHEDULE, Toleration(key="k", value="v"), True),
    Tolerated("Equal compares values", NO_SCHEDULE, Toleration(key="k", value="w"), False),
    Tolerated("Exists ignores values", NO_SCHEDULE, Toleration(key="k", operator="Exists", value="w"), True),
    Tolerated("another effect", NO_SCHEDULE, Toleration(key="k", operator="Exists", effect="NoExecute"), False),
    Tolerated("another key", NO_SCHEDULE, Toleration(key="l", operator="Exists"), False),
    Tolerated("an empty key with Exists covers all", NO_SCHEDULE, Toleration(operator="Exists"), True),
    Tolerated("an operator that is off", NO_SCHEDULE, Toleration(key="k", operator="Gt", value="0"), False),
]


@each_row("case", TOLERATED, ids=lambda case: case.why)
def test_a_taint_is_tolerated(case: Tolerated) -> None:
    assert is_tolerated(case.taint, (case.toleration,)) is case.want


def test_the_first_untolerated_taint_counts_and_preferences_never_do() -> None:
    taints = (
        Taint(key="soft", effect="PreferNoSchedule"),
        Taint(key="known", effect="NoSchedule"),
        Taint(key="first", effect="NoExecute"),
        Taint(key="second", effect="NoSchedule"),
    )
    tolerations = (Toleration(key="known", operator="Exists"),)
    assert first_untolerated_taint(taints, tolerations) == taints[2]
    assert first_untolerated_taint(taints, (Toleration(operator="Exists"),)) is None


def test_clusters_stand_in_byte_order_and_names_of_none_are_passed_over() -> None:
    index = ClusterIndex((Cluster(name="member2"), Cluster(name="member10"), Cluster(name="a")))
    assert index.names == ("a", "member10", "member2")
    assert index.indexes_in_mask(index.clusters_named(("member2", "gone"))) == [2]


def test_groups_apis_and_endings_are_masks() -> None:
    index = ClusterIndex(
        (
            Cluster(name="a", region="eu", zones=("x", "y"), api_enablements=frozenset({("v1", "Pod")})),
            Cluster(name="b", region="eu", provider="aws", is_terminating=True, api_enablements=frozenset()),
            Cluster(name="c"),
        )
    )
    assert index.clusters_by_spread_value(SpreadField.REGION) == {"eu": 0b011}
    assert index.clusters_by_spread_value(SpreadField.ZONE) == {"x": 0b001, "y": 0b001}
    assert [index.clusters_in_any_group(each) for each in SpreadField] == [0b111, 0b011, 0b001, 0b010]
    assert index.clusters_serving_kind("v1", "Pod") == 0b001
    assert index.clusters_without_recorded_apis() == 0b100
    assert index.terminating_clusters() == 0b010
