"""``argosy import --from federation-v1``: its annotations decide where objects go, and every workload is divided."""

import json
from typing import Any, NamedTuple

import pytest

from .federations import Document, Imported, imported

LABELS = {"A": {"loc": "eu", "tier": "1"}, "B": {"loc": "us", "tier": "2"}, "C": {"loc": "eu"}}
SELECTOR = "federation.alpha.kubernetes.io/cluster-selector"


def cluster(name: str) -> Document:
    return {
        "apiVersion": "federation/v1beta1",
        "kind": "Cluster",
        "metadata": {"name": name.lower(), "labels": LABELS[name]},
        "spec": {
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": f"https://{name}.example"}],
            "secretRef": {"name": f"{name}-kubeconfig"},
        },
    }


def plain(kind: str, api_version: str, spec: Any, *, selector: Any = None, prefers: str | None = None) -> Document:
    annotations = {}
    if selector is not None:
        annotations[SELECTOR] = selector if isinstance(selector, str) else json.dumps(selector)
    if prefers is not None:
        name = {"Deployment": "deployment", "ReplicaSet": "replica-set", "Job": "job"}[kind]
        annotations[f"federation.kubernetes.io/{name}-preferences"] = prefers
    body = {"data": spec} if kind in {"ConfigMap", "Secret"} else {"spec": spec}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"annotations": annotations}, **body}


def workload(kind: str, replicas: int, **annotations: Any) -> Document:
    pod = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x:1"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "x"}}, "template": pod}
    return plain(kind, "extensions/v1beta1", spec, **annotations)


def a_job(parallelism: int, completions: int, prefers: str) -> Document:
    pod = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x:1"}]},
    }
    spec = {
        "parallelism": parallelism,
        "completions": completions,
        "selector": {"matchLabels": {"app": "x"}},
        "template": pod,
    }
    return plain("Job", "batch/v1", spec, prefers=prefers)


def requirement(key: str, operator: str, *values: str) -> Document:
    return {"key": key, "operator": operator, "values": list(values)}


class Vector(NamedTuple):
    rule: str
    given: Document
    counts: dict[str, Any]
    codes: dict[str, str]


A_MAP: dict[str, str] = {"a": "1"}
EXACT = {"": "exact"}
PINNED = {"replicas-pinned": "exact for now"}
VECTORS = [
    Vector("F1-01", workload("Deployment", 9), {"a": 3, "b": 3, "c": 3}, EXACT),
    Vector("F1-02", plain("ConfigMap", "v1", A_MAP), {"a": None, "b": None, "c": None}, EXACT),
    Vector(
        "F1-03",
        workload("ReplicaSet", 9, prefers='{"clusters":{"a":{"weight":1},"b":{"weight":2}}}'),
        {"a": 3, "b": 6, "c": 0},
        PINNED,
    ),
    Vector("F1-04", workload("Deployment", 4, selector=[requirement("loc", "in", "eu")]), {"a": 2, "c": 2}, EXACT),
    Vector("F1-05", plain("ConfigMap", "v1", A_MAP, selector=[requirement("loc", "==", "us")]), {"b": None}, EXACT),
    Vector("F1-06", plain("ConfigMap", "v1", A_MAP, selector=[requirement("tier", "!")]), {"c": None}, EXACT),
    Vector(
        "F1-07",
        plain("ConfigMap", "v1", A_MAP, selector=[requirement("tier", "gt", "1")]),
        {"b": None},
        {"gt-lt-frozen": "exact for now"},
    ),
    Vector("F1-08", plain("ConfigMap", "v1", A_MAP, selector=[]), {"a": None, "b": None, "c": None}, EXACT),
    Vector(
        "F1-09",
        plain("ConfigMap", "v1", A_MAP, selector='{"loc":"eu"}'),
        {},
        {"cluster-selector-unreadable": "refused"},
    ),
    Vector(
        "F1-10",
        workload(
            "Deployment",
            50,
            prefers='{"rebalance":true,"clusters":{"*":{"weight":1},"c":{"weight":1,"maxReplicas":10}}}',
        ),
        {"a": 20, "b": 20, "c": 10},
        PINNED,
    ),
    Vector(
        "F1-11",
        workload("Deployment", 6, prefers="{"),
        {"a": 2, "b": 2, "c": 2},
        {"preferences-unparsable-default-used": "exact"},
    ),
    Vector(
        "F1-12",
        workload("Deployment", 5, prefers='{"rebalance":false}'),
        {"a": 0, "b": 0, "c": 0},
        {"preferences-without-clusters-schedule-nothing": "exact", **PINNED},
    ),
    Vector(
        "F1-13",
        a_job(6, 12, '{"clusters":{"a":{"weight":1},"b":{"weight":2}}}'),
        {"a": (2, 4), "b": (4, 8)},
        {"job-pinned": "exact for now"},
    ),
    Vector(
        "F1-14",
        a_job(4, 12, '{"clusters":{"a":{"weight":1,"maxReplicas":1},"b":{"weight":1}}}'),
        {"a": (1, 1), "b": (3, 11)},
        {"job-pinned": "exact for now"},
    ),
    Vector(
        "F1-15",
        plain(
            "HorizontalPodAutoscaler",
            "autoscaling/v1",
            {"minReplicas": 3, "maxReplicas": 10, "scaleTargetRef": {"kind": "Deployment", "name": "other"}},
        ),
        {"a": (1, 4), "b": (1, 3), "c": (1, 3)},
        {"hpa-divided": "exact for now"},
    ),
]


