"""Visits to members: each in a thread of its own, so many at once, none of which waits for one that hangs.

A member that has not been heard for two seconds counts no more among those visited at once: another begins in its
place. Its thread goes on for as long as it may, and keeps neither a run nor the process from ending.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from .exchange import Answer, Client, Failure, OpenClient, Request
from .options import AccessOptions
from .patience import VisitTimes

SILENT_SECONDS = 2.0
"""After so long without an answer a member leaves its place to another."""
_LONGEST_WAIT = 3600.0
_Result = TypeVar("_Result")


class Visit(Struct, Generic[_Result], kw_only=True):
    """A visit to a member, its times on ``clock``'s scale, and its result once it has ended."""

    name: str
    clock: Callable[[], float]
    began: float
    first_heard: float | None = None
    last_heard: float | None = None
    ended: float | None = None
    result: _Result | None = None
    error: BaseException | None = None
    _is_over: threading.Event = field(default_factory=threading.Event)

    @property
    def silent_at(self) -> float:
        """The time at which the member counts as silent unless it is heard before."""
        return max(self.began, self.last_heard or self.began) + SILENT_SECONDS

    def heard_through(self, client: Client) -> Client:
        """Return a client that notes whenever the member answers."""
        return _HeardClient(client, self)

    def note_answer(self) -> None:
        """Note that the member has answered."""
        self.last_heard = self.clock()
        if self.first_heard is None:
            self.first_heard = self.last_heard

    def carry_out(self, call: Callable[["Visit[_Result]"], _Result]) -> None:
        """Carry the visit out and keep its result."""
        try:
            self.result = call(self)
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            self.error = error
        self.ended = self.clock()
        self._is_over.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the visit; False where it has not ended within the time."""
        return self._is_over.wait(max(0.0, seconds))

    def times(self, *, is_answered: bool, failed_before: bool) -> VisitTimes:
        """Return the times of the visit so far, with what is known of how it ended and of the visit before."""
        return VisitTimes(
            began=self.began,
            heard=self.first_heard,
            ended=self.ended,
            is_answered=is_answered,
            failed_before=failed_before,
        )


class MemberReach(Struct, frozen=True, kw_only=True):
    """The means and limits of visits to members: clients, how many at once, and each one's time in seconds."""

    open_client: OpenClient
    max_parallel: int = 32
    timeout: float = 300.0
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def of(cls, options: AccessOptions, open_client: OpenClient) -> "MemberReach":
        """Return the reach that the options of a command give."""
        return cls(open_client=open_client, max_parallel=options.max_parallel, timeout=options.timeout)

    def within(self, seconds: float) -> "MemberReach":
        """Return the same, each member's time being no longer than so."""
        return replace(self, timeout=min(self.timeout, seconds))

    def open(self, member: str, seconds: float | None = None) -> Client | Failure:
        """Return a client of a member whose time, or so many ``seconds``, begins now."""
        return self.open_client(member, self.clock() + (self.timeout if seconds is None else seconds))

    def visits(self, call: Callable[[Visit[_Result]], _Result], members: Iterable[str]) -> "Visits[_Result]":
        """Return the visits to members, within these limits."""
        return Visits(call, members, limit=self.max_parallel, clock=self.clock)


class Visits(Generic[_Result]):
    """The visits of one run: those that wait for a place, those under way, and those that end."""

    def __init__(
        self,
        call: Callable[[Visit[_Result]], _Result],
        names: Iterable[str],
        *,
        limit: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._call = call
        self._limit = limit
        self._clock = clock
        self._ended: SimpleQueue[Visit[_Result]] = SimpleQueue()
        self.waiting = deque(names)
        self.begun: dict[str, Visit[_Result]] = {}
        self.under_way: dict[str, Visit[_Result]] = {}

    @property
    def are_over(self) -> bool:
        """True where nothing is waited for any more."""
        return not (self.waiting or self.under_way)

    def next_ended_visit(self, until: float) -> Visit[_Result] | None:
        """Return the next visit that ends, None where none does until then; its error, if one, is raised."""
        while not self.are_over:
            self._begin_visits_in_free_places()
            wake = min([until, *(visit.silent_at for visit in self._visits_not_silent())]) if self.waiting else until
            try:
                visit = self._ended.get(timeout=min(max(0.0, wake - self._clock()), _LONGEST_WAIT))
            except Empty:
                if self._clock() >= until:
                    return None
                continue
            if visit.error is not None:
                raise visit.error
            # One that ends after it was given up says nothing new.
            if self.under_way.pop(visit.name, None) is not None:
                return visit
        return None

    def give_up(self, visit: Visit[_Result]) -> None:
        """Leave a visit behind in its thread."""
        self.under_way.pop(visit.name, None)

    def begin_all(self) -> None:
        """Begin every visit that waits for a place."""
        while self.waiting:
            self._begin_visit(self.waiting.popleft())

    def _begin_visits_in_free_places(self) -> None:
        while self.waiting and len(self._visits_not_silent()) < self._limit:
            self._begin_visit(self.waiting.popleft())

    def _visits_not_silent(self) -> list[Visit[_Result]]:
        now = self._clock()
        return [visit for visit in self.under_way.values() if visit.silent_at > now]

    def _begin_visit(self, name: str) -> None:
        visit: Visit[_Result] = Visit(name=name, clock=self._clock, began=self._clock())
        self.begun[name] = self.under_way[name] = visit
        threading.Thread(target=self._carry_out, args=(visit,), daemon=True, name=name).start()

    def _carry_out(self, visit: Visit[_Result]) -> None:
        visit.carry_out(self._call)
        self._ended.put(visit)


class _HeardClient:
    """A client of a member that is visited: every answer of the member's is noted, a refusal as well."""

    def __init__(self, client: Client, visit: Visit[_Result]) -> None:
        self._client = client
        self._visit = visit

    @property
    def stopped(self) -> Failure | None:
        """The failure after which nothing is sent any more, None before that."""
        return self._client.stopped

    @property
    def concurrency(self) -> int:
        """The number of requests that may be under way at once."""
        return self._client.concurrency

    def send(self, request: Request) -> Answer | Failure:
        """Send a request, and note its answer."""
        outcome = self._client.send(request)
        if isinstance(outcome, Answer) or outcome.status:
            self._visit.note_answer()
        return outcome

    def wait(self, seconds: float) -> bool:
        """Pause; False when the cluster's deadline does not allow it."""
        return self._client.wait(seconds)

    def require_cluster_uid(self, uid: str) -> None:
        """Write only where the kube-system namespace has this UID."""
        self._client.require_cluster_uid(uid)

    def within(self, seconds: float) -> "_HeardClient":
        """Return this client as one that gives up so many seconds from now."""
        return _HeardClient(self._client.within(seconds), self._visit)
