"""``argosy import --from kubefed``: the rules of federated objects and replica preferences, one row each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.federations.kubefed.placement import RegisteredClusters
from render.federations.kubefed.preferences import PreferenceInputs, division_of_preference, preferences_by_cluster
from render.federations.planner import PlannedWorkload, replica_plan_of_workload

from .federations import Document, Imported, imported
from .tables import each_row

KEY = "test-ns/test-deployment"


class Division(NamedTuple):
    rule: str
    total: int
    clusters: Mapping[str, Any]
    want: Mapping[str, int]
    members: str = "ABC"
    current: Mapping[str, int] = {}
    capacity: Mapping[str, int] = {}
    rebalance: bool = False


def weights(**by_cluster: int) -> dict[str, Any]:
    return {name: {"weight": weight} for name, weight in by_cluster.items()}


ANY: dict[str, Any] = {"*": {"weight": 1}}
BOUNDED = {
    "A": {"minReplicas": 4, "maxReplicas": 6, "weight": 1},
    "B": {"minReplicas": 4, "maxReplicas": 8, "weight": 2},
}
AT_MOST_20 = {**ANY, "C": {"weight": 1, "maxReplicas": 20}}
DIVISIONS = [
    Division("RSP-1", 9, ANY, {"A": 3, "B": 3, "C": 3}),
    Division("RSP-2", 9, weights(A=1, B=2), {"A": 3, "B": 6, "C": 0}),
    Division("RSP-3", 9, BOUNDED, {"A": 4, "B": 5, "C": 0}),
    Division("RSP-4", 50, AT_MOST_20, {"A": 17, "B": 17, "C": 16}),
    Division("RSP-5", 50, AT_MOST_20, {"A": 30, "C": 20}, members="AC"),
    Division("RSP-6", 10, weights(A=1, B=2, C=3), {"A": 1, "B": 4, "C": 5}),
    Division("RSP-7", 7, ANY, {"A": 3, "B": 3, "C": 1}),
    Division("RSP-8", 10, ANY, {"A": 3, "B": 3, "C": 1, "D": 3}, members="ABCD"),
    Division("RSP-9", 3, {"A": {"minReplicas": 1, "maxReplicas": 1, "weight": 1}}, {"A": 1}, members="A"),
    Division("RSP-10", 6, weights(A=2, B=1), {"A": 4, "B": 2}, members="AB"),
    Division("RSP-11", 7, weights(A=2, B=1), {"A": 5, "B": 2}, members="AB"),
    Division("RSP-12", 10, weights(A=5, B=1, C=2), {"A": 7, "B": 0, "C": 3}),
    Division("RSP-13", 5, {"*": {"weight": 0}}, {"A": 0, "B": 0}, members="AB"),
    Division("RSP-14", 9, ANY, {"A": 6, "B": 2, "C": 1}, current={"A": 6}),
    Division("RSP-15", 9, ANY, {"A": 3, "B": 3, "C": 3}, current={"A": 6}, rebalance=True),
    Division("RSP-16", 9, ANY, {"A": 4, "B": 3, "C": 4}, capacity={"B": 1}, rebalance=True),
    Division("RSP-17", 9, ANY, {"A": 4, "B": 1, "C": 4}, current={"A": 3, "B": 1, "C": 3}, capacity={"B": 1}),
    Division("RSP-18", 5, {"A": {"minReplicas": 2}}, {"A": 2, "B": 0}, members="AB"),
]


@each_row("row", DIVISIONS, ids=lambda row: row.rule)
def test_replicas_are_planned_as_kubefed_plans_them(row: Division) -> None:
    workload = PlannedWorkload(
        replicas=row.total, key=KEY, current=row.current, capacity=row.capacity, is_rebalanced=row.rebalance
    )
    assert (
        replica_plan_of_workload(workload, preferences_by_cluster(row.clusters), row.members).total_replicas_by_cluster
        == row.want
    )


LABELS = {
    "c1": {"env": "prod", "region": "eu"},
    "c2": {"env": "prod", "region": "us"},
    "c3": {"env": "dev", "region": "eu"},
}
POD = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "nginx:1.17"}]}}
WORKLOAD = {"spec": {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": POD}}
DATA = {"data": {"a": "1"}}
ALL: Document = {"clusterSelector": {}}


def on(*names: str) -> Document:
    return {"clusters": [{"name": name} for name in names]}


def by(**labels: str) -> Document:
    return {"clusterSelector": {"matchLabels": labels}}


def federated(kind: str, template: Any, placement: Any, **spec: Any) -> Document:
    return {
        "apiVersion": "types.kubefed.io/v1beta1",
        "kind": f"Federated{kind}",
        "metadata": {"name": "x"},
        "spec": {"template": template, "placement": placement, **spec},
    }


def preference(total: int, clusters: Any = None, **spec: Any) -> Document:
    return {
        "apiVersion": "scheduling.kubefed.io/v1alpha1",
        "kind": "ReplicaSchedulingPreference",
        "metadata": {"name": "x"},
        "spec": {"targetKind": "FederatedDeployment", "totalReplicas": total, "clusters": clusters or {}, **spec},
    }


class Vector(NamedTuple):
    rule: str
    given: Document
    counts: dict[str, Any]
    code: str = ""
    namespace: Document | None = ALL
    beside: tuple[Document, ...] = ()


def none_on(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names)


OVERRIDDEN = [
    {
        "clusterName": "c2",
        "clusterOverrides": [
            {"path": "/spec/replicas", "value": 5},
            {"path": "/spec/template/spec/containers/0/image", "value": "nginx:1.17.0-alpine"},
            {"path": "/metadata/annotations", "op": "add", "value": {"foo": "bar"}},
            {"path": "/metadata/annotations/foo", "op": "remove"},
        ],
    }
]
RENAMED = [{"clusterName": "c1", "clusterOverrides": [{"path": "/metadata/name", "value": "x"}]}]
IN_EU_PROD = {
    "clusterSelector": {
        "matchLabels": {"env": "prod"},
        "matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["us"]}],
    }
}
NAMED = {**WORKLOAD, "metadata": {"name": "mynginx", "annotations": {"a": "b"}, "finalizers": ["x"]}}
SERVICE_TYPE = {
    "apiVersion": "core.kubefed.io/v1beta1",
    "kind": "FederatedTypeConfig",
    "metadata": {"name": "virtualservices.networking.istio.io"},
    "spec": {
        "targetType": {
            "group": "networking.istio.io",
            "version": "v1beta1",
            "kind": "VirtualService",
            "scope": "Namespaced",
        }
    },
}
VECTORS = [
    Vector("KF-01", federated("ConfigMap", DATA, on("c2", "c1")), none_on("c1", "c2")),
    Vector("KF-02", federated("ConfigMap", DATA, on("c1", "ghost")), none_on("c1"), "unknown-cluster"),
    Vector("KF-03", federated("ConfigMap", DATA, {**on("c3"), **by(env="prod")}), none_on("c3")),
    Vector("KF-04", federated("ConfigMap", DATA, {**on(), **ALL}), {}, "nowhere"),
    Vector("KF-05", federated("ConfigMap", DATA, {}), {}, "nowhere"),
    Vector("KF-06", federated("ConfigMap", DATA, ALL), none_on("c1", "c2", "c3")),
    Vector("KF-07", federated("ConfigMap", DATA, IN_EU_PROD), none_on("c1")),
    Vector("KF-08", federated("ConfigMap", DATA, by(region="eu")), none_on("c1", "c3"), namespace=on("c1", "c3")),
    Vector("KF-09", federated("ConfigMap", DATA, on("c1")), {}, "namespace-not-federated", namespace=None),
    Vector("KF-10", federated("ConfigMap", DATA, by(env="prod")), {}, namespace=by(env="dev")),
    Vector("KF-11", federated("Deployment", WORKLOAD, ALL, overrides=OVERRIDDEN), {"c1": 1, "c2": 5, "c3": 1}),
    Vector("KF-12", federated("ConfigMap", DATA, ALL, overrides=RENAMED), {}, "unreadable"),
    Vector("KF-13", federated("Deployment", NAMED, on("c1")), {"c1": 1}, "template-annotations-dropped"),
    Vector("KF-14", federated("Deployment", WORKLOAD, on("c1"), retainReplicas=True), {"c1": 1}),
    Vector(
        "KF-16",
        federated("VirtualService", {"spec": {"hosts": ["x"]}}, on("c1", "c2", "c3")),
        none_on("c1", "c2", "c3"),
    ),
    Vector("KF-16u", federated("Widget", {"spec": {}}, ALL), {}, "ftc-unknown-kind"),
    Vector(
        "KF-18",
        federated("Deployment", WORKLOAD, ALL),
        {"c1": 3, "c2": 6, "c3": 0},
        "rsp-pinned",
        beside=(preference(9, weights(c1=1, c2=2)),),
    ),
    Vector(
        "KF-19",
        federated("Deployment", WORKLOAD, ALL),
        {"c1": 4, "c2": 2, "c3": 2},
        beside=(preference(8, {**ANY, "c1": {"weight": 2}}),),
    ),
    Vector(
        "KF-20",
        federated("Deployment", WORKLOAD, ALL),
        {"c1": 4, "c2": 5, "c3": 0},
        "rsp-pinned",
        beside=(preference(9, {"c1": BOUNDED["A"], "c2": BOUNDED["B"]}),),
    ),
    Vector(
        "KF-21",
        federated("Deployment", WORKLOAD, on("c1")),
        {"c1": 1, "c2": 1, "c3": 1},
        beside=(preference(3),),
    ),
    Vector(
        "KF-22",
        federated("Deployment", WORKLOAD, on("c1")),
        {"c1": 1},
        "rsp-intersect-empty",
        beside=(preference(3, intersectWithClusterSelector=True),),
    ),
]


def place_of(vector: Vector) -> str:
    return vector.rule.lower()


def member(name: str) -> Document:
    return {
        "apiVersion": "core.kubefed.io/v1beta1",
        "kind": "KubeFedCluster",
        "metadata": {"name": name, "labels": LABELS[name]},
        "spec": {"apiEndpoint": f"https://{name}.example", "secretRef": {"name": f"{name}-token"}},
    }


def documents_of(vector: Vector) -> list[Document]:
    place = place_of(vector)
    within = [{**each, "metadata": {**each["metadata"], "namespace": place}} for each in (vector.given, *vector.beside)]
    if vector.namespace is None:
        return within
    namespace = federated("Namespace", {}, vector.namespace)
    return [{**namespace, "metadata": {"name": place, "namespace": place}}, *within]


ROLE = {
    **federated("ClusterRole", {"rules": []}, on("c1")),
    "metadata": {"name": "kf-15", "annotations": {"kubefed.io/orphan": "true"}},
}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """All vectors imported together, each in its own namespace."""
    documents = [member(name) for name in LABELS] + [SERVICE_TYPE, ROLE]
    documents += [each for vector in VECTORS for each in documents_of(vector)]
    return imported(tmp_path_factory.mktemp("kubefed"), "kubefed", documents)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.rule)
def test_every_cluster_is_sent_what_kubefed_sent_it(vector: Vector, fleet: Imported) -> None:
    kind, place = vector.given["kind"], place_of(vector)
    assert fleet.counts(f"{place}/{kind.removeprefix('Federated')}/x") == vector.counts
    codes = fleet.told(f"{kind} {place}/x")
    assert vector.code in codes, codes


def test_an_ingress_of_before_is_of_today(tmp_path: Path) -> None:
    """As in KubeFed's own examples, which name no apiVersion."""
    path = {"path": "/", "backend": {"serviceName": "web", "servicePort": 80}}
    ingress = federated("Ingress", {"spec": {"rules": [{"http": {"paths": [path]}}]}}, ALL)
    vector = Vector("ingress", ingress, {})
    found = imported(tmp_path, "kubefed", [member("c1"), *documents_of(vector)])
    (rule,) = found.sent["ingress/Ingress/x"]["c1"]["spec"]["rules"]
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    assert rule["http"]["paths"] == [{"pathType": "ImplementationSpecific", "path": "/", "backend": backend}]
    assert found.told("FederatedIngress ingress/x") == {"ingress-upgraded": "approximate"}


