"""A network in which nothing is reached but Git: a network namespace of a test's own, with one port that leads out.

The namespace has a loopback interface and no other, so what runs in it reaches nothing outside, and nothing outside
reaches it. A port of it is served from outside by Git alone: a socket belongs to the namespace that it was made in.
The namespace is gone when the last process of it is. Where none can be made, for want of rights, all of it runs in
the machine's own network, and ``is_apart`` says so.
"""

import ctypes
import fcntl
import json
import os
import shlex
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

from .waiting import SECONDS, joined

_NEW_NETWORK = 0x40000000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_SHORT = 0.2
_SERVED = ("git-upload-pack", "git-receive-pack")
_SSH = """
import json, os, socket, sys, threading
server = socket.create_connection(("127.0.0.1", {port}), timeout={seconds})
words = {{"command": sys.argv[-1], "protocol": os.environ.get("GIT_PROTOCOL", "")}}
server.sendall(json.dumps(words).encode() + b"\\n")
def send():
    while data := os.read(0, 65536):
        server.sendall(data)
    server.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while data := server.recv(65536):
    os.write(1, data)
"""
_Words = ParamSpec("_Words")
_Answer = TypeVar("_Answer")


class GitOnly:
    """The network; ``with GitOnly(folder, hub) as network`` makes it, and serves the repository ``hub`` into it."""

    def __init__(self, folder: Path, hub: Path) -> None:
        self._folder, self._hub = folder, hub
        self._inside = ThreadPoolExecutor(max_workers=1)
        self._outside: list[threading.Thread] = []
        self._ended = threading.Event()
        self._listening: socket.socket | None = None
        self.port = 0
        self.is_apart = False

    def __enter__(self) -> Self:
        self.is_apart = self.run(_enter_new_network)
        self._thread = self.run(threading.get_native_id)
        self.let_git_in()
        return self

    def __exit__(self, *_: object) -> None:
        self.keep_git_away()
        self._inside.shutdown()

    def run(self, work: Callable[_Words, _Answer], *words: _Words.args, **named: _Words.kwargs) -> _Answer:
        """Do something in the network; processes that it starts are in there, too."""
        return self._inside.submit(work, *words, **named).result(timeout=SECONDS)

    def command(self, words: Sequence[str]) -> list[str]:
        """Return a command that runs another one in the network."""
        network = f"/proc/{os.getpid()}/task/{self._thread}/ns/net"
        return ["nsenter", f"--net={network}", *words] if self.is_apart else list(words)

    @property
    def address(self) -> str:
        """The address of the repository, in there."""
        return f"ssh://hub{self._hub}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a Git in there: what stands in for ssh connects to the port that leads out."""
        program = self._folder / "ssh.py"
        program.write_text(_SSH.format(port=self.port, seconds=SECONDS))
        return {"GIT_SSH_COMMAND": f"{sys.executable} -I -S {program}", "GIT_SSH_VARIANT": "ssh"}

    def let_git_in(self) -> None:
        """Serve Git at the port, the same one as before."""
        self._listening = listening = self.run(_listen, self.port)
        self.port = listening.getsockname()[1]
        self._ended.clear()
        self._outside = [threading.Thread(target=self._serve, args=(listening,), daemon=True)]
        self._outside[0].start()

    def keep_git_away(self) -> None:
        """Refuse connections to the port, and end those there are."""
        self._ended.set()
        joined(*self._outside)
        if self._listening is not None:
            self._listening.close()

    def _serve(self, listening: socket.socket) -> None:
        while not self._ended.is_set():
            try:
                connection = listening.accept()[0]
            except TimeoutError:
                continue
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(SECONDS)
        line = b""
        while not line.endswith(b"\n") and (byte := connection.recv(1)):
            line += byte
        asked = json.loads(line or '{"command": ""}')
        program, *paths = shlex.split(asked["command"]) or [""]
        if program not in _SERVED or paths != [str(self._hub)]:
            return
        connection.setblocking(True)
        command = ["git", program.removeprefix("git-"), str(self._hub)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = {**kept, "GIT_PROTOCOL": asked["protocol"]}
        descriptor = connection.fileno()
        subprocess.run(
            command,
            stdin=descriptor,
            stdout=descriptor,
            stderr=subprocess.DEVNULL,
            env=environment,
            check=False,
            timeout=SECONDS,
        )


def _enter_new_network() -> bool:
    """Move this thread into a network of its own, with loopback; return whether that was allowed."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        asked = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(one, _GET_FLAGS, asked))[1]
        fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))
    return True


def _listen(port: int) -> socket.socket:
    listening = socket.create_server(("127.0.0.1", port))
    listening.settimeout(_SHORT)
    return listening
