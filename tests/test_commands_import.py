"""``argosy import``: a fleet of KubeFed's goes in as it is, and every cluster is sent what KubeFed sent it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from render.documents import emit, parse_documents
from render.federations.kubefed.federated_objects import SentObject, TargetType
from render.federations.kubefed.placement import RegisteredClusters
from tests.kubefed import MANAGED_LABEL, sent_to

from .build import Ended, Repository, argosy

LABELS: dict[str, Mapping[str, str]] = {
    "c1": {"env": "prod", "region": "eu"},
    "c2": {"env": "prod", "region": "us"},
    "c3": {"env": "dev", "region": "eu"},
}
POD = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx:1.17"}]}}
DEPLOYMENT = {"spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": POD}}
EVERYWHERE: dict[str, Any] = {"clusterSelector": {}}


def federated(kind: str, name: str, placement: Any, template: Any = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "types.kubefed.io/v1beta1",
        "kind": f"Federated{kind}",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"template": template or {"data": {"a": "1"}}, "placement": placement, **spec},
    }


def member(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "core.kubefed.io/v1beta1",
        "kind": "KubeFedCluster",
        "metadata": {"name": name, "namespace": "kube-federation-system", "labels": dict(LABELS[name])},
        "spec": {"apiEndpoint": f"https://{name}.example", "secretRef": {"name": f"{name}-token"}},
    }


def preference(name: str, total: int, clusters: Any = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.kubefed.io/v1alpha1",
        "kind": "ReplicaSchedulingPreference",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"targetKind": "FederatedDeployment", "totalReplicas": total, "clusters": clusters or {}, **spec},
    }


NAMESPACE = federated("Namespace", "shop", EVERYWHERE, template={"metadata": {"labels": {"team": "shop"}}})
MEMBERS = [member(name) for name in LABELS]


def imported(tmp_path: Path, capsys: pytest.CaptureFixture[str], *documents: Any, arguments: str = "") -> Ended:
    """Import documents into the folder ``fleet``, and return what was said."""
    source = tmp_path / "kubefed"
    source.mkdir(exist_ok=True)
    (source / "all.yaml").write_bytes(b"---\n".join(emit(each) for each in documents))
    code = run(["import", str(source), *arguments.split()])
    said = capsys.readouterr()
    return Ended(code, said.out, said.err)


def rendered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    """Return the ConfigMaps and Deployments that each cluster is given by the imported files: by ``cluster/name``."""
    repository = Repository.create(tmp_path / "fleet")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "import")
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert ended.code == 0, ended
    found = {}
    for path in repository.files():
        parts = path.split("/")
        if parts[0] == "clusters" and "shop" in parts and path.endswith(".yaml"):
            manifest = parse_documents(repository.show(path).encode())[0].value
            found[f"{parts[1]}/{manifest['metadata']['name']}"] = manifest
    return found


OBJECTS = [
    federated("ConfigMap", "listed", {"clusters": [{"name": "c2"}, {"name": "c1"}, {"name": "ghost"}]}),
    federated(
        "ConfigMap", "list-wins", {"clusters": [{"name": "c3"}], "clusterSelector": {"matchLabels": {"env": "prod"}}}
    ),
    federated("ConfigMap", "empty-list", {"clusters": [], "clusterSelector": {}}),
    federated("ConfigMap", "nothing", {}),
    federated("ConfigMap", "everywhere", EVERYWHERE),
    federated(
        "ConfigMap",
        "by-expression",
        {
            "clusterSelector": {
                "matchLabels": {"env": "prod"},
                "matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["us"]}],
            }
        },
    ),
    federated(
        "Deployment",
        "web",
        EVERYWHERE,
        {**DEPLOYMENT, "metadata": {"name": "ignored", "labels": {"app": "web"}, "annotations": {"dropped": "yes"}}},
        overrides=[
            {
                "clusterName": "c2",
                "clusterOverrides": [
                    {"path": "/spec/replicas", "value": 5},
                    {"path": "/spec/template/spec/containers/-1/image", "value": "nginx:1.19"},
                    {"path": "/metadata/annotations", "op": "add", "value": {"foo": "bar", "other": "x"}},
                    {"path": "/metadata/annotations/foo", "op": "remove"},
                    {"path": "/metadata/labels/a~1b", "value": "added-by-replace"},
                    {"path": "/spec/paused", "op": "add", "value": False},
                ],
            }
        ],
    ),
]


def test_every_cluster_is_sent_what_kubefed_sent_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = imported(tmp_path, capsys, *MEMBERS, NAMESPACE, *OBJECTS, arguments=f"--output-dir {tmp_path / 'fleet'}")
    assert ended.code == 0, ended
    federation = RegisteredClusters(labels_by_cluster=LABELS)
    wanted = {}
    for each in OBJECTS:
        is_core = each["kind"] == "FederatedConfigMap"
        target = TargetType(
            group="" if is_core else "apps",
            version="v1",
            kind=each["kind"].removeprefix("Federated"),
            is_namespaced=True,
        )
        for cluster in federation.clusters_of(each, NAMESPACE, is_namespaced=True):
            sent = sent_to(cluster, each, target, None)
            assert isinstance(sent, SentObject)
            del sent.manifest["metadata"]["labels"][MANAGED_LABEL]
            wanted[f"{cluster}/{each['metadata']['name']}"] = _plain(sent.manifest)
    assert {place: _plain(manifest) for place, manifest in rendered(tmp_path, capsys).items()} == wanted


def _plain(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return an object without what differs on purpose: empty maps, and the slash before KubeFed's core group."""
    metadata = {key: value for key, value in manifest["metadata"].items() if value != {}}
    return {**manifest, "apiVersion": manifest["apiVersion"].lstrip("/"), "metadata": metadata}


