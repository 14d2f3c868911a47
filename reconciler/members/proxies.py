"""Sockets to an API server through a proxy: a plain one, one that tunnels, or one that speaks SOCKS."""

import ssl
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from socket import gaierror, socket
from typing import Any
from urllib.parse import unquote, urlsplit

import urllib3

from reconciler.locked.timed_http import TimedResponse
from render.expressions import lazy_expression

from .endpoint import Endpoint, NotReached, ProxyError, UnsupportedEndpoint
from .kubeconfig import failure_of_unusable_context

_ANSWERED = lazy_expression(r"Tunnel connection failed: (?P<status>\d{3})\b")
"""The answer of a proxy that leads nowhere; with a status of 500 and more it cannot get to the server itself."""
_LOST_BY_SOCKS = frozenset({"ProxyConnectionError", "GeneralProxyError"})
_FORBIDDEN_BY_SOCKS = lazy_expression(r"\b0x(?:0[1278]|5c|5d): ")
"""The answers of a SOCKS proxy that are about itself or about us, and not about the server."""


class ProxiedSockets:
    """Opens sockets to one endpoint through its proxy."""

    def __init__(self, endpoint: Endpoint, tls: ssl.SSLContext | None) -> None:
        self._is_tunnelled = endpoint.is_tls and not endpoint.proxy.startswith("socks")
        settings: dict[str, Any] = {"retries": False}
        if tls is not None:
            settings["ssl_context"] = tls
            if not endpoint.is_verified:
                # Whoever wrote insecure-skip-tls-verify knows, and needs no warning with every connection.
                urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
            if endpoint.server_name:
                settings["server_hostname"] = endpoint.server_name
        self._pool: Any = _connection_pools(endpoint.proxy, settings).connection_from_url(endpoint.server)

    @property
    def forwarding_headers(self) -> list[tuple[str, str]]:
        """The headers that the proxy wants with each request that it sends on."""
        return [] if self._is_tunnelled else list(self._pool.proxy_headers.items())

    def open(self, seconds: float) -> socket:
        """Return an open socket."""
        connection = self._pool.open_connection(seconds, is_tunnelled=self._is_tunnelled)
        sock: socket = connection.sock
        return sock


class _OpeningPool(urllib3.HTTPConnectionPool):
    """A pool that knows the way to a server and opens connections, which it does not keep."""

    def open_connection(self, seconds: float, *, is_tunnelled: bool) -> Any:
        """Return a new connection; a proxy that cannot be reached or does not lead on is a broken connection."""
        connection: Any = self._new_conn()
        connection.timeout = seconds
        connection.response_class = partial(TimedResponse, seconds=seconds)
        try:
            if self.proxy is not None and is_tunnelled:
                self._prepare_proxy(connection)
            else:
                connection.connect()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            # Closed, a connection forgets how far it came.
            is_lost = bool(connection.proxy) and not connection.has_connected_to_proxy
            connection.close()
            raise _proxy_error_in_causes(error, is_lost=is_lost) or _as_system_error(error) from error
        return connection


def _proxy_error_in_causes(error: BaseException, *, is_lost: bool) -> OSError | None:
    """Return the error of a proxy that is not there or refuses us; None where it could not get to the server."""
    if isinstance(error, ssl.SSLError):
        return None
    if answered := _ANSWERED.search(str(error)):
        status = int(answered["status"])
        return ProxyError(f"does not let us through: HTTP status {status}") if status < 500 else None
    if is_lost:
        return ProxyError("cannot be reached")
    return _error_of_socks_proxy({type(each).__name__: str(each) for each in _error_and_its_causes(error)})


def _error_of_socks_proxy(text_by_error: Mapping[str, str]) -> OSError | None:
    """Return the error of a SOCKS proxy, given the kinds of errors that its library has for what happened."""
    answers = [text_by_error[name] for name in ("SOCKS5Error", "SOCKS4Error") if name in text_by_error]
    if "SOCKS5AuthError" in text_by_error or any(map(_FORBIDDEN_BY_SOCKS.search, answers)):
        return ProxyError("does not let us through")
    if answers or not text_by_error.keys() & _LOST_BY_SOCKS:
        return None
    return ProxyError("cannot be reached, or is none")


def _error_and_its_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it."""
    while error is not None:
        yield error
        error = getattr(error, "socket_err", None) or error.__cause__ or error.__context__


def _as_system_error(error: Exception) -> OSError:
    """Return the error of a connection as the one that the system has for it."""
    if isinstance(error, OSError):
        return error
    if isinstance(error, urllib3.exceptions.NameResolutionError):
        return gaierror(str(error))
    if isinstance(error, urllib3.exceptions.NewConnectionError):
        return NotReached(str(error))
    if isinstance(error, urllib3.exceptions.TimeoutError):
        return TimeoutError(str(error))
    return ConnectionError(str(error))


def _connection_pools(proxy: str, settings: Mapping[str, Any]) -> urllib3.PoolManager:
    pools = _connection_pools_behind_proxy(proxy, settings)
    classes = pools.pool_classes_by_scheme
    pools.pool_classes_by_scheme = {
        scheme: type("OpeningPool", (_OpeningPool, each), {}) for scheme, each in classes.items()
    }
    return pools


def _connection_pools_behind_proxy(proxy: str, settings: Mapping[str, Any]) -> urllib3.PoolManager:
    if proxy.startswith("socks"):
        return _connection_pools_behind_socks(proxy, settings)
    parts = urlsplit(proxy)
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
    return urllib3.ProxyManager(proxy, proxy_headers=urllib3.make_headers(proxy_basic_auth=user), **settings)


def _connection_pools_behind_socks(proxy: str, settings: Mapping[str, Any]) -> urllib3.PoolManager:
    """Return pools behind a SOCKS proxy, which looks names up itself, as it does for kubectl."""
    if find_spec("socks") is None:
        message = f"{urlsplit(proxy).scheme} proxies need a library that is not installed"
        hint = "install PySocks beside Argosy: pipx inject argosy PySocks"
        raise UnsupportedEndpoint(failure_of_unusable_context(message, hint))
    from urllib3.contrib.socks import SOCKSProxyManager

    scheme, separator, rest = proxy.partition("://")
    looking_up = {"socks5": "socks5h", "socks4": "socks4a"}.get(scheme, scheme)
    return SOCKSProxyManager(f"{looking_up}{separator}{rest}", **settings)
