"""Servers that answer raw bytes, slowly or without end, where ``tests.wires`` answers as HTTP servers should."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MOST_SECONDS = 60.0

Write = Callable[[socket.socket, threading.Event], None]
"""Answer a connection whose request was read, until the event says that the test is over."""


@contextmanager
def raw_server(write: Write) -> Iterator[str]:
    """Run a server that hands every connection to ``write``; yield its address."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve_one(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(MOST_SECONDS)
            client.recv(65536)
            write(client, over)

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=serve_one, args=(client,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def dripping(content: bytes, pause: float) -> Write:
    """Send one byte at a time."""

    def write(client: socket.socket, over: threading.Event) -> None:
        for number in range(len(content)):
            client.sendall(content[number : number + 1])
            if over.wait(pause):
                return

    return write


def endless(head: bytes, chunk: bytes) -> Write:
    """Send the same again and again, for as long as anybody reads."""

    def write(client: socket.socket, over: threading.Event) -> None:
        client.sendall(head)
        end = time.monotonic() + MOST_SECONDS
        while not over.is_set() and time.monotonic() < end:
            client.sendall(chunk)

    return write