@pytest.mark.parametrize(
    ("given", "replicas", "grade"),
    [
        (preference("web", 9), {"c1": 3, "c2": 3, "c3": 3}, "6 exact"),
        (preference("web", 8, {"*": {"weight": 1}, "c1": {"weight": 2}}), {"c1": 4, "c2": 2, "c3": 2}, "6 exact"),
        (preference("web", 7), {"c1": 3, "c2": 1, "c3": 3}, "5 exact, 1 exact for now"),
        (
            preference("web", 9, {"c1": {"weight": 1}, "c2": {"weight": 2}}),
            {"c1": 3, "c2": 6, "c3": 0},
            "5 exact, 1 exact for now",
        ),
        (
            preference("web", 9, {"c1": {"minReplicas": 4, "maxReplicas": 6, "weight": 1}, "c2": {"weight": 1}}),
            {"c1": 6, "c2": 3, "c3": 0},
            "5 exact, 1 exact for now",
        ),
    ],
    ids=["even", "weights", "rounded up", "none for one", "bounds"],
)
def test_replicas_are_divided_as_kubefed_divides_them(
    given: dict[str, Any], replicas: dict[str, int], grade: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = federated("Deployment", "web", {"clusters": [{"name": "c1"}]}, DEPLOYMENT)
    ended = imported(tmp_path, capsys, *MEMBERS, NAMESPACE, web, given, arguments=f"--output-dir {tmp_path / 'fleet'}")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, grade)
    assert {place[:2]: each["spec"]["replicas"] for place, each in rendered(tmp_path, capsys).items()} == replicas


REPORT = """\
GRADE     DOCUMENT                         FROM          WHY
refused   FederatedSecret shop/password    all.yaml:14   the values of a Secret are not copied; write it anew, encrypted, beside the others
refused   FederatedConfigMap shop/broken   all.yaml:26   c1: KubeFed cannot apply its overrides (/data/x/y lies in nothing that is there), and sends it nothing
refused   FederatedWidget shop/unknown     all.yaml:43   what FederatedWidget stands for is not known; add the FederatedTypeConfig of the kind, or an apiVersion to the template
1 exact, 3 refused
4 files would be written: name a folder with --output-dir
"""  # noqa: E501


