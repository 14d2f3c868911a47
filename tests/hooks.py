"""An interpreter webhook on loopback: real HTTPS by an authority of its own, and whatever a test has it say."""

import base64
import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from tests.waiting import SECONDS, happened, joined

CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


class Authority(NamedTuple):
    """A certificate authority, and a certificate of it for this machine, as files; ``bundle`` is its caBundle."""

    bundle: str
    certificate: Path
    key: Path


class Said(NamedTuple):
    """An answer of a webhook that is not simply a response.

    ``silent``: nothing, for as long as the test runs; ``cut``: the connection breaks off; ``dripping``: no end.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    silent: bool = False
    cut: bool = False
    dripping: bool = False


Behaviour = Callable[[dict[str, Any]], Any]
"""From a request to the response (a mapping, to which uid and success are added), or to what is ``Said`` instead."""


@dataclass
class Hook:
    """A running webhook: how to reach it, what it was asked, and how it behaves."""

    url: str
    bundle: str
    behave: Behaviour
    asked: list[dict[str, Any]] = field(default_factory=list)
    heads: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def configuration(self, name: str = "hooks", *, path: str = "/", **webhook: Any) -> dict[str, Any]:
        """The configuration by which everything about Widgets is asked here."""
        rule = {"operations": ["*"], "apiGroups": ["example.io"], "apiVersions": ["v1"], "kinds": ["Widget"]}
        described = {
            "name": f"{name}.example.io",
            "clientConfig": {"url": f"{self.url}{path}", "caBundle": self.bundle},
            "rules": [rule],
            "interpreterContextVersions": ["v1alpha1"],
            "timeoutSeconds": 30,
        }
        return {
            "apiVersion": "config.karmada.io/v1alpha1",
            "kind": "ResourceInterpreterWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [{**described, **webhook}],
        }

    def operations(self) -> list[str]:
        """The questions so far, as ``Operation name``."""
        return [f"{request['operation']} {request['name']}" for request in self.asked]


def an_authority(folder: Path, name: str = "ca") -> Authority:
    """Make an authority and a certificate for loopback with openssl."""
    own = folder / name
    own.mkdir()
    _openssl("req", "-x509", *CURVE, "-keyout", "ca.key", "-out", "ca.crt", "-subj", f"/CN={name}", folder=own)
    signed = (*CURVE, "-x509", "-CA", "ca.crt", "-CAkey", "ca.key", "-keyout", "tls.key", "-out", "tls.crt")
    names = ("-subj", "/CN=hooks", "-addext", "subjectAltName=IP:127.0.0.1")
    _openssl("req", *signed, *names, "-addext", "basicConstraints=critical,CA:FALSE", folder=own)
    bundle = base64.b64encode((own / "ca.crt").read_bytes()).decode()
    return Authority(bundle=bundle, certificate=own / "tls.crt", key=own / "tls.key")


def _openssl(*arguments: str, folder: Path) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=SECONDS)


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # an answer is two writes, and the second would wait for the first to be seen
    server: "_Server"

    def do_POST(self) -> None:
        hook = self.server.hook
        content = self.rfile.read(int(self.headers["Content-Length"]))
        hook.heads.append((self.path, dict(self.headers)))
        asked = json.loads(content)["request"]
        hook.asked.append(asked)
        said = hook.behave(asked)
        self.say(said if isinstance(said, Said) else said_of(asked, said))

    def say(self, said: Said) -> None:
        if said.silent:
            happened(self.server.hook.over, "the end of a test with a silent webhook")
        if said.silent or said.cut:
            return
        self.send_response(said.status)
        for name, value in {"Content-Type": "application/json", **said.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said.body)
        while said.dripping and not self.server.hook.over.wait(0.05):
            self.wfile.write(b" ")

    def log_message(self, *_words: Any) -> None:
        return


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # the library's 5 make the sixth at once wait a second for its second try
    hook: Hook
    tls: ssl.SSLContext

    def get_request(self) -> tuple[ssl.SSLSocket, Any]:
        connection, address = super().get_request()
        # Without a handshake yet: it belongs to the thread of this connection.
        return self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_words: Any) -> None:
        """Say nothing of a client that hangs up: that is what many tests are about."""


@contextmanager
def serving(authority: Authority, behave: Behaviour) -> Iterator[Hook]:
    """Run a webhook until the end of the block."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(authority.certificate, authority.key)
    hook = Hook(url=f"https://127.0.0.1:{server.server_address[1]}", bundle=authority.bundle, behave=behave)
    server.hook = hook
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hook
    finally:
        hook.over.set()
        server.shutdown()
        joined(thread)
        server.server_close()


def said_of(asked: dict[str, Any], response: Mapping[str, Any]) -> Said:
    """A successful answer to a request, as Karmada's own library for webhooks writes it."""
    answer = {"response": {"uid": asked["uid"], "successful": True, **response}}
    return Said(body=json.dumps(answer).encode())


def a_patch(*operations: Mapping[str, Any]) -> dict[str, str]:
    """A response's patch and its type."""
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}
