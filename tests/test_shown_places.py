"""Places that are easily left out of what is shown: of Namespaces, and of what no policy claims any more."""

from pathlib import Path

import pytest

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two clusters, an object in one of them, and its Namespace, which no policy names."""
    repository = Repository.create(tmp_path / "fleet")
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy("all", selectors=selectors, namespace="shop", placement=on_clusters("oslo"))
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}}
    files = {"oslo.yaml": a_cluster("oslo"), "rome.yaml": a_cluster("rome"), "policy.yaml": policy}
    repository.commit({**files, "space.yaml": space, "settings.yaml": a_config_map("settings", namespace="shop")})
    return repository


def test_a_namespace_that_goes_along_is_listed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split() for line in argosy(repository, capsys, "render", "--bootstrap").out.splitlines()]
    assert ["-", "Namespace/shop", "oslo", "with", "the", "objects", "in", "it"] in rows
    wide = [line.split() for line in argosy(repository, capsys, "render", "--bootstrap", "-o", "wide").out.splitlines()]
    assert ["-", "Namespace/shop", "-", "oslo", "with", "the", "objects", "in", "it", "space.yaml"] in wide
    of_another = argosy(repository, capsys, "render", "--bootstrap", "--cluster", "rome")
    assert "Namespace/shop" not in of_another.out
    repository.commit({"space.yaml": None})
    assert "Namespace/shop" not in argosy(repository, capsys, "render", "--bootstrap").out


def test_what_is_released_is_told_with_its_clusters(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"policy.yaml": None})
    argosy(repository, capsys, "reconcile")
    (row,) = [
        line for line in argosy(repository, capsys, "status", "-o", "wide").out.splitlines() if "settings" in line
    ]
    assert " ".join(row.split()) == "ConfigMap shop/settings NoPolicy no policy selects it; it stays in oslo"