def test_the_report_says_why_something_is_not_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overrides = [{"clusterName": "c1", "clusterOverrides": [{"path": "/data/x/y", "value": "z"}]}]
    ended = imported(
        tmp_path,
        capsys,
        NAMESPACE,
        federated("Secret", "password", EVERYWHERE, {"data": {"a": "aHVudGVyMg=="}}),
        federated("ConfigMap", "broken", EVERYWHERE, overrides=overrides),
        federated("Widget", "unknown", EVERYWHERE),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}},
    )
    assert (ended.code, ended.out) == (3, REPORT)
    assert "aHVudGVyMg" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"kind": "KubeFedCluster"}, "metadata.name is missing"),
        ({"kind": "KubeFedCluster", "metadata": [1], "spec": "x"}, "metadata is not an object"),
        (preference("web", "many"), "spec.totalReplicas is not a whole number"),  # type: ignore[arg-type]
        (preference("web", 3, {"c1": 4}), "spec.clusters[c1] is not an object"),
        (
            {"kind": "FederatedTypeConfig", "metadata": {"name": "a"}, "spec": {"targetType": 3}},
            "spec.targetType is not an object",
        ),
        (federated("ConfigMap", "a", {}, {"metadata": "x"}), "spec.template.metadata is not an object"),
        (federated("ConfigMap", "a", {"clusters": "all"}), "spec.placement.clusters is not a list"),
        ({**NAMESPACE, "metadata": {"name": 5}}, "metadata.name is not text"),
    ],
)
def test_a_document_of_another_shape_is_refused_and_the_rest_is_converted(
    document: dict[str, Any], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"apiVersion": "core.kubefed.io/v1beta1", **document}
    ended = imported(tmp_path, capsys, NAMESPACE, OBJECTS[4], document)
    warned = "the source has policies but no clusters, so nothing is scheduled"
    assert (ended.code, [line.split(": ")[-1] for line in ended.err.splitlines()[::2]]) == (3, [warned])
    assert [line.split("   ")[-1] for line in ended.out.splitlines() if line.startswith("refused")] == [why]
    assert ended.out.splitlines()[-2] == "2 exact, 1 refused"


def test_a_folder_without_a_foreign_document_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = imported(tmp_path, capsys, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}})
    assert (ended.code, ended.out) == (3, "")
    assert f"argosy: {tmp_path / 'kubefed'} holds no document of another federation" in ended.err


@pytest.mark.parametrize(
    ("api_version", "kind", "title"),
    [
        ("cluster.open-cluster-management.io/v1beta1", "Placement", "Open Cluster Management"),
        ("work.open-cluster-management.io/v1", "ManifestWork", "Open Cluster Management"),
        ("placement.kubernetes-fleet.io/v1", "ClusterResourcePlacement", "KubeFleet"),
    ],
)
def test_a_federation_that_is_not_read_is_named(
    api_version: str, kind: str, title: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = imported(tmp_path, capsys, {"apiVersion": api_version, "kind": kind, "metadata": {"name": "all"}})
    said = f"{tmp_path / 'kubefed'} holds documents of {title}, and Argosy does not read them\n"
    hint = "  hint: write its placements as PropagationPolicies of Karmada\n"
    assert ended == (3, "", f"argosy: {said}{hint}")


def test_values_of_a_chart_are_no_document_and_a_kind_that_is_no_text_is_a_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = imported(tmp_path, capsys, NAMESPACE, *OBJECTS, {"replicas": 1})
    assert ended.code == 0
    ended = imported(tmp_path, capsys, {"apiVersion": "v1", "kind": ["Namespace"]}, arguments="--from karmada")
    assert (ended.code, ended.out) == (3, "")
    assert ": kind: it must be text" in ended.err


def test_files_of_others_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fleet" / "policies").mkdir(parents=True)
    (tmp_path / "fleet" / "policies" / "shop.yaml").write_text("mine\n")
    arguments = f"--output-dir {tmp_path / 'fleet'}"
    refused = imported(tmp_path, capsys, NAMESPACE, OBJECTS[0], arguments=arguments)
    assert refused.code == 3
    assert "policies/shop.yaml is there with other content" in refused.err
    assert (tmp_path / "fleet" / "policies" / "shop.yaml").read_text() == "mine\n"
    assert imported(tmp_path, capsys, NAMESPACE, OBJECTS[0], arguments=f"{arguments} --overwrite").code == 0
    assert (tmp_path / "fleet" / "policies" / "shop.yaml").read_text() != "mine\n"
