"""Replicas that nobody wrote stay unwritten, so that no tool sets an autoscaled workload back to one."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import NGINX, Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from .stories import Files, held, settings

ON_TWO = on_clusters("member1", "member2")
DIVIDED = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
OVERRIDE = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "ClusterOverridePolicy",
    "metadata": {"name": "three"},
    "spec": {
        "overrideRules": [
            {"overriders": {"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 3}]}}
        ]
    },
}


class Case(NamedTuple):
    why: str
    placement: dict[str, Any]
    replicas: str
    files: Files


CASES = [
    Case("without a number there is none", ON_TWO, "-", {}),
    Case("compatibility: Karmada writes the default", ON_TWO, "1", {"argosy.yaml": settings(compatibility="Karmada")}),
    Case("an override may set it", ON_TWO, "3", {"override.yaml": OVERRIDE}),
    Case("a policy that divides it writes every part", DIVIDED, "1", {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_default_replicas(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    recorded = {"apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "x"}]}]}
    members = {f"{name}.yaml": {**a_cluster(name), "status": recorded} for name in ("member1", "member2")}
    policy = a_policy(selectors=[NGINX], placement=case.placement)
    repository.commit({**members, "nginx.yaml": a_deployment(replicas=None), "policy.yaml": policy, **case.files})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert {line.split()[2] for line in held(repository)} == {case.replicas}
