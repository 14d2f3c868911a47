"""A host of Git over HTTPS on loopback: git's own ``http-backend``, its requests, bytes and CPU seconds counted."""

import os
import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, ClassVar
from urllib.parse import urlsplit


class HostWork:
    """The work that a host has had: requests by what they ask, bytes both ways, CPU seconds of its git processes."""

    def __init__(self) -> None:
        self.is_hiding = False
        self.requests: Counter[str] = Counter()
        self.received = self.sent = 0
        self.cpu = 0.0
        self._lock = threading.Lock()

    def add(self, what: str, received: int, sent: int, cpu: float) -> None:
        """Count one request."""
        with self._lock:
            self.requests[what] += 1
            self.received += received
            self.sent += sent
            self.cpu += cpu

    def taken(self) -> "HostWork":
        """Return the work since the last question."""
        with self._lock:
            before = HostWork()
            before.requests, self.requests = self.requests, Counter()
            before.received, before.sent, before.cpu = self.received, self.sent, self.cpu
            self.received, self.sent, self.cpu = 0, 0, 0.0
        return before


@contextmanager
def git_host(repository: Path, certificate: Path, work: HostWork) -> Iterator[str]:
    """Serve a repository for as long as the block, and yield its address, below which each agent has its own."""

    class Handler(_Handler):
        root, counted = repository, work

    server, tls = _Server(("127.0.0.1", 0), Handler), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    # The handshake of one client keeps no other waiting.
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_HIDDEN = (
    "uploadpack.hideRefs=HEAD",
    "uploadpack.hideRefs=refs",
    "uploadpack.hideRefs=!refs/heads/argosy/cluster/{name}",
    "uploadpack.hideRefs=!refs/heads/argosy/agent/{name}",
    "receive.hideRefs=refs",
    "receive.hideRefs=!refs/heads/argosy/agent/{name}",
)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


class _Handler(BaseHTTPRequestHandler):
    """Hands each request to ``git http-backend``, as a web server with CGI does."""

    protocol_version = "HTTP/1.1"
    root: ClassVar[Path]
    counted: ClassVar[HostWork]

    def log_message(self, *_: object) -> None:
        """Say nothing of single requests."""

    def do_GET(self) -> None:
        """Answer what a client asks first: what the server can do, or which branches it has."""
        self._answer(b"")

    def do_POST(self) -> None:
        """Answer a fetch or a push."""
        self._answer(self._body())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, body: bytes) -> None:
        asked = urlsplit(self.path)
        name, inside = asked.path.removeprefix("/").split("/fleet.git", 1)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROJECT_ROOT": str(self.root),
            "PATH_INFO": inside,
            "QUERY_STRING": asked.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "agent",
            "REMOTE_ADDR": "127.0.0.1",
        }
        hidden = _HIDDEN if self.counted.is_hiding else ()
        given = ("http.receivepack=true", "safe.directory=*", *(each.format(name=name) for each in hidden))
        command = ["git", *(word for each in given for word in ("-c", each)), "http-backend"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert process.stdin is not None
        assert process.stdout is not None
        threading.Thread(target=_given, args=(process.stdin, body), daemon=True).start()
        content = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        head, _, answer = content.partition(b"\r\n\r\n")
        self._send(head.decode(), answer)
        what = f"{self.command} {asked.query.removeprefix('service=git-') or inside.removeprefix('/git-')}"
        self.counted.add(what, len(body), len(answer), used.ru_utime + used.ru_stime)

    def _send(self, head: str, answer: bytes) -> None:
        headers = [tuple(line.split(": ", 1)) for line in head.split("\r\n")]
        code = next((value for name, value in headers if name == "Status"), "200")
        self.send_response(int(code.split()[0]))
        for name, value in headers:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def _given(pipe: IO[bytes], body: bytes) -> None:
    with pipe:
        pipe.write(body)
