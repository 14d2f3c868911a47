"""A server between Argosy and an API server, which passes everything on until it is told to fail in some way."""

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

from tests.clusters import Member
from tests.waiting import SECONDS

_NOT_PASSED_ON = frozenset({"connection", "transfer-encoding", "content-length", "host", "authorization"})


class Effect(NamedTuple):
    """The treatment of a request, which is passed on where nothing else is said.

    ``status``: answered with this code, and this ``body``. ``seconds``: passed on so much later. ``is_silent``: never
    answered. ``is_cut``: the connection ends in the middle of the answer. ``is_short``: the answer ends in the middle,
    and its length says so too. ``is_refused``: the connection ends without an answer.
    """

    status: int = 0
    body: str = '{"kind": "Status", "message": "chaos"}'
    seconds: float = 0.0
    is_silent: bool = False
    is_cut: bool = False
    is_short: bool = False
    is_refused: bool = False


AS_EVER = Effect()
Rule = Callable[[str, str], Effect]
"""The effect on a request, by its method and path."""


def every(effect: Effect, *, methods: str = "", inside: str = "") -> Rule:
    """Return the rule that gives an effect to requests of some methods whose path has these words."""
    chosen = methods.split()

    def rule(method: str, path: str) -> Effect:
        is_meant = (not chosen or method in chosen) and inside in path
        return effect if is_meant else AS_EVER

    return rule


def _nothing(_method: str, _path: str) -> Effect:
    return AS_EVER


@dataclass
class FaultyServer:
    """The server before one member: its address, and what is wrong with it at the moment.

    ``others``: the members that it can lead to by mistake. ``target``: the one that requests reach. ``is_black_hole``:
    connections are taken, and nothing is ever said. ``is_impostor``: it shows the certificate of another authority.
    """

    member: Member
    others: list[Member]
    impostor: Path
    target: Member = field(init=False)
    rule: Rule = _nothing
    is_black_hole: bool = False
    is_impostor: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    healed: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    listener: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.target = self.member
        self._bind()
        self.start()

    def _bind(self) -> None:
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]

    def start(self) -> None:
        """Listen, and serve each connection in a thread of its own."""
        self.listener.listen(256)
        threading.Thread(target=self._serve, args=(self.listener,), daemon=True).start()

    def stop(self) -> None:
        """Listen no longer, but keep the port, so that a connection is refused and nobody else answers it."""
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._bind()

    def heal(self) -> None:
        """Be as ever again."""
        self.rule, self.is_black_hole, self.is_impostor, self.target = _nothing, False, False, self.member
        self.healed.set()
        self.healed = threading.Event()

    def close(self) -> None:
        """End for good."""
        self.over.set()
        self.healed.set()
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._meet, args=(client,), daemon=True).start()

    def _meet(self, client: socket.socket) -> None:
        """Speak TLS with a client, and answer its requests."""
        with client, suppress(OSError, ValueError):
            if self.is_black_hole:
                self.healed.wait(SECONDS)
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            if self.is_impostor:
                tls.load_cert_chain(self.impostor)
            else:
                tls.load_cert_chain(self.member.folder / "server.crt", self.member.folder / "server.key")
            client.settimeout(SECONDS)
            with tls.wrap_socket(client, server_side=True) as secured:
                _Requests(self, secured)


class _Requests(BaseHTTPRequestHandler):
    """The requests of one connection."""

    protocol_version = "HTTP/1.1"

    def __init__(self, faulty: FaultyServer, connection: ssl.SSLSocket) -> None:
        self.faulty = faulty
        self.upstream: tuple[Member, http.client.HTTPSConnection] | None = None
        super().__init__(connection, ("127.0.0.1", 0), faulty)  # type: ignore[arg-type]  # it only keeps the server

    def finish(self) -> None:
        if self.upstream:
            self.upstream[1].close()
        with suppress(OSError):
            super().finish()

    def handle_any(self) -> None:
        """Answer one request."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        effect = self.faulty.rule(self.command, self.path)
        if effect.is_silent:
            self.faulty.healed.wait(SECONDS)
        if effect.is_silent or effect.is_refused:
            self.close_connection = True
            return
        if effect.seconds:
            self.faulty.healed.wait(effect.seconds)
        if effect.status:
            self._give(effect.status, {"Content-Type": "application/json", "Retry-After": "1"}, effect.body.encode())
            return
        status, headers, answer = self._passed_on(content)
        if effect.is_short:
            answer = answer[: len(answer) // 2]
        self._give(status, headers, answer, is_cut=effect.is_cut)

    do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815 - the library's names

    def _passed_on(self, content: bytes) -> tuple[int, dict[str, str], bytes]:
        headers = {name: text for name, text in self.headers.items() if name.lower() not in _NOT_PASSED_ON}
        target = self.faulty.target
        headers["Authorization"] = f"Bearer {target.token}"
        if self.upstream is None or self.upstream[0] is not target:
            context = ssl.create_default_context(cafile=str(target.ca_file))
            made = http.client.HTTPSConnection("127.0.0.1", target.port, timeout=SECONDS, context=context)
            self.upstream = (target, made)
        connection = self.upstream[1]
        try:
            connection.request(self.command, self.path, content or None, headers)
            answer = connection.getresponse()
            kept = {name: text for name, text in answer.getheaders() if name.lower() not in _NOT_PASSED_ON}
            return answer.status, kept, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionResetError("the API server is away") from error

    def _give(self, status: int, headers: dict[str, str], content: bytes, *, is_cut: bool = False) -> None:
        self.send_response(status)
        for name, text in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if is_cut else content)
        if is_cut:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def standing_before(members: list[Member], impostor: Path) -> Iterator[list[FaultyServer]]:
    """Put a server before each member for as long as the block."""
    servers = [FaultyServer(each, [other for other in members if other is not each], impostor) for each in members]
    try:
        yield servers
    finally:
        for server in servers:
            server.close()
