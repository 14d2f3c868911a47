"""HTTP as API servers and what stands before them speak it: where an answer ends, and whether its connection lasts."""

import socket
import threading
import time
from typing import NamedTuple

import pytest

from reconciler.members.bounded_reading import AnswerTooLarge, Received, UnknownEncoding, read_answer
from reconciler.members.wire import http_request_bytes

from .tables import each_row
from .waiting import SECONDS

HEAD = b"HTTP/1.1 200 OK\r\n"
FIVE = HEAD + b"Content-Length: 5\r\n\r\nhello"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def read(*pieces: bytes, most: int = 100) -> Received:
    """Read what a server sends in these pieces before it closes the connection."""
    ours, theirs = socket.socketpair()

    def send() -> None:
        with theirs:
            for piece in pieces:
                theirs.sendall(piece)

    sending = threading.Thread(target=send, daemon=True)
    with ours:
        sending.start()
        answer = read_answer(ours, time.monotonic() + SECONDS, most)
    sending.join(SECONDS)
    return answer


class Ended(NamedTuple):
    why: str
    sent: bytes
    content: bytes
    is_last: bool
    status: int = 200


ENDED = [
    Ended("as long as it says", FIVE, b"hello", False),
    Ended("in chunks", CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", b"hello", False),
    Ended("in chunks with a trailer", CHUNKED + b"5\r\nhello\r\n0\r\nWarning: 299\r\n\r\n", b"hello", False),
    Ended("with its connection, which it does not say", HEAD + b"\r\nhello", b"hello", True),
    Ended("with its connection, as it says", HEAD + b"Connection: close\r\n\r\nhello", b"hello", True),
    Ended(
        "a connection that is closed after content of known length",
        HEAD + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello",
        b"hello",
        True,
    ),
    Ended("an older protocol", b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello", True),
    Ended("an answer that is announced", b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n" + FIVE, b"hello", False),
    Ended("announced twice", b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + FIVE, b"hello", False),
    Ended("no content by its status", b"HTTP/1.1 204 No Content\r\n\r\n", b"", False, 204),
    Ended("an answer nobody asked for follows", FIVE + b"HTTP/1.1 200 OK\r\n\r\nbye", b"hello", True),
    Ended("garbage follows", FIVE + b"bye", b"hello", True),
    Ended("a refusal", b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", b"no", False, 403),
]


@each_row("case", ENDED, ids=lambda case: case.why)
def test_an_answer_ends_where_it_says(case: Ended) -> None:
    answer = read(case.sent)
    assert (answer.status, answer.content, answer.is_last) == (case.status, case.content, case.is_last)


@each_row("case", [case for case in ENDED if " follows" not in case.why], ids=lambda case: case.why)
def test_an_answer_may_come_byte_by_byte(case: Ended) -> None:
    assert read(*(bytes([byte]) for byte in case.sent)) == read(case.sent)


BROKEN = {
    "nothing at all": b"",
    "half a status line": HEAD[:8],
    "half of the headers": HEAD + b"Content-Length: 5\r\n",
    "half of the content": FIVE[:-1],
    "half of the chunks": CHUNKED + b"5\r\nhello\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "a length that is no number": HEAD + b"Content-Length: five\r\n\r\nhello",
    "two lengths": HEAD + b"Content-Length: 5\r\nContent-Length: 2\r\n\r\nhello",
    "a length and chunks": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a chunk that is longer than it says": CHUNKED + b"2\r\nhello\r\n0\r\n\r\n",
    "headers that do not end": HEAD + b"A: b\r\n" * 60_000,
    "sizes of chunks that say nothing": CHUNKED + b"1;" + b"a" * 300_000,
}


@each_row("why", BROKEN)
def test_what_is_no_whole_answer_is_a_broken_connection(why: str) -> None:
    with pytest.raises(ConnectionError):
        read(BROKEN[why])


def test_content_is_bounded() -> None:
    assert read(HEAD + b"Content-Length: 100\r\n\r\n" + b"a" * 100).content == b"a" * 100
    with pytest.raises(AnswerTooLarge):
        read(HEAD + b"Content-Length: 101\r\n\r\n" + b"a" * 101)


def test_a_refusal_that_is_too_large_says_enough_with_its_status() -> None:
    content = b"a" * (1 << 20)
    head = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: %d\r\n\r\n"
    assert read(head % len(content) + content, most=1).content == content
    refusal = read(head % (len(content) + 1) + content + b"a")
    assert (refusal.status, refusal.first_header_value("retry-after"), refusal.content, refusal.is_last) == (
        503,
        "7",
        b"",
        True,
    )


def test_an_encoding_nobody_asked_for_is_not_read() -> None:
    with pytest.raises(UnknownEncoding):
        read(HEAD + b"Content-Encoding: gzip, br\r\nContent-Length: 5\r\n\r\nhello")
    with pytest.raises(UnknownEncoding):
        read(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello")


def test_headers_are_found_in_any_case_and_as_often_as_they_are_there() -> None:
    answer = read(HEAD + b"warning: one\r\nWarning: two\r\nContent-Length: 0\r\n\r\n")
    assert (
        answer.header_values("Warning"),
        answer.first_header_value("WARNING"),
        answer.first_header_value("Date"),
    ) == (["one", "two"], "one", "")


class Said(NamedTuple):
    why: str
    method: str
    body: bytes | None
    want: bytes


SAID = [
    Said("reading has no content", "GET", None, b"GET /x?a=b HTTP/1.1\r\nHost: it\r\n\r\n"),
    Said("content has a length", "DELETE", b"{}", b"DELETE /x?a=b HTTP/1.1\r\nHost: it\r\nContent-Length: 2\r\n\r\n{}"),
    Said("writing nothing says so", "PATCH", None, b"PATCH /x?a=b HTTP/1.1\r\nHost: it\r\nContent-Length: 0\r\n\r\n"),
]


@pytest.mark.parametrize("case", SAID, ids=lambda case: case.why)
def test_a_request_as_it_is_sent(case: Said) -> None:
    assert http_request_bytes(case.method, "/x?a=b", [("Host", "it")], case.body) == case.want


def test_a_target_is_one_word() -> None:
    assert http_request_bytes("GET", "/a b\r\n/ä%20", []) == b"GET /a%20b%0D%0A/%C3%A4%20 HTTP/1.1\r\n\r\n"


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\rb", "a\0b"])
def test_a_header_is_never_more_than_one(value: str) -> None:
    with pytest.raises(ValueError, match=r"^the header As has more than one line$"):
        http_request_bytes("GET", "/", [("As", value)])
