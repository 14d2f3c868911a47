"""The connections to one API server: its endpoint, our credential, and wires that make sure of the cluster.

A context is read once, so it cannot be pointed elsewhere under a client; but behind one address there may be another
cluster for every new connection (a load balancer, a name that moved). So a new connection asks for the identity of its
cluster, the UID of the kube-system namespace, before it sends the first request that may write - once, because it leads
to one server as long as it is open, and not at all where somebody has asked over it already.
"""

import time
import weakref
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from render.json_values import value_of_json_text
from render.values import DiscreetStruct

from .bounded_reading import AnswerTooLarge, Received, UnknownEncoding
from .credentials import AuthPlugins, CredentialSource
from .endpoint import Endpoint, UnsupportedEndpoint, api_endpoint_of_context
from .exchange import Failure
from .identity import Credential, Impersonation
from .kubeconfig import Context, failure_of_faulty_context
from .sockets import Sockets
from .streaming import AnswerStream
from .wire import Wire, http_request_bytes

IDENTITY_PATH = "/api/v1/namespaces/kube-system"
_IDENTITY_SECONDS = 10.0
_MOST_OF_AN_IDENTITY = 1 << 20
_READING = frozenset({"GET", "HEAD"})
_DEFAULT_PORTS = {"https": 443, "http": 80}


class OtherCluster(Exception):
    """A new connection leads to another cluster than the one before; ``answer`` is its own when asked for itself."""

    def __init__(self, answer: Received) -> None:
        super().__init__()
        self.answer = answer


class Sent(DiscreetStruct, frozen=True, kw_only=True):
    """A request as a connection sends it; ``most`` is how many bytes the content of its answer may have."""

    UNSHOWN = ("body",)

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    content_type: str = ""
    most: int


class Connection:
    """The connections to one API server, and the headers that say who is asking."""

    def __init__(
        self, endpoint: Endpoint, credentials: CredentialSource, identity: Impersonation, connections: int
    ) -> None:
        self.host = endpoint.server
        self._endpoint = endpoint
        self._credentials = credentials
        self._identity = identity
        self._connections = connections
        self._certificate = ""
        self._uid = ""
        self._host_header = ("Host", _host_and_port_of_server(endpoint.server))

    def open(self, credential: Credential) -> None:
        """Prepare to connect (again, when a certificate was renewed)."""
        self._wires = _Wires(Sockets(self._endpoint, credential), self._connections)
        self._certificate = credential.certificate

    def close_spare_wires(self) -> None:
        """Close what is open and unused, but for one wire, by which the next client of the cluster goes on."""
        self._wires.close_spare()

    def require_cluster_uid(self, uid: str) -> None:
        """Make every new connection find this cluster before it writes."""
        self._uid = uid

    def headers(self, *, renew: bool = False) -> list[tuple[str, str]] | Failure:
        """Return the headers that identify us; ``renew`` after the last ones were refused."""
        credential = self._credentials.current(renew=renew)
        if isinstance(credential, Failure):
            return credential
        if credential.certificate != self._certificate:
            self.open(credential)
        authorization = [("Authorization", credential.authorization)] if credential.authorization else []
        return [*authorization, *self._identity.headers]

    def ask(self, sent: Sent, until: float) -> Received:
        """Send a request and return its answer, all by a time of the monotonic clock.

        OtherCluster when it may write and a new connection leads to another cluster.
        """
        wires = self._wires
        wire = wires.take_wire(until)
        was_used = wire.is_used
        try:
            return self._answer_over_wire(wires, wire, sent, until)
        except ConnectionError:
            # A server may close a connection between two requests and say nothing of it; reading can be repeated.
            if not (was_used and sent.method in _READING):
                raise
            return self._answer_over_wire(wires, wires.open(until), sent, until)

    def stream(self, sent: Sent, until: float) -> AnswerStream:
        """Send a request that only reads over a connection of its own, and return its answer as it comes."""
        wires = self._wires
        wire = wires.open(until)
        try:
            return wire.stream(self._request_bytes(sent, wires), until)
        except BaseException:
            wire.close()
            raise

    def _answer_over_wire(self, wires: "_Wires", wire: Wire, sent: Sent, until: float) -> Received:
        try:
            if self._uid and sent.method not in _READING and wire.uid != self._uid:
                wire = self._checked_connection(wires, wire, sent, until)
            answer = wire.ask(self._request_bytes(sent, wires), until, sent.most)
        except BaseException:
            wire.close()
            raise
        if sent.path == IDENTITY_PATH and answer.status == 200:
            wire.uid = _uid_in_answer(answer.content)
        wires.give_back(wire, answer)
        return answer

    def _checked_connection(self, wires: "_Wires", wire: Wire, sent: Sent, until: float) -> Wire:
        """Return a connection that leads to the right cluster: this one, unless the server closes it at once."""
        who = replace(sent, method="GET", path=IDENTITY_PATH, body=None, content_type="", most=_MOST_OF_AN_IDENTITY)
        try:
            answer = wire.ask(
                self._request_bytes(who, wires), min(until, time.monotonic() + _IDENTITY_SECONDS), who.most
            )
        except (AnswerTooLarge, UnknownEncoding) as error:
            raise OtherCluster(Received(status=200)) from error
        if answer.status != 200 or _uid_in_answer(answer.content) != self._uid:
            raise OtherCluster(answer)
        if answer.is_last:
            wire.close()
            wire = wires.open(until)
        wire.uid = self._uid
        return wire

    def _request_bytes(self, sent: Sent, wires: "_Wires") -> bytes:
        headers = [self._host_header, *sent.headers, *wires.forwarding_headers]
        if sent.content_type:
            headers.append(("Content-Type", sent.content_type))
        # A plain proxy wants the whole address, and a server behind a prefix gets every path with it.
        prefix = self.host if self._endpoint.is_forwarded else self._endpoint.base_path
        return http_request_bytes(sent.method, f"{prefix}{sent.path}", headers, sent.body)


