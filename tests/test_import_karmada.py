"""``argosy import --from karmada``: objects stay as they are, without what a control plane wrote into them."""

import pytest

from .federations import Document, Imported, imported

SERVER = {"uid": "1", "resourceVersion": "2", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"}
POLICY = "policy.karmada.io/v1alpha1"
DOCUMENTS: list[Document] = [
    {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "m1", "labels": {"env": "prod"}, **SERVER, "finalizers": ["karmada.io/cluster"]},
        "spec": {
            "id": "x",
            "syncMode": "Push",
            "apiEndpoint": "https://m1",
            "secretRef": {"namespace": "karmada-cluster", "name": "m1"},
            "impersonatorSecretRef": {"namespace": "karmada-cluster", "name": "m1-impersonator"},
        },
        "status": {"kubernetesVersion": "v1.36.0"},
    },
    {
        "apiVersion": POLICY,
        "kind": "PropagationPolicy",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            **SERVER,
            "labels": {"propagationpolicy.karmada.io/permanent-id": "4711", "team": "shop"},
        },
        "spec": {
            "conflictResolution": "Abort",
            "preemption": "Never",
            "priority": 0,
            "schedulerName": "default-scheduler",
            "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "web"}],
            "placement": {
                "clusterAffinity": {"clusterNames": ["m1"]},
                "clusterTolerations": [
                    {
                        "key": "cluster.karmada.io/not-ready",
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": 300,
                    },
                    {"key": "mine", "operator": "Exists"},
                ],
            },
        },
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            **SERVER,
            "annotations": {"propagationpolicy.karmada.io/name": "web", "mine": "yes"},
        },
        "data": {"a": "1"},
    },
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}, "spec": {"finalizers": ["kubernetes"]}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "karmada-es-m1"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"a": "c2VjcmV0"}},
    {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"name": "web-configmap", "namespace": "shop"},
        "spec": {},
    },
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "ownerReferences": [{"kind": "ReplicaSet", "name": "r"}]},
    },
]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    return imported(tmp_path_factory.mktemp("karmada"), "karmada", DOCUMENTS)


def test_a_policy_loses_what_webhooks_filled_in(fleet: Imported) -> None:
    policy = fleet.object("PropagationPolicy", "shop", "web")
    assert policy["metadata"] == {"name": "web", "namespace": "shop", "labels": {"team": "shop"}}
    assert policy["spec"] == {
        "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "web"}],
        "placement": {
            "clusterAffinity": {"clusterNames": ["m1"]},
            "clusterTolerations": [{"key": "mine", "operator": "Exists"}],
        },
    }


def test_a_cluster_loses_its_credentials(fleet: Imported) -> None:
    assert fleet.object("Cluster", "", "m1")["spec"] == {"syncMode": "Push", "apiEndpoint": "https://m1"}


def test_a_member_is_sent_the_template_without_the_marks_of_controllers(fleet: Imported) -> None:
    metadata = fleet.sent["shop/ConfigMap/web"]["m1"]["metadata"]
    assert metadata == {"name": "web", "namespace": "shop", "annotations": {"mine": "yes"}}


def test_what_was_left_out_is_listed(fleet: Imported) -> None:
    lines = {each["document"]: each for each in fleet.report["documents"]}
    assert lines["ConfigMap shop/web"]["message"] == (
        "left out: metadata.annotations.propagationpolicy.karmada.io/name, metadata.creationTimestamp,"
        " metadata.generation, metadata.resourceVersion, metadata.uid"
    )
    assert {
        name: (each["grade"], each.get("code")) for name, each in lines.items() if name.split()[0] != "Cluster"
    } == {
        "ConfigMap shop/web": ("exact", "cleaned"),
        "Namespace karmada-es-m1": ("exact", "of-the-system"),
        "Namespace shop": ("exact", "cleaned"),
        "Pod shop/p": ("exact", "controller-made"),
        "PropagationPolicy shop/web": ("exact", "cleaned"),
        "ResourceBinding shop/web-configmap": ("exact", "controller-written"),
        "Secret shop/s": ("refused", "secret-left-out"),
    }
    assert not [path for path, text in fleet.files.items() if "c2VjcmV0" in text]
