"""``argosy import --from clusternet``: subscriptions become policies, and what overrides them becomes rules."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.federations.clusternet.dividing import shares_by_static_weights, shares_in_proportion_to_weights
from render.federations.clusternet.scheduling import (
    ClusternetFleet,
    FeedOrder,
    ManagedCluster,
    NotScheduled,
    targets_of_subscription,
)

from .federations import Document, Imported, imported

LABELS = {"a": {"region": "sh", "tier": "x"}, "b": {"region": "bj"}, "c": {"region": "bj", "tier": "x"}}
TAINTED = {"t": {"region": "hz"}}
APPS = "apps.clusternet.io/v1alpha1"
BJ = {"clusterAffinity": {"matchLabels": {"region": "bj"}}}
SH = {"clusterAffinity": {"matchLabels": {"region": "sh"}}}
X = {"clusterAffinity": {"matchLabels": {"tier": "x"}}}
STATIC = {"schedulingStrategy": "Dividing", "dividingScheduling": {"type": "Static"}}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def cluster(name: str, labels: Document, **spec: Any) -> Document:
    named = {**labels, "clusters.clusternet.io/cluster-name": name}
    return {
        "apiVersion": "clusters.clusternet.io/v1beta1",
        "kind": "ManagedCluster",
        "metadata": {"name": f"clusternet-cluster-{name}", "namespace": f"clusternet-{name}", "labels": named},
        "spec": {"clusterId": name, "syncMode": "Dual" if name == "b" else "Pull", **spec},
    }


def dynamic(strategy: str) -> Document:
    return {
        "schedulingStrategy": "Dividing",
        "dividingScheduling": {"type": "Dynamic", "dynamicDividing": {"strategy": strategy}},
    }


def deployment(replicas: int) -> Document:
    pod = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x:1"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "x"}}, "template": pod}
    return {**DEPLOYMENT, "metadata": {"labels": {"old": "1"}}, "spec": spec}


def config_map(**data: str) -> Document:
    return {**CONFIG_MAP, "metadata": {}, "data": data}


def overriding(kind: str, name: str, of: Document, override: Document, **fields: Any) -> Document:
    namespace = {"namespace": fields.pop("namespace")} if "namespace" in fields else {}
    feed = {"apiVersion": of["apiVersion"], "kind": of["kind"], "name": "x"}
    spec = {"feed": feed, "overrides": [{"name": name, **override}], **fields}
    return {"apiVersion": APPS, "kind": kind, "metadata": {"name": name, **namespace}, "spec": spec}


def patch(path: str, value: Any) -> Document:
    return {"type": "JSONPatch", "value": json.dumps([{"op": "replace", "path": path, "value": value}])}


class Vector(NamedTuple):
    rule: str
    spec: Document
    feed: Document
    counts: dict[str, Any]
    codes: dict[str, str]
    """Those of the Subscription, and those of the object."""
    overriding: tuple[Document, ...] = ()
    status: Document = {}  # noqa: RUF012 - nothing changes it


READ = {"subscription-read": "exact", "": "exact"}
PINNED = {"subscription-read": "exact", "shares-pinned": "exact for now"}
UNION = {"union-frozen": "exact for now"}
VECTORS = [
    Vector("CN-01", {"subscribers": [BJ]}, deployment(3), {"b": 3, "c": 3}, READ),
    Vector("CN-02", {"subscribers": [SH, X]}, config_map(a="1"), {"a": None, "c": None}, {**UNION, "": "exact"}),
    Vector(
        "CN-03",
        {**STATIC, "subscribers": [{**SH, "weight": 1}, {**BJ, "weight": 2}]},
        deployment(10),
        {"a": 2, "b": 4, "c": 4},
        {**UNION, "": "exact"},
    ),
    Vector(
        "CN-04",
        {**STATIC, "subscribers": [{**SH, "weight": 2}, {**X, "weight": 1}]},
        deployment(6),
        {"a": 5, "c": 1},
        {**UNION, "shares-pinned": "exact for now"},
    ),
    Vector(
        "CN-08",
        {**STATIC, "subscribers": [{**BJ, "weight": 0}]},
        deployment(5),
        {"b": 5, "c": 5},
        READ,
    ),
    Vector(
        "CN-11",
        {**dynamic("Spread"), "subscribers": [{"clusterAffinity": {"matchExpressions": []}}]},
        deployment(6),
        {"a": 3, "b": 2, "c": 1},
        {"dynamic-pinned": "exact for now", "shares-pinned": "exact for now"},
        status={
            "bindingClusters": [f"clusternet-{name}/clusternet-cluster-{name}" for name in LABELS],
            "replicas": {"apps/v1/Deployment/cn-11/x": [4, 3, 2]},
        },
    ),
    Vector(
        "CN-12",
        {"subscribers": [{"clusterAffinity": {}}]},
        deployment(1),
        {"a": 2, "b": 7, "c": 7},
        READ,
        (
            overriding("Globalization", "g", deployment(1), patch("/spec/replicas", 7), priority=900),
            overriding(
                "Localization", "l", deployment(1), patch("/spec/replicas", 2), namespace="clusternet-a", priority=100
            ),
        ),
    ),
    Vector(
        "CN-13",
        {"subscribers": [SH]},
        deployment(1),
        {"a": 1},
        READ,
        (
            overriding(
                "Localization", "m", deployment(1), patch("/metadata/annotations/x", "y"), namespace="clusternet-a"
            ),
        ),
    ),
    Vector(
        "CN-17",
        {
            **STATIC,
            "schedulingBySubGroup": True,
            "subscribers": [
                {**SH, "weight": 2, "subGroupStrategy": {"minClusters": 1}},
                {**BJ, "weight": 1, "subGroupStrategy": {"minClusters": 1}},
            ],
        },
        deployment(6),
        {"a": 4, "b": 2},
        {"subgroup-frozen": "exact for now", "": "exact"},
    ),
    Vector(
        "CN-18",
        {"subscribers": [{"clusterAffinity": {"matchLabels": {"region": "hz"}}}]},
        config_map(a="1"),
        {},
        READ,
    ),
    Vector(
        "CN-18t",
        {
            "subscribers": [{"clusterAffinity": {"matchLabels": {"region": "hz"}}}],
            "clusterTolerations": [{"key": "k", "operator": "Exists"}],
        },
        config_map(a="1"),
        {"t": None},
        READ,
    ),
    Vector(
        "CN-20",
        {**STATIC, "subscribers": [{**SH, "weight": 1}, {"clusterAffinity": {"matchLabels": {"region": "none"}}}]},
        deployment(6),
        {"a": 9},
        {**UNION, "shares-pinned": "exact for now"},
        (
            overriding(
                "Localization", "n", deployment(1), patch("/spec/replicas", 9), namespace="clusternet-a", priority=600
            ),
        ),
    ),
]


def place_of(vector: Vector) -> str:
    return vector.rule.lower()


def in_place(document: Document, place: str) -> Document:
    return {**document, "metadata": {**document["metadata"], "name": "x", "namespace": place}}


def of_place(document: Document, place: str) -> Document:
    """Return an overriding document for the object of one vector, by a name of its own."""
    feed = {**document["spec"]["feed"], "namespace": place}
    metadata = {**document["metadata"], "name": f"{place}-{document['metadata']['name']}"}
    return {**document, "metadata": metadata, "spec": {**document["spec"], "feed": feed}}


def documents_of(vector: Vector) -> list[Document]:
    place = place_of(vector)
    feed = {"apiVersion": vector.feed["apiVersion"], "kind": vector.feed["kind"], "name": "x", "namespace": place}
    subscription = {
        "apiVersion": APPS,
        "kind": "Subscription",
        "metadata": {"name": "s", "namespace": place},
        "spec": {**vector.spec, "feeds": [feed]},
        "status": vector.status,
    }
    overridden = [of_place(each, place) for each in vector.overriding]
    return [subscription, in_place(vector.feed, place), *overridden]


ANNOTATED = overriding(
    "Globalization",
    "annotated",
    config_map(),
    {"type": "MergePatch", "value": '{"metadata":{"annotations":{"a":"1"}}}'},
    clusterAffinity={"matchLabels": {"region": "bj"}},
    priority=100,
)
DEPENDENT = overriding("Globalization", "dependent", config_map(), patch("/metadata/annotations/x", "y"), priority=200)
LABELLED = overriding(
    "Globalization",
    "labels",
    deployment(1),
    {"type": "MergePatch", "value": '{"metadata":{"labels":{"k":"v","old":null}}}'},
    clusterAffinity={"matchExpressions": [{"key": "region", "operator": "In", "values": ["bj"]}]},
)
ZONED = overriding(
    "Globalization",
    "zone",
    config_map(),
    {
        "type": "FieldMergePatch",
        "value": '{"zone_id":"z1"}',
        "fieldPath": "/data/server.conf",
        "fieldFormat": "JSON",
    },
)
CHART = {
    "apiVersion": APPS,
    "kind": "HelmChart",
    "metadata": {},
    "spec": {"repo": "https://charts.example", "chart": "mysql", "version": "9.2.0", "targetNamespace": "abc"},
}
VALUES = overriding(
    "Globalization", "values", CHART, {"type": "Helm", "value": "primary: {persistence: {enabled: no}}"}
)
TAG = overriding("Localization", "tag", CHART, {"type": "Helm", "value": "image: {tag: t}"}, namespace="clusternet-a")
VERSION = overriding(
    "Localization",
    "version",
    CHART,
    {"type": "Helm", "value": "spec: {version: 9.1.8}", "overrideChart": True},
    namespace="clusternet-a",
)
ALL: Document = {"subscribers": [{"clusterAffinity": {}}]}
MORE = [
    Vector("CN-13d", ALL, config_map(a="1"), {}, {}, (ANNOTATED, DEPENDENT)),
    Vector("CN-14", ALL, deployment(1), {}, {}, (LABELLED,)),
    Vector("CN-15", ALL, config_map(**{"server.conf": '{"zone_id":"z0"}'}), {}, {}, (ZONED,)),
    Vector("CN-16", ALL, CHART, {}, {}, (VALUES, TAG, VERSION)),
    Vector("CN-19", {**ALL, **dynamic("Binpack")}, deployment(6), {}, {}),
    Vector("CN-09", {**ALL, **dynamic("Spread")}, deployment(6), {}, {}),
]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """All vectors that a cluster is sent something for, each in its own namespace."""
    taints = [{"key": "k", "effect": "NoSchedule"}]
    documents = [cluster(name, labels) for name, labels in LABELS.items()]
    documents.append(cluster("t", TAINTED["t"], taints=taints))
    documents += [each for vector in [*VECTORS, *MORE[:4]] for each in documents_of(vector)]
    return imported(tmp_path_factory.mktemp("clusternet"), "clusternet", documents)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.rule)
def test_every_cluster_is_sent_what_clusternet_sent_it(vector: Vector, fleet: Imported) -> None:
    kind, place = vector.feed["kind"], place_of(vector)
    assert fleet.counts(f"{place}/{kind}/x") == vector.counts
    assert fleet.told(f"Subscription {place}/s") | fleet.told(f"{kind} {place}/x") == vector.codes


def test_a_merge_patch_becomes_operations_for_the_clusters_selected(fleet: Imported) -> None:
    """CN-14."""
    (rule,) = fleet.object("OverridePolicy", "cn-14", "deployment-x")["spec"]["overrideRules"]
    assert rule == {
        "targetCluster": {
            "labelSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["bj"]}]}
        },
        "overriders": {
            "plaintext": [
                {"operator": "add", "path": "/metadata/labels/k", "value": "v"},
                {"operator": "remove", "path": "/metadata/labels/old"},
            ]
        },
    }


def test_rules_that_depend_on_each_other_are_written_by_cluster(fleet: Imported) -> None:
    """CN-13: a path that is missing in one cluster, and there in another, where an earlier rule made it."""
    (rule,) = fleet.object("OverridePolicy", "cn-13d", "configmap-x")["spec"]["overrideRules"]
    annotations = {"a": "1", "x": "y"}
    assert rule == {
        "targetCluster": {"clusterNames": ["b", "c"]},
        "overriders": {"plaintext": [{"operator": "add", "path": "/metadata/annotations", "value": annotations}]},
    }
    assert fleet.told("ConfigMap cn-13d/x") == {"overrides-frozen": "exact for now"}


def test_a_field_is_written_as_clusternet_writes_it(fleet: Imported) -> None:
    """CN-15: the whole text is replaced, for a fieldOverrider would write the JSON of the field otherwise."""
    assert {name: sent["data"] for name, sent in fleet.sent["cn-15/ConfigMap/x"].items()} == {
        name: {"server.conf": '{\n    "zone_id": "z1"\n}'} for name in "abc"
    }


def test_a_chart_is_a_release_with_the_version_and_values_of_each_cluster(fleet: Imported) -> None:
    """CN-16."""
    releases = fleet.sent["cn-16/HelmRelease/x"]
    assert {
        name: (each["spec"]["chart"]["spec"]["version"], each["spec"]["values"]) for name, each in releases.items()
    } == {
        "a": ("9.1.8", {"primary": {"persistence": {"enabled": False}}, "image": {"tag": "t"}}),
        "b": ("9.2.0", {"primary": {"persistence": {"enabled": False}}}),
        "c": ("9.2.0", {"primary": {"persistence": {"enabled": False}}}),
    }
    assert releases["a"]["spec"]["targetNamespace"] == "abc"
    assert {each["spec"]["url"] for each in fleet.sent["cn-16/HelmRepository/x"].values()} == {"https://charts.example"}
    assert fleet.told("HelmChart cn-16/x") == {"chart-by-flux": "approximate", "": "exact"}


@pytest.mark.parametrize(
    ("vector", "preference", "code"),
    [
        (MORE[4], {"replicaDivisionPreference": "Aggregated"}, "binpack"),
        (
            MORE[5],
            {
                "replicaDivisionPreference": "Weighted",
                "weightPreference": {"dynamicWeight": "AvailableReplicas"},
            },
            "dynamic-by-room",
        ),
    ],
    ids=lambda value: value.rule if isinstance(value, Vector) else "",
)
def test_replicas_are_divided_by_room(vector: Vector, preference: Document, code: str, tmp_path: Path) -> None:
    """CN-19 and, as far as the room is not known, CN-09 and CN-10."""
    members = [{**cluster(name, LABELS[name]), "status": {}} for name in LABELS]
    found = imported(tmp_path, "clusternet", [*members, *documents_of(vector)])
    place = place_of(vector)
    policy = found.object("PropagationPolicy", place, "everywhere-divided")
    wanted = {"replicaSchedulingType": "Divided", **preference}
    assert policy["spec"]["placement"]["replicaScheduling"] == wanted
    assert found.told(f"Subscription {place}/s") == {code: "approximate"}


@pytest.mark.parametrize(
    ("replicas", "weights", "want"),
    [(5, [5, 1, 0, 2], [4, 0, 0, 1]), (7, [1, 1, 1], [3, 2, 2]), (10, [3, 2, 1], [6, 3, 1]), (5, [0, 0], None)],
    ids=["CN-05", "CN-06", "CN-07", "CN-08"],
)
def test_replicas_by_weights(replicas: int, weights: list[int], want: list[int] | None) -> None:
    assert shares_by_static_weights(replicas, weights) == want


@pytest.mark.parametrize(
    ("replicas", "room", "want"),
    [(6, [10, 5, 5], [3, 2, 1]), (10, [2, 3], [2, 3]), (-3, [4, 3, 2], [-1, -1, -1])],
    ids=["CN-09", "CN-10", "CN-11"],
)
def test_replicas_by_room(replicas: int, room: list[int], want: list[int]) -> None:
    assert shares_in_proportion_to_weights(replicas, room) == want


def test_a_cluster_keeps_its_mode_labels_and_taints(fleet: Imported) -> None:
    assert fleet.object("Cluster", "", "t")["spec"] == {
        "syncMode": "Pull",
        "taints": [{"key": "k", "effect": "NoSchedule"}],
    }
    assert fleet.object("Cluster", "", "b")["spec"] == {"syncMode": "Push"}
    assert fleet.told("ManagedCluster clusternet-b/clusternet-cluster-b") == {"dual-sync": "approximate"}


def test_what_is_fed_by_subscribers_of_either_kind_needs_the_clusters(tmp_path: Path) -> None:
    found = imported(tmp_path, "clusternet", documents_of(VECTORS[1]))
    assert found.told("Subscription cn-02/s") == {"union-needs-clusters": "refused"}
    assert list(found.files) == ["templates/cn-02/configmap-x.yaml"]


def others_than(*regions: str) -> Document:
    return {"clusterAffinity": {"matchExpressions": [{"key": "region", "operator": "NotIn", "values": [*regions]}]}}


class Labelled(NamedTuple):
    why: str
    spec: Document
    feed: Document
    counts: dict[str, Any]
    codes: dict[str, str]


BY_LABELS = {"weights-by-labels": "approximate"}
NEEDED = {"union-needs-clusters": "refused"}
LABELLED_VECTORS = [
    Labelled("copies by one label", {"subscribers": [SH, BJ]}, deployment(3), {"a": 3, "b": 3, "c": 3}, READ),
    Labelled(
        "weights of different labels, as the ManagedClusters would have them",
        {**STATIC, "subscribers": [{**SH, "weight": 1}, {**BJ, "weight": 2}]},
        deployment(10),
        {"a": 2, "b": 4, "c": 4},
        {**BY_LABELS, "": "exact"},
    ),
    Labelled(
        "what is not divided goes to all of them",
        {**STATIC, "subscribers": [{**SH, "weight": 1}, {**BJ, "weight": 2}]},
        config_map(a="1"),
        {"a": None, "b": None, "c": None},
        {**BY_LABELS, "": "exact"},
    ),
    Labelled(
        "weights of one region, and of all others",
        {**STATIC, "subscribers": [{**SH, "weight": 3}, {**others_than("sh"), "weight": 1}]},
        deployment(5),
        {"a": 3, "b": 1, "c": 1},
        {**BY_LABELS, "": "exact"},
    ),
    Labelled(
        "weights of equal subscribers add up",
        {**STATIC, "subscribers": [{**SH, "weight": 1}, {**BJ, "weight": 1}, {**SH, "weight": 3}]},
        deployment(6),
        {"a": 4, "b": 1, "c": 1},
        {**BY_LABELS, "": "exact"},
    ),
    Labelled(
        "a weight of 0 beside another",
        {**STATIC, "subscribers": [{**SH, "weight": 0}, {**BJ, "weight": 1}]},
        deployment(4),
        {"b": 2, "c": 2},
        {**BY_LABELS, "": "exact"},
    ),
    Labelled(
        "weights of 0 alone divide nothing",
        {**STATIC, "subscribers": [{**SH, "weight": 0}, {**BJ, "weight": 0}]},
        deployment(4),
        {"a": 4, "b": 4, "c": 4},
        READ,
    ),
    Labelled(
        "weights of labels that meet",
        {**STATIC, "subscribers": [{**SH, "weight": 2}, {**X, "weight": 1}]},
        deployment(4),
        {},
        NEEDED,
    ),
    Labelled(
        "weights of regions that meet",
        {**STATIC, "subscribers": [{**SH, "weight": 2}, {**others_than("bj"), "weight": 1}]},
        deployment(4),
        {},
        NEEDED,
    ),
    Labelled("copies by different labels", {"subscribers": [SH, X]}, deployment(4), {}, NEEDED),
]


@pytest.mark.parametrize("case", LABELLED_VECTORS, ids=lambda case: case.why)
def test_subscribers_that_differ_in_one_label_need_no_clusters(case: Labelled, tmp_path: Path) -> None:
    vector = Vector(case.why, case.spec, case.feed, case.counts, case.codes)
    found = imported(tmp_path, "clusternet", documents_of(Vector("CN-L", *vector[1:])), clusters=LABELS)
    place = f"cn-l/{case.feed['kind']}/x"
    assert found.counts(place) == case.counts
    told = found.told("Subscription cn-l/s")
    assert told == {code: grade for code, grade in case.codes.items() if code}


def test_a_negative_number_of_replicas_is_divided_by_nobody(tmp_path: Path) -> None:
    """No API server takes it, Clusternet's own included; negative shares were written, and called exact."""
    negative = {**deployment(-7), "metadata": {"name": "n", "namespace": "shop"}}
    positive = {**deployment(7), "metadata": {"name": "p", "namespace": "shop"}}
    feeds = [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": name} for name in "np"]
    subscription = {
        "apiVersion": "apps.clusternet.io/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": "s", "namespace": "shop"},
        "spec": {
            "subscribers": [{"clusterAffinity": {}, "weight": 1}],
            "schedulingStrategy": "Dividing",
            "dividingScheduling": {"type": "Static"},
            "feeds": feeds,
        },
    }
    members = [cluster(name, LABELS[name]) for name in LABELS]
    found = imported(tmp_path, "clusternet", [*members, negative, positive, subscription])
    assert found.told("Deployment shop/n") == {"negative-replicas": "refused"}
    assert not [path for path in found.files if path.endswith("deployment-n.yaml")]
    assert found.object("Deployment", "shop", "p")["spec"]["replicas"] == 7
    fleet = ClusternetFleet(
        clusters=[ManagedCluster(key="a/a", labels={})],
        feeds=[FeedOrder(key="apps/v1/Deployment/shop/n", replicas=-7)],
        available={},
    )
    with pytest.raises(NotScheduled, match="negative number of replicas"):
        targets_of_subscription(subscription, fleet)
