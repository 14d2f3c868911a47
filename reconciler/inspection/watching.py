"""Objects of many members watched at once: first those that are there, then every change, until somebody ends it.

Each member has a thread, which lists and then reads what its server tells of changes. A connection that ends is opened
again where it ended, so that no change is lost. A server that has forgotten that far back (410 Gone) is listed again,
and what differs from what was told before is told: changes in between, and objects that are gone. A member that cannot
be reached is named once, asked again with pauses, and named when it answers; one that refuses is asked no more.
"""

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.members.boundary import unexpected_failure
from reconciler.members.bounded_reading import AnswerTooLarge
from reconciler.members.discovery import Resource, discover_served_kinds
from reconciler.members.exchange import JSON, UNREACHABLE, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import item_with_kind
from reconciler.members.shapes import NoJson, UnusableAnswer, check_expected_part, parse_json
from reconciler.members.streaming import AnswerStream
from render.model import mapping_or_empty

from .asking import Answered, FoundKind, query_of_selectors, table_pages
from .tables import TABLE, Column, Row, Table, table_of_answer, table_of_whole_objects
from .wanted import ObjectsWanted, resources_meant_by, words_for_kinds

_HEAD_SECONDS = 15.0
_SILENT_SECONDS = 150.0
"""Servers tell about once a minute how far they are; one that says nothing for so long is asked anew."""
_LONGEST_WATCH = 300
_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_LIST_TRIES = 3
_AGAIN = UNREACHABLE | {FailureKind.EXPIRED, FailureKind.ALONE, FailureKind.INITIALIZING}
"""The failures after which a member is asked again; any other is an answer."""


class WatchingClient(Client, Protocol):
    """A client that reads answers without an end as well."""

    def stream(self, request: Request) -> AnswerStream | Failure:
        """Begin to read an answer."""


OpenWatchingClient = Callable[[str], WatchingClient | Failure]


class WatchQuestion(Struct, frozen=True, kw_only=True):
    """The objects of one kind that are watched, as rows of tables or ``is_whole``.

    ``clock`` tells the ages of servers that make no tables.
    """

    wanted: ObjectsWanted
    clock: Callable[[], datetime]
    is_whole: bool = False


class WatchBegun(Struct, frozen=True, kw_only=True):
    """The first list of a member, or why there is none; ``is_over``: it is asked no more."""

    name: str
    answer: Answered | Failure
    is_over: bool = False


class ObjectChanged(Struct, frozen=True, kw_only=True):
    """A change of an object: added, modified or deleted, and its row after that."""

    name: str
    event: str
    columns: tuple[Column, ...]
    row: Row


class WatchInterrupted(Struct, frozen=True, kw_only=True):
    """The failure for which a member cannot be watched at the moment; None: it answers again."""

    name: str
    failure: Failure | None
    is_over: bool = False


WatchNews = WatchBegun | ObjectChanged | WatchInterrupted
News = SimpleQueue[WatchNews]
_LONGEST_WAIT = 0.5
"""Seconds after which a wait begins again: a signal that comes just before one is not seen before its end."""


def begin_to_watch(
    names: tuple[str, ...], question: WatchQuestion, open_client: OpenWatchingClient, ended: threading.Event
) -> News:
    """Begin to watch members, each in a thread of its own, until ``ended`` is set; return where their news come."""
    news: News = SimpleQueue()
    for name in names:
        watch = _MemberWatch(name=name, question=question, open_client=open_client, tell=news.put, ended=ended)
        threading.Thread(target=watch.run, daemon=True, name=name).start()
    return news


def next_news(news: News) -> WatchNews:
    """Wait for news, however long they take; a signal ends the wait."""
    while True:
        with suppress(Empty):
            return news.get(timeout=_LONGEST_WAIT)


class _TableAtVersion(Struct, frozen=True, kw_only=True):
    table: Table
    version: str


_UNVERSIONED = Failure(kind=FailureKind.ANSWER, message="its list says no version to watch from")


