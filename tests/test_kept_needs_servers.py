"""Real API servers hold what the tree says: what kept objects need, and nothing that a small cluster has lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .test_failover import a_fleet
from .test_kept_needs import WEB, web

pytestmark = pytest.mark.cluster

SUSPENDED = {"dispatchingOnClusters": {"clusterNames": ["member1"]}}


@pytest.fixture
def kubeconfigs(members: tuple[Member, ...], tmp_path: Path) -> Iterator[Path]:
    """A folder with a kubeconfig for each of two members; what a test applied is gone afterwards."""
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in members[:2]:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    yield folder
    remove_namespaces(members, "shop", "argosy-system")


def version(number: int) -> dict[str, Any]:
    return {"web.yaml": [web(number), a_config_map(f"env-{number}", namespace="shop", version=str(number))]}


def a_repository(folder: Path, files: dict[str, Any]) -> Repository:
    repository = Repository.create(folder / "fleet")
    clusters = {f"member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2)}
    repository.commit({"argosy.yaml": a_fleet(), **clusters, **files})
    return repository


def delivered(repository: Repository, capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> Ended:
    made = argosy(repository, capsys, "render", "--commit", *options)
    assert made.code == 0, made
    return argosy(repository, capsys, "apply", "--kubeconfigs", str(folder))


def holds(member: Member, path: str) -> bool:
    return member.read(f"/{path}") is not None


def test_a_config_map_stays_while_the_deployment_that_names_it_is_suspended(
    members: tuple[Member, ...], kubeconfigs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, the ConfigMap was deleted (NotWanted), and the Deployment went on to name it."""
    policy = a_policy("web", namespace="shop", selectors=[WEB], propagateDeps=True)
    repository = a_repository(tmp_path, {**version(1), "policy.yaml": policy})
    assert delivered(repository, capsys, kubeconfigs, "--bootstrap").code == 0
    spec = {**policy["spec"], "suspension": SUSPENDED}
    repository.commit({**version(2), "policy.yaml": {**policy, "spec": spec}})
    assert delivered(repository, capsys, kubeconfigs).code == 0
    first = "api/v1/namespaces/shop/configmaps/env-1"
    assert [holds(member, first) for member in members[:2]] == [True, False]
    repository.commit({"policy.yaml": policy})
    assert delivered(repository, capsys, kubeconfigs).code == 0
    assert [holds(member, first) for member in members[:2]] == [False, False]
    second = "api/v1/namespaces/shop/configmaps/env-2"
    assert [holds(member, second) for member in members[:2]] == [True, True]


def test_the_only_object_of_a_member_moves_to_another(
    members: tuple[Member, ...], kubeconfigs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, the pass was refused, and the plan for the member held it: the cluster would hold nothing."""

    def policy(name: str) -> dict[str, Any]:
        maps = [{"apiVersion": "v1", "kind": "ConfigMap"}]
        return {"policy.yaml": a_policy("maps", namespace="shop", selectors=maps, placement=on_clusters(name))}

    repository = a_repository(tmp_path, {"one.yaml": a_config_map("one", namespace="shop"), **policy("member1")})
    assert delivered(repository, capsys, kubeconfigs, "--bootstrap").code == 0
    path = "api/v1/namespaces/shop/configmaps/one"
    assert [holds(member, path) for member in members[:2]] == [True, False]
    repository.commit(policy("member2"))
    delivered(repository, capsys, kubeconfigs)
    assert [holds(member, path) for member in members[:2]] == [False, True]
