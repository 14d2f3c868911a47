"""The newest commits read ahead: before somebody asks for them, so that nobody waits while they are read.

A thread looks whether a branch has moved. If so, it makes what most pages need of the new commits, and only then they
are the ones that pages show. A page that is asked for meanwhile is of the commits before, and says that newer ones are
being read; it is of one instant or of the other, never of both. Where reading takes long, a page waits for the newer
ones after all, as a document for programs always does.

Nobody looks all day. Once no page was asked for during some minutes, the thread reads nothing more until the next one
is. Beside passes it yields to these, as far as the machine allows that, as ``nice`` does.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from reconciler.console.bugs import lines_naming_bug
from reconciler.console.log import Log
from reconciler.overview.instants import FleetInstant
from render.errors import ReconcileError

_PAUSE = 1.0
"""The seconds between two looks at the branches."""
_NICENESS = 5
LONGEST_BEHIND = 30.0
"""The seconds for which pages of the commits before are shown at most, while newer ones are being read."""
LOOKED_AT = 600.0
"""The seconds after a page was asked for, for which newer commits are read ahead."""


class NewestCommits:
    """The newest commits of a fleet, and those of them that are read: what pages show.

    ``find`` returns the commits where the branches stand. ``read`` makes what most pages need of some commits, and
    ``settle`` is told once these are the ones that pages show.
    """

    def __init__(
        self,
        find: Callable[[], FleetInstant],
        read: Callable[[FleetInstant], object],
        settle: Callable[[FleetInstant], object],
        log: Log,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find = find
        self._read = read
        self._settle = settle
        self._log = log
        self._clock = clock
        self._ready: FleetInstant | None = None
        self._behind_since: float | None = None
        self._asked_at = clock()
        self._is_ended = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, *, is_nice: bool = False) -> None:
        """Begin to read the newest commits ahead; ``is_nice``: other work of this machine comes first."""
        self._thread = threading.Thread(target=self._follow, args=(is_nice,), name="pages-follow", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read nothing ahead any more."""
        self._is_ended.set()
        self._wake.set()

    def shown(self, newest: FleetInstant) -> FleetInstant:
        """Return the commits that a page of now shows, ``newest`` being where the branches stand."""
        was_idle, self._asked_at = self._is_idle, self._clock()
        ready = self._ready
        if self._thread is None or ready is None or ready.key == newest.key or was_idle:
            return newest
        since = self._behind_since = self._clock() if self._behind_since is None else self._behind_since
        self._wake.set()
        return newest if self._clock() - since > LONGEST_BEHIND else ready

    def read_newest(self) -> None:
        """Read the newest commits, unless they are read already; what goes wrong with them is for pages to say."""
        with suppress(ReconcileError):
            newest = self._find()
            if self._ready is not None and self._ready.key == newest.key:
                return
            if self._behind_since is None:
                self._behind_since = self._clock()
            with suppress(ReconcileError):
                self._read(newest)
            self._ready, self._behind_since = newest, None
            self._settle(newest)

    @property
    def _is_idle(self) -> bool:
        """Say whether nobody has asked for a page lately."""
        return self._clock() - self._asked_at >= LOOKED_AT

    def _follow(self, is_nice: bool) -> None:
        with suppress(OSError, AttributeError):  # where a thread has no priority of its own, it has that of all
            if is_nice:
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        try:
            while not self._is_ended.is_set():
                if not self._is_idle:
                    self.read_newest()
                self._wake.wait(_PAUSE)
                self._wake.clear()
        except Exception as error:  # noqa: BLE001 - the boundary of a thread: pages then read for themselves
            self._thread = None
            for line in lines_naming_bug(error):
                self._log.error(line)
