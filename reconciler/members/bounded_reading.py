"""The reading of an API server's answer: so many bytes and so much time, for headers and content together.

urllib3 and ``http.client`` limit each read from the socket. A server that sends a byte twice a second never exceeds
such a limit, so the time left for the whole answer is set anew before every read. Content is unpacked here, because
one kilobyte of gzip becomes a megabyte.
"""

import io
import time
import zlib
from collections.abc import Iterator, Mapping
from http.client import HTTPResponse
from socket import socket
from typing import Any, Protocol

_CHUNK = 1 << 20
_MOST_OF_A_REFUSAL = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
"""Tells zlib that a gzip header comes first."""


class Response(Protocol):
    """A response whose content is still to be read."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, whose names are found in any case."""

    def read(self, amt: int, decode_content: bool) -> bytes:
        """Return the next bytes of the content; none at its end."""

    def close(self) -> None:
        """Close the connection the rest would come from."""


class AnswerTooLarge(Exception):
    """The content of an answer is larger than what was asked for can be."""


class UnknownEncoding(Exception):
    """The content of an answer is packed in a way nobody asked for."""


class TimedResponse(HTTPResponse):
    """A response that has to have arrived, whole, ``seconds`` after its request was sent."""

    def __init__(self, sock: socket, *args: Any, seconds: float, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_TimedReads(sock, self.fp.detach(), time.monotonic() + seconds))


class _TimedReads(io.RawIOBase):
    """The bytes from a socket until a time of the monotonic clock."""

    def __init__(self, sock: socket, raw: io.RawIOBase, deadline: float) -> None:
        self._sock = sock
        self._raw = raw
        self._deadline = deadline

    def readable(self) -> bool:
        """Return True: bytes are only read here."""
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        """Read what is there, waiting no longer than the answer as a whole may take."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Let go of the socket."""
        self._raw.close()
        super().close()


def read_content(response: Response, most: int) -> bytes:
    """Return an answer's content, unpacked; AnswerTooLarge and UnknownEncoding leave the connection closed."""
    try:
        return b"".join(_bounded(_unpacked(response, most), most))
    except (AnswerTooLarge, UnknownEncoding):
        response.close()
        raise


def read_refusal(response: Response) -> bytes:
    """Return the content of a refusal; nothing where it is too large to be one, for the status says enough."""
    try:
        return read_content(response, _MOST_OF_A_REFUSAL)
    except (AnswerTooLarge, UnknownEncoding):
        return b""


def _bounded(parts: Iterator[bytes], most: int) -> Iterator[bytes]:
    total = 0
    for part in parts:
        total += len(part)
        if total > most:
            raise AnswerTooLarge
        yield part


def _unpacked(response: Response, most: int) -> Iterator[bytes]:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise UnknownEncoding
    packed = iter(lambda: response.read(_CHUNK, decode_content=False), b"")
    return packed if encoding == "identity" else _gunzipped(packed, most)


def _gunzipped(packed: Iterator[bytes], most: int) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        for part in packed:
            yield unpacker.decompress(part, most + 1)
            if unpacker.unconsumed_tail:
                raise AnswerTooLarge
    except zlib.error as error:
        raise UnknownEncoding from error
    if not unpacker.eof:
        raise UnknownEncoding
