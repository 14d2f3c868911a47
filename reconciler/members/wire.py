"""One connection to an API server as requests and answers travel on it: HTTP/1.1, one after the other."""

import time
from collections.abc import Iterable
from contextlib import suppress
from select import POLLIN, poll
from socket import socket
from urllib.parse import quote

from render.expressions import lazy_expression

from .bounded_reading import Received, read_answer
from .streaming import AnswerStream

_BODILY = frozenset({"PATCH", "POST", "PUT"})
_PLAIN = lazy_expression(r"[!-~]+")
_IN_TARGETS = "/?&=%:@!$'()*+,;~-._[]"
_LINE_END = lazy_expression(r"[\r\n\0]")


class Wire:
    """An open connection; ``is_used`` once it gave an answer, ``uid`` once it is known to which cluster it leads."""

    def __init__(self, sock: socket) -> None:
        self._sock = sock
        self._news = poll()
        self._news.register(sock, POLLIN)
        self.is_used = False
        self.uid = ""

    @property
    def is_idle(self) -> bool:
        """Say whether the connection is as it was left: it has not been closed, and nothing more has come."""
        return not self._news.poll(0)

    def ask(self, message: bytes, until: float, most: int) -> Received:
        """Send a request and return its answer of at most so many bytes, all by a time of the monotonic clock.

        A server may answer before it has read everything, and close its side.
        """
        with suppress(BrokenPipeError):
            self._send(message, until)
        answer = read_answer(self._sock, until, most)
        self.is_used = True
        return answer

    def stream(self, message: bytes, until: float) -> AnswerStream:
        """Send a request, and return its answer from its beginning on; the connection is for nothing else then."""
        with suppress(BrokenPipeError):
            self._send(message, until)
        return AnswerStream(self._sock, until)

    def _send(self, message: bytes, until: float) -> None:
        rest = memoryview(message)
        while rest:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError("the request takes too long")
            self._sock.settimeout(left)
            rest = rest[self._sock.send(rest) :]

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()


def http_request_bytes(
    method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes | None = None
) -> bytes:
    """Return a request as it is sent; ValueError for a header that would be more than one."""
    if not _PLAIN.fullmatch(target):
        target = quote(target, safe=_IN_TARGETS)
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in headers:
        if _LINE_END.search(value):
            raise ValueError(f"the header {name} has more than one line")
        lines.append(f"{name}: {value}")
    if body is not None or method in _BODILY:
        lines.append(f"Content-Length: {len(body or b'')}")
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1") + (body or b"")