class _MemberWatch(Struct, kw_only=True):
    """The watch of one member; ``known`` is what was told of each object, and ``version`` how far that is."""

    name: str
    question: WatchQuestion
    open_client: OpenWatchingClient
    tell: Callable[[WatchNews], None]
    ended: threading.Event
    resource: Resource | None = None
    columns: tuple[Column, ...] = ()
    known: dict[tuple[str, str], Row] = field(default_factory=dict)
    version: str = ""
    has_begun: bool = False
    is_interrupted: bool = False

    def run(self) -> None:
        """Watch until the end of the command, or until the member refuses."""
        failures = 0
        while not self.ended.is_set():
            try:
                failure = self._watch_once()
            except Exception as error:  # noqa: BLE001 - one member costs no other
                failure = unexpected_failure(error)
            if failure is None:
                failures = 0
                continue
            if failure.kind is FailureKind.EXPIRED and self.version:
                self.version = ""
                continue
            is_over = failure.kind not in _AGAIN
            self._tell_failure(failure, is_over=is_over)
            if is_over:
                return
            pause = _PAUSES[min(failures, len(_PAUSES) - 1)]
            failures += 1
            self.ended.wait(pause * random.uniform(0.8, 1.2))  # noqa: S311 - jitter, not a secret

    def _tell_failure(self, failure: Failure, *, is_over: bool) -> None:
        if not self.has_begun:
            self.has_begun = True
            self.is_interrupted = True
            self.tell(WatchBegun(name=self.name, answer=failure, is_over=is_over))
        elif is_over or not self.is_interrupted:
            self.is_interrupted = True
            self.tell(WatchInterrupted(name=self.name, failure=failure, is_over=is_over))

    def _tell_answer(self) -> None:
        if self.is_interrupted:
            self.is_interrupted = False
            self.tell(WatchInterrupted(name=self.name, failure=None))

    def _watch_once(self) -> Failure | None:
        """List where that is needed, and read one answer to its end; return why it ended too early."""
        client = self.open_client(self.name)
        if isinstance(client, Failure):
            return client
        if self.resource is None:
            resource = self._resource_meant(client)
            if isinstance(resource, Failure):
                return resource
            if resource is None:
                self.ended.wait()
                return None
            self.resource = resource
        if not self.version:
            listed = self._list_of_objects(client, self.resource)
            if isinstance(listed, Failure):
                return listed
            self._tell_list(listed)
        return self._read_changes(client, self.resource)

    def _resource_meant(self, client: Client) -> Resource | Failure | None:
        """Return the kind in this member; None where it serves none of that name, or several, which is told."""
        discovery = discover_served_kinds(client)
        if isinstance(discovery, Failure):
            return discovery
        (wanted,) = self.question.wanted.kinds
        found = resources_meant_by(wanted.word, discovery)
        if len(found) == 1:
            return found[0]
        if found:
            return Failure(
                kind=FailureKind.BAD_REQUEST,
                message=f"{wanted.word} are several kinds, and one is watched at a time",
                hint="name one of them",
            )
        self.has_begun = True
        answer = Answered(unserved=(wanted.word,), known=words_for_kinds([discovery]))
        self.tell(WatchBegun(name=self.name, answer=answer, is_over=True))
        return None

    @property
    def _wanted(self) -> ObjectsWanted:
        """The objects as selectors say: a name is one of the field, so that the object may come and go."""
        (kind,) = self.question.wanted.kinds
        name = f"metadata.name={kind.names[0]}" if kind.names else ""
        return replace(self.question.wanted, fields=name or self.question.wanted.fields)

    def _path(self, resource: Resource) -> str:
        return resource.collection(self.question.wanted.namespace if resource.is_namespaced else "")

    def _list_of_objects(self, client: Client, resource: Resource) -> _TableAtVersion | Failure:
        """Return the objects that are there, and how far that is; a list that expires in between begins again."""
        failure: Failure | None = None
        for _ in range(_LIST_TRIES):
            table, version = Table(), ""
            for page in table_pages(client, self._path(resource), self._wanted, is_whole=self.question.is_whole):
                if isinstance(page, Failure):
                    failure = page
                    break
                table = table.with_rows_of(self._table(resource, page.body, page.body.get("items") or ()))
                version = version or str((page.body.get("metadata") or {}).get("resourceVersion") or "")
            else:
                return _TableAtVersion(table=table, version=version) if version else _UNVERSIONED
            if failure.kind is not FailureKind.EXPIRED:
                break
        assert failure is not None
        return failure

    def _table(self, resource: Resource, body: Mapping[str, Any], items: Iterable[Mapping[str, Any]]) -> Table:
        """Return what an answer or an event tells of objects, of which ``items`` are the whole ones."""
        if self.question.is_whole:
            return table_of_whole_objects(item_with_kind(resource, each) for each in items)
        return table_of_answer(body, self.question.clock())

    def _tell_list(self, listed: _TableAtVersion) -> None:
        """Tell a first list as it is, and of a later one what differs from what was told."""
        before, self.version = self.known, listed.version
        self.columns = listed.table.columns or self.columns
        self.known = {(row.namespace, row.name): row for row in listed.table.rows}
        assert self.resource is not None
        if not self.has_begun or (self.is_interrupted and not before):
            self.has_begun, self.is_interrupted = True, False
            (wanted,) = self.question.wanted.kinds
            absent = () if listed.table.rows else wanted.names
            kind = FoundKind(resource=self.resource, table=listed.table, absent=absent)
            self.tell(WatchBegun(name=self.name, answer=Answered(kinds=(kind,))))
            return
        self._tell_answer()
        for key, row in before.items():
            if key not in self.known:
                self._tell_change("DELETED", row)
        for key, row in self.known.items():
            if key not in before:
                self._tell_change("ADDED", row)
            elif before[key].version != row.version:
                self._tell_change("MODIFIED", row)

    def _tell_change(self, event: str, row: Row) -> None:
        self.tell(ObjectChanged(name=self.name, event=event, columns=self.columns, row=row))

    def _read_changes(self, client: WatchingClient, resource: Resource) -> Failure | None:
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self.version,
            "timeoutSeconds": str(_LONGEST_WATCH),
            **query_of_selectors(self._wanted),
        }
        request = Request(
            method="GET",
            path=self._path(resource),
            expects=self._expected_in_events,
            accept=JSON if self.question.is_whole else TABLE,
            query=query,
            timeout=_HEAD_SECONDS,
        )
        stream = client.stream(request)
        if isinstance(stream, Failure):
            return stream
        self._tell_answer()
        try:
            return self._take_lines(stream.lines(_SILENT_SECONDS), resource)
        except TimeoutError:
            return None  # where it does not answer the next time, it is named
        except ConnectionError as error:
            return Failure(kind=FailureKind.UNREACHABLE, message=f"{error}; it is asked again from there")
        except (NoJson, UnusableAnswer, AnswerTooLarge, OSError) as error:
            return Failure(
                kind=FailureKind.UNREACHABLE, message=f"what it told cannot be read ({type(error).__name__})"
            )
        finally:
            stream.close()

    @property
    def _expected_in_events(self) -> Expected:
        return Expected.OBJECT if self.question.is_whole else Expected.TABLE

    def _take_lines(self, lines: Iterator[bytes], resource: Resource) -> Failure | None:
        for line in lines:
            if self.ended.is_set():
                return None
            event = parse_json(line)
            if not isinstance(event, dict) or not isinstance(event.get("object"), dict):
                raise UnusableAnswer("an event has no object")
            if event.get("type") == "ERROR":
                return _failure_of_error_event(event["object"])
            kind = str(event.get("type"))
            is_unnamed = kind == "BOOKMARK" and self.question.is_whole
            check_expected_part(Expected.JSON if is_unnamed else self._expected_in_events, event["object"])
            self._take_event(kind, event["object"], resource)
        return None

    def _take_event(self, event: str, body: Mapping[str, Any], resource: Resource) -> None:
        table = self._table(resource, body, [] if event == "BOOKMARK" else [body])
        own = str(mapping_or_empty(body.get("metadata")).get("resourceVersion") or "")
        if event == "BOOKMARK":
            self.version = next((row.version for row in table.rows if row.version), own) or self.version
            return
        self.columns = table.columns or self.columns
        for row in table.rows:
            self.version = row.version or own or self.version
            if event == "DELETED":
                self.known.pop((row.namespace, row.name), None)
            else:
                self.known[row.namespace, row.name] = row
            self._tell_change(event, row)


def _failure_of_error_event(status: Mapping[str, Any]) -> Failure:
    """Return the failure that an event of a watch tells of; its message is the server's."""
    code = status.get("code")
    is_gone = code == 410 or status.get("reason") in {"Expired", "Gone"}
    kind = FailureKind.EXPIRED if is_gone else FailureKind.UNAVAILABLE
    message = status.get("message")
    return Failure(
        kind=kind,
        message=message if isinstance(message, str) and len(message) < 1000 else "it ended the watch",
        status=code if isinstance(code, int) else 0,
    )
