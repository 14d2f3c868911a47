"""The loop of the controller: what happened goes into each fleet's state, and what is due is begun.

Everything that happens - a file event, a look or a pass that ended, a signal - is an item of one queue, taken out by
one thread; so nothing of the state is shared. Looks and passes go on in threads and processes of their own.

The first SIGTERM or SIGINT tells every pass to stop and waits for them, for ``grace`` seconds at most; what has not
ended then is killed, and so is everything at the second. SIGHUP reads the settings again.
"""

import os
import random
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.members.opening import members_for_delivery
from reconciler.run.processes.starting import PassProcesses
from reconciler.run.web.entry import EntryRules
from reconciler.run.web.serving import Application, ServedAddress
from reconciler.run.web.webhooks import Webhooks
from render.errors import ConfigError, ReconcileError
from render.words import counted_noun

from .fleet_run import FleetRun
from .fleets import FleetLocation, fleets_at_locations
from .leader import Leadership
from .metrics import RunMetrics
from .pacing import (
    Began,
    Event,
    FleetState,
    LeadershipChanged,
    Looked,
    NextStep,
    PaceChanged,
    TimeNow,
    cause_of_pass,
    due_step,
    seconds_until_next_step,
)
from .pages import fleet_pages, wsgi_application_of_pages
from .pass_job import PassReport
from .settings import RunSettings

