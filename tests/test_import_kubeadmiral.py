"""``argosy import --from kubeadmiral``: plain objects go where the policy goes that they name in a label."""

from typing import Any

import pytest

from .federations import Document, Imported, imported

CORE = "core.kubeadmiral.io/v1alpha1"
LABELS = {"A": {"env": "prod"}, "B": {"env": "prod"}, "C": {"env": "dev"}}


def cluster(name: str) -> Document:
    metadata = {"name": name.lower(), "labels": LABELS[name]}
    return {"apiVersion": CORE, "kind": "FederatedCluster", "metadata": metadata, "spec": {"apiEndpoint": "https://x"}}


def policy(kind: str, name: str, **spec: Any) -> Document:
    return {"apiVersion": CORE, "kind": kind, "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def deployment(name: str, replicas: int, propagation: str, override: str = "") -> Document:
    labels = {"kubeadmiral.io/propagation-policy-name": propagation, "app": name}
    labels |= {"kubeadmiral.io/override-policy-name": override} if override else {}
    pod = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "x", "image": "x:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": pod},
    }


def preferring(**preferences: Document) -> list[Document]:
    return [{"cluster": name, "preferences": each} for name, each in preferences.items()]


DOCUMENTS = [
    *map(cluster, LABELS),
    policy("PropagationPolicy", "copies", schedulingMode="Duplicate", clusterSelector={"env": "prod"}),
    policy("PropagationPolicy", "even", schedulingMode="Divide"),
    policy(
        "PropagationPolicy",
        "bounded",
        schedulingMode="Divide",
        placement=preferring(a={"weight": 1, "maxReplicas": 2}, b={"weight": 1}),
    ),
    policy(
        "PropagationPolicy",
        "either",
        schedulingMode="Duplicate",
        clusterAffinity=[
            {"matchExpressions": [{"key": "env", "operator": "In", "values": ["dev"]}]},
            {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]},
        ],
    ),
    policy(
        "OverridePolicy",
        "paused",
        overrideRules=[
            {
                "targetClusters": {"clusters": ["b"]},
                "overriders": {"jsonpatch": [{"operator": "add", "path": "/spec/paused", "value": True}]},
            }
        ],
    ),
    policy("OverridePolicy", "envs", overrideRules=[{"overriders": {"envs": [{"containerName": "x"}]}}]),
    deployment("copied", 2, "copies", "paused"),
    deployment("divided", 9, "even"),
    deployment("limited", 9, "bounded"),
    deployment("chosen", 1, "either", "envs"),
    deployment("lost", 1, "none"),
]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    return imported(tmp_path_factory.mktemp("kubeadmiral"), "kubeadmiral", DOCUMENTS)


@pytest.mark.parametrize(
    ("name", "counts", "codes"),
    [
        ("copied", {"a": 2, "b": 2}, {"": "exact"}),
        ("divided", {"a": 3, "b": 3, "c": 3}, {"": "exact"}),
        ("limited", {"a": 2, "b": 7}, {"shares-pinned": "exact for now"}),
        ("chosen", {"c": 1}, {"union-frozen": "exact for now", "overrider-unknown": "refused"}),
        ("lost", {}, {"policy-missing": "refused"}),
    ],
)
def test_an_object_goes_where_its_policy_goes(
    name: str, counts: dict[str, int], codes: dict[str, str], fleet: Imported
) -> None:
    assert fleet.counts(f"shop/Deployment/{name}") == counts
    assert fleet.told(f"Deployment shop/{name}") == codes


def test_patches_apply_in_their_clusters(fleet: Imported) -> None:
    sent = fleet.sent["shop/Deployment/copied"]
    assert {name: each["spec"].get("paused") for name, each in sent.items()} == {"a": None, "b": True}
    assert sent["a"]["metadata"]["labels"] == {"app": "copied"}


def test_weights_stay_weights(fleet: Imported) -> None:
    scheduling = fleet.object("PropagationPolicy", "shop", "everywhere-divided")["spec"]["placement"]
    weights = [{"targetCluster": {}, "weight": 1}]
    assert scheduling["replicaScheduling"]["weightPreference"] == {"staticWeightList": weights}
