"""One changed object in a member: the requests that it takes, and how long until its health is recorded.

At a thousand members each request of a member is a thousand, and most of the time from a push to the last write.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment, argosy
from .controllers import controller, is_rendered
from .members.program import ImitatedMembers, imitated_members
from .waiting import eventually

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
    """A pass asks once which cluster it is and what that serves, and once more which it is before it writes.

    Of pods nothing is asked while they are those of the image before.
    """
    fleet, reach = a_fleet(Repository.create(tmp_path / "fleet")), ("--kubeconfigs", str(members.kubeconfigs))
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", *reach).code == 0
    fleet.commit(web("shop/web:2"))
    members.mark()
    assert argosy(fleet, capsys, "reconcile", *reach).code == 0
    told = members.told()
    identity, written = {"get namespaces": 2}, {"patch deployments": 1}
    assert told.requests == {**LOOK, **identity, **PARENT, **LISTS, **INTERCEPTORS, **written}
    assert told.connections == 1


def test_the_health_of_what_was_written_is_recorded_within_seconds(members: ImitatedMembers, tmp_path: Path) -> None:
    bare, work = Repository.create(tmp_path / "fleet.git", bare=True), a_fleet(Repository.create(tmp_path / "fleet"))
    work.git("remote", "add", "origin", str(bare.path))
    work.git("push", "-q", "origin", "HEAD:main")
    reach = ("--kubeconfigs", str(members.kubeconfigs), "--drift", "1h")
    with controller(tmp_path, str(bare.path), "--bootstrap", *reach) as run:
        for image in ("shop/web:1", "shop/web:2"):
            commit = work.commit(web(image)) if image != "shop/web:1" else work.git("rev-parse", "HEAD")
            work.git("push", "-q", "origin", "HEAD:main")
            is_rendered(bare.path, commit)
            eventually(partial(is_recorded_healthy, bare, commit), f"the health of {image}", seconds=30)
    assert "fleet: pass cause=health\n" in run.said


def is_recorded_healthy(bare: Repository, source: str) -> bool:
    """Return whether the status branch says of the Deployment of a source commit that it is healthy."""
    rendered = bare.git("log", "-1", "--format=%H %(trailers:key=Argosy-Source,valueonly)", "argosy/rendered").split()
    applied = bare.git("show", "argosy/status:clusters/member1.yaml", check=False)
    work = bare.git("show", "argosy/status:works/member1/default/Deployment.apps/web.yaml", check=False)
    return rendered[1] == source and rendered[0] in applied and "health: Healthy" in work