def test_what_goes_nowhere_has_no_policy(fleet: Imported) -> None:
    """KF-04 and KF-05, where a policy that selects nothing would do as well."""
    assert "policies/kf-04.yaml" not in fleet.files
    assert "policies/kf-05.yaml" not in fleet.files


def test_selectors_that_exclude_each_other_stay_both(fleet: Imported) -> None:
    """KF-10."""
    assert fleet.object("PropagationPolicy", "kf-10", "to-env-env")["spec"]["placement"]["clusterAffinity"] == {
        "labelSelector": {
            "matchExpressions": [
                {"key": "env", "operator": "In", "values": ["prod"]},
                {"key": "env", "operator": "In", "values": ["dev"]},
            ]
        }
    }


def test_a_namespace_keeps_to_its_clusters(fleet: Imported) -> None:
    """KF-08."""
    assert sorted(fleet.sent["Namespace/kf-08"]) == ["c1", "c3"]
    labels = fleet.object("Namespace", "", "kf-08")["metadata"]["labels"]
    assert labels == {"namespace.karmada.io/skip-auto-propagation": "true"}


def test_overrides_keep_their_order(fleet: Imported) -> None:
    """KF-11."""
    sent = fleet.sent["kf-11/Deployment/x"]["c2"]
    assert (sent["metadata"].get("annotations", {}), sent["spec"]["template"]["spec"]["containers"][0]["image"]) == (
        {},
        "nginx:1.17.0-alpine",
    )


