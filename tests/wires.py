"""A server that answers as a test tells it to: statuses, headers, silence, broken connections, other people's pages."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer. ``silent``: none at all, for as long as the test runs; ``cut``: the connection breaks off."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    cut: bool = False


@dataclass
class Wire:
    """A running server: its address, what it was asked, and the answers still to come (the last one stays)."""

    host: str
    replies: list[Reply]
    asked: list[tuple[str, str, Mapping[str, list[str]]]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


def ok(body: Any = None, **headers: str) -> Reply:
    return Reply(body=body if body is not None else {"kind": "Status"}, headers=headers)


def refused(status: int, message: str = "", **headers: str) -> Reply:
    return Reply(status=status, body={"kind": "Status", "message": message}, headers=headers)


@contextmanager
def answering(*replies: Reply, choose: Callable[[str, str], Reply | None] | None = None) -> Iterator[Wire]:
    """Run a server that gives these answers in turn; ``choose`` may pick another by method and path."""
    wire = Wire(host="", replies=list(replies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            headers = {name.lower(): self.headers.get_all(name) or [] for name in self.headers}
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            wire.asked.append((self.command, self.path, headers))
            reply = choose(self.command, self.path) if choose else None
            self.give(reply or (wire.replies.pop(0) if len(wire.replies) > 1 else wire.replies[0]))

        do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815 - the library's names

        def give(self, reply: Reply) -> None:
            if reply.silent:
                wire.over.wait()
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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    wire.host = f"http://127.0.0.1:{server.server_port}"
    try:
        yield wire
    finally:
        wire.over.set()
        server.shutdown()
        server.server_close()
