"""Sockets to an API server, through TLS where it asks for that, and what an error of theirs means.

Certificates and keys go straight into one TLS context; key material that TLS insists on reading from a file stands in a
private folder for that instant. Through proxies, urllib3 opens the sockets (``proxies``), as it does for the library
that kubectl's users write Python with; it takes long to import, and most servers are reached without.
"""

import ssl
import tempfile
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection, gaierror, socket
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from .endpoint import Endpoint, NotReached, ProxyError
from .exchange import Failure, FailureKind
from .identity import Credential

if TYPE_CHECKING:  # only imported where there is a proxy
    from .proxies import ProxiedSockets

CONNECT_SECONDS = 3.0
_PROTOCOLS = ["http/1.1"]


class Sockets:
    """Opens sockets to one endpoint as one user, who may prove to be one by a certificate."""

    def __init__(self, endpoint: Endpoint, credential: Credential) -> None:
        self._tls = _tls_context_of_endpoint(endpoint, credential) if endpoint.is_tls else None
        self._proxied_sockets = _proxied_sockets(endpoint, self._tls)
        parts = urlsplit(endpoint.server)
        self._host, self._port = unquote(parts.hostname or ""), parts.port or (443 if self._tls else 80)
        if not self._host:
            raise ValueError("an endpoint without a host")
        # A certificate knows nothing of the interface that an address is reached by, nor of the dot of a whole name.
        self._name = (endpoint.server_name or self._host.partition("%")[0]).rstrip(".")

    @property
    def forwarding_headers(self) -> list[tuple[str, str]]:
        """The headers that a proxy wants with each request that it sends on."""
        return self._proxied_sockets.forwarding_headers if self._proxied_sockets else []

    def open(self, seconds: float) -> socket:
        """Return an open socket."""
        seconds = min(CONNECT_SECONDS, seconds)
        if self._proxied_sockets:
            return self._proxied_sockets.open(seconds)
        sock = _open_socket(self._host, self._port, seconds)
        if self._tls is None:
            return sock
        try:
            return self._tls.wrap_socket(sock, server_hostname=self._name)
        except BaseException:
            sock.close()
            raise


def _proxied_sockets(endpoint: Endpoint, tls: ssl.SSLContext | None) -> "ProxiedSockets | None":
    if not endpoint.proxy:
        return None
    from .proxies import ProxiedSockets

    return ProxiedSockets(endpoint, tls)


def _open_socket(host: str, port: int, seconds: float) -> socket:
    """Return a socket to a host; what is sent over it is not held back until there is more."""
    try:
        sock = create_connection((host, port), seconds)
    except (TimeoutError, gaierror):
        raise
    except UnicodeError as error:
        raise gaierror("no name of a host") from error
    except OSError as error:
        raise NotReached(str(error)) from error
    sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return sock


def _tls_context_of_endpoint(endpoint: Endpoint, credential: Credential) -> ssl.SSLContext:
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
    tls.set_alpn_protocols(_PROTOCOLS)
    return tls


def network_failure(error: OSError, host: str) -> Failure:
    """Return the failure for an error below HTTP, whose message names the kind of error and the host alone."""
    if isinstance(error, ssl.SSLError):
        return Failure(
            kind=FailureKind.CERTIFICATE,
            message=f"{host} shows a certificate that its context does not trust",
            hint="see certificate-authority-data and tls-server-name of this cluster's context",
        )
    if isinstance(error, gaierror):
        return Failure(
            kind=FailureKind.NAME,
            message=f"{host} has no address here: its name is not resolved",
            hint="see whether this machine resolves the name; nothing is known of the cluster",
        )
    if isinstance(error, ProxyError):
        return Failure(
            kind=FailureKind.PROXY,
            message=f"the proxy on the way to {host} {error}",
            hint="see the proxy-url of this cluster's context, or HTTPS_PROXY; nothing is known of the cluster",
        )
    if isinstance(error, NotReached):
        what = "refuses connections"
    elif isinstance(error, TimeoutError):
        what = "did not answer in time"
    else:
        what = "broke the connection off"
    return Failure(kind=FailureKind.UNREACHABLE, message=f"{host} {what}", hint="see whether the cluster is up")
