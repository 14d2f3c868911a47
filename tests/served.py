"""Members in memory behind real HTTP, so that commands reach them through kubeconfigs like any other."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from reconciler.members import client
from reconciler.members.exchange import Failure
from reconciler.members.opening import Members
from render.documents import emit

from .fakes import REVIEWS, FakeCluster
from .waiting import joined

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""The type by which clients, kubectl's among them, know all APIs in one answer."""


Fault = Callable[[BaseHTTPRequestHandler], bool]
"""Deal with a request in the member's place; False leaves it to the member."""


def _no_fault(_handler: BaseHTTPRequestHandler) -> bool:
    return False


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"
    raw_requestline: bytes
    _headers_buffer: list[bytes]

    def parse_request(self) -> bool:
        """Read the head of a request: the library has its parser of mails do that, for most of the time it takes."""
        self.requestline = self.raw_requestline.decode("latin-1").strip()
        self.command, self.path, self.request_version = self.requestline.split()
        self.headers = HTTPMessage()
        while line := self.rfile.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name] = value.strip()
        self.close_connection = self.headers.get("Connection", "").lower() == "close"
        return True

    def answer(self) -> None:
        if self.server.fault(self):
            self.close_connection = True
            return
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, body = self.server.answer(self.command, self.path, content, self.headers.get("Content-Type") or "")
        said = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        is_discovery = self.path.partition("?")[0] in {"/api", "/apis"}
        self.send_header("Content-Type", DISCOVERY if is_discovery else "application/json")
        self.send_header("Content-Length", str(len(said)))
        self._headers_buffer += [b"\r\n", said]
        self.flush_headers()

    do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string(self.server.member.now if timestamp is None else timestamp)

    def log_message(self, *_words: Any) -> None:
        return


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # the library's 5 make the sixth at once wait a second for its second try
    daemon_threads = True
    member: FakeCluster
    turn: threading.Lock
    written: list[str]
    fault: Fault

    def answer(self, method: str, path: str, content: bytes, content_type: str) -> tuple[int, Any]:
        with self.turn:
            if method != "GET" and not path.startswith(REVIEWS) and "dryRun=All" not in path:
                self.written.append(f"{method} {path.partition('?')[0]}")
            body = json.loads(content) if content else None
            return self.member.request(method, path, body, content_type=content_type)


class Served(NamedTuple):
    """A folder of kubeconfigs, and what was written to all members, as ``METHOD path``."""

    kubeconfigs: Path
    written: list[str]


@contextmanager
def serving_members(
    members: Iterable[FakeCluster], folder: Path, faults: Mapping[str, Fault] | None = None
) -> Iterator[Served]:
    """Serve members until the end of the block, some of them with a fault."""
    folder.mkdir(exist_ok=True)
    written: list[str] = []
    with ExitStack() as stack:
        for member in members:
            server = _Server(("127.0.0.1", 0), _Handler)
            server.member, server.turn, server.written = member, threading.Lock(), written
            server.fault = (faults or {}).get(member.name, _no_fault)
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            for end in (server.server_close, partial(joined, thread), server.shutdown):
                stack.callback(end)
            host = f"http://127.0.0.1:{server.server_address[1]}"
            (folder / f"{member.name}.yaml").write_bytes(emit(kubeconfig_of(member.name, host)))
        yield Served(kubeconfigs=folder, written=written)


@contextmanager
def asked_again_at_once() -> Iterator[None]:
    """Try failed requests again as often as always, and nearly without the pauses."""
    quick = {kind: each._replace(pause=each.pause / 50) for kind, each in client._RETRIES.items()}
    with patch.dict(client._RETRIES, quick):
        yield


@contextmanager
def given_up_soon(cluster: str, seconds: float = 1.0) -> Iterator[None]:
    """Let the time of one member, which hangs, be over soon; the others have theirs."""
    ordinary = Members.open

    def open_for(members: Members, name: str, deadline: float) -> client.KubeClient | Failure:
        soon = time.monotonic() + seconds
        return ordinary(members, name, min(deadline, soon) if name == cluster else deadline)

    with patch.object(Members, "open", open_for):
        yield


def kubeconfig_of(name: str, host: str) -> dict[str, Any]:
    """The kubeconfig of a member at an address."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": host}}],
        "users": [{"name": name, "user": {"token": "a-token"}}],
    }
