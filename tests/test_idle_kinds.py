"""Objects of kinds that only Karmada's control plane acts on are named, whether a policy selects them or not."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.build import Repository, a_cluster, a_cluster_policy, argosy, on_clusters

NO_NETWORK = "it needs a network between clusters, which Argosy does not build"


class Idle(NamedTuple):
    kind: str
    said: str
    hint: str


IN_MEMBERS = "Argosy does not act on it: an implementation in the members has to act on it"
ELSEWHERE = "Argosy does not act on it: where that runs, {} acts on it"
OF_A_HUB = "Karmada wrote it for itself: ignore its file"
A_POLICY = "a policy of Karmada says here which clusters get an object"
LEFT_OUT = "is left out: objects of the group {} are never propagated, and Argosy does not act on them"
IDLE = [
    Idle("networking.karmada.io/v1alpha1 MultiClusterService", LEFT_OUT.format("networking.karmada.io"), NO_NETWORK),
    Idle("networking.karmada.io/v1alpha1 MultiClusterIngress", LEFT_OUT.format("networking.karmada.io"), NO_NETWORK),
    Idle("multicluster.x-k8s.io/v1alpha1 ServiceExport", IN_MEMBERS, NO_NETWORK),
    Idle("multicluster.x-k8s.io/v1alpha1 ServiceImport", IN_MEMBERS, NO_NETWORK),
    Idle(
        "search.karmada.io/v1alpha1 ResourceRegistry",
        "Argosy does not act on it: nothing is cached or searched by it",
        "argosy status shows the objects of the fleet in all members",
    ),
    Idle(
        "config.karmada.io/v1alpha1 KarmadaInitConfig",
        LEFT_OUT.format("config.karmada.io"),
        "karmadactl init alone reads it: ignore its file",
    ),
    Idle(
        "work.karmada.io/v1alpha1 Work",
        LEFT_OUT.format("work.karmada.io"),
        "put its manifests into the source, and select them by a policy for that cluster",
    ),
    Idle("work.karmada.io/v1alpha1 ResourceBinding", LEFT_OUT.format("work.karmada.io"), OF_A_HUB),
    Idle("work.karmada.io/v1alpha1 ClusterResourceBinding", LEFT_OUT.format("work.karmada.io"), OF_A_HUB),
    Idle("work.karmada.io/v1alpha2 ResourceBinding", LEFT_OUT.format("work.karmada.io"), OF_A_HUB),
    Idle("work.karmada.io/v1alpha2 ClusterResourceBinding", LEFT_OUT.format("work.karmada.io"), OF_A_HUB),
    Idle("cluster.open-cluster-management.io/v1beta1 Placement", ELSEWHERE.format("Open Cluster Management"), A_POLICY),
    Idle("work.open-cluster-management.io/v1 ManifestWork", ELSEWHERE.format("Open Cluster Management"), A_POLICY),
    Idle("policy.open-cluster-management.io/v1 Policy", ELSEWHERE.format("Open Cluster Management"), A_POLICY),
    Idle("placement.kubernetes-fleet.io/v1 ResourcePlacement", ELSEWHERE.format("KubeFleet"), A_POLICY),
    Idle("cluster.kubernetes-fleet.io/v1 MemberCluster", ELSEWHERE.format("KubeFleet"), A_POLICY),
    Idle("fleet.cattle.io/v1alpha1 GitRepo", ELSEWHERE.format("Rancher Fleet"), A_POLICY),
    Idle("config.projectsveltos.io/v1beta1 Profile", ELSEWHERE.format("Sveltos"), A_POLICY),
]


def an_object(kind: str, name: str = "web") -> dict[str, Any]:
    api_version, word = kind.split()
    return {"apiVersion": api_version, "kind": word, "metadata": {"name": name, "namespace": "shop"}, "spec": {}}


def a_policy_for(kind: str) -> dict[str, Any]:
    api_version, word = kind.split()
    return a_cluster_policy("p", selectors=[{"apiVersion": api_version, "kind": word}], placement=on_clusters("lyon"))


@pytest.mark.parametrize("has_policy", [True, False])
@pytest.mark.parametrize("case", IDLE, ids=lambda case: case.kind)
def test_an_object_that_nothing_here_acts_on_is_named(
    case: Idle, has_policy: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    files = {"o.yaml": an_object(case.kind), "c.yaml": a_cluster("lyon")}
    repository.commit({**files, **({"p.yaml": a_policy_for(case.kind)} if has_policy else {})})
    told = argosy(repository, capsys, "validate").out.splitlines()
    line = next(number for number, text in enumerate(told) if text.startswith("warning: o.yaml:1: "))
    assert (case.said in told[line], told[line + 1]) == (True, f"  hint: {case.hint}")


def test_of_many_objects_of_a_kind_the_first_is_named_with_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    exports = {f"{name}.yaml": an_object(IDLE[2].kind, name) for name in ("a", "b", "c")}
    repository.commit({**exports, "d.yaml": an_object(IDLE[3].kind, "d"), "c/lyon.yaml": a_cluster("lyon")})
    told = [line for line in argosy(repository, capsys, "validate").out.splitlines() if "Argosy does not act" in line]
    named = "warning: a.yaml:1: ServiceExport.multicluster.x-k8s.io shop/a and 2 more"
    assert told == [
        f"{named}: Argosy does not act on them: an implementation in the members has to act on them",
        f"warning: d.yaml:1: ServiceImport.multicluster.x-k8s.io shop/d: {IN_MEMBERS}",
    ]
