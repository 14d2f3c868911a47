"""``argosy import --from liqo``: what stands in an offloaded namespace, where pods may run and what is reflected."""

from pathlib import Path
from typing import Any

import pytest

from .federations import Document, Imported, imported

OFFLOADING = "offloading.liqo.io/v1beta1"
HOME = {
    "apiVersion": "authentication.liqo.io/v1beta1",
    "kind": "ResourceSlice",
    "metadata": {"name": "slice"},
    "spec": {"consumerClusterID": "home", "providerClusterID": "r1"},
}


def node(name: str, labels: Document, **spec: Any) -> Document:
    all_labels = {**labels, "liqo.io/type": "virtual-node"}
    return {
        "apiVersion": OFFLOADING,
        "kind": "VirtualNode",
        "metadata": {"name": f"node-{name}", "namespace": "liqo"},
        "spec": {"clusterID": name, "labels": all_labels, **spec},
    }


PEERS = [
    HOME,
    node("r1", {"region": "eu"}, offloadingPatch={"nodeSelector": {"disk": "ssd"}}),
    node("r2", {"region": "us", "staging": ""}),
]


def offloading(namespace: str, name: str = "offloading", *, terms: Any = None, **spec: Any) -> Document:
    if terms is not None:
        spec["clusterSelector"] = {"nodeSelectorTerms": [{"matchExpressions": each} for each in terms]}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": OFFLOADING, "kind": "NamespaceOffloading", "metadata": metadata, "spec": spec}


def objects(namespace: str) -> list[Document]:
    pod = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x:1"}]}}
    spec = {"replicas": 6, "selector": {"matchLabels": {"app": "x"}}, "template": pod}
    place = {"namespace": namespace}
    skipped = {"name": "skipped", "annotations": {"liqo.io/skip-reflection": "true"}, **place}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", **place}, "spec": spec},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", **place}, "data": {"a": "1"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": skipped, "data": {"a": "1"}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", **place}, "spec": {"ports": [{"port": 80}]}},
    ]


IN_EU = [{"key": "region", "operator": "In", "values": ["eu"]}]
NOT_STAGING = [{"key": "staging", "operator": "DoesNotExist"}]
SAME = "EnforceSameName"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    documents = [
        *PEERS,
        offloading("lq-01", namespaceMappingStrategy=SAME, podOffloadingStrategy="LocalAndRemote"),
        offloading("lq-02", namespaceMappingStrategy=SAME, podOffloadingStrategy="Remote", terms=[IN_EU]),
        offloading("lq-03", namespaceMappingStrategy=SAME, podOffloadingStrategy="Local"),
        offloading("lq-04", namespaceMappingStrategy=SAME, podOffloadingStrategy="Remote", terms=[IN_EU, NOT_STAGING]),
        offloading("lq-05"),
        offloading("lq-06", namespaceMappingStrategy="SelectedName"),
        offloading("lq-08", "other", namespaceMappingStrategy=SAME),
    ]
    documents += [each for place in ("lq-01", "lq-02", "lq-03", "lq-04", "lq-05") for each in objects(place)]
    return imported(tmp_path_factory.mktemp("liqo"), "liqo", documents)


def clusters(fleet: Imported, place: str) -> list[str]:
    return sorted(fleet.sent.get(place, {}))


def test_a_namespace_is_offloaded_to_all_peers(fleet: Imported) -> None:
    """LQ-01."""
    for place in ("Namespace/lq-01", "lq-01/ConfigMap/c", "lq-01/Service/s"):
        assert clusters(fleet, place) == ["home", "r1", "r2"]
    policy = fleet.object("PropagationPolicy", "lq-01", "to-home-r1-r2-divided")
    assert policy["spec"]["placement"] == {
        "clusterAffinity": {"clusterNames": ["home", "r1", "r2"]},
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        },
    }
    assert fleet.told("Deployment lq-01/web") == {"divided-by-room": "approximate"}


def test_pods_run_in_selected_peers_alone(fleet: Imported) -> None:
    """LQ-02 and LQ-09."""
    assert fleet.counts("lq-02/Deployment/web") == {"r1": 6}
    pod = fleet.sent["lq-02/Deployment/web"]["r1"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"disk": "ssd"}
    assert clusters(fleet, "lq-02/ConfigMap/c") == ["home", "r1"]


def test_pods_stay_at_home(fleet: Imported) -> None:
    """LQ-03."""
    assert fleet.counts("lq-03/Deployment/web") == {"home": 6}
    assert "nodeSelector" not in fleet.sent["lq-03/Deployment/web"]["home"]["spec"]["template"]["spec"]
    assert clusters(fleet, "lq-03/Service/s") == ["home", "r1", "r2"]


def test_one_of_several_terms_is_enough(fleet: Imported) -> None:
    """LQ-04."""
    assert fleet.counts("lq-04/Deployment/web") == {"r1": 6}
    assert fleet.told("NamespaceOffloading lq-04/offloading") == {"or-frozen": "exact for now"}


def test_what_is_not_reflected_stays_at_home(fleet: Imported) -> None:
    """LQ-07, with a ConfigMap: Secrets are never copied."""
    assert clusters(fleet, "lq-01/ConfigMap/skipped") == ["home"]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("lq-05/offloading", "namespace-renamed"),
        ("lq-06/offloading", "remote-namespace-name-required"),
        ("lq-08/other", "must-be-named-offloading"),
    ],
)
def test_what_cannot_be_said_is_refused(document: str, code: str, fleet: Imported) -> None:
    assert fleet.told(f"NamespaceOffloading {document}") == {code: "refused"}
    assert not [place for place in fleet.sent if place.startswith(document.partition("/")[0])]


def test_members_have_the_labels_of_their_nodes(fleet: Imported) -> None:
    assert fleet.object("Cluster", "", "r1")["metadata"]["labels"] == {"region": "eu"}
    assert "labels" not in fleet.object("Cluster", "", "home")["metadata"]


def test_a_term_of_no_meaning_is_refused(tmp_path: Path) -> None:
    wrong = [{"key": "region", "operator": "Near", "values": ["eu"]}]
    found = imported(tmp_path, "liqo", [*PEERS, offloading("x", namespaceMappingStrategy=SAME, terms=[wrong])])
    assert found.told("NamespaceOffloading x/offloading") == {"unreadable": "refused"}
