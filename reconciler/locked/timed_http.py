"""Answers over HTTP that have to arrive, whole, within some time, however slowly their bytes come.

``http.client`` and urllib3 hand their limit of time to each read from the socket. Whoever sends a byte twice a second
never exceeds such a limit, and neither does whoever says again and again that an answer will follow.
"""

import io
import time
from functools import partial
from http.client import HTTPResponse
from socket import socket
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection


class TimedResponse(HTTPResponse):
    """An answer that has to have arrived, whole, within some seconds."""

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


class _TimedConnection(HTTPConnection):
    def getresponse(self) -> Any:
        """Return the answer, which has what is left of the time of its request."""
        response_class: Any = partial(TimedResponse, seconds=float(self.timeout or 0))
        self.response_class = response_class
        return super().getresponse()


class _TimedSecureConnection(_TimedConnection, HTTPSConnection):
    """A connection over TLS."""


class _TimedPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _TimedConnection


class _TimedSecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TimedSecureConnection


def timed_pools() -> urllib3.PoolManager:
    """Return connections to any host, which are kept for a next request and repeat none."""
    pools = urllib3.PoolManager(retries=False, maxsize=4)
    pools.pool_classes_by_scheme = {"http": _TimedPool, "https": _TimedSecurePool}
    return pools
