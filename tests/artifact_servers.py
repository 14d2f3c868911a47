"""A Helm repository and an OCI registry of this machine, as small as they can be, that remember who asked for what."""

import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from render.documents import emit

from .waiting import joined

CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


class Reply(NamedTuple):
    """An answer to one path."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}


class Asked(NamedTuple):
    """A request as it came."""

    path: str
    authorization: str


class ArtifactServer(ThreadingHTTPServer):
    """Replies by path; ``password`` is the header that every path asks for, ``token`` the one it gives for it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: dict[str, Reply] = {}
        self.asked: list[Asked] = []
        self.password = ""
        self.token = ""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def add_chart(self, name: str, version: str, files: Mapping[str, bytes], *, digest: str = "") -> str:
        """Offer a version of a chart in index.yaml; return the digest of its archive."""
        data = an_archive({f"{name}/{path}": content for path, content in files.items()})
        self.replies[f"/charts/{name}-{version}.tgz"] = Reply(data)
        told = digest or hashlib.sha256(data).hexdigest()
        known = self.replies.get("/charts/index.yaml")
        entries: dict[str, Any] = json.loads(known.headers["X-Entries"]) if known else {}
        entry = {"name": name, "version": version, "urls": [f"{name}-{version}.tgz"], "digest": told}
        entries.setdefault(name, []).append(entry)
        index = emit({"apiVersion": "v1", "entries": entries})
        self.replies["/charts/index.yaml"] = Reply(index, headers={"X-Entries": json.dumps(entries)})
        return f"sha256:{hashlib.sha256(data).hexdigest()}"

    def push(self, name: str, tag: str, data: bytes, *, media_type: str = CHART_LAYER) -> str:
        """Offer an artifact of one layer; return the digest of its manifest."""
        layer = f"sha256:{hashlib.sha256(data).hexdigest()}"
        config = {"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": layer, "size": 2}
        layers = [{"mediaType": media_type, "digest": layer, "size": len(data)}]
        manifest = json.dumps({"schemaVersion": 2, "config": config, "layers": layers}).encode()
        digest = f"sha256:{hashlib.sha256(manifest).hexdigest()}"
        self.replies[f"/v2/{name}/blobs/{layer}"] = Reply(data)
        for reference in (tag, digest):
            self.replies[f"/v2/{name}/manifests/{reference}"] = Reply(manifest)
        known = self.replies.get(f"/v2/{name}/tags/list")
        tags = [*(json.loads(known.body)["tags"] if known else []), tag]
        self.replies[f"/v2/{name}/tags/list"] = Reply(json.dumps({"name": name, "tags": tags}).encode())
        return digest


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ArtifactServer

    def do_GET(self) -> None:
        authorization = self.headers.get("Authorization") or ""
        self.server.asked.append(Asked(self.path, authorization))
        reply = self._reply(authorization)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def _reply(self, authorization: str) -> Reply:
        server, path = self.server, self.path.partition("?")[0]
        if server.token and path == "/token":
            if authorization not in {server.password, ""} or (server.password and not authorization):
                return Reply(status=403)
            return Reply(json.dumps({"token": server.token}).encode())
        if server.token and authorization != f"Bearer {server.token}":
            challenge = f'Bearer realm="{server.url}/token",service="here",scope="repository:web:pull"'
            return Reply(status=401, headers={"WWW-Authenticate": challenge})
        if server.password and not server.token and authorization != server.password:
            return Reply(status=401)
        return server.replies.get(self.path) or Reply(status=404)

    def log_message(self, *_words: Any) -> None:
        return


def an_archive(files: Mapping[str, bytes]) -> bytes:
    """A tar archive of plain files, packed by gzip."""
    return a_tar([(tarfile.TarInfo(path), content) for path, content in files.items()])


def a_tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """A tar archive of members of any type, packed by gzip."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(target.getvalue(), mtime=0)


@contextmanager
def serving_artifacts() -> Iterator[ArtifactServer]:
    """Run a server until the end of the block."""
    with ArtifactServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            joined(thread)
