"""One fleet of a controller while that runs: where its source stands, its pace, and what is under way for it."""

import threading
import time
from collections.abc import Callable

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from reconciler.branches.publication import remote_of_source
from reconciler.console.log import Log
from reconciler.passes.source_tip import source_tip_asked_of_remote
from reconciler.repository import GitFolder, open_repository
from reconciler.run.processes.starting import PassProcesses
from reconciler.run.processes.worker import PassWorker
from render.errors import ReconcileError

from .fleets import FleetLocation
from .pacing import Event, FleetState, Looked, Pace, SourceRead, TimeNow, Woken, state_after_event
from .pass_job import KILLED, PassJob, PassReport
from .refusals import Acceptances, acceptances_of_source, digest_of_file, is_refused_by_guard
from .settings import RunSettings
from .watching import RefWatch

Tell = Callable[["FleetRun", Event | PassReport], None]
"""Hand an event of a fleet to the loop, from any thread."""


class FleetRun(Struct, kw_only=True):
    """A fleet: where its source is, how it is paced, and what was last said about it.

    ``report`` is that of its last pass, ``fault`` the reason why its source could not be looked at ("": it could).
    ``is_closed``: it is not among the settings any more.
    """

    source: FleetLocation
    settings: RunSettings
    log: Log
    tell: Tell
    places: threading.Semaphore
    processes: PassProcesses
    pace: Pace = field(default_factory=Pace)
    state: FleetState = field(default_factory=FleetState)
    watch: RefWatch | None = None
    worker: PassWorker | None = None
    report: PassReport | None = None
    fault: str = ""
    is_closed: bool = False
    _is_waking: bool = False
    _went_well_once: bool = False
    _known_acceptances: Acceptances = field(default_factory=Acceptances)

    def open(self) -> None:
        """Begin to listen for changes of the source; where that cannot be known yet, the source is polled."""
        try:
            folder = repository_to_watch(self.source)
        except ReconcileError as error:
            self.log.detail(error.message)
            folder = None
        if folder is not None and self.watch is None:
            self.watch = RefWatch(folder, self.wake, self.log)
        self.pace = self.settings.pace(is_notified=folder is not None)

    def close(self) -> None:
        """Listen no more, and stop what is under way."""
        self.is_closed = True
        if self.watch is not None:
            self.watch.close()
        if self.worker is not None:
            self.worker.stop()

    def wake(self) -> None:
        """Have the source looked at soon; from any thread, and as often as anybody likes: one event waits at most."""
        if not self._is_waking:
            self._is_waking = True
            self.tell(self, Woken())

    def handle_event(self, event: Event, time_now: TimeNow) -> None:
        """Change the state by an event."""
        if isinstance(event, Woken):
            self._is_waking = False
        self.state = state_after_event(self.state, event, time_now, self.pace)

    def begin_look_at_refs(self) -> None:
        """Begin a look in a thread of its own."""
        self._call_in_thread(self._look_at_source)

    def _look_at_source(self) -> None:
        try:
            tip: str | None = source_tip(self.source)
            is_accepted, self.fault = self._has_been_accepted(str(tip)), ""
        except (ReconcileError, OSError) as error:
            said = error.message if isinstance(error, ReconcileError) else str(error)
            if said != self.fault:
                self.log.warning(said)
            tip, is_accepted, self.fault = None, False, said
        self.tell(self, Looked(tip, is_accepted))

    def _has_been_accepted(self, tip: str) -> bool:
        """Say whether somebody has accepted what the last pass was refused for; each acceptance counts once."""
        if self.worker is not None or not is_refused_by_guard(self.report):
            return False
        before = self._known_acceptances
        self._known_acceptances = acceptances_of_source(self.source, tip, self.settings.accepted_settings)
        is_rendered = self._known_acceptances.rendered not in {"", before.rendered}
        return is_rendered or self._known_acceptances.file != before.file

    def run_pass(self) -> None:
        """Begin a pass in a process of its own, once there is a place for it."""
        accepted = digest_of_file(self.settings.accepted_settings)
        self._known_acceptances = replace(self._known_acceptances, file=accepted)
        job = PassJob(
            fleet=self.source.name,
            repository=self.source.location,
            # Once a pass has settled, a rendered branch that is missing was removed: that is no first run.
            bootstrap=self.settings.bootstrap and not self._went_well_once,
            accepted_settings=self.settings.accepted_settings,
            delivery=self.settings.delivery,
            channels=tuple(to_builtins(each) for each in self.settings.channels),
            # Another process may have left some; one that ended without a report has said nothing of them.
            has_unsent=self.report is None or self.report.next_notice is not None or self.report.code == KILLED,
            log_level=self.log.level,
            log_format=str(self.log.format),
            is_colored=self.log.color,
        )
        self.worker = PassWorker(
            job,
            self.processes,
            timeout=self.settings.pass_timeout,
            on_source=lambda commit: self.tell(self, SourceRead(commit)),
        )
        self._call_in_thread(self._run_pass, self.worker, self.places)

    def ask_pass_to_make_way(self) -> None:
        """Ask the pass under way to make way for one over a newer commit."""
        self.log.detail("a newer commit: the pass finishes the clusters it is at")
        if self.worker is not None:
            self.worker.make_way()

    def _run_pass(self, worker: PassWorker, places: threading.Semaphore) -> None:
        with places:
            begun = time.monotonic()
            report = worker.run()
        self.tell(self, replace(report, seconds=report.seconds or time.monotonic() - begun))

    def keep_report(self, report: PassReport) -> None:
        """Keep the report of a pass, and say how it failed unless the one before failed alike."""
        before, self.report = self.report, report
        if report.rendered:
            self._known_acceptances = replace(self._known_acceptances, rendered=report.rendered)
        self._went_well_once = self._went_well_once or (report.code in {0, 1, 7} and bool(report.rendered))
        if report.is_unchanged and before is not None:
            self.report = replace(
                report, clusters=before.clusters, unplaced=before.unplaced, has_unwell=before.has_unwell
            )
        self.log.detail("pass ended", code=report.code, seconds=f"{report.seconds:.1f}")
        if report.message and (before is None or (before.code, before.message) != (report.code, report.message)):
            hint = f"\n  hint: {report.hint}" if report.hint else ""
            self.log.error(f"{report.message}{hint}", code=report.code)
        elif before is not None and before.message and not report.message:
            self.log.info("the last pass went well again", source=report.source[:12])

    def _call_in_thread(self, call: Callable[..., None], *arguments: object) -> None:
        threading.Thread(target=call, args=arguments, daemon=True, name=self.source.name).start()


def source_tip(source: FleetLocation) -> str:
    """Return the commit the source is at; nothing is fetched. GitError where it cannot be asked."""
    with open_repository(source.location, refresh=False) as repository:
        return source_tip_asked_of_remote(repository)


def repository_to_watch(source: FleetLocation) -> GitFolder | None:
    """Return the repository whose own refs are the source; None where the source is a branch of a remote."""
    if not source.is_local:
        return None
    with open_repository(source.location) as repository:
        return None if remote_of_source(repository) else repository.folder
