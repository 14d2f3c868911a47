"""Facts that are kept from pass to pass: read again they are what the files say, and equal APIs are one list."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.reading import read_observed_inputs
from reconciler.ledger.facts import ClusterFacts
from reconciler.repository import open_repository
from reconciler.repository.cache import Cache
from reconciler.source.facts import clusters_corrected_by_facts
from render.cluster import Cluster, ResourceSummary

from .build import Repository

DEPLOYMENTS = [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "deployments"}]}]
SCALED = [{"groupVersion": "a.example.com/v1", "resources": [{"kind": "Thing", "scale": {"specReplicasPath": ".n"}}]}]
STATUSES: dict[str, dict[str, Any]] = {
    "m1": {"conditions": [{"type": "Ready", "status": "True"}], "apiEnablements": DEPLOYMENTS},
    "m2": {"apiEnablements": DEPLOYMENTS, "resourceSummary": {"allocatable": {"cpu": "4"}}},
    "m3": {"apiEnablements": SCALED, "kubernetesVersion": "v1.36.0"},
    "m4": {"apiEnablements": [], "kubernetesVersion": "v1.35.0"},
    "m5": {},
}
FACTS = {name: ClusterFacts(name=name, status=status) for name, status in STATUSES.items()}


def observed(tmp_path: Path) -> tuple[Repository, str]:
    """Commit the facts to a status branch of their own."""
    repository = Repository.create(tmp_path / "fleet")
    commit = repository.commit({f"facts/{name}.yaml": each.content() for name, each in FACTS.items()}, "facts")
    return repository, commit


def test_facts_read_from_the_cache_are_those_of_the_files(tmp_path: Path) -> None:
    made, commit = observed(tmp_path)
    first = read_observed_inputs(open_repository(made.path), commit)
    again = read_observed_inputs(open_repository(made.path), commit)
    assert first.facts == again.facts == FACTS
    assert first.rendered_ids == again.rendered_ids
    assert [list(each.status) for each in again.facts.values()] == [list(each.status) for each in first.facts.values()]


def test_clusters_that_serve_the_same_have_one_list_of_apis(tmp_path: Path) -> None:
    made, commit = observed(tmp_path)
    for _ in range(2):
        facts = read_observed_inputs(open_repository(made.path), commit).facts
        assert facts["m1"].status["apiEnablements"] is facts["m2"].status["apiEnablements"]


def test_facts_whose_apis_the_cache_forgot_are_read_from_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, commit = observed(tmp_path)
    read_observed_inputs(open_repository(made.path), commit)
    known = Cache.get_many

    def get_many(cache: Cache, ids: Iterable[bytes]) -> dict[bytes, Any]:
        return {id_: each for id_, each in known(cache, ids).items() if not isinstance(each, list)}

    monkeypatch.setattr(Cache, "get_many", get_many)
    assert read_observed_inputs(open_repository(made.path), commit).facts == FACTS


def test_each_cluster_is_corrected_by_its_own_facts() -> None:
    """A list of APIs is read once for all clusters that have it; all else is read of each by itself."""
    clusters = [Cluster(name=name, kubernetes_version="v1.30.0") for name in (*STATUSES, "m6")]
    corrected = {each.name: each for each in clusters_corrected_by_facts(clusters, FACTS)}
    assert {name: each.api_enablements for name, each in corrected.items()} == {
        "m1": {("apps/v1", "Deployment")},
        "m2": {("apps/v1", "Deployment")},
        "m3": {("a.example.com/v1", "Thing")},
        **dict.fromkeys(("m4", "m5", "m6")),
    }
    assert {name: each.scales for name, each in corrected.items() if each.scales} == {
        "m3": {("a.example.com/v1", "Thing"): {"specReplicasPath": ".n"}}
    }
    assert [each.kubernetes_version for each in corrected.values()] == [
        *("v1.30.0", "v1.30.0", "v1.36.0", "v1.35.0", "v1.30.0", "v1.30.0")
    ]
    summary = ResourceSummary(allocatable={"cpu": "4"}, allocating={}, allocated={}, is_declared=False)
    assert {name: each.resource_summary for name, each in corrected.items() if each.resource_summary} == {"m2": summary}
