"""Proxies for tests, on loopback: a tunnel (``CONNECT``) and SOCKS 5; both lead wherever they are told to lead."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.waiting import SECONDS

Take = Callable[[socket.socket], str]
"""Agree with a client on where it wants to go and return that, as ``host:port``."""


@dataclass
class Proxy:
    """A running proxy: its address, where it was asked to lead, and what it was shown to be let through."""

    port: int
    asked: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


@contextmanager
def tunnelling(to: str) -> Iterator[Proxy]:
    """Run an HTTP proxy that answers ``CONNECT`` with a tunnel to ``to``, wherever it was asked to lead."""

    def take(client: socket.socket, proxy: Proxy) -> str:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        first, *headers = head.decode().split("\r\n")
        proxy.shown += [line for line in headers if line.lower().startswith("proxy-authorization:")]
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return first.split()[1]

    with _relaying(take, to) as proxy:
        yield proxy


@contextmanager
def socks(to: str) -> Iterator[Proxy]:
    """Run a SOCKS 5 proxy that lets everybody through who has a name and a password."""

    def take(client: socket.socket, proxy: Proxy) -> str:
        stream = client.makefile("rb")
        stream.read(stream.read(2)[1])
        client.sendall(b"\x05\x02")  # user and password, please
        user = stream.read(stream.read(2)[1]).decode()
        password = stream.read(stream.read(1)[0]).decode()
        proxy.shown.append(f"{user}:{password}")
        client.sendall(b"\x01\x00")
        kind = stream.read(4)[3]
        host = stream.read(stream.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(stream.read(4))
        port = int.from_bytes(stream.read(2))
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        return f"{host}:{port}"

    with _relaying(take, to) as proxy:
        yield proxy


@contextmanager
def refusing(*answers: bytes) -> Iterator[Proxy]:
    """Run a proxy that says these bytes, one after each thing that it is told, and leads nowhere."""

    def take(client: socket.socket, _proxy: Proxy) -> str:
        for answer in answers:
            client.recv(4096)
            client.sendall(answer)
        client.close()
        raise OSError("it leads nowhere")

    with _relaying(take, "127.0.0.1:1") as proxy:
        yield proxy


@contextmanager
def _relaying(take: Callable[[socket.socket, Proxy], str], to: str) -> Iterator[Proxy]:
    host, _, port = to.rpartition("/")[2].partition(":")
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(SECONDS)
    proxy = Proxy(port=listener.getsockname()[1])

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                client.settimeout(SECONDS)
                try:
                    proxy.asked.append(take(client, proxy))
                except OSError:
                    continue
                server = socket.create_connection((host, int(port)), SECONDS)
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield proxy
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with source, suppress(OSError):
        while content := source.recv(65536):
            sink.sendall(content)
        sink.shutdown(socket.SHUT_WR)
