"""The two addresses of a controller: served as its settings say, and moved when other settings come."""

from collections.abc import Callable
from typing import Any

from reconciler.console.log import Log
from render.errors import ConfigError

from .settings import Address
from .web.serving import WebServer

Application = Callable[..., Any]


class ServedAddress:
    """One address with what is served there: nothing while no address is named."""

    def __init__(self, application: Application, about: str, log: Log) -> None:
        self._application = application
        self._about = about
        self._log = log
        self._address: Address | None = None
        self._server: WebServer | None = None

    def move(self, address: Address | None) -> None:
        """Serve at another address, or nowhere; ConfigError where that cannot be had, and all stays as it was."""
        if address == self._address:
            return
        before = self._address
        self._close()
        try:
            self._open(address)
        except ConfigError:
            self._open(before)
            raise

    def close(self) -> None:
        """Serve no more."""
        self.move(None)

    def _open(self, address: Address | None) -> None:
        self._address = address
        if address is not None:
            self._server = WebServer(self._application, *address)
            self._log.info(f"{self._about} at {address[0]}:{self._server.port}")

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._server, self._address = None, None
