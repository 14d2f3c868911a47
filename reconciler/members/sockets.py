"""Sockets to an API server: through TLS, through the proxies on the way, and what an error of theirs means.

Certificates and keys go straight into one TLS context; key material that TLS insists on reading from a file stands in a
private folder for that instant. urllib3 opens the sockets, as it does for the library that kubectl's users write
Python with; requests are sent and answers read without it (``wire``).
"""

import io
import ssl
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from http.client import HTTPResponse
from importlib.util import find_spec
from pathlib import Path
from socket import socket
from typing import Any
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3.connection import HTTPConnection

from .endpoint import Endpoint
from .exchange import Failure, FailureKind
from .identity import Credential
from .kubeconfig import unusable_context

CONNECT_SECONDS = 3.0


class UnsupportedEndpoint(Exception):
    """The endpoint asks for something that is not installed; ``failure`` names it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Sockets:
    """Opens sockets to one endpoint as one user, who may prove to be one by a certificate."""

    def __init__(self, endpoint: Endpoint, credential: Credential) -> None:
        self._is_tunnelled = endpoint.is_tls and not endpoint.proxy.startswith("socks")
        settings: dict[str, Any] = {"retries": False}
        if endpoint.is_tls:
            settings["ssl_context"] = _tls_context(endpoint, credential)
            if endpoint.server_name:
                settings["server_hostname"] = endpoint.server_name
        self._pool: Any = _pools(endpoint.proxy, settings).connection_from_url(endpoint.server)

    @property
    def forwarding_headers(self) -> list[tuple[str, str]]:
        """The headers that a proxy wants with each request that it sends on."""
        return [] if self._is_tunnelled else list(self._pool.proxy_headers.items())

    def open(self, seconds: float) -> HTTPConnection:
        """Return a connection whose ``sock`` is open."""
        connection: HTTPConnection = self._pool.opened(min(CONNECT_SECONDS, seconds), is_tunnelled=self._is_tunnelled)
        return connection


class _OpeningPool(urllib3.HTTPConnectionPool):
    """A pool that knows the way to a server and opens connections, which it does not keep."""

    def opened(self, seconds: float, *, is_tunnelled: bool) -> Any:
        """Return a new connection; a proxy that cannot be reached or does not lead on is a broken connection."""
        connection: Any = self._new_conn()
        connection.timeout = seconds
        connection.response_class = partial(_TimedResponse, seconds=seconds)
        try:
            if self.proxy is not None and is_tunnelled:
                self._prepare_proxy(connection)
            else:
                connection.connect()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            connection.close()
            if connection.proxy and not connection.has_connected_to_proxy:
                raise ConnectionError("the proxy cannot be reached") from error
            raise
        return connection


class _TimedResponse(HTTPResponse):
    """The answer of a proxy, which has to have arrived, whole, within some seconds.

    ``http.client`` limits each read from the socket; whoever sends a byte twice a second never exceeds such a limit.
    """

    def __init__(self, sock: socket, *args: Any, seconds: float, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_TimedReads(sock, self.fp.detach(), time.monotonic() + seconds))


class _TimedReads(io.RawIOBase):
    """The bytes from a socket until a time of the monotonic clock."""

    def __init__(self, sock: socket, raw: io.RawIOBase, until: float) -> None:
        self._sock = sock
        self._raw = raw
        self._until = until

    def readable(self) -> bool:
        """Return True: bytes are only read here."""
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        """Read what is there, waiting no longer than the answer as a whole may take."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Let go of the socket."""
        self._raw.close()
        super().close()


def _tls_context(endpoint: Endpoint, credential: Credential) -> ssl.SSLContext:
    tls = ssl.create_default_context(cadata=endpoint.authority or None)
    if not endpoint.is_verified:
        # Whoever wrote insecure-skip-tls-verify knows, and needs no warning with every connection.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    if credential.certificate and credential.key:
        with tempfile.TemporaryDirectory(prefix="argosy-") as folder:
            pair = Path(folder) / "pair.pem"
            pair.touch(mode=0o600)
            pair.write_text(f"{credential.certificate}\n{credential.key}\n", encoding="utf-8")
            tls.load_cert_chain(pair)
    return tls


def _pools(proxy: str, settings: Mapping[str, Any]) -> urllib3.PoolManager:
    pools = _pools_behind(proxy, settings) if proxy else urllib3.PoolManager(**settings)
    classes = pools.pool_classes_by_scheme
    pools.pool_classes_by_scheme = {
        scheme: type("OpeningPool", (_OpeningPool, each), {}) for scheme, each in classes.items()
    }
    return pools


def _pools_behind(proxy: str, settings: Mapping[str, Any]) -> urllib3.PoolManager:
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


SocketError = (urllib3.exceptions.HTTPError, OSError)
"""The errors that a socket raises, when it is opened or later."""


def network_failure(error: Exception, host: str) -> Failure:
    """Return the failure for an error below HTTP, whose message names the kind of error and the host alone."""
    if isinstance(error, ssl.SSLError):
        return Failure(
            kind=FailureKind.CERTIFICATE,
            message=f"{host} shows a certificate that its context does not trust",
            hint="see certificate-authority-data and tls-server-name of this cluster's context",
        )
    if isinstance(error, urllib3.exceptions.NameResolutionError):
        what = "has no address"
    elif isinstance(error, urllib3.exceptions.NewConnectionError):
        what = "refuses connections"
    elif isinstance(error, urllib3.exceptions.TimeoutError | TimeoutError):
        what = "did not answer in time"
    else:
        what = "broke the connection off"
    return Failure(kind=FailureKind.UNREACHABLE, message=f"{host} {what}", hint="see whether the cluster is up")
