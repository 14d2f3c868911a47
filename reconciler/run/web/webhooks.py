"""The public address: a signed webhook wakes fleets, and does nothing else.

``POST /webhook/PROVIDER`` wakes every fleet, ``POST /webhook/PROVIDER/FLEET`` the one of that name. The body is only
what the signature is made over: it is not parsed, and no commit, branch or address in it is believed. A fleet that is
woken asks its own remote. Whoever sends too much is answered 429; where signed webhooks came from the same source, that
still wakes, four times a minute, so that no push is missed. The memory of deliveries and sources is bounded in size.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from reconciler.console.log import Log
from render.errors import ConfigError

from .signatures import Provider, delivery_id, is_secret_usable, is_webhook_signed

_MOST_SEEN, _SEEN_SECONDS = 10_000, 24 * 3600.0
_MOST_SOURCES = 4_096
_MOST_ASKED = 100

Address = tuple[str, int]
"""A host and a port."""
StartResponse = Callable[[str, list[tuple[str, str]]], Any]
Wake = Callable[[str], bool]
"""Wake a fleet by name, or all ("") ; False where there is no such fleet."""
_Later = Callable[[float, Callable[[], None]], None]


class SeenDeliveries:
    """The ids of deliveries of the last day, the oldest forgotten first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, float] = OrderedDict()

    def is_new(self, id_: str, now: float) -> bool:
        """Return whether a delivery was not seen before, and remember it."""
        with self._lock:
            while self._seen and next(iter(self._seen.values())) < now - _SEEN_SECONDS:
                self._seen.popitem(last=False)
            if id_ in self._seen:
                return False
            self._seen[id_] = now
            if len(self._seen) > _MOST_SEEN:
                self._seen.popitem(last=False)
            return True


class _Allowance(Struct):
    left: float
    at: float
    is_known: bool = False


class SourceLimits:
    """The requests that each source may send: ``burst`` at once, and ``rate`` a second after that."""

    def __init__(self, *, rate: float = 10.0, burst: float = 100.0) -> None:
        self._rate, self._burst = rate, burst
        self._lock = threading.Lock()
        self._sources: OrderedDict[str, _Allowance] = OrderedDict()

    def is_allowed(self, source: str, now: float) -> bool:
        """Count a request of a source, and return whether it is within what that may send."""
        with self._lock:
            known = self._sources.pop(source, None) or _Allowance(self._burst, now)
            known.left, known.at = min(self._burst, known.left + (now - known.at) * self._rate), now
            self._sources[source] = known
            if len(self._sources) > _MOST_SOURCES:
                self._sources.popitem(last=False)
            if known.left < 1:
                return False
            known.left -= 1
            return True

    def is_known(self, source: str) -> bool:
        """Return whether a signed webhook came from a source not long ago."""
        with self._lock:
            found = self._sources.get(source)
            return found is not None and found.is_known

    def note_signed_source(self, source: str) -> None:
        """Remember that a signed webhook came from a source."""
        with self._lock:
            if source in self._sources:
                self._sources[source].is_known = True


class RareWakes:
    """Fleets woken now and then, however often it is asked for; the last that was asked for is never left out.

    ``later`` does something after so many seconds.
    """

    def __init__(self, *, pause: float = 15.0, later: _Later | None = None) -> None:
        self._pause, self._later = pause, later or _call_in_thread_after
        self._lock = threading.Lock()
        self._last = -pause
        self._asked: set[str] = set()

    def wake_or_delay(self, fleet: str, wake: Wake, now: float) -> None:
        """Wake a fleet, at once or after the pause; of many fleets, all at once."""
        with self._lock:
            is_pending = bool(self._asked)
            self._asked = {*self._asked, fleet} if len(self._asked) < _MOST_ASKED else {""}
            wait = max(0.0, self._last + self._pause - now)
            if not wait:
                self._last = now
        if not wait:
            self._wake_asked_fleets(wake)
        elif not is_pending:
            with self._lock:
                self._last = now + wait
            self._later(wait, lambda: self._wake_asked_fleets(wake))

    def _wake_asked_fleets(self, wake: Wake) -> None:
        with self._lock:
            asked, self._asked = self._asked, set()
        for fleet in sorted(asked):
            wake(fleet)


