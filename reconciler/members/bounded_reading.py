"""The reading of an API server's answer: so many bytes and so much time, for headers and content together.

A socket's own limit is for each read. A server that sends a byte twice a second never exceeds such a limit, so the time
left for the whole answer is set anew before every read. Bytes are counted as they come: those of the content, and those
around it (headers, sizes of chunks), which could go on for ever as well. Content is unpacked here, because one kilobyte
of gzip becomes a megabyte.
"""

import time
import zlib
from socket import socket

from httptools import HttpParserError, HttpResponseParser

from render.values import DiscreetStruct

_CHUNK = 1 << 16
_MOST_AROUND = 1 << 18
"""The bytes around the content of an answer that go beyond as many as it has itself: chunks are not that small."""
_MOST_OF_A_REFUSAL = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
"""Tells zlib that a gzip header comes first."""
_WITHOUT_END = frozenset({b"content-length", b"transfer-encoding"})
"""The headers that tell where content ends; without them it ends with the connection."""


class AnswerTooLarge(Exception):
    """The content of an answer is larger than what was asked for can be."""


class UnknownEncoding(Exception):
    """The content of an answer is packed in a way nobody asked for."""


class Received(DiscreetStruct, frozen=True, kw_only=True):
    """An answer in HTTP, its content unpacked; ``is_last`` where nothing more may be asked on its connection."""

    UNSHOWN = ("content",)

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    content: bytes = b""
    is_last: bool = False

    def header_values(self, name: str) -> list[str]:
        """Return the values of a header, in whatever case its name is written."""
        wanted = name.lower().encode()
        return [value.decode("latin-1") for key, value in self.headers if key.lower() == wanted]

    def first_header_value(self, name: str) -> str:
        """Return the first value of a header, nothing without one."""
        return next(iter(self.header_values(name)), "")


class ResponseParser:
    """The parser of an answer that is read elsewhere, which calls the methods of a reader that begin with ``on``."""

    def __init__(self, reader: object) -> None:
        self._parser = HttpResponseParser(reader)

    @property
    def status(self) -> int:
        """The status of the answer whose headers are complete."""
        return self._parser.get_status_code()

    def took_all(self, content: bytes) -> bool:
        """Take in the next bytes, and say whether they are an answer in HTTP."""
        try:
            self._parser.feed_data(content)
        except HttpParserError:
            return False
        return True


def read_answer(sock: socket, until: float, most: int) -> Received:
    """Read one answer until a time of the monotonic clock, with at most so many bytes of content.

    The content of a refusal that is too large to be one is left out, for the status says enough. ConnectionError where
    it ends early or is no answer in HTTP; AnswerTooLarge and UnknownEncoding for what else leaves its rest unread.
    """
    reading = _Reading(most)
    try:
        while not reading.is_complete:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError("the answer takes too long")
            sock.settimeout(left)
            reading.feed(sock.recv(_CHUNK))
        return reading.answer()
    except (AnswerTooLarge, UnknownEncoding):
        if reading.status < 300:
            raise
        return Received(status=reading.status, headers=tuple(reading.headers), is_last=True)
    finally:
        reading.end()


class _Reading:
    """One answer as far as it has come; the parser calls the methods that begin with ``on``."""

    def __init__(self, most: int) -> None:
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._most = most
        self._is_headed = False
        self._is_another = False
        self._is_lasting = False
        self._parts: list[bytes] = []
        self._size = 0
        self._fed = 0
        self._packing = b""
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_complete = False

    def feed(self, content: bytes) -> None:
        """Take in the next bytes; none at the end of the connection."""
        assert self._parser is not None
        if not content:
            self._complete_at_end_of_connection()
            return
        self._fed += len(content)
        try:
            self._parser.feed_data(content)
        except HttpParserError as error:
            if not self.is_complete:
                raise ConnectionError("no answer in HTTP") from error
            self._is_another = True
        if self._size > (self._most if self.status < 300 else _MOST_OF_A_REFUSAL):
            raise AnswerTooLarge
        if self._fed > 2 * self._size + _MOST_AROUND:
            raise ConnectionError("an answer without end")
        if self._is_headed and not self._packing:
            self._packing = self._content_encoding()

    def answer(self) -> Received:
        """Return the answer, which is complete."""
        content = b"".join(self._parts)
        if self._packing == b"gzip":
            content = _decompressed_content(content, self._most if self.status < 300 else _MOST_OF_A_REFUSAL)
        is_last = self._is_another or not self._is_lasting
        return Received(status=self.status, headers=tuple(self.headers), content=content, is_last=is_last)

    def end(self) -> None:
        """Let go of the parser, which refers back to this."""
        self._parser = None

    def _complete_at_end_of_connection(self) -> None:
        if not self._is_headed or not _WITHOUT_END.isdisjoint(name.lower() for name, _ in self.headers):
            raise ConnectionError("the answer is not complete")
        self.is_complete = True

    def _content_encoding(self) -> bytes:
        found = [value.strip().lower() for name, value in self.headers if name.lower() == b"content-encoding"]
        encoding = found[0] if len(found) == 1 else b", ".join(found) or b"identity"
        if encoding not in {b"identity", b"gzip"}:
            raise UnknownEncoding
        return encoding

    def on_message_begin(self) -> None:
        """Begin an answer; one after that which was asked for is nobody's."""
        self._is_another = self.is_complete

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take in a header; what follows chunked content as such is none."""
        if not (self._is_headed or self._is_another):
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Take in the status; one below 200 announces another answer."""
        assert self._parser is not None
        if self._is_another:
            return
        self.status = self._parser.get_status_code()
        self._is_headed = self.status >= 200
        if not self._is_headed:
            self.headers.clear()

    def on_body(self, content: bytes) -> None:
        """Take in a part of the content."""
        if not self._is_another:
            self._parts.append(content)
            self._size += len(content)

    def on_message_complete(self) -> None:
        """End the answer, unless another one was announced."""
        assert self._parser is not None
        if self._is_headed and not self.is_complete:
            self.is_complete = True
            # The parser knows that only now, before it makes itself ready for another answer.
            self._is_lasting = self._parser.should_keep_alive()


def _decompressed_content(packed: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        content = unpacker.decompress(packed, most + 1)
    except zlib.error as error:
        raise UnknownEncoding from error
    if len(content) > most or unpacker.unconsumed_tail:
        raise AnswerTooLarge
    if not unpacker.eof:
        raise UnknownEncoding
    return content
