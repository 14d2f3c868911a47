"""An answer of an API server that goes on for as long as somebody reads it: a watch, line by line as it comes.

Its beginning has to come in time, like any answer. After that there may be nothing for a while, so that silence is
bounded and the whole is not.
"""

import time
from collections.abc import Iterator
from socket import socket

from .bounded_reading import AnswerTooLarge, Received, ResponseParser

_CHUNK = 1 << 16
_LONGEST_LINE = 64 << 20
_MOST_OF_A_REFUSAL = 1 << 20
_LONGEST_HEAD = 1 << 18


class AnswerStream:
    """One answer as it comes; the parser calls the methods that begin with ``on``."""

    def __init__(self, sock: socket, until: float) -> None:
        self._sock = sock
        self._parser: ResponseParser | None = ResponseParser(self)
        self._rest = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        self._is_headed = self._is_complete = False
        self.status = 0
        fed = 0
        while not self._is_headed:
            fed += self._take_more(until)
            if fed > _LONGEST_HEAD and not self._is_headed:
                raise ConnectionError("an answer without end")

    def lines(self, silent_seconds: float) -> Iterator[bytes]:
        """Yield each whole line; TimeoutError where nothing comes for so long, ConnectionError where it breaks off."""
        while True:
            while (end := self._rest.find(b"\n")) >= 0:
                line = bytes(self._rest[:end])
                del self._rest[: end + 1]
                yield line
            if self._is_complete:
                return
            if len(self._rest) > _LONGEST_LINE:
                raise AnswerTooLarge
            self._take_more(time.monotonic() + silent_seconds)

    def whole(self, until: float) -> Received:
        """Return what is left as one answer, for a refusal; of one that is too long, its status says enough."""
        while not self._is_complete and len(self._rest) <= _MOST_OF_A_REFUSAL:
            self._take_more(until)
        content = bytes(self._rest) if len(self._rest) <= _MOST_OF_A_REFUSAL else b""
        return Received(status=self.status, headers=tuple(self._headers), content=content, is_last=True)

    def close(self) -> None:
        """Close the connection, which is for this answer alone."""
        self._parser = None
        self._sock.close()

    def _take_more(self, until: float) -> int:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self._sock.settimeout(left)
        content = self._sock.recv(_CHUNK)
        if not content or self._parser is None:
            raise ConnectionError("the answer broke off")
        if not self._parser.took_all(content) and not self._is_complete:
            raise ConnectionError("no answer in HTTP")
        return len(content)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take in a header."""
        if not self._is_headed:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Take in the status; one below 200 announces another answer."""
        assert self._parser is not None
        self.status = self._parser.status
        self._is_headed = self.status >= 200
        if not self._is_headed:
            self._headers.clear()

    def on_body(self, content: bytes) -> None:
        """Take in a part of the content."""
        self._rest += content

    def on_message_complete(self) -> None:
        """End the answer, unless another one was announced."""
        self._is_complete = self._is_headed
