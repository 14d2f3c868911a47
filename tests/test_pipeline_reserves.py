"""Room taken since a cluster was observed stays taken, pass after pass, until it is observed again."""

from pathlib import Path
from typing import Any

import pytest

from reconciler.ledger.facts import ClusterFacts
from reconciler.pipeline.reserves import Reserve, clusters_with_reserves, next_reserves, parse_reserves, reserves_file
from reconciler.pipeline.schedules import apis_by_crd
from render.cluster import Cluster, ResourceSummary
from render.model import ObjectRef, Template

from .build import Repository, a_cluster, a_cluster_policy, a_deployment, argosy

FACTS = ClusterFacts(name="eu", status={"resourceSummary": {"allocatable": {"pods": "3"}}})
LATER = ClusterFacts(name="eu", status={"resourceSummary": {"allocatable": {"pods": "4"}}})
EU = Cluster(name="eu", resource_summary=ResourceSummary(allocatable={"pods": "3"}))


def test_reserves_are_read_back_as_written() -> None:
    reserves = {"us": Reserve(facts="1f", amounts={"pods": "2", "cpu": "500m"}), "eu": Reserve(facts="08", amounts={})}
    assert parse_reserves(reserves_file(reserves)) == reserves
    assert reserves_file(reserves).decode() == (
        "apiVersion: argosy.dev/v1alpha1\n"
        "kind: Reserved\n"
        "clusters:\n"
        "  eu:\n"
        '    facts: "08"\n'
        "    reserved: {}\n"
        "  us:\n"
        '    facts: "1f"\n'
        "    reserved:\n"
        "      cpu: 500m\n"
        '      pods: "2"\n'
    )


def test_other_facts_void_a_reserve() -> None:
    reserves = next_reserves({"eu": {"pods": "2"}, "us": {"pods": "1"}, "ap": {}}, {"eu": FACTS, "ap": FACTS})
    assert set(reserves) == {"eu"}
    (reserved,) = clusters_with_reserves((EU,), {"eu": FACTS}, reserves)
    assert reserved.resource_summary == ResourceSummary(allocatable={"pods": "3"}, reserved={"pods": "2"})
    assert clusters_with_reserves((EU,), {"eu": LATER}, reserves) == (EU,)
    assert clusters_with_reserves((EU,), {}, reserves) == (EU,)


def crd(**spec: Any) -> Template:
    ref = ObjectRef("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com")
    return Template(ref=ref, manifest={"spec": {"group": "example.com", "names": {"kind": "Widget"}, **spec}})


def test_a_crd_makes_its_clusters_serve_what_it_serves() -> None:
    versions = [{"name": "v1", "served": True}, {"name": "v1beta1", "served": False}, {"name": "v2", "served": True}]
    made = crd(versions=versions)
    assert apis_by_crd([made]) == {made.ref: frozenset({("example.com/v1", "Widget"), ("example.com/v2", "Widget")})}
    assert apis_by_crd([crd(), crd(versions=3), crd(versions=["v1"]), Template(ref=made.ref, manifest={})]) == {}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    aggregated = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    policy = a_cluster_policy("all", selectors=selectors, placement={"replicaScheduling": aggregated})
    made.commit({"clusters.yaml": [a_cluster("eu"), a_cluster("us")], "policy.yaml": policy})
    return made


def observe(repository: Repository, **pods: int) -> None:
    """Record on the status branch what each cluster has room for."""
    seen = Repository.create(repository.path.parent / f"seen-{pods['eu']}")
    facts = (
        ClusterFacts(name=name, status={"resourceSummary": {"allocatable": {"pods": str(count)}}})
        for name, count in pods.items()
    )
    seen.commit({f"facts/{each.name}.yaml": each.content() for each in facts})
    repository.git("fetch", "-q", str(seen.path), "+main:argosy/status")


def placed(repository: Repository) -> list[str]:
    return [path.rpartition("/")[2] for path in repository.files(under="clusters")]


def test_what_found_no_room_finds_none_until_the_cluster_is_observed_again(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    observe(repository, eu=2, us=1)
    repository.commit({"apps.yaml": [a_deployment(f"app-{number}", replicas=1) for number in range(5)]})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code in {0, 1}
    assert placed(repository) == ["app-0.yaml", "app-1.yaml", "app-2.yaml"]
    tip = repository.git("rev-parse", "argosy/rendered")
    argosy(repository, capsys, "reconcile")
    assert repository.git("rev-parse", "argosy/rendered") == tip
    assert parse_reserves(repository.show("reserved.yaml").encode()).keys() == {"eu", "us"}

    repository.commit({"late.yaml": a_deployment("aaa", replicas=1)})
    argosy(repository, capsys, "reconcile")
    assert placed(repository) == ["app-0.yaml", "app-1.yaml", "app-2.yaml"]

    observe(repository, eu=1, us=0)
    argosy(repository, capsys, "reconcile")
    assert sorted(placed(repository)) == ["aaa.yaml", "app-0.yaml", "app-1.yaml", "app-2.yaml"]
    repository.commit({"apps.yaml": [a_deployment(f"app-{number}", replicas=1) for number in range(3)]})
    argosy(repository, capsys, "reconcile")
    tip = repository.git("rev-parse", "argosy/rendered")
    argosy(repository, capsys, "reconcile")
    assert repository.git("rev-parse", "argosy/rendered") == tip
    assert repository.files(under="reserved.yaml") == ["reserved.yaml"]
    assert argosy(repository, capsys, "verify").code == 0
