"""An address served by waitress, in a thread of its own, with a bound on everything that a client can ask of it.

waitress takes a request in whole before a thread of the pool is given to it, on one loop over all connections: a slow
client costs a connection and no thread. It is written in Python alone and serves within this process; gunicorn,
uvicorn's workers and granian bring processes of their own, and a thread of cheroot reads as slowly as its client sends.
A connection that has not sent a whole request after ten seconds is closed, however busy it is. One source has 50
connections at most: of more, the oldest that is still sending makes room for the newest, and so does the oldest of the
source that has most of them when all are in use. So slow clients delay nobody. An address moves when other settings
come.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer, create_server
from waitress.trigger import trigger
from waitress.wasyncore import dispatcher

from reconciler.console.log import Log
from render.errors import ConfigError

from .webhooks import LARGEST_BODY, Address

REQUEST_SECONDS = 10
_MOST_HEADERS = 32 << 10
_MOST_CONNECTIONS = 200
_MOST_OF_A_SOURCE = 50
_SPARE = 10
"""Sockets that count as connections: those that are listened at, and the pipe that wakes the loop."""
_CLOSING_SECONDS = 5
Application = Callable[..., Any]


class _WholeRequestChannel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A connection whose time counts from the beginning of a request, not from the last byte of it."""

    last_activity: float

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._close_oldest_sending_connection()

    def _close_oldest_sending_connection(self) -> None:
        """Close the oldest connection that is still sending, where its source or all of them have too many."""
        others = [each for each in self.server.active_channels.values() if each is not self]
        sending = [each for each in others if not each.requests and not each.total_outbufs_len]
        sources = Counter(each.addr[0] for each in others)
        if sources[self.addr[0]] >= _MOST_OF_A_SOURCE:
            sending = [each for each in sending if each.addr[0] == self.addr[0]]
        elif len(others) < _MOST_CONNECTIONS - _SPARE:
            return
        chosen = min(sending, key=lambda each: (-sources[each.addr[0]], each.creation_time), default=None)
        if chosen is not None:
            chosen.handle_close()

    def handle_read(self) -> None:
        began, is_under_way = self.last_activity, self.request is not None
        super().handle_read()
        if is_under_way and self.request is not None:
            self.last_activity = began


class WebServer:
    """An application served at an address until it is closed; ``port`` may have been chosen by the system."""

    def __init__(
        self, application: Callable[..., Any], host: str, port: int, *, request_seconds: int = REQUEST_SECONDS
    ) -> None:
        logging.getLogger("waitress").addHandler(logging.NullHandler())
        logging.getLogger("waitress").propagate = False
        self._sockets = sockets = dict[int, Any]()
        try:
            self._server = create_server(
                application,
                map=sockets,
                host=host,
                port=port,
                threads=4,
                connection_limit=_MOST_CONNECTIONS,
                max_request_header_size=_MOST_HEADERS,
                max_request_body_size=LARGEST_BODY + 1,
                inbuf_overflow=LARGEST_BODY + 1,
                channel_timeout=request_seconds,
                cleanup_interval=1,
                asyncore_loop_timeout=1,
                ident="",
                clear_untrusted_proxy_headers=True,
            )
        except (OSError, ValueError) as error:
            raise ConfigError(f"{host}:{port} cannot be served: {error}", hint="choose another address") from error
        for each in tuple(sockets.values()):
            each.channel_class = _WholeRequestChannel
        listeners = getattr(self._server, "effective_listen", None) or [(host, self._server.effective_port)]
        self.port = int(listeners[0][1])
        self._thread = threading.Thread(target=self._server.run, daemon=True, name=f"serve {host}:{port}")
        self._thread.start()

    def close(self) -> None:
        """Finish the answers under way, and close every connection."""
        self._server.task_dispatcher.shutdown(timeout=_CLOSING_SECONDS)
        loop = next(each for each in self._sockets.values() if isinstance(each, trigger))
        # What the loop looks at is closed by the loop itself, which ends once there is nothing left to look at. The
        # pipe that wakes it stays open until then: the loop may be awake already, and at it before this thread writes.
        loop.pull_trigger(lambda: self._close_connections(loop))
        self._thread.join(_CLOSING_SECONDS)
        if not self._thread.is_alive():
            loop.close()

    def _close_connections(self, loop: trigger) -> None:
        """Close every connection, and look at the pipe of the loop no more."""
        loop.del_channel()
        for each in tuple(self._sockets.values()):
            if isinstance(each, BaseWSGIServer):
                dispatcher.close(each)  # its own way would close the pipe as well
            else:
                each.close()


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
        self._stop_serving()
        try:
            self._serve_at(address)
        except ConfigError:
            self._serve_at(before)
            raise

    def close(self) -> None:
        """Serve no more."""
        self.move(None)

    def _serve_at(self, address: Address | None) -> None:
        self._address = address
        if address is not None:
            self._server = WebServer(self._application, *address)
            self._log.info(f"{self._about} at {address[0]}:{self._server.port}")

    def _stop_serving(self) -> None:
        if self._server is not None:
            self._server.close()
        self._server, self._address = None, None
