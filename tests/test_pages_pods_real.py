"""The page of pods beside real API servers: three that answer, one that hangs, one that refuses, and one that pulls."""

import io
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.pages.reader import FleetReader
from reconciler.pages.serving import PageApplication
from reconciler.pages.web_pages import WebPages
from reconciler.run.web.entry import EntryRules
from render.documents import emit, parse_documents

from .build import Repository, a_cluster, a_deployment, a_policy, on_clusters
from .clusters import Member, remove_namespaces
from .paged import Browser
from .test_inspection import recorded_in_status
from .test_inspection_pods_real import NODE, SECRET, SPACE, give_pod, served_kubelet
from .test_pages_object import answered, words_of

pytestmark = pytest.mark.cluster

ADDRESS = f"/objects/Deployment.apps/{SPACE}/web/pods"
RECORD = {
    "apiVersion": "cluster.karmada.io/v1alpha1",
    "kind": "Cluster",
    "metadata": {"name": "pulls", "annotations": {"argosy.dev/heartbeat": "2026-03-01T12:03:00Z"}},
}
REPORTED: dict[str, Any] = {
    "apiVersion": "work.karmada.io/v1alpha1",
    "kind": "Work",
    "metadata": {"name": "web"},
    "live": {"replicas": 1},
    "status": {
        "conditions": [
            {"type": "Applied", "status": "True", "reason": "AppliedSuccessful"},
            {
                "type": "Healthy",
                "status": "False",
                "reason": "ReplicasMissing",
                "message": "0 of 1 are ready <b>there</b>",
                "lastTransitionTime": "2026-03-01T11:00:00Z",
            },
        ],
        "manifestStatuses": [
            {
                "identifier": {"group": "apps", "kind": "Deployment", "namespace": SPACE, "name": "web"},
                "health": "Unhealthy",
                "status": {"replicas": 1, "readyReplicas": 0},
            }
        ],
    },
}


class Asked(NamedTuple):
    """Somebody who looks at the page, and the pod that has a log."""

    browser: Browser
    pod: str


@contextmanager
def a_hanging_server() -> Iterator[int]:
    """A server that takes every connection and never says anything."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module")
def asked(members: tuple[Member, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder, path = tmp_path_factory.mktemp("kubeconfigs"), tmp_path_factory.mktemp("fleet") / "fleet"
    for member in members:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    repository = _applied_fleet(path, folder, [member.name for member in members])
    files = {"clusters/pulls.yaml": RECORD, f"works/pulls/{SPACE}/Deployment.apps/web.yaml": REPORTED}
    recorded_in_status(repository, files)
    with a_hanging_server() as port, served_kubelet(members[0]) as kubelet:
        pod = give_pod(members[0], kubelet)
        (folder / "hangs.yaml").write_bytes(_kubeconfig(members[0], server=f"https://127.0.0.1:{port}"))
        (folder / "refuses.yaml").write_bytes(_kubeconfig(members[2], user="nobody"))
        reader = FleetReader(str(path), access_words=("--kubeconfigs", str(folder)))
        site = WebPages(fleets=lambda: {"fleet": reader})
        log = Log(stream=io.StringIO(), level=ERRORS_ONLY)
        yield Asked(Browser(PageApplication(pages=site, entry=EntryRules(is_local=True), log=log)), pod)
        reader.close()
    members[0].request("DELETE", f"/api/v1/namespaces/{SPACE}/pods/{pod}?gracePeriodSeconds=0")
    members[0].request("DELETE", f"/api/v1/nodes/{NODE}")
    remove_namespaces(members, SPACE, "argosy-system")


def _applied_fleet(path: Path, folder: Path, names: list[str]) -> Repository:
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "Secret"}]
    everywhere = [*names, "hangs", "refuses", "pulls"]
    repository = Repository.create(path)
    repository.commit(
        {
            **{f"{name}.yaml": a_cluster(name, syncMode="Push") for name in everywhere[:-1]},
            "pulls.yaml": a_cluster("pulls", syncMode="Pull"),
            "web.yaml": [a_deployment("web", namespace=SPACE, replicas=1), SECRET],
            "policy.yaml": a_policy("all", namespace=SPACE, selectors=selectors, placement=on_clusters(*everywhere)),
        }
    )
    assert run(["-C", str(path), "reconcile", "--bootstrap", "--kubeconfigs", str(folder)]) in {1, 7}
    return repository


def _kubeconfig(member: Member, *, server: str = "", user: str = "") -> bytes:
    """The kubeconfig of a member, with another server or a user who is acted as."""
    (document,) = parse_documents(member.kubeconfig.read_bytes())
    config: Any = document.value
    config["clusters"][0]["cluster"] |= {"server": server} if server else {}
    config["users"][0]["user"] |= {"as": user} if user else {}
    return emit(config)


def test_the_page_has_every_answer_and_names_who_gave_none(asked: Asked) -> None:
    """One that hangs costs its own time, one that refuses says why, and of one that pulls the record is dated."""
    began = time.monotonic()
    page = answered(asked.browser, ADDRESS)
    assert time.monotonic() - began < 60
    words = unescape(words_of(page)).replace(" :", ":")
    assert "3 pods in 3 clusters, 1 of them not well; 1 cluster did not answer; 1 cluster refused;" in words
    assert "; 1 cluster is not asked." in words
    assert f"BackOff Pod {asked.pod}" in words
    assert words.count("Newest events") == 3
    hanging, refusing = (words[words.index(f" {name} ") :][:400] for name in ("hangs", "refuses"))
    assert "did not answer: Unreachable: " in hanging
    assert 'refused: Forbidden: deployments.apps "web" is forbidden: User "nobody" cannot get resource' in refusing
    recorded = words[words.index("Not asked, but recorded") :]
    assert "pulls" in recorded
    assert "0 / 1 ReplicasMissing 0 of 1 are ready <b>there</b>" in recorded
    assert "<b>there</b>" not in page


def test_a_log_comes_from_the_member_that_has_it_and_no_secret_is_anywhere(asked: Asked) -> None:
    page = answered(asked.browser, f"{ADDRESS}?cluster=member1&pod={asked.pod}&tail=7")
    assert "begun with (hidden)" in page
    assert "tailLines=7" in page
    assert "Not asked, but recorded" not in page
    whole = answered(asked.browser, ADDRESS)
    document = asked.browser.answered(f"{ADDRESS}.json").text
    for text in (page, whole, document):
        assert "not-to-be-seen" not in text
        assert "bm90LXRvLWJlLXNlZW4" not in text


def test_a_log_of_a_member_that_refuses_or_hangs_is_told_as_that(asked: Asked) -> None:
    for name, said in (("refuses", "1 cluster refused"), ("hangs", "1 cluster did not answer")):
        words = words_of(answered(asked.browser, f"{ADDRESS}?cluster={name}&pod={asked.pod}"))
        assert said in words
        assert "not-to-be-seen" not in words
