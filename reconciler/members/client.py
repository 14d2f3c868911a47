"""The client of one member cluster: requests with timeouts, one retry policy, and a limit for overloaded servers.

Nothing is retried behind our back, no call is without a time limit, and none outlives the cluster's deadline. Which
failures are worth another try, how often and after what pause, is the table ``_RETRIES``; a server's ``Retry-After``
beats the pause. A server that says it has too much to do gets half the requests at once, and slowly more again. What
shows that a cluster cannot be used at all stops its client: everything after that fails at once, with that reason.

Before a failure is taken for one of the server, the server is asked for what every server has. Where it answers that,
the failure is one of the request alone, and stops nothing else.
"""

import json
import random
import re
import threading
import time
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from msgspec.json import encode
from msgspec.structs import replace

from .bounded_reading import AnswerTooLarge, Received, UnknownEncoding
from .connection import IDENTITY_PATH, Connection, OtherCluster, Sent
from .exchange import ASTRAY, Answer, Failure, FailureKind, Request
from .masking import HIDDEN
from .refusals import LACKING_HINT, failure_of_refusal
from .request_limits import Hangs, RequestLimit
from .shapes import MOST_BYTES, NoJson, UnusableAnswer, parse_expected_content
from .sockets import network_failure
from .streaming import AnswerStream

DEFAULT_CONCURRENCY = 8
_LONGEST_PAUSE = 20.0
_SHORTEST_TOKEN = 8
_REDIRECTS = range(300, 400)
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
"""Hosts to which bytes travel faster than they are compressed."""


_NO_PLAIN_YAML = "[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
"""The pattern of characters that JSON takes as they are, and YAML refuses or takes for something else."""


class Retry(NamedTuple):
    """The attempts at a request in all, and the pause before the second one; it doubles from there."""

    tries: int
    pause: float


_RETRIES = {
    FailureKind.THROTTLED: Retry(8, 1.0),
    FailureKind.UNAVAILABLE: Retry(4, 0.5),
    FailureKind.WEBHOOK: Retry(2, 0.5),
    FailureKind.CONVERSION: Retry(2, 0.5),
    FailureKind.INITIALIZING: Retry(3, 1.0),
    **dict.fromkeys({FailureKind.UNREACHABLE} | ASTRAY, Retry(3, 0.2)),
}
_STOPPING = ASTRAY | frozenset(
    {FailureKind.UNAUTHORIZED, FailureKind.CREDENTIALS, FailureKind.UNREACHABLE, FailureKind.CERTIFICATE}
    | {FailureKind.WRONG_CLUSTER, FailureKind.THROTTLED}
)
_DOUBTFUL = frozenset({FailureKind.THROTTLED, FailureKind.UNAVAILABLE, FailureKind.UNREACHABLE, FailureKind.STRANGER})
"""The failures that may be the server's or those of one request."""
_PROBE = Request(method="GET", path=IDENTITY_PATH, timeout=5.0, tries=1)
_WELL = frozenset({403, 404})
"""The refusals that a server gives which is well: it has looked, and says no."""
_HINT_ALONE = "the cluster answers other requests: see what is wrong with this one in the log of its API server"


class Clock(NamedTuple):
    """A clock to go by instead of the machine's."""

    now: Callable[[], float]
    sleep: Callable[[float], object]


class _Attempt(NamedTuple):
    """One attempt at a request: how it ended, and whether it hung, so that another one would as well."""

    outcome: Answer | Failure
    has_hung: bool = False