_LONGEST_WAIT = 30.0
"""Seconds after which the time of day is looked at again, which may have jumped."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

ReadSettings = Callable[[], RunSettings]
MakePage = Callable[[Callable[[], EntryRules | None], Callable[[], Mapping[str, str]]], Application]
"""The page of fleets, made of who may see it (None: nobody) and of where the fleets are, by name."""


class _LeadershipChange(Struct, frozen=True):
    """The word of a Lease whether this process leads; it counts while the settings still name that Lease."""

    leadership_number: int
    is_leading: bool


_Item = tuple[FleetRun, Event | PassReport] | signal.Signals | _LeadershipChange


class Controller:
    """Fleets kept as their sources say until somebody ends the process."""

    def __init__(self, read_settings: ReadSettings, log: Log, make_page: MakePage | None = None) -> None:
        self._read_settings = read_settings
        self._settings = read_settings()
        self._log = log
        self.metrics = RunMetrics()
        self._is_leading = self._settings.lease is None
        self.metrics.leader.set(1 if self._is_leading else 0)
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._places = threading.Semaphore(self._settings.max_fleets)
        self._processes = PassProcesses()
        self._stopping: tuple[signal.Signals, float] | None = None
        self._leadership: Leadership | None = None
        self._leadership_number = 0
        self.fleets: dict[FleetLocation, FleetRun] = {}
        self.beat = time.monotonic()
        webhooks = Webhooks(
            secrets=lambda: self._settings.webhook_secrets,
            wake=self.wake,
            count=lambda provider, result: self.metrics.webhooks.labels(provider, result).inc(),
            clock=time.time,
            log=log,
        )
        self._webhooks = ServedAddress(webhooks, "webhooks", log)
        page = make_page(lambda: self._settings.page_entry, self._locations) if make_page is not None else None
        self._inside = ServedAddress(wsgi_application_of_pages(fleet_pages(self), page), "metrics and health", log)

    def run(self) -> int:
        """Run until a signal ends it; return 0, or 130 where somebody interrupted it."""
        for number in _SIGNALS:
            signal.signal(number, lambda number, _frame: self._queue.put(signal.Signals(number)))
        self._processes.prepare()
        self._open_and_close_fleets(fleets_at_locations(self._settings.locations, self._settings.names))
        self._serve_addresses(self._settings)
        self._seek_leadership()
        self._log.info(f"running {counted_noun(len(self.fleets), 'fleet')}")
        while not self._has_ended():
            self._begin_what_is_due()
            self._take_pending_events()
            self.beat = time.monotonic()
        for fleet in self.fleets.values():
            fleet.close()
        self._webhooks.close()
        self._inside.close()
        code = self._exit_code_of_ending()
        self._processes.close()
        # Only now, for whoever leads next may begin at once.
        if self._leadership is not None:
            self._leadership.close()
        return code

    def _seek_leadership(self) -> None:
        """Begin to wait for the Lease, where the settings name one, and give back another that was held."""
        if self._leadership is not None:
            self._leadership.close()
        self._leadership, self._leadership_number = None, self._leadership_number + 1
        lease, delivery, number = self._settings.lease, self._settings.delivery, self._leadership_number
        if lease is None:
            return
        members = members_for_delivery(delivery)
        holder = f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"
        self._leadership = Leadership(
            lease,
            holder,
            lambda seconds: members.open(lease.cluster, time.monotonic() + seconds),
            lambda is_leading: self._queue.put(_LeadershipChange(number, is_leading)),
            self._log,
        )

    def _serve_addresses(self, settings: RunSettings) -> None:
        """Serve the addresses that settings name; ConfigError where one of them cannot be had."""
        self._webhooks.move(settings.webhook)
        try:
            self._inside.move(settings.inside)
        except ConfigError:
            self._webhooks.move(self._settings.webhook)
            raise

    def wake(self, name: str) -> bool:
        """Have the source of the fleet of this name, or of all (""), looked at soon; False where there is none."""
        woken = [fleet for fleet in self.fleets.values() if name in {"", fleet.source.name}]
        for fleet in woken:
            fleet.wake()
        return bool(woken)

    def _locations(self) -> dict[str, str]:
        """Return where each fleet is, by name."""
        return {fleet.source.name: fleet.source.location for fleet in tuple(self.fleets.values())}

    def _time_now(self) -> TimeNow:
        return TimeNow(now=time.monotonic(), wall=time.time(), chance=random.random())  # noqa: S311 - no secret

    def _open_and_close_fleets(self, sources: tuple[FleetLocation, ...]) -> None:
        """Open the fleets that are new, close those that are gone, and give the others their settings."""
        before, fleets = self.fleets, dict[FleetLocation, FleetRun]()
        for gone in before.keys() - set(sources):
            before[gone].close()
            self.metrics.forget_fleet(gone.name)
        for source in sources:
            fleet = before.get(source)
            if fleet is None:
                fleet = FleetRun(
                    source=source,
                    settings=self._settings,
                    log=replace(self._log, fleet=source.name),
                    tell=lambda fleet, event: self._queue.put((fleet, event)),
                    places=self._places,
                    processes=self._processes,
                    state=FleetState(is_leading=self._is_leading),
                )
            fleets[source] = fleet
            fleet.settings, fleet.places = self._settings, self._places
            fleet.open()
            fleet.handle_event(PaceChanged(), self._time_now())
        # Whole and at once, for webhooks look through them from their own threads.
        self.fleets = fleets

    def _begin_what_is_due(self) -> None:
        if self._stopping:
            return
        for fleet in self.fleets.values():
            time_now = self._time_now()
            due = due_step(fleet.state, time_now)
            if due is NextStep.WAIT:
                continue
            if due is NextStep.RECONCILE:
                fleet.log.detail("pass", cause=cause_of_pass(fleet.state, time_now).lower())
            fleet.handle_event(Began(due), time_now)
            begin = {
                NextStep.RECONCILE: fleet.run_pass,
                NextStep.LOOK: fleet.begin_look_at_refs,
                NextStep.MAKE_WAY: fleet.ask_pass_to_make_way,
            }[due]
            begin()

    def _take_pending_events(self) -> None:
        """Wait until something happens or is due, and take in everything that has happened by then."""
        time_now = self._time_now()
        waits = [seconds_until_next_step(fleet.state, time_now) for fleet in self.fleets.values()]
        if self._stopping:
            waits = [self._stopping[1] - time_now.now]
        with suppress(Empty):
            self._handle_item(self._queue.get(timeout=max(0.0, min([*waits, _LONGEST_WAIT]))))
            while True:
                self._handle_item(self._queue.get_nowait())

    def _handle_item(self, item: _Item) -> None:
        if isinstance(item, signal.Signals):
            self._handle_signal(item)
            return
        if isinstance(item, _LeadershipChange):
            is_news = item.is_leading or self._is_leading
            if is_news and item.leadership_number == self._leadership_number:
                self._handle_leadership_change(LeadershipChanged(item.is_leading))
            return
        self._handle_event(*item)

    def _handle_event(self, fleet: FleetRun, event: Event | PassReport) -> None:
        if isinstance(event, PassReport):
            fleet.worker = None
        if fleet.is_closed:
            return
        if isinstance(event, PassReport):
            fleet.keep_report(event)
            if fleet.watch is None:
                fleet.open()
            fleet.handle_event((fleet.report or event).ended_event, self._time_now())
            self.metrics.count_pass(fleet.source.name, fleet.report or event, failures=fleet.state.failures)
        else:
            fleet.handle_event(event, self._time_now())
        if isinstance(event, Looked):
            self.metrics.count_look_at_source(fleet.source.name, is_answered=event.tip is not None)
        self._forget_fleets_unless_leading()

    def _forget_fleets_unless_leading(self) -> None:
        """Drop the gauges of all fleets while another process leads, which has them as they are now."""
        for fleet in self.fleets.values() if not self._is_leading else ():
            self.metrics.forget_fleet(fleet.source.name)

    def _handle_leadership_change(self, event: LeadershipChanged) -> None:
        """Begin to lead, or stop what is under way: whoever leads now does it again."""
        self._is_leading = event.is_leading
        self.metrics.leader.set(1 if event.is_leading else 0)
        self._log.info("leading" if event.is_leading else "following")
        for fleet in self.fleets.values():
            fleet.handle_event(event, self._time_now())
            if fleet.worker is not None and not event.is_leading:
                fleet.worker.kill()
        self._forget_fleets_unless_leading()

    def _handle_signal(self, number: signal.Signals) -> None:
        if number is signal.SIGHUP:
            self._read_settings_again()
        elif self._stopping:
            self._stopping = (number, -inf)
        else:
            self._log.info(f"stopping: {number.name}")
            self._stopping = (number, time.monotonic() + self._settings.grace)
            for fleet in self.fleets.values():
                fleet.close()

    def _read_settings_again(self) -> None:
        """Read the settings again; ones that cannot be read change nothing."""
        try:
            settings = self._read_settings()
            sources = fleets_at_locations(settings.locations, settings.names)
            self._serve_addresses(settings)
        except (ReconcileError, OSError) as error:
            self._log.error(f"the settings stay as they were: {error}")
            return
        before, self._settings = self._settings, settings
        if settings.max_fleets != before.max_fleets:
            self._places = threading.Semaphore(settings.max_fleets)
        self._open_and_close_fleets(sources)
        if (settings.lease, settings.delivery) != (before.lease, before.delivery):
            self._seek_leadership()
        if (settings.lease is None) != (before.lease is None):
            self._handle_leadership_change(LeadershipChanged(settings.lease is None))
        self._log.info(f"read the settings again: {counted_noun(len(self.fleets), 'fleet')}")

    def _has_ended(self) -> bool:
        if self._stopping is None:
            return False
        return time.monotonic() >= self._stopping[1] or not any(self._fleets_with_running_passes())

    def _fleets_with_running_passes(self) -> list[FleetRun]:
        return [fleet for fleet in self.fleets.values() if fleet.worker is not None]

    def _exit_code_of_ending(self) -> int:
        killed = self._fleets_with_running_passes()
        for fleet in killed:
            if fleet.worker is not None:
                fleet.worker.kill()
        if killed:
            self._log.warning(f"killed {counted_noun(len(killed), 'pass', 'passes')} that did not end in time")
        return 130 if self._stopping and self._stopping[0] is signal.SIGINT else 0
