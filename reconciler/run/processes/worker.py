"""Passes in processes of their own: started with their job, told to stop, and killed where they do not."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from reconciler.run.pass_job import KILLED, PassJob, PassReport, source_named_in_line

from .starting import PassProcess, PassProcesses


class PassWorker:
    """The process of one pass; its own thread waits for its report."""

    def __init__(
        self, job: PassJob, processes: PassProcesses, *, timeout: float, on_source: Callable[[str], None]
    ) -> None:
        self._job = job
        self._processes = processes
        self._on_source = on_source
        self._timeout = timeout
        self._lock = threading.Lock()
        self._process: PassProcess | None = None
        self._is_stopped = False

    def run(self) -> PassReport:
        """Run the pass to its end and return its report; one that takes longer than its time is killed."""
        try:
            process = self._start_process()
        except OSError as error:
            return PassReport(code=KILLED, message=f"no process for the pass: {os.strerror(error.errno or 0).lower()}")
        if process is None:
            return PassReport(code=130, message="the pass was stopped")
        killer = threading.Timer(self._timeout, self.kill)
        killer.daemon = True
        killer.start()
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        with stdout:
            with suppress(BrokenPipeError):
                _send_job(stdin, self._job)
            text = self._last_line_of(stdout)
            code = process.wait()
        with suppress(BrokenPipeError):
            stdin.close()
        killer.cancel()
        report = PassReport.from_json(text)
        if report.code == KILLED and code < 0:
            return PassReport(code=KILLED, message=f"the process of the pass ended by {signal.Signals(-code).name}")
        return report

    def _last_line_of(self, stdout: IO[str]) -> str:
        """Return the last line that the process writes; the one before it says which source it has read."""
        text = ""
        for line in stdout:
            source = source_named_in_line(line)
            if source:
                self._on_source(source)
            else:
                text = line
        return text

    def make_way(self) -> None:
        """Ask the pass to make way for one over a newer commit: it finishes what it is at, but for slow clusters."""
        with self._lock:
            if self._process is not None and self._process.returncode is None:
                # The process alone: its children would end by this signal.
                with suppress(ProcessLookupError):
                    os.kill(self._process.pid, signal.SIGUSR1)

    def stop(self) -> None:
        """Ask the pass to stop: it finishes the clusters it is at."""
        self._send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process now, whatever it is at; what it left half done, the next pass finishes."""
        self._send_signal(signal.SIGKILL)

    def _start_process(self) -> PassProcess | None:
        with self._lock:
            if not self._is_stopped:
                self._process = self._processes.start()
            return self._process

    def _send_signal(self, number: signal.Signals) -> None:
        with self._lock:
            self._is_stopped = True
            if self._process is not None and self._process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)


def _send_job(stdin: IO[str], job: PassJob) -> None:
    stdin.write(job.to_json() + "\n")
    stdin.flush()
