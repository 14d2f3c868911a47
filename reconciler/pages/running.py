"""The page at the inside address of a controller: over its present fleets, for those whom its settings let in."""

import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from reconciler.console.log import Log
from reconciler.run.web.entry import EntryRules
from reconciler.run.web.webhooks import StartResponse

from .reader import FleetReader
from .serving import PageApplication
from .web_pages import WebPages, read_ahead

_ABSENT = b"not found\n"


class RunningPage:
    """The WSGI application of the page over fleets that come and go; nothing is there while ``entry`` is None."""

    def __init__(
        self, entry: Callable[[], EntryRules | None], locations: Callable[[], Mapping[str, str]], log: Log
    ) -> None:
        self._entry = entry
        self._locations = locations
        self._log = log
        self._lock = threading.Lock()
        self._readers: dict[str, FleetReader] = {}

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> list[bytes]:
        """Answer one request."""
        entry = self._entry()
        if entry is None:
            status = HTTPStatus.NOT_FOUND
            headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(_ABSENT)))]
            start_response(f"{status.value} {status.phrase}", headers)
            return [_ABSENT]
        return PageApplication(pages=WebPages(fleets=self._current_readers), entry=entry, log=self._log)(
            environ, start_response
        )

    def _current_readers(self) -> Mapping[str, FleetReader]:
        """Return what reads each fleet that there is now; those that are gone, or elsewhere, are let go."""
        locations = self._locations()
        with self._lock:
            for name, reader in tuple(self._readers.items()):
                if locations.get(name) != reader.location:
                    self._readers.pop(name).close()
            for name, location in locations.items():
                if name not in self._readers:
                    self._readers[name] = FleetReader(location, name, asks_members=False)
                    self._readers[name].follow(read_ahead, is_nice=True)
            return dict(self._readers)
