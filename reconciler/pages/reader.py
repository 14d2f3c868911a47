"""A fleet read for pages: its branches at some commits, and the documents made of them, each made once."""

import io
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from math import inf
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.outputs.document import OutputDocument, plain_document
from reconciler.overview.instants import (
    FleetInstant,
    FleetRefs,
    fleet_of_instant,
    instant_meant,
    newest_instant,
    refs_of_fleet,
    repository_at,
)
from reconciler.repository import Repository, open_repository
from reconciler.status.branches import RecordedFleet
from reconciler.survey.surveying import Survey
from render.errors import ReconcileError

from .command_answers import CommandAnswer, CommandAnswers
from .following import NewestCommits
from .remembered import Remembered

PlainDocument = Mapping[str, Any]
"""A document as plain data, as ``-o json`` prints it."""

Value = TypeVar("Value")
_MOST_DOCUMENTS, _MOST_READINGS, _MOST_REVISIONS = 256, 3, 64
_SECONDS = 60.0
"""The age after which a document that tells ages is made again, where it is of now."""


class LastRead(Struct, kw_only=True):
    """The fleet that was read last (None: none yet), of which most is the same at other commits."""

    fleet: RecordedFleet | None = None


class FleetReading(Struct, kw_only=True, dict=True):
    """The branches of a fleet at some commits; what is read of them is kept, and one thread at a time reads."""

    repository: Repository
    commits: FleetInstant
    log: Log
    lock: threading.RLock
    last: LastRead

    def recorded_fleet(self) -> RecordedFleet:
        """Return the fleet as its branches describe it, at the time of day where they are the newest."""
        now = self.commits.now or time.time()
        found: RecordedFleet | None = self.__dict__.get("_recorded")
        if found is None:
            found = fleet_of_instant(self.repository, self.log, self.commits, lambda: now, self.last.fleet)
            self.__dict__["_recorded"] = self.last.fleet = found
        return found if found.now == now else replace(found, now=now)

    def survey(self) -> Survey:
        """Return the survey of the fleet; that of now is a minute old at most, and so are its ages."""
        known: Survey | None = self.__dict__.get("_survey")
        if known is None or (not self.commits.now and time.time() - known.branches.now > _SECONDS):
            known = self.__dict__["_survey"] = Survey(self.recorded_fleet())
        return known


MakeDocument = Callable[[FleetReading], OutputDocument]


class FleetReader:
    """A fleet at a location, read at any commits; what was read is kept by its commits, bounded in number.

    ``asks_members``: pages may ask members for pods and logs, with the rights of the process that serves them.
    ``access_words`` are options that say how commands which ask members reach them.
    """

    def __init__(
        self, location: str, name: str = "", *, asks_members: bool = True, access_words: tuple[str, ...] = ()
    ) -> None:
        self.location = location
        self.asks_members = asks_members
        self.access_words = access_words
        self._name = name
        self._log = Log(stream=io.StringIO(), level=ERRORS_ONLY, repository=location)
        self._documents: Remembered[PlainDocument | ReconcileError] = Remembered(_MOST_DOCUMENTS)
        self._readings: Remembered[FleetReading] = Remembered(_MOST_READINGS)
        self._revisions: Remembered[FleetInstant] = Remembered(_MOST_REVISIONS)
        self._refs: tuple[tuple[str | None, ...], FleetRefs] | None = None
        self._answers = CommandAnswers(location)
        self._lock = threading.Lock()
        self._last = LastRead()
        self._newest: NewestCommits | None = None
        self.newest_seen: FleetInstant | None = None

    @property
    def name(self) -> str:
        """The name of the fleet: the one it was given, or that of its argosy.yaml."""
        if self._name:
            return self._name
        with open_repository(self.location, refresh=False) as repository:
            return self._refs_now(repository).name

    def follow(self, read: "Callable[[FleetReader, FleetInstant], object]", *, is_nice: bool = False) -> None:
        """Read the newest commits ahead from now on, by what ``read`` asks for of them.

        ``is_nice``: other work of this machine comes first.
        """
        self._newest = NewestCommits(
            find=lambda: self.commits_shown(""),
            read=lambda commits: read(self, commits),
            settle=self._forget_former,
            log=self._log,
        )
        self._newest.follow(is_nice=is_nice)

    def commits_shown(self, at: str, *, waits: bool = True) -> FleetInstant:
        """Return the commits that ``at`` means ("": the newest).

        Whoever does not wait gets the newest of those that are read already, where these are followed.
        """
        with self._lock, open_repository(self.location, refresh=False) as repository:
            refs = self._refs_now(repository)
            newest = self.newest_seen = newest_instant(repository, refs)
            if at:
                return self._revisions.value_for(
                    (at, newest.key), lambda: instant_meant(repository, at, refs), _SECONDS
                )
        return newest if waits or self._newest is None else self._newest.shown(newest)

    def document(self, commits: FleetInstant, key: Hashable, make: MakeDocument) -> PlainDocument:
        """Return a document of some commits as plain data; an error that it ends in is kept as well."""
        seconds = inf if commits.now else _SECONDS
        found = self._documents.value_for((commits.key, key), lambda: self._made(commits, make), seconds)
        if isinstance(found, ReconcileError):
            raise found
        return found

    def answer_of_command(self, commits: FleetInstant, words: tuple[str, ...], seconds: float = 0) -> CommandAnswer:
        """Return what a command prints of some commits with ``-o json``, as far as it has ended by now.

        What it prints of anything else is asked for again after so many ``seconds`` (0: never).
        """
        turn = int(time.monotonic() // seconds) if seconds else 0
        return self._answers.answer((commits.key, turn), words)

    def in_repository(self, ask: Callable[[Repository], Value]) -> Value:
        """Return what is asked of the repository as it stands, such as the commit that a revision names."""
        with self._lock, open_repository(self.location, refresh=False) as repository:
            return ask(repository)

    def close(self) -> None:
        """End what still computes."""
        if self._newest is not None:
            self._newest.close()
        self._documents.close()
        self._answers.close()

    def _made(self, commits: FleetInstant, make: MakeDocument) -> PlainDocument | ReconcileError:
        reading = self._readings.value_for(commits.key, lambda: self._reading(commits))
        try:
            with reading.lock:
                return plain_document(make(reading))
        except ReconcileError as error:
            return error

    def kept_instants(self) -> frozenset[Any]:
        """Return the keys of the instants of which something is kept."""
        return frozenset(self._readings.keys())

    def _forget_former(self, newest: FleetInstant) -> None:
        """Forget what was made of commits that were the newest before; those of the past are asked for by a time."""

        def is_former(key: Any) -> bool:
            return key != newest.key and not key[-1]

        def is_of_former(key: Any) -> bool:
            return is_former(key[0])

        self._readings.forget(is_former)
        self._documents.forget(is_of_former)

    def _reading(self, commits: FleetInstant) -> FleetReading:
        repository = open_repository(self.location, refresh=False)
        pinned = repository_at(repository, self._refs_now(repository), commits)
        lock = threading.RLock()
        return FleetReading(repository=pinned, commits=commits, log=self._log, lock=lock, last=self._last)

    def _refs_now(self, repository: Repository) -> FleetRefs:
        """Return where the branches are, read again when the source or what is rendered has moved."""
        known = self._refs
        if known is not None:
            tips = (repository.tip("HEAD"), repository.tip(known[1].rendered))
            if tips == known[0]:
                return known[1]
        found = refs_of_fleet(repository)
        self._refs = ((repository.tip("HEAD"), repository.tip(found.rendered)), found)
        return found
