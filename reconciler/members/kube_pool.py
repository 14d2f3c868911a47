"""The wire to one API server: the pool of the Kubernetes client, urllib3's, with connections that know their cluster.

A context is read once, so it cannot be pointed elsewhere under a client; but behind one address there may be another
cluster for every new connection (a balancer, a name that moved). So a connection that is new asks for the identity of
its cluster before it sends the first request that may write - once, for it leads to one server as long as it is open.
"""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3.connection import HTTPConnection

from .endpoint import Endpoint
from .exchange import Failure, FailureKind

IDENTITY_PATH = "/api/v1/namespaces/kube-system"
_IDENTITY_SECONDS = 10.0
_READING = frozenset({"GET", "HEAD"})


class NoWay(Exception):
    """What the endpoint asks for cannot be had here; ``failure`` says what."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Astray(Exception):
    """A new connection does not lead to the cluster it should: ``answer`` is what was said there."""

    def __init__(self, answer: urllib3.BaseHTTPResponse) -> None:
        super().__init__()
        self.answer = answer


@dataclass(slots=True)
class Pin:
    """What new connections make sure of before they write: that ``target`` has this UID, if one is set."""

    target: str
    uid: str = ""


def open_pool(endpoint: Endpoint, tls: ssl.SSLContext | None, pin: Pin, connections: int) -> urllib3.HTTPConnectionPool:
    """Return the pool of an endpoint, which connects when it is first used."""
    settings: dict[str, Any] = {"maxsize": connections, "retries": False}
    if not endpoint.is_verified:
        # Whoever wrote insecure-skip-tls-verify knows.
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
        raise NoWay(
            Failure(
                kind=FailureKind.CREDENTIALS,
                message=f"{urlsplit(proxy).scheme} proxies need a library that is not installed",
                hint="install PySocks beside Argosy: pip install 'argosy[socks]'",
            )
        )
    from urllib3.contrib.socks import SOCKSProxyManager

    scheme, separator, rest = proxy.partition("://")
    looking_up = {"socks5": "socks5h", "socks4": "socks4a"}.get(scheme, scheme)
    return SOCKSProxyManager(f"{looking_up}{separator}{rest}", **settings)


class _Pinned(HTTPConnection):
    """A connection that makes sure which cluster it leads to before it first writes."""

    pin: Pin
    _known: Any = None

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **rest: Any) -> None:
        """Send a request; Astray when it may write and the connection leads to another cluster."""
        if self.pin.uid and method not in _READING and (self.sock is None or self.sock is not self._known):
            self._make_sure(urllib3.HTTPHeaderDict(headers or {}))
        super().request(method, url, body=body, headers=headers, **rest)

    def _make_sure(self, headers: urllib3.HTTPHeaderDict) -> None:
        usual, self.timeout = self.timeout, _IDENTITY_SECONDS
        headers.discard("Content-Type")
        try:
            super().request("GET", self.pin.target, headers=headers)
            answer = self.getresponse()
        except OSError as error:
            # Of some of these urllib3 thinks that the server may have answered all the same.
            raise urllib3.exceptions.ProtocolError("Connection aborted.", error) from error
        if answer.status != 200 or _uid_of(answer.data) != self.pin.uid:
            raise Astray(answer)
        self.timeout, self._known = usual, self.sock


def _uid_of(content: bytes) -> str:
    try:
        return str(json.loads(content)["metadata"]["uid"])
    except (ValueError, KeyError, TypeError):
        return ""
