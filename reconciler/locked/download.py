"""Downloads over HTTP: bounded in bytes and time, with credentials that stay with their host.

Only https is spoken, and http with this machine alone. A redirect is followed a few times, never to a weaker scheme,
and what it leads to is asked with its own host's credentials or with none.
"""

import ipaddress
import math
import time
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from .credentials import Credentials
from .model import UnavailableSource

if TYPE_CHECKING:
    import urllib3

SECONDS = 120.0
_CONNECT_SECONDS = 10.0
_MOST_REDIRECTS = 5
_CHUNK = 1 << 16
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Downloaded(NamedTuple):
    """An answer: its status, headers in small letters, its content, and the address it came from."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    url: str


@dataclass(slots=True)
class Downloads:
    """Downloads with these credentials; each has ``seconds``, from the first byte sent to the last one read.

    ``until`` is the time of the monotonic clock at which all of them end.
    """

    credentials: Credentials = field(default_factory=Credentials)
    seconds: float = SECONDS
    until: float = math.inf
    _pool: "urllib3.PoolManager | None" = field(default=None, repr=False)

    def within(self, seconds: float) -> "Downloads":
        """Return downloads that have so many seconds all together: those of one Source."""
        found = copy(self)
        found.until = time.monotonic() + seconds
        return found

    def get(
        self,
        url: str,
        *,
        most_bytes: int,
        headers: Mapping[str, str] | None = None,
        accepts: frozenset[int] = frozenset(),
    ) -> Downloaded:
        """Return the content at an address; UnavailableSource for any status but 200 and those in ``accepts``.

        An ``Authorization`` among ``headers`` is for the host of ``url``, too.
        """
        deadline = min(time.monotonic() + self.seconds, self.until)
        first, at = urlsplit(url).netloc, url
        for _ in range(_MOST_REDIRECTS + 1):
            sent = {**self._authorization(at), **(headers or {})}
            if urlsplit(at).netloc != first and "Authorization" in (headers or {}):
                sent = {**sent, "Authorization": ""} | self._authorization(at)
            answer = self._download_once(
                at, {name: value for name, value in sent.items() if value}, most_bytes, deadline
            )
            if answer.status not in _REDIRECTS:
                break
            at = _redirect_target(at, answer.headers.get("location", ""))
        if answer.status == 200 or answer.status in accepts:
            return answer
        hint = f"credentials for {urlsplit(at).hostname} come from the file that ARGOSY_CREDENTIALS names"
        raise UnavailableSource(
            f"{url_for_messages(at)} answered with {answer.status}",
            hint=hint if answer.status in {401, 403} else "",
            is_denied=answer.status in {401, 403, 404},
        )

    def _authorization(self, url: str) -> dict[str, str]:
        found = self.credentials.of(url)
        return {"Authorization": found} if found else {}

    def _download_once(self, url: str, headers: Mapping[str, str], most_bytes: int, deadline: float) -> Downloaded:
        import urllib3

        from .timed_http import timed_pools

        url_that_may_be_asked(url)
        left = deadline - time.monotonic()
        if left <= 0:
            raise UnavailableSource(f"{url_for_messages(url)} takes too long")
        if self._pool is None:
            self._pool = timed_pools()
        limit = urllib3.Timeout(total=left, connect=_CONNECT_SECONDS)
        said = {"User-Agent": "argosy", "Accept-Encoding": "identity", **headers}
        try:
            with self._pool.request(
                "GET", url, headers=said, redirect=False, preload_content=False, timeout=limit
            ) as response:
                content = _content_of_response(response, url, most_bytes, deadline)
                known = {name.lower(): value for name, value in response.headers.items()}
                return Downloaded(response.status, known, content, url)
        except urllib3.exceptions.ReadTimeoutError as error:
            raise UnavailableSource(f"{url_for_messages(url)} takes too long") from error
        except urllib3.exceptions.HTTPError as error:
            raise UnavailableSource(f"{url_for_messages(url)} cannot be reached: {_reason_of_error(error)}") from error


def _content_of_response(response: "urllib3.BaseHTTPResponse", url: str, most_bytes: int, deadline: float) -> bytes:
    """Read an answer to its end, as far as bytes and time allow."""
    chunks, size = [], 0
    while chunk := response.read1(_CHUNK, decode_content=False):
        size += len(chunk)
        if size > most_bytes:
            raise UnavailableSource(f"{url_for_messages(url)} has more than {most_bytes} bytes")
        if time.monotonic() > deadline:
            raise UnavailableSource(f"{url_for_messages(url)} takes too long")
        chunks.append(chunk)
    return b"".join(chunks)


def url_that_may_be_asked(url: str) -> str:
    """Return an address that may be asked; UnavailableSource for any other.

    A backslash ends the host for what connects, and not for what looks up credentials by it.
    """
    if "\\" in url:
        raise UnavailableSource(f"{url_for_messages(url)} is not asked: it has a backslash")
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and _is_loopback_host(parts.hostname or ""):
        return url
    raise UnavailableSource(f"{url_for_messages(url)} is not asked: only https is, and http on this machine")


def address_meant_by_server(url: str, text: str) -> str:
    """Return the address that a server means by some text in what it answers; UnavailableSource where it is none.

    A server elsewhere leads nobody to the services of this machine, for which a firewall would not stand in its way.
    """
    try:
        found = urljoin(url, text)
        host, _ = urlsplit(found).hostname or "", urlsplit(found).port
    except ValueError as error:
        raise UnavailableSource(f"{url_for_messages(url)} leads to what is no address") from error
    if _is_loopback_host(host) and not _is_loopback_host(urlsplit(url).hostname or ""):
        raise UnavailableSource(f"{url_for_messages(url)} leads to this machine")
    return found


def scheme_for_registry(host: str) -> str:
    """Return the scheme for a registry: http on this machine, as its clients have it."""
    return "http" if _is_loopback_host(urlsplit(f"//{host}").hostname or "") else "https"


def url_for_messages(url: str) -> str:
    """Return an address for a message: without user, password and query, which may be a signature.

    >>> url_for_messages("https://me:hidden@charts.example.com/web.tgz?signature=abc")
    'https://charts.example.com/web.tgz'
    """
    parts = urlsplit(url)
    text = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return text if text.isprintable() else ascii(text)


def _is_loopback_host(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _redirect_target(url: str, location: str) -> str:
    target = address_meant_by_server(url, location)
    if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
        raise UnavailableSource(f"{url_for_messages(url)} leads away from https")
    return url_that_may_be_asked(target)


def _reason_of_error(error: Exception) -> str:
    """Return the outermost cause for people, without the objects that libraries name in it."""
    cause: BaseException = error
    while (inner := getattr(cause, "reason", None) or cause.__cause__) and isinstance(inner, BaseException):
        cause = inner
    return (getattr(cause, "strerror", None) or type(cause).__name__).lower()
