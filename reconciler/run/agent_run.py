"""An agent that goes on until somebody ends it: its mirror looked at, and passes over its cluster when they are due.

When is the decision of ``pacing``, as for the fleets of a controller. Each look and each pass has a thread of its own,
one at a time, and opens the store anew: whatever happened to that, and whatever was read, is over with it. The first
SIGTERM or SIGINT tells a pass to stop and waits ``grace`` seconds for it, the second does not wait: whatever a pass was
at, the next one finds and ends it.
"""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.disk_errors import hint_for_disk_error
from reconciler.console.log import Log
from reconciler.deliver.reports import exit_code_of_reports
from reconciler.passes.agent_pass import Agent, AgentPass, GitAwayError, run_agent_pass
from reconciler.passes.logged_apply import log_problems
from render.errors import GitError, ReconcileError

from .pacing import (
    Began,
    Ending,
    Event,
    FleetState,
    Looked,
    NextStep,
    Pace,
    PassEnded,
    TimeNow,
    due_step,
    seconds_until_next_step,
    state_after_event,
)

_LONGEST_WAIT = 30.0
_JITTER = 0.1
_AWAY = "away"
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Rhythm(Struct, frozen=True, kw_only=True):
    """The intervals of an agent in seconds: how often it asks Git, looks for drift, and how long it may end."""

    interval: float = 30.0
    drift: float = 300.0
    grace: float = 25.0

    def pace(self, chance: float) -> Pace:
        """Return the intervals a little shorter or longer by chance, so that agents do not ask all at once."""
        factor = 1.0 + _JITTER * (2.0 * chance - 1.0)
        return Pace(poll=self.interval * factor, drift=self.drift * factor, longest_retry=max(self.drift, 5.0))


class AgentRun:
    """One agent, run until a signal ends it; ``open_agent`` opens its store."""

    def __init__(self, open_agent: Callable[[], AbstractContextManager[Agent]], rhythm: Rhythm, log: Log) -> None:
        self._stopping = threading.Event()
        self._open_agent, self._rhythm, self._log = open_agent, rhythm, log
        self._queue: SimpleQueue[Event | signal.Signals | BaseException] = SimpleQueue()
        self._state = FleetState()
        self._said = ""
        self._ending: tuple[signal.Signals, float] | None = None
        self._is_working = False

    def run(self) -> int:
        """Run until a signal ends it; return 0, or 130 where somebody interrupted it."""
        for number in _SIGNALS:
            signal.signal(number, lambda number, _frame: self._queue.put(signal.Signals(number)))
        with self._open_agent() as agent:
            self._log.info(f"agent of {agent.options.cluster}: {agent.mirror_branch} of {agent.publication.place}")
        while not self._has_ended():
            if self._ending is None:
                self._begin_what_is_due()
            self._handle_next_event()
        return 130 if self._ending and self._ending[0] is signal.SIGINT else 0

    def _begin_what_is_due(self) -> None:
        time_now = self._time_now()
        due = due_step(self._state, time_now)
        if due is NextStep.RECONCILE:
            self._handle_event(Began(due))
            self._work_in_thread(self._run_pass)
        elif due is NextStep.LOOK and not self._is_working:
            self._handle_event(Began(due))
            self._work_in_thread(self._look_at_mirror)

    def _work_in_thread(self, done: Callable[[], Event]) -> None:
        self._is_working = True

        def put_event_in_queue() -> None:
            try:
                self._queue.put(done())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that can end the process
                self._queue.put(error)

        threading.Thread(target=put_event_in_queue, daemon=True).start()

    def _look_at_mirror(self) -> Event:
        """Ask where the mirror stands."""
        try:
            with self._open_agent() as agent:
                return Looked(agent.fetch() or "")
        except (ReconcileError, OSError) as error:
            self._log_failure(error)
            return Looked(None)

    def _run_pass(self) -> Event:
        """Run a pass; whatever goes wrong in it is said, and tried again."""
        ending, tip = Ending.FAILED, ""
        try:
            with self._open_agent() as agent:
                options = replace(agent.options, is_stopping=self._stopping.is_set)
                try:
                    ending = self._log_end_of_pass(run_agent_pass(replace(agent, options=options), self._log))
                finally:
                    tip = agent.known_tip or ""
        except (ReconcileError, OSError) as error:
            self._log_failure(error)
        return PassEnded(ending=ending, source=tip)

    def _log_end_of_pass(self, ended: AgentPass) -> Ending:
        """Say what kept a pass from the newest commit, once for as long as it is the same; return how it ended."""
        log_problems((ended.report,) if ended.report else (), self._log)
        if ended.away is not None:
            self._log_git_away(ended.away, ended.commit)
            return Ending.INCOMPLETE
        if ended.refusal is not None:
            self._log_once(f"{ended.refusal}\n{ended.commit[:12]} stays applied")
            return Ending.DONE
        is_incomplete = bool(ended.report and exit_code_of_reports((ended.report,)))
        if self._said:
            again = "Git is back" if self._said == _AWAY else "the last pass went well again"
            self._log.info(f"{again}; applied {ended.commit[:12]}" if ended.commit else again)
        self._said = ""
        return Ending.INCOMPLETE if is_incomplete else Ending.DONE

    def _log_failure(self, error: ReconcileError | OSError) -> None:
        if isinstance(error, GitAwayError):
            self._log_git_away(error)
        elif isinstance(error, ReconcileError):
            self._log_once(str(error))
        else:
            of = f"{error.filename}: " if isinstance(error.filename, str) else ""
            hint = hint_for_disk_error(error)
            said = f"{of}{os.strerror(error.errno or 0).lower()}"
            self._log_once(f"{said}\n  hint: {hint}" if hint else said)

    def _log_git_away(self, error: GitError, commit: str = "") -> None:
        stays = f"; {commit[:12]} stays applied" if commit else ""
        self._log_once(f"Git is away{stays}: {error.message}", _AWAY)

    def _log_once(self, text: str, topic: str = "") -> None:
        """Say something once for as long as it is the same, or of the same topic."""
        if (topic or text) != self._said:
            self._log.warning(text)
        self._said = topic or text

    def _handle_next_event(self) -> None:
        time_now = self._time_now()
        wait = self._ending[1] - time_now.now if self._ending else seconds_until_next_step(self._state, time_now)
        try:
            item = self._queue.get(timeout=max(0.0, min(wait, _LONGEST_WAIT)))
        except Empty:
            return
        if isinstance(item, signal.Signals):
            self._stop_at_signal(item)
            return
        if isinstance(item, BaseException):
            raise item
        self._is_working = False
        self._handle_event(item)

    def _stop_at_signal(self, number: signal.Signals) -> None:
        self._log.info(f"stopping: {number.name}")
        grace = 0.0 if self._ending else self._rhythm.grace
        self._ending = (number, time.monotonic() + grace)
        self._stopping.set()

    def _has_ended(self) -> bool:
        return self._ending is not None and (not self._is_working or time.monotonic() >= self._ending[1])

    def _handle_event(self, event: Event) -> None:
        time_now = self._time_now()
        self._state = state_after_event(self._state, event, time_now, self._rhythm.pace(time_now.chance))

    def _time_now(self) -> TimeNow:
        return TimeNow(now=time.monotonic(), wall=time.time(), chance=random.random())  # noqa: S311 - no secret
