"""A server that answers as a test tells it to: statuses, headers, silence, broken connections, other people's pages."""

import itertools
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

from tests.waiting import SECONDS, happened


@dataclass(frozen=True)
class Reply:
    """One answer. ``silent``: none at all, for as long as the test runs; ``cut``: the connection breaks off."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    cut: bool = False


class Asked(NamedTuple):
    """A request as it came in; connections are counted from 1."""

    method: str
    path: str
    content: bytes
    content_type: str
    connection: int


@dataclass
class Wire:
    """A running server: its address, what it was asked, and the answers still to come (the last one stays)."""

    host: str
    replies: list[Reply]
    asked: list[tuple[str, str, Mapping[str, list[str]]]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def next_reply(self, _asked: Asked) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def ok(body: Any = None, **headers: str) -> Reply:
    return Reply(body=body if body is not None else {"kind": "Status"}, headers=headers)


def refused(status: int, message: str = "", **headers: str) -> Reply:
    return Reply(status=status, body={"kind": "Status", "message": message}, headers=headers)


def a_certificate(folder: Path, *names: str) -> Path:
    """Make a certificate that is its own authority, for these host names and loopback: one PEM file with its key."""
    path = folder / "server.pem"
    alternatives = ",".join(["IP:127.0.0.1", *(f"DNS:{name}" for name in names)])
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"]
    said = ["-subj", "/CN=a server", "-addext", f"subjectAltName={alternatives}"]
    command = ["openssl", "req", "-x509", *curve, *said, "-keyout", str(path), "-out", str(folder / "server.crt")]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    with path.open("a") as pair:
        pair.write((folder / "server.crt").read_text())
    return path


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # the library's 5 make the sixth at once wait a second for its second try


def _server(handler: type[BaseHTTPRequestHandler], certificate: Path | None) -> ThreadingHTTPServer:
    server = _Server(("127.0.0.1", 0), handler)
    if certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    return server


@contextmanager
def answering(
    *replies: Reply, choose: Callable[[Asked], Reply] | None = None, certificate: Path | None = None
) -> Iterator[Wire]:
    """Run a server that gives these answers in turn, or those that ``choose`` gives; with a certificate, over TLS."""
    wire = Wire(host="", replies=list(replies))
    connections = itertools.count(1)
    chosen = choose or wire.next_reply

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # an answer is two writes, and the second would wait for the first to be seen
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.connection_number = next(connections)

        def handle_any(self) -> None:
            headers = {name.lower(): self.headers.get_all(name) or [] for name in self.headers}
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            wire.asked.append((self.command, self.path, headers))
            content_type = self.headers.get("Content-Type") or ""
            self.give(chosen(Asked(self.command, self.path, content, content_type, self.connection_number)))

        do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815 - the library's names

        def give(self, reply: Reply) -> None:
            if reply.silent:
                happened(wire.over, "the end of a test with a silent server")
            if reply.silent or reply.cut:
                self.close_connection = True
                return
            content = reply.body.encode() if isinstance(reply.body, str) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = _server(Handler, certificate)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    wire.host = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    try:
        yield wire
    finally:
        wire.over.set()
        server.shutdown()
        server.server_close()
