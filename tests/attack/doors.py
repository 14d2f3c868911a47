"""A port of this machine that counts who comes, as an address at which nobody is to be asked."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.waiting import SECONDS, joined


class Door:
    """A port of this machine that takes no more than the beginning of a connection, and counts them."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(SECONDS)
        self.port = self.listening.getsockname()[1]
        self.came = 0

    def listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                self.came += 1
                connection.close()


@contextmanager
def listening() -> Iterator[Door]:
    door = Door()
    thread = threading.Thread(target=door.listen, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        door.listening.shutdown(socket.SHUT_RDWR)
        door.listening.close()
        joined(thread)