def test_a_template_loses_its_name_annotations_and_finalizers(fleet: Imported) -> None:
    """KF-13."""
    assert fleet.sent["kf-13/Deployment/x"]["c1"]["metadata"] == {"name": "x", "namespace": "kf-13"}


def test_replicas_that_members_keep_are_labelled(fleet: Imported) -> None:
    """KF-14."""
    labels = fleet.object("Deployment", "kf-14", "x")["metadata"]["labels"]
    assert labels == {"resourcetemplate.karmada.io/retain-replicas": "true"}


def test_a_cluster_scoped_object_has_policies_for_clusters(fleet: Imported) -> None:
    """KF-15 and KF-17."""
    policy = fleet.object("ClusterPropagationPolicy", "", "to-c1")
    assert policy["spec"]["placement"] == {"clusterAffinity": {"clusterNames": ["c1"]}}
    assert policy["spec"]["preserveResourcesOnDeletion"] is True
    assert sorted(fleet.sent["ClusterRole/kf-15"]) == ["c1"]


def test_weights_that_divide_alike_stay_weights(fleet: Imported) -> None:
    """KF-19; in KF-18 a cluster keeps an object without replicas, which no weights say."""
    policy = fleet.object("PropagationPolicy", "kf-19", "everywhere-divided")
    assert policy["spec"]["placement"]["replicaScheduling"]["weightPreference"] == {
        "staticWeightList": [
            {"targetCluster": {"clusterNames": ["c1"]}, "weight": 2},
            {"targetCluster": {"exclude": ["c1"]}, "weight": 1},
        ]
    }


