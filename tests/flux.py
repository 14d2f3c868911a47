"""Flux's own kustomize-controller, on loopback, over a control plane that has its kinds.

The commits of the branch are handed to it as its source-controller hands them over: an archive at an address, and
its digest in the status of the GitRepository.
"""

import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .build import Repository
from .clusters import Member
from .peers import Module, module_folder
from .waiting import eventually, joined, running

SPACE = "flux-system"
DEFINITIONS = "config/crd/bases"
SOURCES = Module("github.com/fluxcd/source-controller", "v1.9.3", "h1:Zj1gfvK/2MFIm/K3vh5fSHoJBoggLKMuLWf5ZEmaF0w=")
"""The module that defines GitRepositories; nothing of it is built."""
KINDS = ("kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io")
_MERGE = "application/merge-patch+json"
_SECONDS = 1200.0
_MOMENT = "2026-01-15T09:00:00Z"


class _Archives(BaseHTTPRequestHandler):
    server: "_Server"

    def do_GET(self) -> None:
        content = self.server.archives[self.path.strip("/")]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_words: object) -> None:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    archives: dict[str, bytes]
    folder: Path


class Flux:
    """A running controller over a hub."""

    def __init__(self, hub: Member, server: _Server) -> None:
        self._hub, self._server = hub, server

    def hand_over(self, repository: Repository, commit: str) -> None:
        """Make a commit of the rendered branch the one to apply; what the GitRepository ignores is left out."""
        place = self._server.folder / f"{commit}.tar.gz"
        repository.git("archive", "--format=tar.gz", f"--output={place}", commit, "clusters")
        content = self._server.archives[commit] = place.read_bytes()
        ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored"}
        artifact = {
            "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
            "lastUpdateTime": _MOMENT,
            "path": commit,
            "revision": f"argosy/rendered@sha1:{commit}",
            "size": len(content),
            "url": f"http://127.0.0.1:{self._server.server_address[1]}/{commit}",
        }
        conditions = [{**ready, "lastTransitionTime": _MOMENT, "observedGeneration": 1}]
        status = {"status": {"observedGeneration": 1, "conditions": conditions, "artifact": artifact}}
        path = f"/apis/source.toolkit.fluxcd.io/v1/namespaces/{SPACE}/gitrepositories/argosy/status"
        code, answer = self._hub.request("PATCH", path, status, content_type=_MERGE)
        assert code == 200, answer

    def is_ready(self, name: str, commit: str) -> bool:
        """Say whether a Kustomization has applied a commit, and all of it is healthy."""
        status = (self._hub.read(_path(name)) or {}).get("status") or {}
        ready = [each["status"] for each in status.get("conditions") or () if each["type"] == "Ready"]
        return ready == ["True"] and str(status.get("lastAppliedRevision", "")).endswith(commit)

    def apply_again(self, name: str, token: str) -> None:
        """Have a Kustomization applied again, and wait until it is."""
        asked = f"reconcile.fluxcd.io/requestedAt={token}"
        self._hub.kubectl("-n", SPACE, "annotate", "--overwrite", f"kustomization/{name}", asked)
        handled = "lastHandledReconcileAt"
        eventually(lambda: self._hub.read(_path(name))["status"].get(handled) == token, f"{name} applied again")


@contextmanager
def running_flux(hub: Member, program: Path, folder: Path) -> Iterator[Flux]:
    """Run the controller until the end of the block; its log is in the folder."""
    folder.mkdir()
    for definitions in (program.parent / DEFINITIONS, module_folder(SOURCES) / DEFINITIONS):
        hub.kubectl("apply", "--server-side", "-f", str(definitions))
    established(hub, *KINDS)
    hub.kubectl("create", "namespace", SPACE)
    metrics, health = _free_ports(2)
    command = [str(program), f"--metrics-addr=127.0.0.1:{metrics}", f"--health-addr=127.0.0.1:{health}"]
    environment = {**os.environ, "KUBECONFIG": str(hub.kubeconfig), "RUNTIME_NAMESPACE": SPACE, "HOME": str(folder)}
    with ExitStack() as stack:
        server = stack.enter_context(_serving(folder))
        log = stack.enter_context((folder / "log").open("w"))
        command += ["--requeue-dependency=2s", "--log-level=debug"]
        process = stack.enter_context(running(command, seconds=_SECONDS, env=environment, stdout=log, stderr=log))
        stack.callback(process.terminate)
        yield Flux(hub, server)
        # What is deleted is let go by the controller alone.
        hub.kubectl("delete", "kustomizations", "--all", "-n", SPACE)


@contextmanager
def _serving(folder: Path) -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Archives)
    server.archives, server.folder = {}, folder
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        joined(thread)
        server.server_close()


def established(hub: Member, *names: str) -> None:
    """Wait until a control plane serves kinds that were just defined."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

    def is_established(name: str) -> bool:
        conditions = (hub.read(f"{path}/{name}").get("status") or {}).get("conditions") or ()
        return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)

    eventually(lambda: all(map(is_established, names)), f"{', '.join(names)} served", pause=0.1)


def _path(name: str) -> str:
    return f"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{SPACE}/kustomizations/{name}"


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