def _call_in_thread_after(seconds: float, call: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


LARGEST_BODY = 1 << 20
_TYPES = frozenset({"application/json", "application/x-www-form-urlencoded"})
_MOST_SECRET = 4096


class WebhookSecret(Struct, frozen=True, kw_only=True, order=True):
    """The file of a secret that a provider signs with; it is read whenever it is needed, as it may be exchanged."""

    provider: Provider
    file: str

    def read(self) -> bytes:
        """Return the secret; ConfigError where it cannot be one."""
        try:
            with Path(self.file).open("rb") as file:
                secret = file.read(_MOST_SECRET).strip()
        except OSError as error:
            raise ConfigError(f"the secret of {self.provider} webhooks cannot be read: {error.strerror}") from error
        if not is_secret_usable(self.provider, secret):
            hint = "write a longer one into the file: openssl rand -hex 32"
            raise ConfigError(f"the secret of {self.provider} webhooks has less than 16 bytes: {self.file}", hint=hint)
        return secret


class WebhookReply(Struct, frozen=True, kw_only=True):
    """An answer, and the word by which it is counted."""

    status: HTTPStatus
    result: str


ACCEPTED = WebhookReply(status=HTTPStatus.ACCEPTED, result="accepted")
DUPLICATE = WebhookReply(status=HTTPStatus.ACCEPTED, result="duplicate")
UNSIGNED = WebhookReply(status=HTTPStatus.UNAUTHORIZED, result="unsigned")
UNKNOWN = WebhookReply(status=HTTPStatus.NOT_FOUND, result="unknown")
METHOD = WebhookReply(status=HTTPStatus.METHOD_NOT_ALLOWED, result="method")
MEDIA = WebhookReply(status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE, result="media")
TOO_LARGE = WebhookReply(status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE, result="large")
TOO_MANY = WebhookReply(status=HTTPStatus.TOO_MANY_REQUESTS, result="limited")
NO_SECRET = WebhookReply(status=HTTPStatus.SERVICE_UNAVAILABLE, result="secret")


class Webhooks(Struct, frozen=True, kw_only=True):
    """The WSGI application of the public address."""

    secrets: Callable[[], Iterable[WebhookSecret]]
    wake: Wake
    count: Callable[[str, str], None]
    clock: Callable[[], float]
    log: Log
    seen: SeenDeliveries = field(default_factory=SeenDeliveries)
    limits: SourceLimits = field(default_factory=SourceLimits)
    rare: RareWakes = field(default_factory=RareWakes)

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> list[bytes]:
        """Answer one request."""
        parts = str(environ.get("PATH_INFO", "")).strip("/").split("/")
        provider = parts[1] if len(parts) in {2, 3} and parts[0] == "webhook" else ""
        known = Provider(provider) if provider in set(Provider) else None
        answer = UNKNOWN
        if known is not None:
            answer = self._reply_to_webhook(known, parts[2] if len(parts) == 3 else "", environ)
        self.count(str(known or "unknown"), answer.result)
        text = f"{answer.status.phrase.lower()}\n".encode()
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text)))]
        headers += [("Retry-After", "10")] if answer is TOO_MANY else []
        start_response(f"{answer.status.value} {answer.status.phrase}", headers)
        return [text]

    def _reply_to_webhook(self, provider: Provider, fleet: str, environ: Mapping[str, Any]) -> WebhookReply:
        source, now = str(environ.get("REMOTE_ADDR", "")), self.clock()
        if not self.limits.is_allowed(source, now):
            if self.limits.is_known(source):
                self.rare.wake_or_delay(fleet, self.wake, now)
            return TOO_MANY
        if environ.get("REQUEST_METHOD") != "POST":
            return METHOD
        if str(environ.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower() not in _TYPES:
            return MEDIA
        body = environ["wsgi.input"].read(LARGEST_BODY + 1)
        if len(body) > LARGEST_BODY:
            return TOO_LARGE
        return self._reply_to_body(provider, fleet, body, environ)

    def _reply_to_body(self, provider: Provider, fleet: str, body: bytes, environ: Mapping[str, Any]) -> WebhookReply:
        headers = {
            name.removeprefix("HTTP_").replace("_", "-").lower(): str(value)
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        try:
            secrets = [each.read() for each in self.secrets() if each.provider is provider]
        except ConfigError as error:
            self.log.error(error.message)  # noqa: TRY400 - our log has no traces
            return NO_SECRET
        if not secrets:
            return UNKNOWN
        now = self.clock()
        if not is_webhook_signed(provider, headers, body, secrets, now=now):
            return UNSIGNED
        self.limits.note_signed_source(str(environ.get("REMOTE_ADDR", "")))
        id_ = delivery_id(provider, headers)
        if id_ and not self.seen.is_new(f"{provider} {fleet} {id_}", now):
            return DUPLICATE
        return ACCEPTED if self.wake(fleet) else UNKNOWN