class KubeClient:
    """Sends requests to one cluster until its deadline (on ``clock``'s scale).

    ``granting`` is the command that grants the rights which a pass needs, for the hint where one is missing.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        deadline: float,
        concurrency: int = DEFAULT_CONCURRENCY,
        user_agent: str = "argosy",
        clock: Clock | None = None,
    ) -> None:
        self.granting = ""
        self._connection = connection
        self.deadline = deadline
        self._clock = clock.now if clock else time.monotonic
        self._limit = RequestLimit(concurrency, clock=self._clock)
        self._hangs = Hangs(concurrency)
        self._user_agent = user_agent
        self._is_local = any(host in connection.host for host in _LOCAL_HOSTS)
        self._stops: list[Failure] = []
        self._ended = threading.Event()
        self._sleep = clock.sleep if clock else self._ended.wait

    @property
    def stopped(self) -> Failure | None:
        """The failure after which nothing is sent to this cluster any more, None before that."""
        return next(iter(self._stops), None)

    @property
    def concurrency(self) -> int:
        """The number of requests that may be under way at once."""
        return self._limit.current

    def stop(self, failure: Failure) -> None:
        """Send nothing more."""
        self._stops.append(failure)
        self._ended.set()

    def within(self, seconds: float) -> "KubeClient":
        """Return this client as one that gives up so many seconds from now; what stops one stops the other."""
        bounded = copy(self)
        bounded.deadline = min(self.deadline, self._clock() + seconds)
        return bounded

    def require_cluster_uid(self, uid: str) -> None:
        """Write only where the kube-system namespace has this UID: every new connection makes sure first."""
        self._connection.require_cluster_uid(uid)

    def wait(self, seconds: float) -> bool:
        """Pause; False when the cluster's deadline does not allow it, or the client was stopped."""
        if self._clock() + seconds >= self.deadline:
            return False
        self._sleep(seconds)
        return not self._ended.is_set()

    def send(self, request: Request) -> Answer | Failure:
        """Send a request, retrying what is worth it within the cluster's deadline."""
        number, attempt = 1, self._send_once(request)
        if isinstance(attempt.outcome, Failure) and attempt.outcome.kind is FailureKind.UNAUTHORIZED:
            attempt = self._send_once(request, renew=True)
        while isinstance(attempt.outcome, Failure):
            pause = None if attempt.has_hung else self._pause_before_retry(attempt.outcome, number, request.tries)
            if pause is None or not self.wait(pause):
                return self._final_failure(request, attempt.outcome)
            number, attempt = number + 1, self._send_once(request)
        return attempt.outcome

    def _final_failure(self, request: Request, failure: Failure) -> Failure:
        """Return the failure of a request that is not tried again, and stop where it is one of the whole cluster."""
        is_doubtful = failure.kind in _DOUBTFUL and request.is_of_objects and not self._hangs.are_enough
        if is_doubtful and self._is_server_well():
            return replace(failure, kind=FailureKind.ALONE, hint=_HINT_ALONE)
        if failure.kind in _STOPPING:
            self.stop(failure)
        return failure

    def _is_server_well(self) -> bool:
        """Ask the server for its identity, once."""
        answer = self._send_once(_PROBE).outcome
        return isinstance(answer, Answer) or answer.status in _WELL

    def _pause_before_retry(self, failure: Failure, attempt: int, tries: int) -> float | None:
        retry = _RETRIES.get(failure.kind)
        if retry is None or attempt >= min(tries or retry.tries, retry.tries):
            return None
        spread = random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
        if failure.retry_after:
            return failure.retry_after + spread
        return min(retry.pause * float(2 ** (attempt - 1)), _LONGEST_PAUSE) * spread

    def _send_once(self, request: Request, *, renew: bool = False) -> _Attempt:
        with self._limit:
            if self.stopped:
                return _Attempt(self.stopped)
            began = self._clock()
            seconds = min(self._hangs.seconds_for(request), self.deadline - began)
            if seconds <= 0:
                return _Attempt(Failure(kind=FailureKind.DEADLINE, message="the time this cluster was given is over"))
            outcome = self._answer_or_failure(request, seconds, renew=renew)
            has_hung = self._hangs.note_outcome(request, outcome, self._clock() - began, seconds)
        if isinstance(outcome, Failure) and outcome.kind is FailureKind.THROTTLED:
            self._limit.slow_down()
        return _Attempt(outcome, has_hung)

    def _answer_or_failure(self, request: Request, seconds: float, *, renew: bool) -> Answer | Failure:
        identity = self._connection.headers(renew=renew)
        if isinstance(identity, Failure):
            return identity
        try:
            answer = self._connection.ask(self._with_headers(request, identity), time.monotonic() + seconds)
            return self._parse_answer(request, answer, identity)
        except OtherCluster as error:
            return self._failure_of_other_cluster(error.answer)
        except OSError as error:
            return network_failure(error, self._connection.host)
        except (AnswerTooLarge, UnusableAnswer) as error:
            return _failure_of_unusable_answer(request, error)
        except (NoJson, UnknownEncoding):
            return self._failure_of_no_api_server()

    def stream(self, request: Request, *, renew: bool = False) -> AnswerStream | Failure:
        """Begin to read an answer that has no end; what is refused, or does not begin within its time, is a failure."""
        identity = self._connection.headers(renew=renew)
        if isinstance(identity, Failure):
            return identity
        until = self._clock() + request.timeout
        try:
            stream = self._connection.stream(self._with_headers(request, identity, is_packed=False), until)
            if stream.status < 300:
                return stream
            failure = self._parse_answer(request, stream.whole(until), identity)
            stream.close()
        except OSError as error:
            return network_failure(error, self._connection.host)
        assert isinstance(failure, Failure)
        is_renewed = failure.kind is FailureKind.UNAUTHORIZED and not renew
        return self.stream(request, renew=True) if is_renewed else failure

    def _with_headers(self, request: Request, identity: list[tuple[str, str]], *, is_packed: bool = True) -> Sent:
        is_packed = is_packed and request.method == "GET" and not self._is_local
        return Sent(
            method=request.method,
            path=f"{request.path}?{_query_string(tuple(request.query.items()))}" if request.query else request.path,
            headers=(
                ("Accept-Encoding", "gzip" if is_packed else "identity"),
                *identity,
                ("Accept", request.accept),
                ("User-Agent", self._user_agent),
            ),
            body=None if request.body is None else json_body(request.body),
            content_type="" if request.body is None else request.content_type,
            most=MOST_BYTES[request.expects],
        )

    def _failure_of_other_cluster(self, answer: Received) -> Failure:
        """Return the failure for a new connection whose cluster, asked for its identity, gave this answer."""
        if answer.status in _REDIRECTS:
            return self._failure_of_no_api_server(answer.status)
        if answer.status >= 400:
            return _failure_of_refused_request(Request(method="GET", path=IDENTITY_PATH), answer, answer.content)
        return Failure(
            kind=FailureKind.WRONG_CLUSTER,
            message=f"a new connection to {self._connection.host} leads to another cluster than a moment ago",
            hint="see what stands between here and the cluster",
        )

    def _failure_of_no_api_server(self, redirect: int = 0) -> Failure:
        redirects = f": it redirects elsewhere (HTTP status {redirect})" if redirect else ""
        before = "; a proxy with a page to log in may stand before the API server" if redirect else ""
        return Failure(
            kind=FailureKind.STRANGER,
            message=f"what answers at {self._connection.host} is no Kubernetes API server{redirects}",
            hint=f"see the server address of this cluster's context{before}",
        )

    def _parse_answer(self, request: Request, answer: Received, identity: list[tuple[str, str]]) -> Answer | Failure:
        if answer.status in _REDIRECTS:
            return self._failure_of_no_api_server(answer.status)
        if answer.status >= 400:
            credential = dict(identity).get("Authorization", "")
            failure = _failure_of_refused_request(
                request, answer, _content_without_token(credential.rpartition(" ")[2], answer.content)
            )
            is_lacking = failure.hint == LACKING_HINT and self.granting
            return replace(failure, hint=f"grant what is missing: {self.granting}") if is_lacking else failure
        return Answer(
            status=answer.status,
            body=parse_expected_content(request, answer.content),
            size=len(answer.content),
            warnings=tuple(map(_warning_text, answer.header_values("Warning"))),
            date=answer.first_header_value("Date"),
        )


