"""``argosy import --from kubesphere``: federated objects as KubeFed has them, and clusters, workspaces and charts."""

from pathlib import Path
from typing import Any

import pytest

from .federations import Document, Imported, imported

TYPES = "types.kubefed.io/v1beta1"


def cluster(name: str, region: str, connection: Document, **spec: Any) -> Document:
    labels = {"cluster.kubesphere.io/region": region, "cluster.kubesphere.io/group": "production"}
    return {
        "apiVersion": "cluster.kubesphere.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"joinFederation": True, "enable": True, "provider": "aliyun", "connection": connection, **spec},
    }


def federated(kind: str, name: str, spec: Document, namespace: str = "p", **labels: str) -> Document:
    metadata: Document = {"name": name, "namespace": namespace}
    return {
        "apiVersion": TYPES,
        "kind": f"Federated{kind}",
        "metadata": metadata | ({"labels": labels} if labels else {}),
        "spec": spec,
    }


def on(*names: str) -> Document:
    return {"clusters": [{"name": name} for name in names]}


def workload(image: str) -> Document:
    pod = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": image}]}}
    return {"spec": {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": pod}}


def override(name: str, **values: Any) -> Document:
    paths = {"image": "/spec/template/spec/containers/0/image", "replicas": "/spec/replicas"}
    return {
        "clusterName": name,
        "clusterOverrides": [{"path": paths[key], "value": value} for key, value in values.items()],
    }


TOKEN = "dG9rZW4="
DOCUMENTS = [
    cluster("a-cn", "cn-east", {"type": "direct", "kubernetesAPIEndpoint": "https://a", "kubeconfig": TOKEN}),
    cluster("b-us", "us", {"type": "proxy", "token": TOKEN}),
    cluster("off", "eu", {"type": "direct"}, enable=False),
    {
        "apiVersion": "tenant.kubesphere.io/v1alpha2",
        "kind": "WorkspaceTemplate",
        "metadata": {"name": "w"},
        "spec": {"template": {"spec": {"manager": "admin"}}, "placement": on("a-cn")},
    },
    federated("Namespace", "p", {"template": {}, "placement": on("a-cn", "b-us")}, **{"kubesphere.io/workspace": "w"}),
    federated(
        "Deployment",
        "web",
        {
            "template": workload("gcr.io/hello:1"),
            "placement": on("a-cn", "b-us"),
            "overrides": [override("a-cn", image="docker.io/hello:1", replicas=2), override("b-us", replicas=5)],
        },
    ),
    federated(
        "StatefulSet",
        "db",
        {
            "template": {"spec": {**workload("db:1")["spec"], "serviceName": "db"}},
            "placement": {"clusterSelector": {"matchLabels": {"cluster.kubesphere.io/group": "production"}}},
        },
    ),
    {
        "apiVersion": "kubesphere.io/v1alpha1",
        "kind": "InstallPlan",
        "metadata": {"name": "metrics"},
        "spec": {
            "extension": {"name": "metrics", "version": "1.0.0"},
            "enabled": True,
            "config": "a: 1\nb: 1\n",
            "clusterScheduling": {
                "placement": {"clusters": ["a-cn", "b-us"]},
                "overrides": {"b-us": "a: 2\n", "gone": "a: 3\n"},
            },
        },
    },
    {
        "apiVersion": "application.kubesphere.io/v1alpha1",
        "kind": "HelmRepo",
        "metadata": {"name": "repo-1"},
        "spec": {"url": "https://charts.example"},
    },
    {
        "apiVersion": "application.kubesphere.io/v1alpha1",
        "kind": "HelmRelease",
        "metadata": {"name": "rls-1", "labels": {"kubesphere.io/cluster": "a-cn", "kubesphere.io/namespace": "p"}},
        "spec": {
            "name": "mysql",
            "chartName": "mysql",
            "chartVersion": "9",
            "repoId": "repo-1",
            "values": "YTogMQo=",
        },
    },
]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    return imported(tmp_path_factory.mktemp("kubesphere"), "kubesphere", DOCUMENTS)


def test_images_and_replicas_are_those_of_each_cluster(fleet: Imported) -> None:
    """KS-01."""
    found = fleet.sent["p/Deployment/web"]
    assert {
        name: (each["spec"]["replicas"], each["spec"]["template"]["spec"]["containers"][0]["image"])
        for name, each in found.items()
    } == {"a-cn": (2, "docker.io/hello:1"), "b-us": (5, "gcr.io/hello:1")}


def test_a_cluster_with_its_own_address_is_pushed_to(fleet: Imported) -> None:
    """KS-02, but for the kubeconfig: no credential is copied."""
    assert fleet.object("Cluster", "", "a-cn")["spec"] == {
        "syncMode": "Push",
        "apiEndpoint": "https://a",
        "provider": "aliyun",
        "region": "cn-east",
    }
    assert fleet.told("Cluster a-cn") == {"credentials-left-out": "exact"}


def test_a_cluster_behind_a_tunnel_pulls(fleet: Imported) -> None:
    """KS-03."""
    assert fleet.object("Cluster", "", "b-us")["spec"]["syncMode"] == "Pull"
    assert fleet.told("Cluster b-us") == {"tunnel-left-out": "approximate"}
    (said,) = [each["message"] for each in fleet.report["documents"] if each["document"] == "Cluster b-us"]
    assert said == (
        "the token of its tunnel is not copied: let an agent in it apply its folder"
        " (argosy cluster agent b-us prints one), or Argo CD or Flux"
    )


def test_no_credential_is_written(fleet: Imported) -> None:
    assert not [path for path, text in fleet.files.items() if TOKEN in text]


def test_a_disabled_cluster_is_tainted(fleet: Imported) -> None:
    taints = fleet.object("Cluster", "", "off")["spec"]["taints"]
    assert taints == [{"key": "kubesphere.io/disabled", "effect": "NoSchedule"}]


def test_a_project_may_go_further_than_its_workspace_and_the_report_says_so(fleet: Imported) -> None:
    """KS-04."""
    assert sorted(fleet.sent["Workspace/w"]) == ["a-cn"]
    assert sorted(fleet.sent["Namespace/p"]) == ["a-cn", "b-us"]
    assert fleet.told("FederatedNamespace p/p") == {"project-exceeds-workspace": "exact", "": "exact"}


def test_an_extension_has_the_values_of_each_cluster(fleet: Imported) -> None:
    """KS-05."""
    found = fleet.sent["extension-metrics/HelmRelease/metrics"]
    assert {name: each["spec"]["values"] for name, each in found.items()} == {
        "a-cn": {"a": 1, "b": 1},
        "b-us": {"a": 2, "b": 1},
    }
    assert fleet.told("InstallPlan metrics") == {
        "release-by-flux": "approximate",
        "extension-repository": "approximate",
    }


def test_an_extension_of_the_host_goes_nowhere(tmp_path: Path) -> None:
    plan = {
        "apiVersion": "kubesphere.io/v1alpha1",
        "kind": "InstallPlan",
        "metadata": {"name": "gatekeeper"},
        "spec": {"extension": {"name": "gatekeeper", "version": "1.0.0"}},
    }
    found = imported(tmp_path, "kubesphere", [*DOCUMENTS[:3], plan])
    assert (found.told("InstallPlan gatekeeper"), sorted(found.sent)) == ({"host-only": "exact"}, [])


def test_a_selector_of_groups_stays_a_selector(fleet: Imported) -> None:
    """KS-06."""
    policy = fleet.object("PropagationPolicy", "p", "to-a-cn-b-us-cluster.kubesphere.io-group-4cdf61cb")
    assert policy["spec"]["placement"]["clusterAffinity"] == {
        "clusterNames": ["a-cn", "b-us"],
        "labelSelector": {"matchLabels": {"cluster.kubesphere.io/group": "production"}},
    }
    assert sorted(fleet.sent["p/StatefulSet/db"]) == ["a-cn", "b-us"]


def test_a_release_goes_to_its_cluster(fleet: Imported) -> None:
    (release,) = fleet.sent["p/HelmRelease/mysql"].values()
    assert (release["spec"]["values"], sorted(fleet.sent["p/HelmRelease/mysql"])) == ({"a": 1}, ["a-cn"])
    assert fleet.sent["p/HelmRepository/mysql"]["a-cn"]["spec"]["url"] == "https://charts.example"


def test_a_release_of_no_known_repository_is_refused(tmp_path: Path) -> None:
    documents = [each for each in DOCUMENTS if each["kind"] in {"Cluster", "HelmRelease"}]
    found = imported(tmp_path, "kubesphere", documents)
    assert found.told("HelmRelease rls-1") == {"repository-unknown": "refused"}
