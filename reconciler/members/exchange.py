"""One request to an API server and its outcome as values: a request, an answer, a failure."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from render.values import DiscreetStruct, SelectiveStruct

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
JSON = "application/json"
TEXT = "text/plain"


class FailureKind(StrEnum):
    """The meaning of a failed request; the values are the reasons that reports show."""

    BAD_REQUEST = "BadRequest"
    UNAUTHORIZED = "Unauthorized"
    FORBIDDEN = "Forbidden"
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    NAMESPACE_MISSING = "NamespaceMissing"
    NOT_SERVED = "KindNotServed"
    NOT_FOUND = "NotFound"
    CONFLICT = "FieldManagerConflict"
    RACE = "Conflict"
    EXPIRED = "Expired"
    TOO_LARGE = "RequestTooLarge"
    UNSUPPORTED = "NotAcceptable"
    INVALID = "Invalid"
    IMMUTABLE = "Immutable"
    MANIFEST = "ManifestRejected"
    THROTTLED = "TooManyRequests"
    WEBHOOK = "WebhookFailed"
    CONVERSION = "ConversionFailed"
    FORMER_VERSION = "FormerVersion"
    INITIALIZING = "StorageInitializing"
    ALONE = "RequestFailed"
    UNAVAILABLE = "ServerUnavailable"
    UNREACHABLE = "Unreachable"
    NAME = "NameNotResolved"
    PROXY = "ProxyFailed"
    STRANGER = "NotAnApiServer"
    CERTIFICATE = "CertificateRejected"
    CREDENTIALS = "NoCredentials"
    WRONG_CLUSTER = "WrongCluster"
    OLDER = "OlderCommit"
    ELSEWHERE = "OtherHistory"
    HELD = "ClusterHeld"
    DEADLINE = "DeadlineExceeded"
    ANSWER = "UnusableAnswer"
    ANSWER_TOO_LARGE = "AnswerTooLarge"
    UNEXPECTED = "Unexpected"


ASTRAY = frozenset({FailureKind.NAME, FailureKind.PROXY, FailureKind.STRANGER})
"""The failures of the way to a member: it never came to the member itself."""

UNREACHABLE = ASTRAY | frozenset(
    {
        FailureKind.UNREACHABLE,
        FailureKind.DEADLINE,
        FailureKind.CERTIFICATE,
        FailureKind.CREDENTIALS,
        FailureKind.UNAUTHORIZED,
        FailureKind.UNAVAILABLE,
        FailureKind.THROTTLED,
    }
)
"""The failures of a member that could not be used at all, whatever it holds."""

SILENT = ASTRAY | frozenset({FailureKind.UNREACHABLE, FailureKind.DEADLINE})
"""The failures of a member that did not answer: it is not asked the same again in a pass."""

BLIND = ASTRAY | frozenset(
    {
        FailureKind.CERTIFICATE,
        FailureKind.CREDENTIALS,
        FailureKind.UNAUTHORIZED,
        FailureKind.FORBIDDEN,
        FailureKind.WRONG_CLUSTER,
        FailureKind.THROTTLED,
        FailureKind.UNEXPECTED,
    }
)
"""The failures that say nothing of the health of a member: the fault is in what we have, or on our way to it."""


class Expected(StrEnum):
    """The kind of answer a request expects, by which its content is bounded and checked."""

    TEXT = "text"
    VERSION = "a version"
    JSON = "JSON"
    OBJECT = "an object"
    LIST = "a list"
    TABLE = "a table"
    CONTENT = "content as it is"
    DISCOVERY = "discovery"


_OF_OBJECTS = frozenset({Expected.OBJECT, Expected.LIST, Expected.TABLE, Expected.CONTENT})


class Request(DiscreetStruct, frozen=True, kw_only=True):
    """One request. ``body`` is plain data, sent as JSON; ``tries`` 1 asks for no retries (0: as many as fit)."""

    UNSHOWN = ("body",)

    method: str
    path: str
    expects: Expected = Expected.JSON
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = JSON
    accept: str = JSON
    timeout: float = 30.0
    tries: int = 0

    @property
    def is_of_objects(self) -> bool:
        """True where the request reads or writes stored objects, of which others may be had when these cannot."""
        return self.method != "GET" or self.expects in _OF_OBJECTS

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Answer(DiscreetStruct, frozen=True, kw_only=True):
    """A request that succeeded: the decoded body, how many bytes it was, the server's warnings and its clock.

    ``date`` is an HTTP date.
    """

    UNSHOWN = ("body",)

    status: int
    body: Any = None
    size: int = 0
    warnings: tuple[str, ...] = ()
    date: str = ""

    def seconds_ahead(self, now: float) -> float | None:
        """Return by how many seconds the server's clock is ahead of a time; None where it does not tell its own."""
        from email.utils import parsedate_to_datetime

        try:
            return parsedate_to_datetime(self.date).timestamp() - now
        except (TypeError, ValueError):
            return None


class Cause(Struct, frozen=True, kw_only=True):
    """One detail of a refusal: a field and, for a conflict, the manager (and subresource) that owns it."""

    reason: str
    field: str
    manager: str = ""
    subresource: str = ""


class Failure(SelectiveStruct, frozen=True, kw_only=True):
    """A request that failed. The message never quotes a body; ``retry_after`` is what the server asked for, or 0.

    ``trace`` names the lines of code, never values, where something unexpected happened.
    """

    UNSHOWN = UNCOMPARED = ("trace",)

    kind: FailureKind
    message: str
    hint: str = ""
    status: int = 0
    causes: tuple[Cause, ...] = ()
    retry_after: float = 0.0
    trace: str = ""

    @property
    def is_without_sight_of_member(self) -> bool:
        """True where it is no sign that the member is unwell: we cannot see it, or it answers that we may not."""
        return self.kind in BLIND or 400 <= self.status < 500

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class Client(Protocol):
    """The client of one cluster."""

    @property
    def stopped(self) -> Failure | None:
        """The failure after which nothing is sent to this cluster any more, None before that."""

    @property
    def concurrency(self) -> int:
        """The number of requests that may be under way at once."""

    def send(self, request: Request) -> Answer | Failure:
        """Send a request, retrying what is worth it within the cluster's deadline."""

    def wait(self, seconds: float) -> bool:
        """Pause; False when the cluster's deadline does not allow it."""

    def require_cluster_uid(self, uid: str) -> None:
        """Write only where the kube-system namespace has this UID."""

    def within(self, seconds: float) -> "Client":
        """Return this client as one that gives up so many seconds from now; what stops one stops the other."""


OpenClient = Callable[[str, float], Client | Failure]
"""Open a client of the cluster with this name, which gives up at this time of the monotonic clock."""
