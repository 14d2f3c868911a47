"""Bursts of webhooks against a running controller: signed, seen before, forged, unsigned, huge, malformed, slow.

Each burst follows one push. The last of it that is signed comes after the push, as a forge sends it: so every push must
be rendered, by one pass, whatever else arrives.
"""

import hashlib
import hmac
import http.client
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from .build import Repository
from .controllers import Controller, is_rendered, pushed
from .processes import Held, held_by

SECRET = b"a secret of enough bytes"
BODY = b'{"ref": "refs/heads/main", "after": "0000000000000000000000000000000000000000"}'
_HUGE = 4 << 20
_SENDERS = 16
_Send = Callable[[int, int], int]


def storm(argosy: Controller, port: int, work: Repository, bare: Path, *, bursts: int, each: int) -> Iterator[Held]:
    """Send bursts, yielding what the controller holds after each; every push has to be rendered."""
    slow = [_begun(port) for _ in range(20)]
    try:
        with ThreadPoolExecutor(_SENDERS) as pool:
            for burst in range(bursts):
                commit = pushed(work, f"burst {burst}")
                answers = Counter(pool.map(partial(_sent, port, burst), range(each)))
                assert not set(answers) - {202, 400, 401, 404, 405, 413, 415, 429, 0}, answers
                is_rendered(bare, commit)
                argosy.says("pass ended", times=burst + 2)
                yield held_by(argosy.process.pid)
    finally:
        for one in slow:
            one.close()


def _sent(port: int, burst: int, number: int) -> int:
    """Send one request of a burst and return how it was answered; 0 where the connection was closed before that."""
    kinds: tuple[_Send, ...] = (_signed, _seen_before, _forged, _unsigned, _malformed, _of_another_type)
    try:
        # A huge one costs the sender more than the controller, so there are fewer.
        return _huge(port) if number % 100 == 99 else kinds[number % len(kinds)](port, burst * 100_000 + number)
    except (OSError, http.client.HTTPException):
        return 0


def _signed(port: int, number: int) -> int:
    return posted(port, {"X-Hub-Signature-256": signature(), "X-GitHub-Delivery": str(number)})


def _seen_before(port: int, number: int) -> int:
    return posted(port, {"X-Hub-Signature-256": signature(), "X-GitHub-Delivery": str(number // 100_000)})


def _forged(port: int, number: int) -> int:
    return posted(port, {"X-Hub-Signature-256": "sha256=" + "0" * 64, "X-GitHub-Delivery": str(number)})


def _unsigned(port: int, number: int) -> int:
    return posted(port, {"X-GitHub-Delivery": str(number)})


def _malformed(port: int, number: int) -> int:
    text = (b"POST /webhook/github HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"\r\n\r\n")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.settimeout(10)
        connection.sendall(text[number % len(text)])
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(64).split(b" ")
    return int(answer[1]) if len(answer) > 1 else 0


def _of_another_type(port: int, number: int) -> int:
    return posted(port, {"X-Hub-Signature-256": signature(), "Content-Type": "text/plain", "X-No": str(number)})


def _huge(port: int) -> int:
    return posted(port, {"X-Hub-Signature-256": signature()}, b"x" * _HUGE)


def _begun(port: int) -> socket.socket:
    """Begin a request that never ends."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    with suppress(OSError):
        connection.sendall(b"POST /webhook/github HTTP/1.1\r\nContent-Length: 10\r\n")
    return connection


def posted(port: int, headers: dict[str, str], body: bytes = BODY) -> int:
    """Post a webhook of GitHub and return the status of its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", "/webhook/github", body, {"Content-Type": "application/json", **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def signature() -> str:
    """Return the signature of the body."""
    return f"sha256={hmac.new(SECRET, BODY, hashlib.sha256).hexdigest()}"
