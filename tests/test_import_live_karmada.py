"""A live Karmada taken over: its API server is read, and its members go on exactly as they are.

Karmada's API server is a real one with Karmada's definitions; Cluster, which an aggregated server has there, is a
definition of the test's own. What its controllers write - bindings, works and the objects in members - is what Argosy
renders as such, which other tests compare with Karmada's own code.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from .clusters import Member, remove_namespaces
from .live_objects import changed, contents, has_settled
from .waiting import eventually

pytestmark = pytest.mark.cluster
SPACE = "of-karmada"
NAMES = ("member1", "member2")
MANAGER = "karmada-controller-manager"
CLUSTER = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "clusters.cluster.karmada.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
    },
    "spec": {
        "group": "cluster.karmada.io",
        "scope": "Cluster",
        "names": {"kind": "Cluster", "plural": "clusters", "singular": "cluster", "listKind": "ClusterList"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def selecting(*kinds: tuple[str, str, str]) -> list[dict[str, str]]:
    return [{"apiVersion": version, "kind": kind, "name": name} for version, kind, name in kinds]


DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}


def objects(division: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what people gave Karmada, as its end-to-end tests do; one workload is divided in this way."""
    divided, copied = a_deployment("divided", namespace=SPACE, replicas=5), a_deployment("copied", namespace=SPACE)
    divided["spec"]["template"]["spec"]["volumes"] = [{"name": "s", "configMap": {"name": "settings"}}]
    rule = {"component": "Registry", "operator": "replace", "value": "mirror.example.org"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE, "labels": {"team": "shop"}}},
        divided,
        copied,
        a_config_map("settings", namespace=SPACE, level="info"),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": SPACE},
            "spec": {"selector": {"app": "divided"}, "ports": [{"port": 80, "targetPort": 8080}]},
        },
        a_policy(
            "divided",
            namespace=SPACE,
            selectors=selecting(("apps/v1", "Deployment", "divided")),
            placement=on_clusters(*NAMES, replicaScheduling=division),
            propagateDeps=True,
        ),
        a_policy(
            "copied",
            namespace=SPACE,
            selectors=selecting(
                ("apps/v1", "Deployment", "copied"), ("v1", "Service", "web"), ("v1", "Secret", "password")
            ),
            placement=on_clusters(*NAMES),
        ),
        {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "OverridePolicy",
            "metadata": {"name": "mirror", "namespace": SPACE},
            "spec": {
                "resourceSelectors": selecting(("apps/v1", "Deployment", "copied")),
                "overrideRules": [
                    {"targetCluster": {"clusterNames": ["member2"]}, "overriders": {"imageOverrider": [rule]}}
                ],
            },
        },
        *(a_cluster(name, region="eu") for name in NAMES),
    ]


@pytest.fixture
def hub(
    members: tuple[Member, ...], karmada: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Member]:
    """A control plane that has propagated its objects to two members: four replicas to one, and one to the other."""
    decided = Repository.create(tmp_path / "decided")
    decided.commit({"all.yaml": objects(weighted(member1=4, member2=1))})
    ended = argosy(decided, capsys, "render", "--bootstrap", "--as", "works", "-o", "json")
    written = json.loads(ended.out)
    with Member("hub", beside=members[0]) as server:
        server.kubectl("apply", "--server-side", "-R", "-f", str(karmada))
        server.kubectl("apply", "-f", "-", stdin=json.dumps(CLUSTER))
        server.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        mine = [*objects(DYNAMIC), a_config_map("mine", namespace=SPACE), a_secret()]
        apply(server, mine)
        apply(server, [unstamped(each) for each in written["bindings"]])
        try:
            for name, member in zip(NAMES, members, strict=False):
                deliver(member, [each for each in written["works"] if each["metadata"]["namespace"].endswith(name)])
            yield server
        finally:
            remove_namespaces(members[:2], SPACE, "argosy-system")


def a_secret() -> dict[str, Any]:
    metadata = {"name": "password", "namespace": SPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"key": "hunter2"}}


def unstamped(binding: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in binding.items() if key != "status"}


def apply(server: Member, manifests: list[dict[str, Any]]) -> None:
    server.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(each) for each in manifests))


def deliver(member: Member, works: list[dict[str, Any]]) -> None:
    """Create the objects of works in a member as Karmada's controller does."""
    found = [manifest for each in works for manifest in each["spec"]["workload"]["manifests"]]
    for manifest in found:
        manifest["metadata"].setdefault("labels", {})["karmada.io/managed"] = "true"
    ordered = sorted(found, key=lambda each: str(each["kind"]) != "Namespace")
    documents = "\n---\n".join(map(json.dumps, ordered))
    member.kubectl("create", f"--field-manager={MANAGER}", "-f", "-", stdin=documents)


def test_a_live_karmada_is_taken_over_without_a_change(
    hub: Member, members: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both, kubeconfigs, fleet = members[:2], tmp_path / "kubeconfigs", tmp_path / "fleet"
    kubeconfigs.mkdir()
    for member in (*both, hub):
        shutil.copy(member.kubeconfig, kubeconfigs / f"{member.name}.yaml")
    eventually(lambda: all(has_settled(each, SPACE) for each in both), "controllers have made what they make")
    before = [contents(each, SPACE) for each in both]
    assert [each["Deployment/divided"]["spec"]["replicas"] for each in before] == [4, 1]
    access = ("--kubeconfigs", str(kubeconfigs))
    code = run(["import", "--context", "hub", *access, "--output-dir", str(fleet)])
    said = capsys.readouterr()
    assert (code, said.out.splitlines()[-2:]) == (
        3,
        [f"{name}: 5 objects taken over without a change" for name in NAMES],
    ), said
    assert "hunter2" not in said.out + "".join(path.read_text() for path in fleet.rglob("*.yaml"))
    repository = Repository.create(fleet)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "Import Karmada")
    rendered = argosy(repository, capsys, "reconcile", "--bootstrap", *access)
    left = [
        line
        for line in rendered.err.splitlines()
        if not re.fullmatch(r"applied (\d+) objects to \d+ clusters: \1 adopted", line)
    ]
    assert (rendered.code, left, changed(before, both, SPACE)) == (0, [], []), rendered
    migrated = argosy(repository, capsys, "apply", "--migrate-from", MANAGER, *access)
    assert migrated.code == 0, migrated
    # Karmada's labels and annotations leave the objects, and nothing else does: no replica moves and no Pod restarts.
    assert [line for line in changed(before, both, SPACE) if line.split("/")[3] != "metadata"] == []
    assert argosy(repository, capsys, "verify").code == 0
