"""Sources that checks of rollouts ask, on this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from render.documents import emit

from .waiting import joined


@dataclass
class AskedSource:
    """A source at an address: what it answers now, and what it was asked, with the tokens that came along.

    ``by_path`` has what it answers at some paths instead of ``body``.
    """

    address: str
    status: int = 200
    body: bytes = b"{}"
    by_path: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    def answer_with_numbers(self, *numbers: str) -> None:
        """Answer as Prometheus does, with a sample for each number."""
        samples = [f'{{"metric":{{"n":"{place}"}},"value":[1.5,"{each}"]}}' for place, each in enumerate(numbers)]
        self.body = f'{{"status":"success","data":{{"resultType":"vector","result":[{",".join(samples)}]}}}}'.encode()


@contextmanager
def asked_source() -> Iterator[AskedSource]:
    """Serve a source until the end of the block."""
    source = AskedSource("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            source.asked.append(self.path)
            source.tokens.append(self.headers.get("Authorization", ""))
            body = source.by_path.get(self.path.partition("?")[0], source.body)
            self.send_response(source.status)
            for name, value in {"Content-Length": str(len(body)), **source.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        source.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield source
        server.shutdown()
        joined(thread)


def a_fleet_asking(*addresses: str, **more: Any) -> str:
    """An argosy.yaml that names addresses at which checks may ask."""
    sources = [{"address": each, **more} for each in addresses]
    spec = {"rollouts": {"sources": sources}}
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}
    return emit(fleet).decode()
