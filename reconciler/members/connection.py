"""The connections to one API server: its endpoint, our credential, and a pool that makes sure of the cluster.

A context is read once, so it cannot be pointed elsewhere under a client; but behind one address there may be another
cluster for every new connection (a load balancer, a name that moved). So a new connection asks for the identity of its
cluster, the UID of the kube-system namespace, before it sends the first request that may write - once, because it leads
to one server as long as it is open. Certificates and keys go straight into one TLS context; key material that TLS
insists on reading from a file stands in a private folder for that instant.
"""

import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3.connection import HTTPConnection

from .bounded_reading import TimedResponse, read_refusal
from .credentials import AuthPlugins, CredentialSource
from .endpoint import Endpoint, endpoint_of
from .exchange import Failure
from .identity import Credential, Impersonation
from .kubeconfig import Context, unusable_context
from .shapes import NoJson, UnusableAnswer, decoded

IDENTITY_PATH = "/api/v1/namespaces/kube-system"
_IDENTITY_SECONDS = 10.0
_WHOLE_SECONDS = 60.0
_READING = frozenset({"GET", "HEAD"})


class Connection:
    """A connection to one API server: its pool, and the headers that say who is asking."""

    def __init__(
        self, endpoint: Endpoint, credentials: CredentialSource, identity: Impersonation, connections: int
    ) -> None:
        self.host = endpoint.server
        self._endpoint = endpoint
        self._credentials = credentials
        self._identity = identity
        self._connections = connections
        self._certificate = ""
        self._pin = Pin(target=self.target(IDENTITY_PATH))

    def target(self, path: str) -> str:
        """Return a path as it is asked for: behind the server's prefix, and whole where a plain proxy wants it so."""
        return f"{self.host if self._endpoint.is_forwarded else self._endpoint.base_path}{path}"

    def open(self, credential: Credential) -> None:
        """Open the pool (again, when a certificate was renewed)."""
        tls = _tls_context(self._endpoint, credential) if self._endpoint.is_tls else None
        self.pool = open_pool(self._endpoint, tls, self._pin, self._connections)
        self._certificate = credential.certificate

    def pin(self, uid: str) -> None:
        """Make every new connection find this cluster before it writes."""
        self._pin.uid = uid

    def headers(self, *, renew: bool = False) -> list[tuple[str, str]] | Failure:
        """Return the headers that identify us; ``renew`` after the last ones were refused."""
        credential = self._credentials.current(renew=renew)
        if isinstance(credential, Failure):
            return credential
        if credential.certificate != self._certificate:
            self.open(credential)
        authorization = [("Authorization", credential.authorization)] if credential.authorization else []
        return [*authorization, *self._identity.headers]


def open_connection(
    context: Context, plugins: AuthPlugins, *, identity: Impersonation | None = None, connections: int = 8
) -> Connection | Failure:
    """Return the connection to a context's API server, or why there is none."""
    credentials = CredentialSource(context, plugins)
    credential = credentials.current()
    if isinstance(credential, Failure):
        return credential
    try:
        endpoint = endpoint_of(context, plugins.environment)
        connection = Connection(endpoint, credentials, identity or Impersonation.of(context.user), connections)
        connection.open(credential)
    except UnsupportedEndpoint as error:
        return error.failure
    except (OSError, ValueError, KeyError, TypeError) as error:
        # The messages quote the file; the kind of error is all that is safe to tell.
        return unusable_context(f"the context {context.name!r} cannot be used ({type(error).__name__})")
    return connection


def _tls_context(endpoint: Endpoint, credential: Credential) -> ssl.SSLContext:
    tls = ssl.create_default_context(cadata=endpoint.authority or None)
    if not endpoint.is_verified:
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    if credential.certificate and credential.key:
        with tempfile.TemporaryDirectory(prefix="argosy-") as folder:
            pair = Path(folder) / "pair.pem"
            pair.touch(mode=0o600)
            pair.write_text(f"{credential.certificate}\n{credential.key}\n", encoding="utf-8")
            tls.load_cert_chain(pair)
    return tls


