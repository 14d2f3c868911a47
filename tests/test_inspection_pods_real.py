"""``argosy pods`` and its page beside real API servers: pods, events, and logs that a kubelet has."""

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .paged import browser_of
from .test_pages_object import answered, words_of
from .waiting import eventually

pytestmark = pytest.mark.cluster

SPACE, NODE = "with-pods", "with-kubelet"
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "key", "namespace": SPACE},
    "stringData": {"token": "not-to-be-seen"},
}


class _Kubelet(BaseHTTPRequestHandler):
    """A kubelet that has the log of each container, and says which lines were asked for."""

    def do_GET(self) -> None:
        content = f"begun with not-to-be-seen\n{self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""


class Applied(NamedTuple):
    """A fleet that is applied to two members, of which the first has a pod."""

    repository: Repository
    kubeconfigs: Path
    pod: str


@pytest.fixture(scope="module")
def applied(members: tuple[Member, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applied]:
    folder, path = tmp_path_factory.mktemp("kubeconfigs"), tmp_path_factory.mktemp("fleet")
    for member in members[:2]:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "Secret"}]
    repository = Repository.create(path)
    repository.commit(
        {
            **{f"{member.name}.yaml": a_cluster(member.name) for member in members[:2]},
            "web.yaml": [a_deployment("web", namespace=SPACE, replicas=1), SECRET],
            "policy.yaml": a_policy(
                "all", namespace=SPACE, selectors=selectors, placement=on_clusters("member1", "member2")
            ),
        }
    )
    assert run(["-C", str(path), "reconcile", "--bootstrap", "--kubeconfigs", str(folder)]) == 0
    with served_kubelet(members[0]) as port:
        pod = give_pod(members[0], port)
        yield Applied(repository, folder, pod)
    members[0].request("DELETE", f"/api/v1/namespaces/{SPACE}/pods/{pod}?gracePeriodSeconds=0")
    members[0].request("DELETE", f"/api/v1/nodes/{NODE}")
    remove_namespaces(members, SPACE, "argosy-system")


class served_kubelet:  # noqa: N801 - it is used like a function
    def __init__(self, member: Member) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _Kubelet)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(member.folder / "server.crt", member.folder / "server.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> int:
        self.thread.start()
        return int(self.server.server_address[1])

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(timeout=10)


def _made(member: Member, path: str, manifest: dict[str, Any]) -> dict[str, Any]:
    status, body = member.request("POST", path, manifest)
    assert status == 201, body
    return dict(body)


def give_pod(member: Member, port: int) -> str:
    """Give a member a node with a kubelet, and bind the pod of the Deployment to it, which crashes."""
    _made(member, "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    _changed(member, f"/api/v1/nodes/{NODE}/status", {"status": status})
    path = f"/api/v1/namespaces/{SPACE}/pods"
    pod = eventually(lambda: member.read(path)["items"], "the controllers make a pod")[0]
    name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]
    target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    _made(member, f"{path}/{name}/binding", binding)
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    crashing = {"name": container["name"], "image": container["image"], "imageID": "", "ready": False}
    statuses = [{**crashing, "restartCount": 3, "state": waiting}]
    _changed(member, f"{path}/{name}/status", {"status": {"phase": "Running", "containerStatuses": statuses}})
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.1", "namespace": SPACE},
        "involvedObject": {"kind": "Pod", "namespace": SPACE, "name": name, "uid": pod["metadata"]["uid"]},
        "type": "Warning",
        "reason": "BackOff",
        "message": "Back-off restarting <b>web</b>",
        "count": 4,
        "lastTimestamp": "2099-01-15T08:00:00Z",
    }
    _made(member, f"/api/v1/namespaces/{SPACE}/events", event)
    return str(name)


def _changed(member: Member, path: str, body: dict[str, Any]) -> None:
    status, answer = member.request("PATCH", path, body, content_type="application/merge-patch+json")
    assert status == 200, answer


def pods(applied: Applied, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    reach = ("--kubeconfigs", str(applied.kubeconfigs), "-o", "json")
    ended = argosy(applied.repository, capsys, "pods", "deploy/web", "-n", SPACE, *reach, *words)
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)["clusters"]


def test_pods_and_events_are_those_of_each_member(applied: Applied, capsys: pytest.CaptureFixture[str]) -> None:
    found = pods(applied, capsys)
    assert {name: (each["reached"], each["present"], each["count"]) for name, each in found.items()} == {
        "member1": (True, True, 1),
        "member2": (True, True, 1),
    }
    [pod], newest = found["member1"]["pods"], found["member1"]["events"][0]
    assert (pod["name"], pod["state"], pod["ready"], pod["restarts"], pod["node"]) == (
        applied.pod,
        "CrashLoopBackOff",
        0,
        3,
        NODE,
    )
    assert (newest["about"], newest["reason"], newest["count"]) == (f"Pod {applied.pod}", "BackOff", 4)
    assert "Pending" in {each["state"] for each in found["member2"]["pods"]}


def test_a_log_is_the_one_that_the_kubelet_has_without_values_of_secrets(
    applied: Applied, capsys: pytest.CaptureFixture[str]
) -> None:
    log = pods(applied, capsys, "--pod", applied.pod, "--tail", "7")["member1"]["log"]
    first, second = log["lines"]
    assert first == "begun with (hidden)"
    assert second.startswith(f"/containerLogs/{SPACE}/{applied.pod}/{log['container']}?")
    assert "tailLines=7" in second


def test_the_rights_of_the_asker_count(applied: Applied, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    reach = ("--kubeconfigs", str(applied.kubeconfigs), "--as", "nobody", "-o", "json")
    ended = argosy(applied.repository, capsys, "pods", "deploy/web", "-n", SPACE, *reach)
    assert ended.code == 1
    found = json.loads(ended.out)["clusters"]
    assert {name: each["failure"]["reason"] for name, each in found.items()} == {
        "member1": "Forbidden",
        "member2": "Forbidden",
    }


def test_the_page_shows_pods_events_and_the_log(applied: Applied, monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted(applied.kubeconfigs.iterdir())
    monkeypatch.setenv("KUBECONFIG", ":".join(map(str, files)))
    browser = browser_of(applied.repository)
    address = f"/objects/Deployment.apps/{SPACE}/web/pods"
    words = words_of(answered(browser, address))
    assert "2 pods in 2 clusters, 1 of them not well." in words
    assert f"BackOff Pod {applied.pod}" in words
    page = answered(browser, f"{address}?cluster=member1&pod={applied.pod}")
    assert "begun with (hidden)" in page
    assert "not-to-be-seen" not in page
    assert "<b>web</b>" not in page