class _Wires:
    """The open connections of one credential that nobody uses at the moment, at most so many."""

    def __init__(self, sockets: Sockets, most: int) -> None:
        self._sockets = sockets
        self._most = most
        self._idle: deque[Wire] = deque()
        self.forwarding_headers = sockets.forwarding_headers
        weakref.finalize(self, _close_all, self._idle)

    def take_wire(self, until: float) -> Wire:
        """Return the connection that was used last, or a new one."""
        with suppress(IndexError):
            while True:
                wire = self._idle.pop()
                if wire.is_idle:
                    return wire
                wire.close()
        return self.open(until)

    def open(self, until: float) -> Wire:
        """Return a new connection."""
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("there is no time left to connect")
        return Wire(self._sockets.open(left))

    def close_spare(self) -> None:
        """Close all but one of the connections that nobody uses."""
        with suppress(IndexError):
            while len(self._idle) > 1:
                self._idle.popleft().close()

    def give_back(self, wire: Wire, answer: Received) -> None:
        """Keep a connection for the next request, unless it ended with this answer."""
        if answer.is_last or len(self._idle) >= self._most:
            wire.close()
        else:
            self._idle.append(wire)


def _close_all(wires: Iterable[Wire]) -> None:
    for wire in wires:
        wire.close()


def open_connection(
    context: Context, plugins: AuthPlugins, *, identity: Impersonation | None = None, connections: int = 8
) -> Connection | Failure:
    """Return the connection to a context's API server, or why there is none."""
    credentials = CredentialSource(context, plugins)
    credential = credentials.current()
    if isinstance(credential, Failure):
        return credential
    try:
        endpoint = api_endpoint_of_context(context, plugins.environment)
        connection = Connection(endpoint, credentials, identity or Impersonation.of(context.user), connections)
        connection.open(credential)
    except UnsupportedEndpoint as error:
        return error.failure
    except (OSError, ValueError) as error:
        return failure_of_faulty_context(context.name, error)
    return connection


def _host_and_port_of_server(server: str) -> str:
    """Return a server's host, and its port where that is not the usual one."""
    parts = urlsplit(server)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{parts.port}" if parts.port and parts.port != _DEFAULT_PORTS.get(parts.scheme) else f"{host}"


class _Identity(Struct, frozen=True, kw_only=True):
    uid: str


class _Identified(Struct, frozen=True, kw_only=True):
    metadata: _Identity


def _uid_in_answer(content: bytes) -> str:
    found = value_of_json_text(content, _Identified)
    return "" if found is None else found.metadata.uid
