"""A drain on real API servers, its commands run to the letter: a database that fits nowhere else is not lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .test_cluster_drain import DEPLOYMENTS, DIVIDED, run_steps, steps_in
from .test_companions import DATABASE, SERVICE, TARGET
from .test_failover import a_fleet
from .test_kept_needs import plain

pytestmark = pytest.mark.cluster

STATEFUL_SET = "apis/apps/v1/namespaces/shop/statefulsets/db"
KEPT = (
    STATEFUL_SET,
    "api/v1/namespaces/shop/services/read",
    "api/v1/namespaces/shop/configmaps/settings",
    "apis/policy/v1/namespaces/shop/poddisruptionbudgets/db",
    "apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/db",
)
DEPLOYMENT = "apis/apps/v1/namespaces/shop/deployments/web"
BUDGET = plain(
    "PodDisruptionBudget", "db", "policy/v1", spec={"selector": {"matchLabels": {"app": "db"}}, "minAvailable": 1}
)
AUTOSCALER = plain("HorizontalPodAutoscaler", "db", "autoscaling/v2", spec={"scaleTargetRef": TARGET, "maxReplicas": 3})


def a_database() -> dict[str, Any]:
    pods = DATABASE["spec"]["template"]
    container = {"name": "a", "image": "x", "envFrom": [{"configMapRef": {"name": "settings"}}]}
    template = {**pods, "spec": {"containers": [container]}}
    return {**DATABASE, "spec": {**DATABASE["spec"], "template": template}}


def a_web_server() -> dict[str, Any]:
    labels = {"app": "web"}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "x"}]}}
    return plain(
        "Deployment", "web", "apps/v1", spec={"replicas": 4, "selector": {"matchLabels": labels}, "template": pods}
    )


@pytest.fixture
def fleet(members: tuple[Member, ...], tmp_path: Path) -> Iterator[Repository]:
    """Two members that passes reach: only the second takes the database, and all else is in both."""
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in members[:2]:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    repository = Repository.create(tmp_path / "fleet")
    rest = [SERVICE, BUDGET, AUTOSCALER, a_config_map("settings", namespace="shop")]
    selectors = [{"apiVersion": each["apiVersion"], "kind": each["kind"]} for each in rest]
    policies = [
        a_policy("db", namespace="shop", selectors=[TARGET], placement=on_clusters("member2")),
        a_policy("web", namespace="shop", selectors=[DEPLOYMENTS], placement={"replicaScheduling": DIVIDED}),
        a_policy("rest", namespace="shop", selectors=selectors),
    ]
    clusters = {f"member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2)}
    settings = a_fleet(kubeconfigs=str(folder))
    repository.commit(
        {
            "argosy.yaml": settings,
            **clusters,
            "policies.yaml": policies,
            "app.yaml": [a_database(), a_web_server(), *rest],
        }
    )
    yield repository
    remove_namespaces(members, "shop", "argosy-system")


def test_the_commands_that_a_drain_prints_lose_nothing(
    fleet: Repository, members: tuple[Member, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, they allowed the removal of everything, and the database was left without its Service and its budget."""
    first = argosy(fleet, capsys, "reconcile", "--bootstrap")
    assert first.code == 0, first
    member = members[1]
    assert all(member.read(f"/{path}") is not None for path in (*KEPT, DEPLOYMENT))
    uid = member.read(f"/{STATEFUL_SET}")["metadata"]["uid"]
    drained = argosy(fleet, capsys, "cluster", "drain", "member2")
    assert drained.out.startswith("cluster/member2 draining: 1 object is to leave, 5 stay\n")
    codes = run_steps(fleet, capsys, steps_in(drained.out))
    assert codes == [0, 1, 0], "the pass says that the database stays for want of another cluster"
    assert all(member.read(f"/{path}") is not None for path in KEPT)
    assert member.read(f"/{STATEFUL_SET}")["metadata"]["uid"] == uid
    assert member.read(f"/{DEPLOYMENT}") is None
    assert members[0].read(f"/{DEPLOYMENT}")["spec"]["replicas"] == 4


def test_what_is_to_be_unjoined_goes_when_somebody_allows_it(
    fleet: Repository, members: tuple[Member, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    drained = argosy(fleet, capsys, "cluster", "unjoin", "member2", "--drain")
    assert run_steps(fleet, capsys, steps_in(drained.out)) == [0, 1, 3], "it is not unjoined while something stays"
    assert members[1].read(f"/{STATEFUL_SET}") is not None
    allowed = argosy(fleet, capsys, "cluster", "unjoin", "member2", "--drain", "--allow-unplaced")
    assert "ENDS IN NO CLUSTER\n  ! StatefulSet.apps shop/db: leaves member2, and no cluster takes it\n" in allowed.out
    assert run_steps(fleet, capsys, steps_in(allowed.out)) == [0, 1, 0]
    assert all(members[1].read(f"/{path}") is None for path in (*KEPT, DEPLOYMENT))