class Reconciled(NamedTuple):
    """Changes of the inputs of KubeFed's controller, and the status that a pass of it ends with."""

    why: str
    changes: Mapping[str, Any]
    want: str


def kubefed_inputs(**changes: Any) -> PreferenceInputs:
    """A preference for a federated Deployment that is divided already; ``changes`` are other fields."""
    spec = {"targetKind": "FederatedDeployment", "totalReplicas": 2} | changes.pop("preference", {})
    overrides = [
        {"clusterName": name, "clusterOverrides": [{"op": "replace", "path": "/spec/replicas", "value": 1}]}
        for name in "AB"
    ]
    placement = {"clusters": [{"name": "A"}, {"name": "B"}]} | changes.pop("placement", {})
    given: dict[str, Any] = {
        "preference": {"metadata": {"namespace": "n", "name": "d"}, "spec": spec},
        "federated": {"spec": {"placement": placement, "overrides": overrides}},
        "federated_namespace": {},
        "federation": RegisteredClusters(labels_by_cluster={"A": {}, "B": {}}, is_limited=True),
        "members": {},
    }
    return PreferenceInputs(**{**given, **changes})


CHOSEN = {"intersectWithClusterSelector": True}
BAD_KIND = {"targetKind": "FederatedStatefulSet"}
RECONCILED = [
    Reconciled("nothing differs", {}, "ok"),
    Reconciled(
        "selectors need a FederatedNamespace where one namespace is served, too",
        {"preference": CHOSEN, "federated_namespace": None},
        "error",
    ),
    Reconciled("selectors that choose nothing", {"preference": CHOSEN}, "ok"),
    Reconciled(
        "a kind that nobody serves is looked at again whatever else is wrong",
        {"preference": {**CHOSEN, **BAD_KIND}, "federated_namespace": None},
        "recheck",
    ),
    Reconciled(
        "without clusters no kind is wrong",
        {"preference": BAD_KIND, "federation": RegisteredClusters(labels_by_cluster={})},
        "ok",
    ),
    Reconciled("a kind of another controller", {"preference": {"targetKind": "FederatedReplicaSet"}}, "ok"),
    Reconciled(
        "a selector that cannot be read, though nothing would be written",
        {"placement": {"clusterSelector": {"matchLabels": {"a": 1}}}},
        "error",
    ),
    Reconciled(
        "replicas of a member that are no number", {"members": {"A": {"object": {"spec": {"replicas": "2"}}}}}, "error"
    ),
]


@each_row("case", RECONCILED, ids=lambda case: case.why)
def test_a_pass_of_kubefeds_controller_that_writes_nothing(case: Reconciled) -> None:
    """Some of these were unchanged here where KubeFed has an error."""
    ended = division_of_preference(kubefed_inputs(**case.changes), kind="Deployment")
    assert (ended.status, ended.federated) == (case.want, None)
