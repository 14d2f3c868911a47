"""One changed object in a member: the requests that it takes.

At a thousand members each request of a member is a thousand, and most of the time from a push to the last write.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment, argosy
from .members.program import ImitatedMembers, imitated_members

pytestmark = [pytest.mark.cluster, pytest.mark.imitated, pytest.mark.usefixtures("imitated_program")]

KINDS = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "apps/v1", "kind": "Deployment"}]
LOOK = {"get /readyz": 1, "get /version": 1, "get /api": 1, "get /apis": 1, "list nodes": 1, "list pods": 1}
LISTS = {"list configmaps": 1, "list deployments": 1, "list horizontalpodautoscalers": 1}
INTERCEPTORS = {"list mutatingwebhookconfigurations": 1, "list mutatingadmissionpolicybindings": 1}
PARENT = {"get configmaps": 1, "patch configmaps": 1}


@pytest.fixture
def members(tmp_path: Path) -> Iterator[ImitatedMembers]:
    """One member, whose workloads are well half a second after they change."""
    with imitated_members(tmp_path / "members", 1, healthy_after=0.5) as members:
        yield members


def a_fleet(repository: Repository) -> Repository:
    repository.commit(
        {
            "clusters.yaml": a_cluster("member1"),
            "policy.yaml": a_cluster_policy("all", selectors=KINDS, placement={}),
            "settings.yaml": a_config_map("settings"),
            **web("shop/web:1"),
        }
    )
    return repository


def web(image: str) -> dict[str, object]:
    return {"web.yaml": a_deployment("web", image=image)}


def test_a_changed_image_takes_as_few_requests_as_it_can(
    members: ImitatedMembers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which cluster it is and what it serves are asked once in a pass, and before writing which cluster it still is."""
    fleet, reach = a_fleet(Repository.create(tmp_path / "fleet")), ("--kubeconfigs", str(members.kubeconfigs))
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", *reach).code == 0
    fleet.commit(web("shop/web:2"))
    members.mark()
    assert argosy(fleet, capsys, "reconcile", *reach).code == 0
    told = members.told()
    identity, written = {"get namespaces": 2}, {"patch deployments": 1}
    findings = {"list pods": 2, "list replicasets": 1, "list events": 1}
    assert told.requests == {**LOOK, **identity, **PARENT, **LISTS, **INTERCEPTORS, **written, **findings}
    assert told.connections == 1