def namespace_of(vector: Vector) -> str:
    return vector.rule.lower()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """All vectors imported together, each in its own namespace."""
    documents = [cluster(name) for name in LABELS]
    for each in VECTORS:
        metadata = {**each.given["metadata"], "name": "x", "namespace": namespace_of(each)}
        documents.append({**each.given, "metadata": metadata})
    documents.append(no_selector())
    return imported(tmp_path_factory.mktemp("federation-v1"), "federation-v1", documents)


def no_selector() -> Document:
    made = workload("Deployment", 3)
    del made["spec"]["selector"]
    made["spec"]["rollbackTo"] = {"revision": 0}
    return {**made, "metadata": {"name": "x", "namespace": "f1-16"}}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.rule)
def test_every_cluster_is_sent_what_federation_v1_sent_it(vector: Vector, fleet: Imported) -> None:
    kind, namespace = vector.given["kind"], namespace_of(vector)
    assert fleet.counts(f"{namespace}/{kind}/x") == vector.counts
    assert {code: grade for code, grade in fleet.told(f"{kind} {namespace}/x").items() if code != "nowhere"} == (
        vector.codes
    )


def test_a_selector_stays_a_selector(fleet: Imported) -> None:
    """F1-04, F1-05 and F1-06."""
    policies = fleet.files["policies/f1-06.yaml"]
    assert "key: tier\n          operator: DoesNotExist\n" in policies
    assert fleet.object("PropagationPolicy", "f1-04", "to-loc-divided")["spec"]["placement"]["clusterAffinity"] == {
        "labelSelector": {"matchExpressions": [{"key": "loc", "operator": "In", "values": ["eu"]}]}
    }


def test_a_deployment_of_before_apps_v1_gets_a_selector(fleet: Imported) -> None:
    """F1-16."""
    assert fleet.told("Deployment f1-16/x") == {"selector-derived": "approximate"}
    manifest = fleet.object("Deployment", "f1-16", "x")
    assert manifest["apiVersion"] == "apps/v1"
    assert (manifest["spec"]["selector"], "rollbackTo" in manifest["spec"]) == ({"matchLabels": {"app": "x"}}, False)


def test_a_cluster_keeps_its_address_and_labels_and_loses_its_credentials(fleet: Imported) -> None:
    """F1-17, but for the reference to a Secret: members are reached by contexts of a kubeconfig."""
    assert fleet.object("Cluster", "", "a")["spec"] == {"syncMode": "Push", "apiEndpoint": "https://A.example"}
    assert fleet.told("Cluster a") == {"credentials-left-out": "exact"}


def test_no_annotation_of_federation_v1_is_left(fleet: Imported) -> None:
    assert not [path for path, text in fleet.files.items() if "federation." in text]