class UnsupportedEndpoint(Exception):
    """The endpoint asks for something that is not installed; ``failure`` names it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class OtherCluster(Exception):
    """A new connection leads to another cluster than the one before; the rest is its answer when asked for itself."""

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        super().__init__()
        self.status = status
        self.headers = headers
        self.content = content


@dataclass(slots=True)
class Pin:
    """The UID that the object at ``target`` must have before a new connection writes; "" asks for none."""

    target: str
    uid: str = ""


def open_pool(endpoint: Endpoint, tls: ssl.SSLContext | None, pin: Pin, connections: int) -> urllib3.HTTPConnectionPool:
    """Return the pool of an endpoint, which connects when it is first used."""
    settings: dict[str, Any] = {"maxsize": connections, "retries": False}
    if not endpoint.is_verified:
        # Whoever wrote insecure-skip-tls-verify knows, and needs no warning with every request.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    if tls is not None:
        settings["ssl_context"] = tls
        if endpoint.server_name:
            settings["server_hostname"] = endpoint.server_name
    pool = _pools(endpoint.proxy, settings).connection_from_url(endpoint.server)
    pool.ConnectionCls = type("Pinned", (_Pinned, pool.ConnectionCls), {"pin": pin})
    return pool


def _pools(proxy: str, settings: Mapping[str, Any]) -> urllib3.PoolManager:
    if not proxy:
        return urllib3.PoolManager(**settings)
    if proxy.startswith("socks"):
        return _socks_pools(proxy, settings)
    parts = urlsplit(proxy)
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
    return urllib3.ProxyManager(proxy, proxy_headers=urllib3.make_headers(proxy_basic_auth=user), **settings)


def _socks_pools(proxy: str, settings: Mapping[str, Any]) -> urllib3.PoolManager:
    """Return pools behind a SOCKS proxy, which looks names up itself, as it does for kubectl."""
    if find_spec("socks") is None:
        message = f"{urlsplit(proxy).scheme} proxies need a library that is not installed"
        hint = "install PySocks beside Argosy: pip install 'argosy[socks]'"
        raise UnsupportedEndpoint(unusable_context(message, hint))
    from urllib3.contrib.socks import SOCKSProxyManager

    scheme, separator, rest = proxy.partition("://")
    looking_up = {"socks5": "socks5h", "socks4": "socks4a"}.get(scheme, scheme)
    return SOCKSProxyManager(f"{looking_up}{separator}{rest}", **settings)


class _Pinned(HTTPConnection):
    """A connection that makes sure which cluster it leads to before it first writes."""

    pin: Pin
    _checked_socket: Any = None

    @property
    def response_class(self) -> Any:  # type: ignore[override]  # the library only ever reads it
        """The class of responses, with the seconds that are left for the whole of the next one."""
        return partial(TimedResponse, seconds=_WHOLE_SECONDS if self.timeout is None else self.timeout)

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **rest: Any) -> None:
        """Send a request; OtherCluster when it may write and the connection leads to another cluster."""
        if self.pin.uid and method not in _READING and (self.sock is None or self.sock is not self._checked_socket):
            self._check_cluster(urllib3.HTTPHeaderDict(headers or {}))
        super().request(method, url, body=body, headers=headers, **rest)

    def _check_cluster(self, headers: urllib3.HTTPHeaderDict) -> None:
        usual, self.timeout = self.timeout, _IDENTITY_SECONDS
        headers.discard("Content-Type")
        try:
            super().request("GET", self.pin.target, headers=headers, preload_content=False)
            answer = self.getresponse()
            content = read_refusal(answer)
        except OSError as error:
            # urllib3 passes over some of these (a broken pipe) and reads on, as if the server had answered early.
            raise urllib3.exceptions.ProtocolError("Connection aborted.", error) from error
        if answer.status != 200 or _uid_of(content) != self.pin.uid:
            raise OtherCluster(answer.status, answer.headers, content)
        self.timeout, self._checked_socket = usual, self.sock


def _uid_of(content: bytes) -> str:
    try:
        return str(decoded(content)["metadata"]["uid"])
    except (NoJson, UnusableAnswer, KeyError, TypeError):
        return ""