def json_body(body: Any) -> bytes:
    r"""Return a body as JSON that is also the same YAML, which is what servers take for an apply.

    YAML knows no pairs of escapes for one character, such as \ud83d\ude00, and takes some characters for breaks.
    """
    try:
        content = encode(body)
    except (TypeError, UnicodeEncodeError):  # half characters, or keys of other types
        content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")
    if content.isascii() and b"\x7f" not in content:
        return content
    text = content.decode(errors="surrogatepass")
    return re.sub(_NO_PLAIN_YAML, lambda found: f"\\u{ord(found[0]):04x}", text).encode()


@lru_cache(maxsize=256)
def _query_string(query: tuple[tuple[str, str], ...]) -> str:
    return urlencode(query)


def _failure_of_refused_request(request: Request, answer: Received, content: bytes) -> Failure:
    return failure_of_refusal(
        request, answer.status, {"Retry-After": answer.first_header_value("Retry-After")}, content
    )


def _content_without_token(token: str, refusal: bytes) -> bytes:
    """Return a refusal without our token: some proxies repeat what they were asked with."""
    return refusal.replace(token.encode(), HIDDEN.encode()) if len(token) >= _SHORTEST_TOKEN else refusal


def _warning_text(header: str) -> str:
    """Return the text of a Warning header: ``299 - "text"``."""
    return header.split(" ", 2)[-1].strip('"')


def _failure_of_unusable_answer(request: Request, error: AnswerTooLarge | UnusableAnswer) -> Failure:
    """Return the failure for an answer that is larger than, or other than, what the request asks for."""
    if isinstance(error, AnswerTooLarge):
        most = MOST_BYTES[request.expects] >> 20
        return Failure(
            kind=FailureKind.ANSWER_TOO_LARGE,
            message=f"the answer to {request} is larger than {most} MiB",
            hint="see what stands between here and the cluster",
        )
    return Failure(
        kind=FailureKind.ANSWER,
        message=f"the answer to {request} is not what the API promises: {error}",
        hint="see what stands between here and the cluster",
    )
