"""The output of ``argosy get --watch``: the objects of members that are there, and each change as it comes."""

import time
from collections.abc import Sequence
from queue import Empty
from typing import TYPE_CHECKING

import click
from msgspec import Struct, field

from reconciler.console.log import Log
from reconciler.console.printing import print_data, print_error, print_text
from reconciler.inspection.asking import Answered
from reconciler.inspection.choosing import Chosen, chosen_members
from reconciler.inspection.found import FoundInMembers
from reconciler.inspection.objects import ObjectOutput
from reconciler.inspection.tables import Column, Shown
from reconciler.inspection.wanted import ObjectsWanted
from reconciler.inspection.watched_documents import WatchedDocuments
from reconciler.inspection.watched_tables import WatchedRow, WatchedTable
from reconciler.inspection.watching import (
    News,
    ObjectChanged,
    WatchBegun,
    WatchInterrupted,
    WatchNews,
    WatchQuestion,
    begin_to_watch,
    next_news,
)
from reconciler.members.exchange import Failure
from reconciler.members.options import AccessOptions
from reconciler.members.visits import SILENT_SECONDS

if TYPE_CHECKING:
    from reconciler.inspection.watching import WatchingClient


class WatchTerms(Struct, frozen=True, kw_only=True):
    """The objects that are watched, and how they are shown: ``only_changes`` leaves out what is there first.

    ``output`` is the form of documents; None: they are rows of a table. ``has_managers`` keeps fields of managers.
    """

    wanted: ObjectsWanted
    shown: Shown
    output: ObjectOutput | None = None
    has_managers: bool = False
    only_changes: bool = False
    has_events: bool = False
    ignores_absence: bool = False


def check_watched_kinds(wanted: ObjectsWanted) -> None:
    """Raise a usage error for more than one kind or name, as kubectl does."""
    if len(wanted.kinds) != 1 or len(wanted.kinds[0].names) > 1:
        raise click.UsageError("-w watches one kind, or one object of it: name no other")


def watch_and_show(log: Log, access: AccessOptions, terms: WatchTerms) -> int:
    """Print what members have, and every change, until ^C or until no member is left that could be watched."""
    import threading
    from datetime import UTC, datetime

    ended = threading.Event()
    with chosen_members(log, access) as chosen:
        question = WatchQuestion(
            wanted=terms.wanted, clock=lambda: datetime.now(UTC), is_whole=terms.output is not None
        )

        def open_client(name: str) -> "WatchingClient | Failure":
            return chosen.members.open(name, time.monotonic() + chosen.reach.timeout)

        news = begin_to_watch(chosen.names, question, open_client, ended)
        try:
            return _Watching(log=log, terms=terms, chosen=chosen, news=news).watched_to_its_end()
        finally:
            ended.set()


class _Watching(Struct, kw_only=True):
    """A watch as it is shown; ``begun`` are the first answers, and ``over`` the members that are asked no more."""

    log: Log
    terms: WatchTerms
    chosen: Chosen
    news: News
    begun: dict[str, Answered | Failure] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    table: WatchedTable | None = None
    documents: WatchedDocuments | None = None

    def watched_to_its_end(self) -> int:
        """Show what is there and then what changes; return how it went once nothing more can come."""
        terms = self.terms
        self.table = WatchedTable(shown=terms.shown, has_events=terms.has_events)
        if terms.output is not None:
            self.documents = WatchedDocuments(
                output=terms.output, has_events=terms.has_events, has_managers=terms.has_managers
            )
        early = self._first_news()
        if self._end_of_beginning():
            return 1
        while True:
            for each in early:
                self._take(each)
            if len(self.over) == len(self.chosen.names):
                FoundInMembers(answers=self.begun, wanted=self.terms.wanted).raise_for_unknown_kinds()
                return 1
            early = [next_news(self.news)]

    def _first_news(self) -> list[WatchNews]:
        """Wait for the first answer of every member, but not for one that is silent; return what came beside them."""
        until, others = time.monotonic() + SILENT_SECONDS, list[WatchNews]()
        while len(self.begun) < len(self.chosen.names) and (left := until - time.monotonic()) > 0:
            try:
                each = self.news.get(timeout=left)
            except Empty:
                break
            if isinstance(each, WatchBegun):
                self._note_beginning(each)
            else:
                others.append(each)
        self._print_beginnings([name for name in self.chosen.names if name in self.begun])
        return others

    def _end_of_beginning(self) -> bool:
        """Say whether nothing is there to be watched; ClusterError where no member could be used."""
        if len(self.begun) < len(self.chosen.names):
            silent = [name for name in self.chosen.names if name not in self.begun]
            self.log.warning(f"{', '.join(silent)}: no answer yet; what it has follows once it answers")
            return False
        found = FoundInMembers(answers=self.begun, wanted=self.terms.wanted)
        found.raise_unless_somebody_answered()
        found.raise_for_unknown_kinds()
        missing = () if self.terms.ignores_absence else found.names_nowhere
        for name in missing:
            print_error(f"no cluster that was asked has {name}")
        return bool(missing)

    def _note_beginning(self, begun: WatchBegun) -> None:
        if isinstance(begun.answer, Failure):
            again = "it is left out" if begun.is_over else "it is asked again"
            self.log.warning(f"{begun.name}: {begun.answer}\n  {again}")
        elif begun.answer.unserved:
            self.log.warning(f"{begun.name}: it serves no kind {begun.answer.unserved[0]!r}, and is left out")
        elif self.table is not None:
            self.table.kind = next((each.resource.group_kind.lower() for each in begun.answer.kinds), "")
        self.begun[begun.name] = begun.answer
        self.over |= {begun.name} if begun.is_over else set()

    def _print_beginnings(self, names: Sequence[str]) -> None:
        """Print the objects that are there in members, clusters of the same columns together."""
        if self.terms.only_changes:
            return
        answers = [(name, answer) for name in names if isinstance(answer := self.begun[name], Answered)]
        tables = [(name, kind.table) for name, answer in answers for kind in answer.kinds if kind.table.rows]
        for columns in dict.fromkeys(table.columns for _, table in tables):
            rows = [
                WatchedRow(cluster=name, event="ADDED", row=row)
                for name, table in tables
                if table.columns == columns
                for row in table.rows
            ]
            self._print_rows(columns, rows)

    def _print_rows(self, columns: tuple[Column, ...], rows: Sequence[WatchedRow]) -> None:
        assert self.table is not None
        if self.documents is None:
            print_text(self.table.text_of_rows(columns, rows), end="")
        elif self.documents.output.is_data:
            print_data(self.documents.text_of_rows(rows))
        else:
            print_text(self.documents.text_of_rows(rows), end="")

    def _take(self, each: WatchNews) -> None:
        if isinstance(each, ObjectChanged):
            self._print_rows(each.columns, [WatchedRow(cluster=each.name, event=each.event, row=each.row)])
        elif isinstance(each, WatchInterrupted):
            self._take_interruption(each)
        else:
            if isinstance(self.begun.get(each.name), Failure) and isinstance(each.answer, Answered):
                self.log.warning(f"{each.name}: answers now")
            self._note_beginning(each)
            self._print_beginnings([each.name])

    def _take_interruption(self, each: WatchInterrupted) -> None:
        if each.failure is None:
            self.log.warning(f"{each.name}: answers again; nothing that happened meanwhile is left out")
            return
        again = "it is left out from here on" if each.is_over else "it is asked again"
        self.log.warning(f"{each.name}: {each.failure}\n  {again}")
        self.over |= {each.name} if each.is_over else set()
